--- Optimisers: peri.optim.Adam(params, { lr = 0.01 }), and schedules and clipping of gradients.
--
--   opt:step()           moves the parameters by their gradients; one without a gradient stays
--   opt:zero_grad()      forgets the gradients
--   opt:schedule(fn)     fn(number of steps taken) is a factor of lr
--   opt:state()          a plain table, from which opt:restore(table) goes on
--
-- Names and defaults of options are torch's, and so are the steps; src/kernel/optim.c has the formulas.
local elementwise = require "perilune.optim.elementwise"
local errors      = require "perilune.errors"
local Optimiser   = require "perilune.optim.optimiser"
local params      = require "perilune.optim.params"

local rules, sqrt = Optimiser.rules, math.sqrt
local NO_CLIP = math.huge

--@ peri.optim
-- Optimisers, with torch's names, defaults and steps; schedules of learning rates; clipping of gradients.
-- > w = param { 5, -5 }
-- > opt = optim.Adam(w, { lr = 0.1 })
-- > for _ = 1, 300 do
-- >   opt:zero_grad()
-- >   local loss = (w * w):sum()
-- >   loss:backward()
-- >   opt:step()
-- > end
-- > w:detach():abs():max() < 0.1
-- true
local optim = {
  schedules       = require "perilune.optim.schedules",
  LBFGS           = require "perilune.optim.lbfgs",
  clip_grad_norm  = params.clip_grad_norm,
  clip_grad_value = params.clip_grad_value,
}

--@ peri.optim.SGD(params, options) -> Optimiser
-- Gradient descent, with momentum if told: m = momentum m + (1 - dampening) g; x = x - lr m.
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.001); momentum = share of the last move that is kept (0); dampening = share of the
--            gradient that is left out of the momentum (0); nesterov = true looks ahead along the momentum (false);
--            weight_decay = times the parameter is added to its gradient (0); maximize = true goes up (false)
-- > w = param(1)
-- > opt = optim.SGD(w, { lr = 0.25 })
-- > loss = w * w
-- > loss:backward()
-- > opt:step()
-- > item(w)
-- 0.5
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
-- Adam (Kingma and Ba 2015): steps about as long as lr, whatever the scale of gradients. For noisy gradients.
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.001); betas = decay of the means of gradients and of their squares ({ 0.9, 0.999
--            }); eps = added to the root of the latter (1e-8); weight_decay = times the parameter is added to its
--            gradient (0); amsgrad = true divides by the largest mean square so far (false); maximize = true goes up
--            (false)
-- > w = param(1)
-- > opt = optim.Adam(w, { lr = 0.25 })
-- > loss = w * w
-- > loss:backward()
-- > opt:step()
-- > string.format("%.6f", item(w))
-- 0.750000
optim.Adam = adam_of("Adam", 0, adam_constants)

--@ peri.optim.AdamW(params, options) -> Optimiser
-- Adam whose decay of weights is no part of the gradient (Loshchilov and Hutter 2019).
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.001); betas = decay of the means of gradients and of their squares ({ 0.9, 0.999
--            }); eps = added to the root of the latter (1e-8); weight_decay = parameters are multiplied by 1 - lr
--            weight_decay first (0.01); amsgrad = true divides by the largest mean square so far (false); maximize =
--            true goes up (false)
-- > optim.AdamW(param(1)).weight_decay
-- 0.01
optim.AdamW = adam_of("AdamW", 1e-2, adamw_constants)

--@ peri.optim.ClippedAdam(params, options) -> Optimiser
-- Pyro's Adam, for gradients with outliers: their elements are moved into [-clip_norm, clip_norm], and lr is
-- multiplied by lrd at every step.
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.001); betas = decay of the means of gradients and of their squares ({ 0.9, 0.999
--            }); eps = added to the root of the latter (1e-8); weight_decay = times the parameter is added to its
--            gradient (0); clip_norm = bound of each element (10); lrd = factor of lr at every step (1); maximize =
--            true goes up (false)
-- > optim.ClippedAdam(param(1), { lrd = 0.999 }).lrd
-- 0.999
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
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.002); betas = decay of the means of gradients and of their squares ({ 0.9, 0.999
--            }); eps = added to the root of the latter (1e-8); weight_decay = times the parameter is added to its
--            gradient (0); momentum_decay = how soon the momentum grows to the first of betas (0.004);
--            decoupled_weight_decay = true multiplies parameters by 1 - lr weight_decay instead (false); maximize =
--            true goes up (false)
-- > optim.NAdam(param(1)).momentum_decay
-- 0.004
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
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.001); betas = decay of the means of gradients and of their squares ({ 0.9, 0.999
--            }); eps = added to the root of the latter (1e-8); weight_decay = times the parameter is added to its
--            gradient (0); decoupled_weight_decay = true multiplies parameters by 1 - lr weight_decay instead
--            (false); maximize = true goes up (false)
-- > w = param(1)
-- > w.grad = 3
-- > optim.RAdam(w, { lr = 0.125 }):step()
-- > item(w)
-- 0.625
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
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.002); betas = decay of the mean of gradients and of the largest ({ 0.9, 0.999 });
--            eps = added to their sizes (1e-8); weight_decay = times the parameter is added to its gradient (0);
--            maximize = true goes up (false)
-- > optim.Adamax(param(1)).lr
-- 0.002
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
-- RMSprop (Hinton 2012): gradients divided by the root of their mean square, or of their variance.
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.01); alpha = decay of the mean square (0.99); eps = added to the root (1e-8);
--            weight_decay = times the parameter is added to its gradient (0); momentum = share of the last move that
--            is kept (0); centered = true divides by the root of the variance (false); maximize = true goes up
--            (false)
-- > optim.RMSprop(param(1)).alpha
-- 0.99
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
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.01); lr_decay = the rate after n steps is lr/(1 + n lr_decay) (0); weight_decay =
--            times the parameter is added to its gradient (0); initial_accumulator_value = where the sum begins (0);
--            eps = added to the root (1e-10); maximize = true goes up (false)
-- > optim.Adagrad(param(1)).lr
-- 0.01
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
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (1); rho = decay of the mean squares of gradients and of steps (0.9); eps = added to
--            these (1e-6); weight_decay = times the parameter is added to its gradient (0); maximize = true goes up
--            (false)
-- > optim.Adadelta(param(1)).rho
-- 0.9
optim.Adadelta = elementwise {
  name = "Adadelta", forms = { { "adadelta", rows = { "square", "step_square" } } },
  options = {
    { "lr", 1, rules.positive }, { "rho", 0.9, rules.fraction }, { "eps", 1e-6, rules.nonnegative },
    { "weight_decay", 0, rules.nonnegative },
  },
  constants = function (self, rate) return self.weight_decay, rate, self.rho, self.eps end,
}

--@ peri.optim.Rprop(params, options) -> Optimiser
-- Rprop (Riedmiller and Braun 1993): a size of step for each element, which grows while its gradient keeps its sign
-- and shrinks when that changes. For objectives without noise.
--   params   parameter, or a (nested) table of parameters
--   options  lr = size of the first step (0.01); etas = factors of the size where the sign changed and where it did
--            not ({ 0.5, 1.2 }); step_sizes = least and largest ({ 1e-6, 50 }); maximize = true goes up (false)
-- > w = param(1)
-- > w.grad = 3
-- > opt = optim.Rprop(w, { lr = 0.25 })
-- > opt:step()
-- > item(w)
-- 0.75
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
