--- Stack(list, dim): transforms of the slices along a dimension.
local constraints = require "perilune.constraints"
local layout      = require "perilune.layout"
local parts       = require "perilune.transform_parts"
local tensor      = require "perilune.tensor"
local transform   = require "perilune.transform"

local function stack_shape (self, shape, method)
  local piece = { table.unpack(shape) }
  table.remove(piece, parts.dimension(self, shape, #self.list))
  local part = self.list[1]
  piece = part and part[method](part, piece) or piece
  table.insert(piece, self.dim > 0 and self.dim or #piece + self.dim + 2, #self.list)
  return piece
end

--@ peri.transforms.Stack(list, dim) -> Transform
-- Transforms of the slices along a dimension.
--   list  list of transforms
--   dim   integer, from 1, or from -1 backwards; 1 unless told
-- > transforms.Stack({ transforms.Exp(), transforms.identity }) { 0, 2 }
-- Tensor(2)
--   1  2
return transform.kind("Stack", {
  params = { "list", "dim" },
  join = tensor.stack,
  part = function (self, x, i) return x:select(self.dim, i) end,
  forward = function (self, x) return parts.apply(self, x, "forward") end,
  inverse = function (self, y) return parts.apply(self, y, "inverse") end,
  forward_shape = function (self, shape) return stack_shape(self, shape, "forward_shape") end,
  inverse_shape = function (self, shape) return stack_shape(self, shape, "inverse_shape") end,
  log_det = parts.log_det,
}, function (self, list, dim)
  self.list, self.dim = transform.list("Stack", list), layout.dimension("Stack", dim or 1)
  local domains, codomains
  domains, codomains, self.bijective = parts.domains(self.list)
  self.domain, self.codomain = constraints.stack(domains, self.dim), constraints.stack(codomains, self.dim)
end)
