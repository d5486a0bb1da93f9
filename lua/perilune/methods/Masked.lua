--- Methods of Masked.
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local construction = require "perilune.construction"
local core         = require "perilune.core"
local functions    = require "perilune.functions"
local show         = require "perilune.show"

local DEEPEST = 16   -- dimensions of a tensor

local fail = construction.fail

-- Booleans as 0 and 1, within tables too, if they are not deeper than any tensor's.
local function as_numbers (mask, depth)
  if type(mask) == "boolean" then return mask and 1 or 0 end
  if core.table_kind(mask) ~= "data" or depth > DEEPEST then return mask end
  local numbers = {}
  for i = 1, rawlen(mask) do numbers[i] = as_numbers(rawget(mask, i), depth + 1) end
  return numbers
end

-- The mask as it is kept: 0 or 1, or a tensor of them.
local function checked (c, mask)
  local kept = as_numbers(mask, 0)
  if type(kept) ~= "number" and not core.is_tensor(kept) then
    if core.table_kind(kept) ~= "data" then
      fail(c, "mask must be a boolean, or a table or tensor of them, got %s", show.value(mask))
    end
    kept = core.operand(kept, class.name(c), "mask")
  end
  local bad = constraints.boolean:violation(kept)
  if bad then fail(c, "mask must be true or false, or 0 or 1, got %s", show.number(bad)) end
  return kept
end

local function as_tensor (x) return core.is_tensor(x) and x or core.tensor(x) end

local function assemble (c, base, mask, batch)
  if batch then base, mask = base:expand(batch), as_tensor(mask):expand(batch) end
  return setmetatable({
    base = base, mask = mask, batch_shape = batch, event_shape = base.event_shape, support = base.support,
    has_rsample = base.has_rsample,
  }, c)
end

-- The shape of base and mask together, or nil where both are plain numbers.
local function batch_of (c, base, mask)
  if rawget(base, "batch_shape") == nil and type(mask) == "number" then return nil end
  local shape, why = core.broadcast_shape(core.tensor(0):expand(base.batch_shape), as_tensor(mask))
  if not shape then fail(c, "base and mask of %s", why) end
  return shape
end

local function make (c, ...)
  local base, mask = construction.arguments(c, { "base", "mask" }, ...)
  if not class.is_instance(base, Distribution) then
    fail(c, "base must be a distribution, got %s", show.value(base))
  end
  mask = checked(c, mask)
  return assemble(c, base, mask, batch_of(c, base, mask))
end

local Masked = { construct = make }

function Masked:__tostring ()
  return string.format("%s(%s, mask=%s)", class.name(class.of(self)), tostring(self.base), show.parameter(self.mask))
end

function Masked:with_batch (shape)
  return assemble(class.of(self), self.base, self.mask, core.to_shape(shape, "Masked:with_batch"))
end

--- Where the mask is 0 it is 0, whatever x: outside the support, or NaN.
function Masked:log_prob (x) return functions.where(self.mask, self.base:log_prob(x), 0) end
function Masked:entropy () return functions.where(self.mask, self.base:entropy(), 0) end

local function all (...) return ... end

-- The rest is the base's. (No tail call: of a law that became its own base, the stack ends.)
for _, name in ipairs { "cdf", "log_cdf", "sf", "log_sf", "icdf", "isf", "mean", "variance", "stddev", "mode",
                        "median", "sample", "rsample", "enumerate_support", "expectation" } do
  Masked[name] = function (self, ...) return all(self.base[name](self.base, ...)) end
end

return Masked
