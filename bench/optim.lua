--- One step of an optimiser on 1e6 parameters, gradients given: how near is it to one pass over memory?
--
-- That gradients are finite is checked once, unless they change: the last row computes them before every step.
local peri = require "perilune"

local N = 1000000

local function parameter (g, name, options)
  local w = peri.param(g:normal(N))
  return w, peri.optim[name](w, options)
end

local function steps (name, options)
  return function ()
    local g = peri.rng(1)
    local w, opt = parameter(g, name, options)
    w.grad = g:normal(N)
    return function () opt:step() end
  end
end

local function steps_with_gradients (name, options)
  return function ()
    local w, opt = parameter(peri.rng(1), name, options)
    return function ()
      opt:zero_grad();
      (w * w):sum():backward()
      opt:step()
    end
  end
end

return {
  { "SGD", steps("SGD", { lr = 1e-3 }), torch = 1 },
  { "SGD with momentum", steps("SGD", { lr = 1e-3, momentum = 0.9 }), torch = 1 },
  { "Adam", steps("Adam", { lr = 1e-3 }) },
  { "Adam with amsgrad", steps("Adam", { lr = 1e-3, amsgrad = true }) },
  { "NAdam", steps("NAdam", { lr = 1e-3 }) },
  { "RAdam", steps("RAdam", { lr = 1e-3 }) },
  { "Adamax", steps("Adamax", { lr = 1e-3 }) },
  { "RMSprop", steps("RMSprop", { lr = 1e-3 }) },
  { "Adagrad", steps("Adagrad", { lr = 1e-3 }) },
  { "Adadelta", steps("Adadelta", { lr = 1e-3 }) },
  { "Rprop", steps("Rprop", { lr = 1e-3 }) },
  { "SGD and gradients of a sum of squares", steps_with_gradients("SGD", { lr = 1e-3 }) },
}
