--- Methods of TransformedDistribution.
local Distribution = require "perilune.distribution"
local Independent  = require "perilune.distributions.Independent"
local class        = require "perilune.class"
local core         = require "perilune.core"
local errors       = require "perilune.errors"
local events       = require "perilune.events"
local functions    = require "perilune.functions"
local lazy         = require "perilune.lazy"
local show         = require "perilune.show"

local higher_moments = lazy "higher_moments"
local peaks          = lazy "peaks"
local stages         = lazy "stages"
local transformed    = lazy "transformed"

local raise = errors.raise

local TransformedDistribution = {}

function TransformedDistribution.construct (c, ...) return transformed.make(c, ...) end

--- For subclasses.
function TransformedDistribution:complete (base, list) return transformed.complete(self, base, list) end


-- Methods ------------------------------------------------------------------------------------

function TransformedDistribution:log_prob (x)
  local law = self.law
  return core.fused(law.log_prob, law, events.argument(self, "log_prob", x))
end

-- Refuses tails and quantiles of vectors, and of what increases here and decreases there.
local function check_ordered (self, name)
  local reason = nil
  for _, map in ipairs(self.transforms) do
    if not map.sign and not stages.is_kind(map, "Abs") then reason = tostring(map) .. " is not monotone" end
  end
  if #self.event_shape > 0 then reason = "an event has shape " .. show.shape(self.event_shape) end
  if reason then raise("%s has no %s: %s", class.name(class.of(self)), name, reason) end
end

for name, of in pairs { cdf = "x", sf = "x", log_cdf = "x", log_sf = "x", icdf = "p", isf = "q" } do
  TransformedDistribution[name] = function (self, x)
    check_ordered(self, name)
    local law = self.law
    return core.fused(law[name], law, events.argument(self, name, x, of))
  end
end

function TransformedDistribution:median ()
  check_ordered(self, "median")
  return self.law:icdf(0.5)
end

-- Are all transforms such that the highest point stays the highest?
local function keeps_heights (self)
  local discrete = self.support and self.support.is_discrete
  for _, map in ipairs(self.transforms) do
    local plain = stages.is_kind(map, "Affine") or stages.is_kind(map, "Reshape")
    if not (plain or discrete and map.bijective) then return false end
  end
  return true
end

-- Refuses integrals over vectors.
local function check_integral (self, name)
  if #self.event_shape == 0 or class.of(self.law) == Independent or keeps_heights(self) then return end
  raise("%s has no %s: an event has shape %s", class.name(class.of(self)), name, show.shape(self.event_shape))
end

for _, name in ipairs { "mean", "variance", "stddev", "entropy" } do
  TransformedDistribution[name] = function (self)
    check_integral(self, name)
    return self.law[name](self.law)
  end
end

function TransformedDistribution:mode ()
  if keeps_heights(self) then return self.transform:forward(self.base_dist:mode()) end
  if class.of(self.law) == Independent then return self.law:mode() end
  check_ordered(self, "mode")
  return peaks.mode(self, self.base_dist, self.transforms)
end

function TransformedDistribution:expectation (...)
  return self.law:expectation(require "perilune.expectation".checked(self, ...))
end

function TransformedDistribution:rsample (shape, rng)
  if not self.has_rsample then
    raise("%s has no rsample: %s has none", class.name(class.of(self)), tostring(self.base_dist))
  end
  return self.transform:forward(self.base_dist:rsample(shape, rng))
end

--- Nothing of it is recorded.
function TransformedDistribution:sample (shape, rng)
  return core.no_grad(function () return self.transform:forward(self.base_dist:sample(shape, rng)) end)
end

function TransformedDistribution:with_batch (shape)
  shape = core.to_shape(shape, "TransformedDistribution:with_batch")
  local copy = {}
  for key, value in pairs(self) do copy[key] = value end
  return transformed.complete(setmetatable(copy, class.of(self)), self.base_dist:expand(shape), self.transforms)
end

function TransformedDistribution:enumerate_support ()
  if not (self.support and self.support.is_discrete) then return Distribution.enumerate_support(self) end
  return self.transform:forward(self.base_dist:enumerate_support())
end

function TransformedDistribution:__tostring ()
  local names = {}
  for i, t in ipairs(self.transforms) do names[i] = tostring(t) end
  return string.format("%s(%s, [%s])", class.name(class.of(self)), tostring(self.base_dist), table.concat(names, ", "))
end

-- [kind of a transform] = what becomes of the orders of a law by it; of other kinds nothing is known.
local orders_of = {
  Affine = function (map, upper, lower)
    local is_up = functions.gt(map.scale, 0)
    return functions.where(is_up, upper, lower), functions.where(is_up, lower, upper)
  end,
  Power = function (map, upper)
    local exponent = map.exponent
    return functions.where(functions.gt(exponent, 0), upper / exponent, math.huge), math.huge
  end,
  Abs = function (_, upper, lower) return functions.minimum(upper, lower), math.huge end,
}

function TransformedDistribution:moments_below ()
  local upper, lower = higher_moments.orders(self.base_dist)
  for _, map in ipairs(self.transforms) do
    local of = stages.is_kind(map, map.name) and orders_of[map.name]
    if not of then return math.huge, math.huge end
    upper, lower = of(map, upper, lower)
  end
  return upper, lower
end

return TransformedDistribution
