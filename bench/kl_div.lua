--- The loss kl_div(log q, p), summed over all and divided by the number of rows: how fast is it?
local peri = require "perilune"

local function loss (rows, outcomes)
  return function ()
    local g = peri.rng(1)
    local input, target = peri.log_softmax(g:normal(rows, outcomes)), peri.softmax(g:normal(rows, outcomes))
    return function () return peri.kl_div(input, target, { reduction = "batchmean" }) end
  end
end

-- with the gradient of the input; a loss that nobody reads is not computed
local function loss_and_gradient (rows, outcomes, read)
  return function ()
    local g = peri.rng(1)
    local input = peri.param(peri.log_softmax(g:normal(rows, outcomes)))
    local target = peri.softmax(g:normal(rows, outcomes))
    return function ()
      input.grad = nil
      local value = peri.kl_div(input, target, { reduction = "batchmean" })
      value:backward()
      if read then value:item() end
      return input.grad
    end
  end
end

-- from raw logits on
local function with_softmax (rows, outcomes)
  return function ()
    local g = peri.rng(1)
    local logits, target = peri.param(g:normal(rows, outcomes)), peri.softmax(g:normal(rows, outcomes))
    return function ()
      logits.grad = nil
      peri.kl_div(logits, target, { reduction = "batchmean", logits = true }):backward()
      return logits.grad
    end
  end
end

return {
  { "128 x 1000",                             loss(128, 1000),               torch = 3.3, torch32 = 2.3, hand = 1.25 },
  { "4096 x 1000",                            loss(4096, 1000),              torch = 3.3, torch32 = 2.3, hand = 1.25 },
  { "128 x 1000 with gradient",               loss_and_gradient(128, 1000),  torch = 3.7, torch32 = 2.5, hand = 1.25 },
  { "4096 x 1000 with gradient",              loss_and_gradient(4096, 1000), torch = 3.7, torch32 = 2.5, hand = 1.25 },
  { "128 x 1000 with gradient, loss read",    loss_and_gradient(128, 1000, true),  torch = 3.7, torch32 = 2.5 },
  { "4096 x 1000 with gradient, loss read",   loss_and_gradient(4096, 1000, true), torch = 3.7, torch32 = 2.5 },
  { "log_softmax, 4096 x 1000 with gradient", with_softmax(4096, 1000),      torch = 3,   torch32 = 1.6, hand = 1.3 },
}
