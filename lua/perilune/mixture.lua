--- What a MixtureSameFamily is made of: construction, expectations and draws.
local Categorical  = require "perilune.distributions.Categorical"
local Distribution = require "perilune.distribution"
local Independent  = require "perilune.distributions.Independent"
local class        = require "perilune.class"
local construction = require "perilune.construction"
local core         = require "perilune.core"
local events       = require "perilune.events"
local functions    = require "perilune.functions"
local hulls        = require "perilune.hulls"
local lazy         = require "perilune.lazy"
local show         = require "perilune.show"
local sums         = require "perilune.mixture_sums"
local tensor       = require "perilune.tensor"

local one_sided = lazy "one_sided"

local where, maximum, exp = functions.where, functions.maximum, functions.exp
local TINY = 2 ^ -1022

local mixture = {}


-- Construction ------------------------------------------------------------------

local fail = construction.fail

local function is_distribution (x) return class.is_instance(x, Distribution) end

local function described (x) return is_distribution(x) and tostring(x) or show.value(x) end

local function check (c, weights, component)
  if not (is_distribution(weights) and weights:is_a(Categorical)) then
    fail(c, "mixture_distribution must be a Categorical, got %s", described(weights))
  end
  if not is_distribution(component) then
    fail(c, "component_distribution must be a distribution, got %s", described(component))
  end
  local shape, outcomes = component.batch_shape, weights.support.high
  if shape[#shape] ~= outcomes then
    fail(c, "component_distribution must have %d in the last dimension of its batch, one for each outcome of the "
         .. "mixture, got a batch of shape %s", outcomes, show.shape(shape))
  end
end

-- The batch shape of the mixture: that of the weights against that of the components without the last.
local function batch_of (c, weights, component)
  local shape = { table.unpack(component.batch_shape) }
  shape[#shape] = nil
  local zero = core.tensor(0)
  local batch, why = core.broadcast_shape(zero:expand(weights.batch_shape), zero:expand(shape))
  if not batch then fail(c, "mixture_distribution and component_distribution of %s", why) end
  return batch
end

-- Is an event a row of independent numbers?
local function is_factored (d)
  return d:is_a(Independent) and d.reinterpreted_batch_ndims == 1 and #d.event_shape == 1
end

-- Zeros with the derivatives of the weights that logits lose where one of probs is 0 (one_sided.lua), or nil.
local function lost_slopes (weights)
  local probs = rawget(weights, "probs")
  if not (core.tracked(probs) and one_sided.touches_an_end(probs, true)) then return nil end
  return one_sided.row(probs, (one_sided.share_slopes(probs)), true)
end

-- Are all components laws of directions? true or nil.
local function is_circular (component)
  for _, d in ipairs(component.list or { component }) do
    if not d.is_circular then return nil end
  end
  return true
end

--- A law of this class, its parts not checked.
function mixture.assemble (c, weights, component, batch)
  local k = weights.support.high
  local self = setmetatable({}, c)
  self.batch_shape, self.event_shape = batch, component.event_shape
  self.mixture_distribution   = weights:expand(batch)
  self.component_distribution = component:expand(events.joined(batch, { k }))
  self.log_weights = tensor.log_softmax(self.mixture_distribution.logits)
  self.weights     = exp(self.log_weights)
  self.lost_slopes = lost_slopes(self.mixture_distribution)
  self.support     = hulls.along(component.support, events.joined(batch, { k }), component.event_shape)
  self.has_rsample = component.has_rsample and (#component.event_shape == 0 or is_factored(component))
  self.is_circular = is_circular(component)
  return self
end

local PARAMS = { "mixture_distribution", "component_distribution" }

--- A law of this class, for `construct`.
function mixture.make (c, ...)
  local weights, component = construction.arguments(c, PARAMS, ...)
  check(c, weights, component)
  return mixture.assemble(c, weights, component, batch_of(c, weights, component))
end


-- Expectations -------------------------------------------------------------------

--- opts for an expectation under the components, which together may spend what one law may.
function mixture.options (self, opts)
  local options = {}
  for key, value in pairs(opts) do options[key] = value end
  options.weights = self.weights
  options.purse = opts.purse or require "perilune.expectation".purse(self)
  return options
end

--- E[f(X)] component by component: each is integrated where it lives. The batch of components is
-- laid out for f as more rows.
function mixture.expectation (self, f, opts)
  local rank, k = #self.batch_shape, self.mixture_distribution.support.high
  local to, from = { 1, rank + 2 }, { 1 }   -- { n, batch, K } to { n, K, batch } and back
  for d = 2, rank + 1 do to[d + 1], from[d] = d, d + 1 end
  from[rank + 2] = 2
  local function by_rows (g)
    return function (x)
      local n = core.shape(x)[1]
      local values = g(x:permute(table.unpack(to)):reshape(n * k, table.unpack(self.batch_shape)))
      values = core.is_tensor(values) and values or core.tensor(values)
      return values:expand(n * k, table.unpack(self.batch_shape)):reshape(n, k, table.unpack(self.batch_shape))
             :permute(table.unpack(from))
    end
  end
  local options = mixture.options(self, opts)
  options.points = {}
  for i, x in ipairs(opts.points or {}) do options.points[i] = sums.padded(self, x) end
  if options.parts then
    options.parts = { inner = by_rows(options.parts.inner), outer = by_rows(options.parts.outer) }
  end
  local value, error = self.component_distribution:expectation(by_rows(f), options)
  return sums.mixed(self, value), sums.mixed(self, error)
end


-- Draws --------------------------------------------------------------------------

-- All components are drawn, and one of each row kept.
local function chosen (self, draws, outcome)
  local dim = -1 - #self.event_shape
  for _ = 1, #self.event_shape do outcome = outcome:unsqueeze(-1) end
  local x = draws:select(dim, 1)
  for j = 2, self.mixture_distribution.support.high do
    x = where(outcome:eq(j), draws:select(dim, j), x)
  end
  return x
end

--- Draws without slopes in the weights.
function mixture.drawn (self, shape, rng)
  local outcome = core.tensor(self.mixture_distribution:sample(shape, rng))
  return chosen(self, self.component_distribution:sample(shape, rng), outcome)
end

-- x with the slopes of a quantile of the mixture of numbers with these weights, dx = -dF/p, by the smaller
-- tail.
local function with_slopes (x, weights, cdf, sf, prob)
  local below, above, density = (weights * cdf):sum(-1), (weights * sf):sum(-1), (weights * prob):sum(-1)
  local reached = where(functions.lt(above, below), -above, below)
  return x - (reached - reached:detach()) / maximum(density:detach(), TINY)
end

-- Each number of a row in turn is that of a mixture, whose weights follow from the numbers before.
local function row_with_slopes (self, row)
  local base, numbers, log_weights = self.component_distribution.base_dist, {}, self.log_weights
  for j = 1, self.event_shape[1] do numbers[j] = row:select(-1, j) end
  for j = 1, #numbers do
    local at = sums.padded(self, tensor.stack(numbers, -1))
    local density = base:log_prob(at)
    local weights = tensor.softmax(log_weights + density:narrow(-1, 1, j):sum(-1) - density:select(-1, j))
    numbers[j] = with_slopes(numbers[j], weights, base:cdf(at):select(-1, j), base:sf(at):select(-1, j),
                             exp(density:select(-1, j)))
  end
  return tensor.stack(numbers, -1)
end

--- Draws x with slopes in the weights as well, if there are any.
function mixture.reparametrised (self, x)
  if not core.tracked(self:log_prob(x)) then return x end
  if #self.event_shape > 0 then return row_with_slopes(self, x) end
  local at, d = sums.padded(self, x), self.component_distribution
  return with_slopes(x, self.weights, d:cdf(at), d:sf(at), d:prob(at))
end

return mixture
