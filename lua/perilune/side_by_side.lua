--- Distributions of different families side by side, as the components of a mixture are: one object whose batch has
-- them along its last dimension.
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local tensor       = require "perilune.tensor"

local SideBySide = Distribution:extend("SideBySide")

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

for _, name in ipairs { "mean", "variance", "mode" } do
  SideBySide[name] = function (self)
    local values = {}
    for k, d in ipairs(self.list) do values[k] = d[name](d) end
    return joined(self, values, true)
  end
end

function SideBySide:sample (shape, rng)
  local values = {}
  for k, d in ipairs(self.list) do values[k] = d:sample(shape, rng) end
  return joined(self, values, true)
end

--- E f(X) of each, and the errors.
function SideBySide:expectation (f, opts)
  local values, errors = {}, {}
  for k, d in ipairs(self.list) do values[k], errors[k] = d:expectation(f, opts) end
  return joined(self, values), joined(self, errors)
end

function SideBySide:__tostring ()
  local texts = {}
  for k, d in ipairs(self.list) do texts[k] = tostring(d) end
  return "{" .. table.concat(texts, ", ") .. "}"
end


-- Supports ------------------------------------------------------------------------

-- An end of all supports: a number where all are, or one is infinite; else one for each component.
local function end_of (list, which, pick, infinite)
  local ends, numbers = {}, true
  for k, d in ipairs(list) do
    ends[k] = d.support[which]
    if ends[k] == infinite then return infinite end
    numbers = numbers and type(ends[k]) == "number"
  end
  if numbers then return pick(table.unpack(ends)) end
  for k, d in ipairs(list) do ends[k] = as_tensor(ends[k]):expand(d.batch_shape) end
  return tensor.stack(ends, -1)
end

-- Is this end open for all that have it?
local function is_open (list, which, finish, flag)
  for _, d in ipairs(list) do
    if d.support[which] == finish and not d.support[flag] then return false end
  end
  return type(finish) == "number"
end

local function support_of (list)
  local first, same, on_line = list[1].support, true, true
  for _, d in ipairs(list) do
    if not d.support then return nil end
    same = same and d.support == first
    on_line = on_line and d.support.low ~= nil and d.support.high ~= nil
  end
  if same then return first end
  if not on_line then return constraints.independent(constraints.real, #list[1].event_shape) end
  local low, high = end_of(list, "low", math.min, -math.huge), end_of(list, "high", math.max, math.huge)
  if first.is_discrete then return constraints.integer_interval(low, high) end
  return constraints.between(low, high, is_open(list, "low", low, "left_open"),
                             is_open(list, "high", high, "right_open"))
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
  self.support = support_of(self.list)
  return self
end

function SideBySide:with_batch (shape)
  shape = core.to_shape(shape, "SideBySide:with_batch")
  return SideBySide.of(self.list, { table.unpack(shape, 1, #shape - 1) })
end

return SideBySide
