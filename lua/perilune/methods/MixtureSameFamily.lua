--- Methods of MixtureSameFamily.
local class     = require "perilune.class"
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"
local show      = require "perilune.show"
local tails     = require "perilune.tails"

local effort         = lazy "effort"
local higher_moments = lazy "higher_moments"
local line_moments   = lazy "line_moments"
local mixture        = lazy "mixture"
local points         = lazy "points"
local search         = lazy "mixture_search"
local sums           = lazy "mixture_sums"

local raise, where = errors.raise, functions.where

local MixtureSameFamily = {}

function MixtureSameFamily.construct (c, ...) return mixture.make(c, ...) end

function MixtureSameFamily:__tostring ()
  return string.format("%s(%s, %s)", class.name(class.of(self)), tostring(self.mixture_distribution),
                       tostring(self.component_distribution))
end

function MixtureSameFamily:with_batch (shape)
  shape = core.to_shape(shape, "MixtureSameFamily:with_batch")
  return mixture.assemble(class.of(self), self.mixture_distribution, self.component_distribution, shape)
end


-- Densities, tails and moments ----------------------------------------------------

function MixtureSameFamily:log_prob (x)
  return sums.log_mixed(self, self.component_distribution:log_prob(sums.padded(self, x)))
end

-- Refuses what vectors do not have.
local function check_univariate (self, name)
  if #self.event_shape == 0 then return end
  raise("%s has no %s: an event has shape %s", class.name(class.of(self)), name, show.shape(self.event_shape))
end

function MixtureSameFamily:log_cdf (x)
  check_univariate(self, "log_cdf")
  return (sums.log_tails(self, x))
end

function MixtureSameFamily:log_sf (x)
  check_univariate(self, "log_sf")
  return (select(2, sums.log_tails(self, x)))
end

function MixtureSameFamily:cdf (x)
  check_univariate(self, "cdf")
  return (sums.tails(self, x))
end

function MixtureSameFamily:sf (x)
  check_univariate(self, "sf")
  return (select(2, sums.tails(self, x)))
end

local Class = require "perilune.distributions.MixtureSameFamily"
tails.say(Class, "cdf", "sf", sums.tails)
tails.say(Class, "log_cdf", "log_sf", sums.log_tails)

function MixtureSameFamily:mean () return sums.mixed(self, self.component_distribution:mean()) end

--- The law of total variance: within components, and between their means.
function MixtureSameFamily:variance ()
  local means = self.component_distribution:mean()
  local mean = sums.padded(self, sums.mixed(self, means))
  local between = where(functions.eq(means, mean), 0, means - mean)
  return sums.mixed(self, line_moments.variance(self.component_distribution) + between * between)
end

--- E[f(X)] component by component: each is integrated where it lives.
function MixtureSameFamily:expectation (...)
  return mixture.expectation(self, require "perilune.expectation".checked(self, ...))
end

function MixtureSameFamily:entropy ()
  check_univariate(self, "entropy")
  local is_discrete = self.support and self.support.is_discrete
  local jumps = not is_discrete and points.inner_jumps(self) or nil
  return -self:expectation(function (x) return self:log_prob(x) end, { beside = effort.density(self), points = jumps })
end


-- Quantiles and mode --------------------------------------------------------------

local function as_number (p) return type(p) == "table" and core.tensor(p) or p end

function MixtureSameFamily:icdf (p)
  check_univariate(self, "icdf")
  p = as_number(p)
  if p == 0 or p == 1 then return search.edge(self, p) end
  local upper = functions.gt(p, 0.5)
  return search.quantile(self, where(upper, 1 - p, p), upper, p)
end

function MixtureSameFamily:isf (q)
  check_univariate(self, "isf")
  q = as_number(q)
  local upper = functions.le(q, 0.5)
  return search.quantile(self, where(upper, q, 1 - q), upper, q)
end


function MixtureSameFamily:mode ()
  check_univariate(self, "mode")
  return search.mode(self)
end


-- Samples ------------------------------------------------------------------------

--- All draws of outcomes come before those of components.
function MixtureSameFamily:sample (shape, rng)
  local x = mixture.drawn(self, shape, rng)
  local single = shape == nil and #self.batch_shape == 0 and self.support and self.support.is_discrete
  return single and math.tointeger(core.item(x)) or x
end

--- The draws of `sample`, with slopes in the weights as well.
function MixtureSameFamily:rsample (shape, rng)
  if not self.has_rsample then
    raise("%s has no rsample: its components must have one, and be of single or independent numbers",
          class.name(class.of(self)))
  end
  return mixture.reparametrised(self, mixture.drawn(self, shape, rng))
end

--- Those of the component with the heaviest tail, if it has a weight.
function MixtureSameFamily:moments_below ()
  local upper, lower = higher_moments.orders(self.component_distribution)
  local function least (orders)
    return where(functions.gt(self.weights, 0), orders, math.huge):min(-1)
  end
  return least(upper), least(lower)
end

return MixtureSameFamily
