--- Methods of Independent.
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local construction = require "perilune.construction"
local core         = require "perilune.core"
local events       = require "perilune.events"
local show         = require "perilune.show"

local function check (c, base, n)
  if not class.is_instance(base, Distribution) then
    construction.fail(c, "base_distribution must be a distribution, got %s", show.value(base))
  end
  local most = #base.batch_shape
  if math.type(n) ~= "integer" or n < 0 or n > most then
    construction.fail(c, "reinterpreted_batch_ndims must be an integer between 0 and %d, the dimensions of the batch, "
                   .. "got %s", most, show.value(n))
  end
end

local PARAMS = { "base_distribution", "reinterpreted_batch_ndims" }

local function make (c, ...)
  local base, n = construction.arguments(c, PARAMS, ...)
  check(c, base, n)
  local self = setmetatable({ base_dist = base, reinterpreted_batch_ndims = n }, c)
  local batch, rank = base.batch_shape, #base.batch_shape - n
  self.event_shape = events.joined({ table.unpack(batch, rank + 1) }, base.event_shape)
  if rawget(base, "batch_shape") then self.batch_shape = { table.unpack(batch, 1, rank) } end
  self.support = base.support and constraints.independent(base.support, n)
  self.has_rsample = base.has_rsample
  return self
end

local Independent = { construct = make }

for _, name in ipairs { "mean", "variance", "stddev", "mode" } do
  Independent[name] = function (self) return self.base_dist[name](self.base_dist) end
end

for _, name in ipairs { "sample", "rsample" } do
  Independent[name] = function (self, shape, rng) return self.base_dist[name](self.base_dist, shape, rng) end
end

--- What is the same for several parts of an event may be given once; an event of more parts than ours has no density.
function Independent:log_prob (x)
  local event, n = self.event_shape, self.reinterpreted_batch_ndims
  local each = self.base_dist:log_prob(x)
  local parts = #event == n and event or { table.unpack(event, 1, n) }
  if not core.ends_with(each, parts) then events.refuse(self, "log_prob", x) end
  return events.sum_rightmost(each, n)
end

function Independent:entropy ()
  return events.sum_rightmost(self.base_dist:entropy(), self.reinterpreted_batch_ndims)
end

function Independent:with_batch (shape)
  shape = core.to_shape(shape, "Independent:with_batch")
  local n = self.reinterpreted_batch_ndims
  local moved = { table.unpack(self.event_shape, 1, n) }
  return class.of(self)(self.base_dist:expand(events.joined(shape, moved)), n)
end

function Independent:__tostring ()
  return string.format("%s(%s, %d)", class.name(class.of(self)), tostring(self.base_dist),
                       self.reinterpreted_batch_ndims)
end

--- All events along a new first dimension: every combination of the parts' outcomes.
function Independent:enumerate_support () return require "perilune.enumeration".combinations(self) end

return Independent
