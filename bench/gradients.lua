--- Forward and back: what does a recorded operation cost, and what does a fused one win?
local peri = require "perilune"

local CHAIN = 200   -- operations

local function reset (params)
  for _, w in ipairs(params) do w.grad = nil end
end

-- A call to time, loss() and backwards, and one that returns the loss and the gradients. A loss that nobody reads is
-- not computed.
local function both_ways (params, loss, read)
  local function call ()
    reset(params)
    local value = loss()
    value:backward()
    if read then value:item() end
  end
  local function result ()
    call()
    local found = { loss() }
    for i, w in ipairs(params) do found[i + 1] = w.grad end
    return table.unpack(found)
  end
  return call, result
end

local function positive (g, n) return peri.param(g:uniform(n) + 0.5) end

local function kl (class, n, read)
  return function ()
    local g = peri.rng(1)
    local params = { positive(g, n), positive(g, n), positive(g, n), positive(g, n) }
    local p, q = class(params[1], params[2]), class(params[3], params[4])
    return both_ways(params, function () return peri.kl_divergence(p, q):sum() end, read)
  end
end

local function likelihood (n, read)
  return function ()
    local x, params = peri.rng(1):normal(n), { peri.param(0.1), peri.param(1.2) }
    local d = peri.Normal(params[1], params[2])
    return both_ways(params, function () return d:log_prob(x):sum() end, read)
  end
end

local function chain (n)
  return function ()
    local w, x = peri.param(peri.full(n, 0.5)), peri.full(n, 1.01)
    return function ()
      w.grad = nil
      local y = w
      for _ = 1, CHAIN / 2 do y = y * x + x end
      y:sum():backward()
    end
  end
end

-- The same, recorded once.
local function replayed (n)
  return function ()
    local w, x = peri.param(peri.full(n, 0.5)), peri.full(n, 1.01)
    local trace = peri.trace(function ()
      local y = w
      for _ = 1, CHAIN / 2 do y = y * x + x end
      return y:sum()
    end)
    return function ()
      w.grad = nil
      trace:backward()
    end
  end
end

-- A recurrence, replayed: log density of garch(1, 1).
local function garch (n)
  return function ()
    local y = peri.rng(1):normal(n)
    local params = { peri.param(0.1), peri.param(0.5), peri.param(0.3), peri.param(0.4) }
    local mu, a0, a1, b1 = table.unpack(params)
    local trace = peri.trace(function ()
      local s2 = peri.scan(function (s2, x) return a0 + a1 * (x - mu) ^ 2 + b1 * s2, s2 end, 1, y)
      return peri.Normal(mu, s2:sqrt()):log_prob(y):sum()
    end)
    local function call ()
      reset(params)
      return trace:backward()
    end
    return call, function () return call(), params[1].grad, params[2].grad, params[3].grad, params[4].grad end
  end
end

return {
  { "kl Normal, n = 1e3", kl(peri.Normal, 1000), torch = 35, torch32 = 35, hand = 2 },
  { "kl Normal, n = 1e6", kl(peri.Normal, 1000000), torch = 7, torch32 = 3, hand = 1.4 },
  { "kl Gamma, n = 1e6", kl(peri.Gamma, 1000000), torch = 6.3, torch32 = 3.9, hand = 1.3 },
  { "Normal likelihood, two numbers, n = 1e6", likelihood(1000000), torch = 20, torch32 = 10, hand = 3 },
  { "kl Normal, n = 1e3, loss read", kl(peri.Normal, 1000, true), torch = 35, torch32 = 35 },
  { "kl Normal, n = 1e6, loss read", kl(peri.Normal, 1000000, true), torch = 7, torch32 = 3 },
  { "kl Gamma, n = 1e6, loss read", kl(peri.Gamma, 1000000, true), torch = 6.3, torch32 = 3.9 },
  { "Normal likelihood, two numbers, n = 1e6, loss read", likelihood(1000000, true), torch = 20, torch32 = 10 },
  { "200 operations, n = 1", chain(1), torch = 18, torch32 = 18, limit = CHAIN * 0.3e-6 },
  { "200 operations, n = 20", chain(20), torch = 18, torch32 = 18, limit = CHAIN * 0.3e-6 },
  { "200 operations, n = 1, replayed", replayed(1), torch = 120, torch32 = 120, limit = CHAIN * 45e-9 },
  { "200 operations, n = 20, replayed", replayed(20), torch = 120, torch32 = 120, limit = CHAIN * 45e-9 },
  { "garch(1, 1), T = 200, replayed", garch(200), torch = 500, torch32 = 500, hand = 6, limit = 20e-6 },
}
