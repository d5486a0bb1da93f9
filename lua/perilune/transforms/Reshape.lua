--- Reshape(in_shape, out_shape): the same elements in events of another shape.
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local raise       = require "perilune.errors".raise
local show        = require "perilune.show"
local transform   = require "perilune.transform"

local function reshaped (shape, from, to)
  local result = { table.unpack(shape, 1, #shape - #from) }
  for _, n in ipairs(to) do result[#result + 1] = n end
  return result
end

local function size_of (shape)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  return n
end

--@ peri.transforms.Reshape(in_shape, out_shape) -> Transform
-- The same elements in events of another shape.
--   in_shape   table of integers
--   out_shape  table of integers
-- > transforms.Reshape({ 4 }, { 2, 2 }) { 1, 2, 3, 4 }
-- Tensor(2, 2)
--   1  2
--   3  4
return transform.kind("Reshape", {
  params = { "in_shape", "out_shape" },
  forward = function (self, x) return x:reshape(self:forward_shape(core.shape(x))) end,
  inverse = function (self, y) return y:reshape(self:inverse_shape(core.shape(y))) end,
  log_det = function (self, x) return core.zeros(reshaped(core.shape(x), self.in_shape, {})) end,
  forward_shape = function (self, shape) return reshaped(shape, self.in_shape, self.out_shape) end,
  inverse_shape = function (self, shape) return reshaped(shape, self.out_shape, self.in_shape) end,
  image = function (self, c)   -- elements stay what they are, if all are alike
    transform.check_constraint(self, c)
    local base, rank = c.base, (c.dims or 0) - #self.in_shape
    local are_alike = base and rank >= 0 and type(base.low) == "number" and type(base.high) == "number"
    return are_alike and constraints.independent(base, rank + #self.out_shape) or self.codomain
  end,
}, function (self, in_shape, out_shape)
  in_shape, out_shape = core.to_shape(in_shape, "Reshape: in_shape"), core.to_shape(out_shape, "Reshape: out_shape")
  if size_of(in_shape) ~= size_of(out_shape) then
    raise("Reshape: in_shape and out_shape must be shapes of equally many elements, got %s and %s",
          show.shape(in_shape), show.shape(out_shape))
  end
  self.in_shape, self.out_shape = in_shape, out_shape
  self.domain = constraints.independent(constraints.real, #in_shape)
  self.codomain = constraints.independent(constraints.real, #out_shape)
end)
