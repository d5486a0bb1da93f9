--- Units in which a density is near a standard normal: u = centre + scale v, the scale lower triangular.
--
-- A scale that is a vector stands for a diagonal matrix.
local core     = require "perilune.core"
local matrices = require "perilune.matrices"

local Units = {}
Units.__index = Units

function Units.new (centre, scale)
  local self = setmetatable({ centre = centre, scale = scale, size = core.numel(centre) }, Units)
  self.is_diagonal = core.rank(scale) == 1
  local diagonal = self.is_diagonal and scale or matrices.diagonal(scale)
  self.log_det = diagonal:abs():log():sum()
  return self
end

--- Rows of v as rows of u, and back.
function Units:to (v)
  if self.is_diagonal then return self.centre + v * self.scale end
  self.transposed = self.transposed or self.scale:transpose():contiguous()
  return self.centre + v:matmul(self.transposed)
end

function Units:from (u)
  if self.is_diagonal then return (u - self.centre) / self.scale end
  self.inverse = self.inverse or matrices.triangular_inverse(self.scale)
  return (u - self.centre):matmul(self.inverse:transpose())
end

--- Rows of gradients with respect to u as such with respect to v.
function Units:pull (gradients)
  if self.is_diagonal then return gradients * self.scale end
  return gradients:matmul(self.scale)
end

--- The units of v' where v = loc + factor v'. The factor is lower triangular, too, or a vector.
function Units:compose (loc, factor)
  local centre, scale = self:to(loc:reshape(1, self.size)):reshape(self.size), self.scale
  if core.rank(factor) == 1 then return Units.new(centre, scale * factor) end   -- columns, or the diagonal
  if self.is_diagonal then return Units.new(centre, scale:reshape(-1, 1) * factor) end
  return Units.new(centre, scale:matmul(factor))
end

--- Standard deviations of u where v is standard normal.
function Units:sd ()
  if self.is_diagonal then return self.scale:abs() end
  return (self.scale * self.scale):sum(2):sqrt()
end

return Units
