--- Affine(loc, scale, event_dim): loc + scale x.
local constraints = require "perilune.constraints"
local events      = require "perilune.events"
local functions   = require "perilune.functions"
local raise       = require "perilune.errors".raise
local show        = require "perilune.show"
local transform   = require "perilune.transform"

local function shape_of (self, shape) return transform.broadcast_with(self, shape, self.loc, self.scale) end

--@ peri.transforms.Affine(loc, scale, event_dim) -> Transform
-- loc + scale x.
--   loc        number, table or tensor, finite; 0 unless told
--   scale      number, table or tensor, finite and not 0; 1 unless told
--   event_dim  integer: dimensions that are one event; 0 unless told
-- > transforms.Affine(1, 2)(3)
-- 7
return transform.kind("Affine", {
  params = { "loc", "scale", "event_dim" },
  forward = function (self, x) return self.loc + self.scale * x end,
  inverse = function (self, y) return (y - self.loc) / self.scale end,
  log_det = function (self, x)
    return events.sum_rightmost(transform.spread(functions.log(functions.abs(self.scale)), x), self.event_dim)
  end,
  forward_shape = shape_of, inverse_shape = shape_of,
  __tostring = function (self)
    return string.format("Affine(loc=%s, scale=%s)", show.parameter(self.loc), show.parameter(self.scale))
  end,
}, function (self, loc, scale, event_dim)
  self.loc   = transform.number_or_tensor("Affine", "loc", loc, 0)
  self.scale = transform.number_or_tensor("Affine", "scale", scale, 1)
  self.event_dim = event_dim or 0
  if math.type(self.event_dim) ~= "integer" or self.event_dim < 0 then
    raise("Affine: event_dim must be a non-negative integer, got %s", show.value(event_dim))
  end
  transform.check_finite("Affine", "loc", self.loc)
  transform.check_factor("Affine", "scale", self.scale)
  self.domain = constraints.independent(constraints.real, self.event_dim)
  self.codomain = self.domain
  if self.event_dim == 0 then self.sign = transform.sign_of(self.scale) end
end)
