--@ peri.VonMisesFisher
-- The bell curve of directions, unit vectors in d dimensions; variance is that of each coordinate.
--   mean_direction  m, a unit vector
--   concentration   k: 0 for all directions alike
--   formula         log p(x) = k m.x + v log k - (v + 1) log(2 pi) - log I_v(k),  v = d/2 - 1
-- > VonMisesFisher({ 0, 0, 1 }, 2):log_prob({ 0, 0.6, 0.8 })
-- -1.5262444390235137
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local raise        = require "perilune.errors".raise

local function check_unit (self)
  local found = { constraints.sphere:violation(self.mean_direction) }
  if found[1] == nil then return end
  local place = found[2] and " at [" .. table.concat(found, ", ", 2) .. "]" or ""
  raise("%s: mean_direction must be %s, got %s%s", class.name(class.of(self)), constraints.sphere:rule(), found[1],
        place)
end

local VonMisesFisher = Distribution:extend("VonMisesFisher", {
  kernels = "vonmisesfisher",
  params = {
    { "mean_direction", constraints.real, event = 1 },   -- a unit vector
    { "concentration",  constraints.nonnegative, default = 1 },
  },
  support = constraints.sphere,
  init = function (self, checking)
    local shape = core.shape(self.mean_direction)
    self.event_shape = { shape[#shape] }
    if shape[#shape] < 2 then
      raise("%s: mean_direction must have at least 2 coordinates, got 1", class.name(class.of(self)))
    end
    if checking then check_unit(self) end
  end,
})

--- Where the density is largest; for concentration 0 as large as anywhere.
function VonMisesFisher:mode ()
  local shape = { table.unpack(self.batch_shape) }
  shape[#shape + 1] = self.event_shape[1]
  return self.mean_direction:expand(shape)
end

return VonMisesFisher
