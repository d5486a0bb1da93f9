--- Distributions of different families side by side, as the components of a mixture are: one object whose batch has
-- them along its last dimension.
local Distribution = require "perilune.distribution"
local core         = require "perilune.core"
local functions    = require "perilune.functions"
local hulls        = require "perilune.hulls"
local lazy         = require "perilune.lazy"
local line_moments = require "perilune.line_moments"
local tails        = require "perilune.tails"
local tensor       = require "perilune.tensor"

local higher_moments = lazy "higher_moments"

local SideBySide = Distribution:extend("SideBySide")

local MOST = 0.8   -- of what may be spent, for one of several components

local function as_tensor (x) return core.is_tensor(x) and x or core.tensor(x) end

-- The dimension of the components in values with an event, or without.
local function place (self, is_event) return is_event and -1 - #self.event_shape or -1 end

-- One value of each component, side by side; `is_event` where a value is an event.
local function joined (self, values, is_event)
  for k, value in ipairs(values) do values[k] = as_tensor(value) end
  return tensor.stack(values, place(self, is_event))
end

-- The part of x for component k, if it has one.
local function part (self, x, k)
  if not core.is_tensor(x) or core.rank(x) <= #self.event_shape then return x end
  return x:select(place(self, true), k)
end

for _, name in ipairs { "log_prob", "prob", "cdf", "sf", "log_cdf", "log_sf", "icdf", "isf" } do
  SideBySide[name] = function (self, x)
    local values = {}
    for k, d in ipairs(self.list) do values[k] = d[name](d, part(self, x, k)) end
    return joined(self, values)
  end
end

-- The two values that of(d, x) returns for each.
local function pairs_of (of)
  return function (self, x)
    local first, second = {}, {}
    for k, d in ipairs(self.list) do first[k], second[k] = of(d, part(self, x, k)) end
    return joined(self, first), joined(self, second)
  end
end

tails.say(SideBySide, "cdf", "sf", pairs_of(tails.plain))
tails.say(SideBySide, "log_cdf", "log_sf", pairs_of(tails.logarithms))

-- What `of` says of each.
local function of_each (of)
  return function (self)
    local values = {}
    for k, d in ipairs(self.list) do values[k] = of(d) end
    return joined(self, values, true)
  end
end

SideBySide.mean     = of_each(function (d) return (d:mean()) end)
SideBySide.mode     = of_each(function (d) return (d:mode()) end)
SideBySide.variance = of_each(line_moments.variance)

function SideBySide:moments_below ()
  local upper, lower = {}, {}
  for k, d in ipairs(self.list) do upper[k], lower[k] = higher_moments.orders(d) end
  local function expanded (orders)
    for k, order in ipairs(orders) do orders[k] = as_tensor(order):expand(self.list[k].batch_shape) end
    return joined(self, orders)
  end
  return expanded(upper), expanded(lower)
end

function SideBySide:sample (shape, rng)
  local values = {}
  for k, d in ipairs(self.list) do values[k] = d:sample(shape, rng) end
  return joined(self, values, true)
end

-- The places of components, the heaviest first, and their weights.
local function by_weight (self, weights)
  local order, heaviest = {}, {}
  for k in ipairs(self.list) do
    order[k], heaviest[k] = k, weights and core.item(as_tensor(core.bare(weights):select(-1, k)):max()) or 1
  end
  table.sort(order, function (i, j) return heaviest[i] > heaviest[j] or heaviest[i] == heaviest[j] and i < j end)
  return order, heaviest
end

-- opts for the next component, which may spend this part, where an error that is nothing beside the sum of those before
-- does not matter.
local function options_of (opts, share, sum, weight)
  local options = {}
  for key, value in pairs(opts or {}) do options[key] = value end
  options.weights = nil
  options.purse = opts and opts.purse and opts.purse:share(share)
  local enough = (options.rtol or 1e-13) * sum / math.max(weight, 1e-300)
  if enough < math.huge then options.atol = math.max(options.atol or 0, enough) end
  return options
end

-- The part of what is left to be spent that is for the i-th component in this order: more for those that weigh more.
local function part_of (order, heaviest, i)
  local rest = 0
  for k = i, #order do rest = rest + heaviest[order[k]] end
  return math.max(1 / (#order - i + 1), MOST * heaviest[order[i]] / math.max(rest, 1e-300))
end

-- The least |x| of a batch, of what is finite.
local function least (x)
  local size = core.item(as_tensor(functions.abs(core.bare(x))):min())
  return size < math.huge and size or 0
end

--- E f(X) of each, and the errors; opts.weights are those of the sum that they are for. Components of no weight are
-- left out.
function SideBySide:expectation (f, opts)
  local values, errors, sum = {}, {}, nil
  local weights = opts and opts.weights
  local order, heaviest = by_weight(self, weights)
  for i, k in ipairs(order) do
    if heaviest[k] == 0 and not core.tracked(weights) then
      values[k], errors[k] = core.zeros(self.list[k].batch_shape), core.zeros(self.list[k].batch_shape)
    else
      local options = options_of(opts, part_of(order, heaviest, i), sum and least(sum) or 0, heaviest[k])
      values[k], errors[k] = self.list[k]:expectation(f, options)
      if weights then sum = (sum or 0) + as_tensor(values[k]) * weights:select(-1, k) end
    end
  end
  return joined(self, values), joined(self, errors)
end

function SideBySide:__tostring ()
  local texts = {}
  for k, d in ipairs(self.list) do texts[k] = tostring(d) end
  return "{" .. table.concat(texts, ", ") .. "}"
end


-- Construction ----------------------------------------------------------------------

--- Those of a list, each with a batch of this shape.
function SideBySide.of (list, batch)
  local self = setmetatable({ list = {}, batch_shape = { table.unpack(batch) } }, SideBySide)
  self.batch_shape[#batch + 1] = #list
  self.event_shape, self.has_rsample = list[1].event_shape, true
  for k, d in ipairs(list) do
    self.list[k] = d:expand(batch)
    self.has_rsample = self.has_rsample and d.has_rsample
  end
  self.support = hulls.of_list(self.list)
  return self
end

function SideBySide:with_batch (shape)
  shape = core.to_shape(shape, "SideBySide:with_batch")
  return SideBySide.of(self.list, { table.unpack(shape, 1, #shape - 1) })
end

return SideBySide
