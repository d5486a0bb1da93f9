--- Methods of MixtureDistribution.
local Distribution = require "perilune.distribution"
local Categorical  = require "perilune.distributions.Categorical"
local class        = require "perilune.class"
local construction = require "perilune.construction"
local core         = require "perilune.core"
local lazy         = require "perilune.lazy"
local show         = require "perilune.show"

local mixture    = lazy "mixture"
local SideBySide = lazy "side_by_side"
local sums       = lazy "mixture_sums"

local fail = construction.fail

local function is_distribution (x) return class.is_instance(x, Distribution) end

local function described (x) return is_distribution(x) and tostring(x) or show.value(x) end

local function is_discrete (d) return d.support ~= nil and d.support.is_discrete or false end

-- The components as a list of our own.
local function checked_components (c, list)
  if core.table_kind(list) ~= "data" or rawlen(list) == 0 then
    fail(c, "components must be a table of distributions, got %s", described(list))
  end
  list = core.check_list(class.name(c), "components", list)
  for k, d in ipairs(list) do
    if not is_distribution(d) then fail(c, "component %d must be a distribution, got %s", k, show.value(d)) end
  end
  for k, d in ipairs(list) do
    if show.shape(d.event_shape) ~= show.shape(list[1].event_shape) then
      fail(c, "components must have events of one shape, got %s for component 1 and %s for component %d",
           show.shape(list[1].event_shape), show.shape(d.event_shape), k)
    elseif is_discrete(d) ~= is_discrete(list[1]) then
      fail(c, "components must all be discrete or all continuous, got %s and %s", tostring(list[1]), tostring(d))
    end
  end
  return list
end

local function checked (c, mixing, list)
  if not (is_distribution(mixing) and mixing:is_a(Categorical)) then
    fail(c, "mixing must be a Categorical, got %s", described(mixing))
  end
  list = checked_components(c, list)
  if mixing.support.high ~= #list then
    fail(c, "there must be as many components as outcomes of mixing, which has %d, got %d", mixing.support.high, #list)
  end
  return list
end

-- The batch shape of all together.
local function batch_of (c, mixing, list)
  local zero, parts = core.tensor(0), {}
  parts[1] = zero:expand(mixing.batch_shape)
  for k, d in ipairs(list) do parts[k + 1] = zero:expand(d.batch_shape) end
  local batch, why = core.broadcast_shape(table.unpack(parts))
  if not batch then fail(c, "mixing and components of %s", why) end
  return batch
end

-- The components as laws of numbers, where not all are laws of directions: those count for one turn.
local function on_line (list)
  local copy, turning = {}, 0
  for k, d in ipairs(list) do copy[k], turning = d, turning + (d.is_circular and 1 or 0) end
  if turning == #list then return copy end
  for k, d in ipairs(copy) do copy[k] = require "perilune.one_turn"(d) end
  return copy
end

local function make (c, ...)
  local mixing, list = construction.arguments(c, { "mixing", "components" }, ...)
  list = on_line(checked(c, mixing, list))
  local batch = batch_of(c, mixing, list)
  return mixture.assemble(c, mixing, SideBySide.of(list, batch), batch)
end

local MixtureDistribution = { construct = make }

--- E[f(X)] component by component: each is integrated where it lives.
function MixtureDistribution:expectation (...)
  local f, opts = require "perilune.expectation".checked(self, ...)
  local values, error = self.component_distribution:expectation(f, mixture.options(self, opts))
  return sums.mixed(self, values), sums.mixed(self, error)
end

return MixtureDistribution
