--- Independent(base, dims): the base, with n more dimensions treated as one event.
local constraints = require "perilune.constraints"
local events      = require "perilune.events"
local raise       = require "perilune.errors".raise
local show        = require "perilune.show"
local transform   = require "perilune.transform"

--@ peri.transforms.Independent(base, dims) -> Transform
-- A transform with so many more dimensions treated as one event: determinants are summed over them.
--   base  transform
--   dims  integer
-- > transforms.Independent(transforms.Exp(), 1):log_abs_det_jacobian { 1, 2 }
-- 3.0
return transform.kind("Independent", {
  params = { "base", "dims" },
  forward = function (self, x) return self.base:forward(x) end,
  inverse = function (self, y) return self.base:inverse(y) end,
  log_det = function (self, x, y) return events.sum_rightmost(self.base:log_det(x, y), self.dims) end,
  forward_shape = function (self, shape) return self.base:forward_shape(shape) end,
  inverse_shape = function (self, shape) return self.base:inverse_shape(shape) end,
}, function (self, base, dims)
  if not transform.is_transform(base) then raise("Independent: base must be a transform, got %s", show.value(base)) end
  if math.type(dims) ~= "integer" or dims < 0 then
    raise("Independent: dims must be a non-negative integer, got %s", show.value(dims))
  end
  self.base, self.dims, self.bijective = base, dims, base.bijective
  self.domain   = constraints.independent(base.domain, dims)
  self.codomain = constraints.independent(base.codomain, dims)
  if dims == 0 then self.sign = base.sign end
end)
