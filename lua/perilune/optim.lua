--- Optimisers: peri.optim.Adam(params, { lr = 0.01 }), and schedules and clipping of gradients.
--
--   opt:step()           moves the parameters by their gradients; one without a gradient stays
--   opt:zero_grad()      forgets the gradients
--   opt:schedule(fn)     fn(number of steps taken) is a factor of lr
--   opt:state()          a plain table, from which opt:restore(table) goes on
--
-- Names and defaults of options are torch's, and so are the steps, to the last bit (src/kernel/optim.c has the
-- formulas).
local elementwise = require "perilune.optim.elementwise"
local errors      = require "perilune.errors"
local Optimiser   = require "perilune.optim.optimiser"
local params      = require "perilune.optim.params"

local rules, sqrt = Optimiser.rules, math.sqrt
local NO_CLIP = math.huge

local optim = {
  schedules       = require "perilune.optim.schedules",
  LBFGS           = require "perilune.optim.lbfgs",
  clip_grad_norm  = params.clip_grad_norm,
  clip_grad_value = params.clip_grad_value,
}

--@ peri.optim.SGD(params, options) -> Optimiser
-- Gradient descent, with momentum if told.
--   params   a parameter, or a table of them, nested as you like
--   options  lr = 0.001, momentum = 0, dampening = 0, nesterov = false, weight_decay = 0, maximize = false
optim.SGD = elementwise {
  name = "SGD", forms = { { "sgd", rows = { "momentum" } }, { "descent", rows = {} } },
  options = {
    { "lr", 1e-3, rules.positive }, { "momentum", 0, rules.nonnegative }, { "dampening", 0, rules.number },
    { "nesterov", false, rules.boolean }, { "weight_decay", 0, rules.nonnegative },
  },
  check = function (self)
    if self.nesterov and (self.momentum == 0 or self.dampening ~= 0) then
      errors.raise("SGD: nesterov needs a positive momentum and no dampening")
    end
  end,
  form = function (self, forms) return forms[self.momentum == 0 and 2 or 1] end,
  constants = function (self, rate, count)   -- the first gradient is the first momentum
    local keep, take = self.momentum, count == 1 and 1 or 1 - self.dampening
    local direct, through = 0, 1
    if self.nesterov then direct, through = 1, keep end
    return self.weight_decay, rate, keep, take, direct, through
  end,
}


-- Adam and its relatives ---------------------------------------------------------

local MOMENTS = { "momentum", "square" }

local function adam_options (lr, weight_decay, ...)
  return {
    { "lr", lr, rules.positive }, { "betas", { 0.9, 0.999 }, rules.fractions }, { "eps", 1e-8, rules.nonnegative },
    { "weight_decay", weight_decay, rules.nonnegative }, ...
  }
end

-- Decay as part of the gradient, and as a factor of the parameter.
local function decay_of (self, rate, decoupled)
  if decoupled then return 0, 1 - rate * self.weight_decay end
  return self.weight_decay, 1
end

local function adam_constants (self, rate, count)
  local betas = self.betas
  local b1, b2 = betas[1], betas[2]
  return self.weight_decay, rate / (1 - b1 ^ count), 1, b1, b2, 1 / sqrt(1 - b2 ^ count), self.eps, NO_CLIP
end

local function adamw_constants (self, rate, count)
  local _, lr, _, b1, b2, correct, eps, clip = adam_constants(self, rate, count)
  return 0, lr, 1 - rate * self.weight_decay, b1, b2, correct, eps, clip
end

local function adam_of (name, weight_decay, constants)
  return elementwise {
    name = name, options = adam_options(1e-3, weight_decay, { "amsgrad", false, rules.boolean }),
    forms = { { "amsgrad", rows = { "momentum", "square", "largest" } }, { "adam", rows = MOMENTS } },
    form = function (self, forms) return forms[self.amsgrad and 1 or 2] end, constants = constants,
  }
end

--@ peri.optim.Adam(params, options) -> Optimiser
-- Adam (Kingma and Ba 2015): steps as long as lr, whatever the scale of gradients.
--   params   a parameter, or a table of them, nested as you like
--   options  lr = 0.001, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0, amsgrad = false, maximize = false
optim.Adam = adam_of("Adam", 0, adam_constants)

--@ peri.optim.AdamW(params, options) -> Optimiser
-- Adam whose decay of weights is no part of the gradient (Loshchilov and Hutter 2019).
--   params   a parameter, or a table of them, nested as you like
--   options  as Adam's, with weight_decay = 0.01
optim.AdamW = adam_of("AdamW", 1e-2, adamw_constants)

--@ peri.optim.ClippedAdam(params, options) -> Optimiser
-- Pyro's Adam: elements of gradients are moved into [-clip_norm, clip_norm], and lr is multiplied by lrd at every
-- step.
--   params   a parameter, or a table of them, nested as you like
--   options  as Adam's but amsgrad; clip_norm = 10, lrd = 1
optim.ClippedAdam = elementwise {
  name = "ClippedAdam", forms = { { "adam", rows = MOMENTS } },
  options = adam_options(1e-3, 0, { "clip_norm", 10, rules.positive }, { "lrd", 1, rules.positive }),
  constants = function (self, rate, count)   -- eps is added before the correction of the mean square
    local decay, lr, shrink, b1, b2, correct, eps = adam_constants(self, rate * self.lrd ^ (self.steps + 1), count)
    return decay, lr, shrink, b1, b2, correct, eps * correct, self.clip_norm
  end,
}

-- The momentum that NAdam has at a step.
local function nadam_momentum (b1, decay, count) return b1 * (1 - 0.5 * 0.96 ^ (count * decay)) end

local NEGLIGIBLE = 2 ^ -54   -- beside 1
local last = { b1 = 0, decay = 0, count = 0, value = 1 }   -- the product that was computed last

-- The product of the first `count` of them. A negligible one is as good as those after it, and where momenta no longer
-- grow the rest is a power: so this is quick for any count.
local function nadam_product (b1, decay, count)
  if last.b1 ~= b1 or last.decay ~= decay or last.count > count then
    last = { b1 = b1, decay = decay, count = 0, value = 1 }
  end
  while last.count < count and last.value >= NEGLIGIBLE do
    local momentum = nadam_momentum(b1, decay, last.count + 1)
    if momentum == b1 then return last.value * b1 ^ (count - last.count) end
    last.count, last.value = last.count + 1, last.value * momentum
  end
  return last.value
end

--@ peri.optim.NAdam(params, options) -> Optimiser
-- Adam with Nesterov's momentum (Dozat 2016), which grows with steps.
--   params   a parameter, or a table of them, nested as you like
--   options  as Adam's but amsgrad, with lr = 0.002; momentum_decay = 0.004, decoupled_weight_decay = false
optim.NAdam = elementwise {
  name = "NAdam", forms = { { "nadam", rows = MOMENTS } },
  options = adam_options(2e-3, 0, { "momentum_decay", 4e-3, rules.nonnegative },
                         { "decoupled_weight_decay", false, rules.boolean }),
  constants = function (self, rate, count)
    local betas, momentum_decay = self.betas, self.momentum_decay
    local b1, b2 = betas[1], betas[2]
    local decay, shrink = decay_of(self, rate, self.decoupled_weight_decay)
    local mu, next_mu = nadam_momentum(b1, momentum_decay, count), nadam_momentum(b1, momentum_decay, count + 1)
    local product = nadam_product(b1, momentum_decay, count)
    local direct, ahead = rate * (1 - mu) / (1 - product), rate * next_mu / (1 - product * next_mu)
    return decay, direct, shrink, b1, b2, 1 - b2 ^ count, self.eps, ahead
  end,
}

--@ peri.optim.RAdam(params, options) -> Optimiser
-- Adam that divides by the mean square only when that is known well enough (Liu and others 2020).
--   params   a parameter, or a table of them, nested as you like
--   options  as Adam's but amsgrad; decoupled_weight_decay = false
optim.RAdam = elementwise {
  name = "RAdam", forms = { { "radam", rows = MOMENTS } },
  options = adam_options(1e-3, 0, { "decoupled_weight_decay", false, rules.boolean }),
  constants = function (self, rate, count)
    local betas = self.betas
    local b1, b2 = betas[1], betas[2]
    local decay, shrink = decay_of(self, rate, self.decoupled_weight_decay)
    local correct = 1 - b2 ^ count
    local most = 2 / (1 - b2) - 1    -- gradients that the mean square is worth, in the end
    local worth = most - 2 * count * b2 ^ count / correct
    local rectify = 0                -- does not divide
    if worth > 5 then rectify = sqrt((worth - 4) * (worth - 2) * most / ((most - 4) * (most - 2) * worth)) end
    return decay, rate, shrink, b1, b2, sqrt(correct), self.eps, 1 - b1 ^ count, rectify
  end,
}

--@ peri.optim.Adamax(params, options) -> Optimiser
-- Adam with the largest gradient so far, which fades, for the root of the mean square (Kingma and Ba 2015).
--   params   a parameter, or a table of them, nested as you like
--   options  as Adam's but amsgrad, with lr = 0.002
optim.Adamax = elementwise {
  name = "Adamax", forms = { { "adamax", rows = { "momentum", "largest" } } }, options = adam_options(2e-3, 0),
  constants = function (self, rate, count)
    local betas = self.betas
    local b1, b2 = betas[1], betas[2]
    return self.weight_decay, rate / (1 - b1 ^ count), b1, b2, self.eps
  end,
}


-- Others ---------------------------------------------------------------------------

--@ peri.optim.RMSprop(params, options) -> Optimiser
-- RMSprop (Hinton 2012): gradients divided by the root of their mean square, or of their variance if centered.
--   params   a parameter, or a table of them, nested as you like
--   options  lr = 0.01, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0, centered = false, maximize = false
optim.RMSprop = elementwise {
  name = "RMSprop",
  forms = { { "rmsprop_moving", rows = { "momentum", "square", "mean" } }, { "rmsprop", rows = { "square" } } },
  options = {
    { "lr", 1e-2, rules.positive }, { "alpha", 0.99, rules.fraction }, { "eps", 1e-8, rules.nonnegative },
    { "weight_decay", 0, rules.nonnegative }, { "momentum", 0, rules.nonnegative },
    { "centered", false, rules.boolean },
  },
  form = function (self, forms) return forms[self.momentum == 0 and not self.centered and 2 or 1] end,
  constants = function (self, rate)
    return self.weight_decay, rate, self.alpha, self.momentum, self.centered and 1 or 0, self.eps
  end,
}

--@ peri.optim.Adagrad(params, options) -> Optimiser
-- Adagrad (Duchi, Hazan and Singer 2011): gradients divided by the root of the sum of all squares so far.
--   params   a parameter, or a table of them, nested as you like
--   options  lr = 0.01, lr_decay = 0, weight_decay = 0, initial_accumulator_value = 0, eps = 1e-10, maximize = false
optim.Adagrad = elementwise {
  name = "Adagrad", forms = { { "adagrad", rows = { "total" } } }, initial = { total = "initial_accumulator_value" },
  options = {
    { "lr", 1e-2, rules.positive }, { "lr_decay", 0, rules.nonnegative }, { "weight_decay", 0, rules.nonnegative },
    { "initial_accumulator_value", 0, rules.nonnegative }, { "eps", 1e-10, rules.nonnegative },
  },
  constants = function (self, rate, count)
    return self.weight_decay, rate / (1 + (count - 1) * self.lr_decay), self.eps
  end,
}

--@ peri.optim.Adadelta(params, options) -> Optimiser
-- Adadelta (Zeiler 2012): gradients in units of the steps before them, so that lr has no units.
--   params   a parameter, or a table of them, nested as you like
--   options  lr = 1, rho = 0.9, eps = 1e-6, weight_decay = 0, maximize = false
optim.Adadelta = elementwise {
  name = "Adadelta", forms = { { "adadelta", rows = { "square", "step_square" } } },
  options = {
    { "lr", 1, rules.positive }, { "rho", 0.9, rules.fraction }, { "eps", 1e-6, rules.nonnegative },
    { "weight_decay", 0, rules.nonnegative },
  },
  constants = function (self, rate) return self.weight_decay, rate, self.rho, self.eps end,
}

--@ peri.optim.Rprop(params, options) -> Optimiser
-- Rprop (Riedmiller and Braun 1993): a step size for each element, times the second of etas while its gradient keeps
-- its sign, times the first where that changes, within step_sizes. The first size is lr, which means nothing later.
--   params   a parameter, or a table of them, nested as you like
--   options  lr = 0.01, etas = {0.5, 1.2}, step_sizes = {1e-6, 50}, maximize = false
optim.Rprop = elementwise {
  name = "Rprop", forms = { { "rprop", rows = { "previous", "step_size" } } }, initial = { step_size = "lr" },
  options = {
    { "lr", 1e-2, rules.positive }, { "etas", { 0.5, 1.2 }, rules.factors },
    { "step_sizes", { 1e-6, 50 }, rules.bounds },
  },
  constants = function (self)
    local etas, sizes = self.etas, self.step_sizes
    return 0, etas[1], etas[2], sizes[1], sizes[2]
  end,
}

function optim.Rprop.schedule ()
  errors.raise("Rprop: there are no schedules, because lr is the size of the first step alone")
end

return errors.module("optim", optim)
