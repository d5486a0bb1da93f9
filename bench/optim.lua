--- One step of an optimiser on 1e6 parameters, gradients given: how near is it to one pass over memory?
local peri = require "perilune"

local N = 1000000

local function steps (name, options)
  return function ()
    local g = peri.rng(1)
    local w = peri.param(g:normal(N))
    w.grad = g:normal(N)
    local opt = peri.optim[name](w, options)
    return function () opt:step() end
  end
end

return {
  { "SGD", steps("SGD", { lr = 1e-3 }) },
  { "SGD with momentum", steps("SGD", { lr = 1e-3, momentum = 0.9 }) },
  { "Adam", steps("Adam", { lr = 1e-3 }) },
  { "RMSprop", steps("RMSprop", { lr = 1e-3 }) },
  { "Adagrad", steps("Adagrad", { lr = 1e-3 }) },
}
