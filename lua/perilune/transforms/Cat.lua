--- Cat(list, dim, lengths): transforms of parts of the given lengths (1 each unless told) along a dimension. Parts
-- that are rows may change their lengths if it is the last.
local constraints = require "perilune.constraints"
local layout      = require "perilune.layout"
local parts       = require "perilune.transform_parts"
local tensor      = require "perilune.tensor"
local transform   = require "perilune.transform"

-- Can a part change its length along this dimension? Counted from 1 it may be one of the batch.
local function may_stretch (part, dim)
  local from, to = part.domain.event_dim, part.codomain.event_dim
  return dim == -1 and from > 0 or dim > 0 and from == 1 and to == 1
end

-- The lengths of parts of what Cat gives, if that has n dimensions.
local function lengths_behind (self, n)
  return (self.dim == -1 or self.dim == n) and self.out_lengths or self.lengths
end

local function cat_shape (self, shape, method, lengths)
  local dim, whole = parts.dimension(self, shape, parts.sum(lengths)), nil
  for i, part in ipairs(self.list) do
    local piece = { table.unpack(shape) }
    piece[dim] = lengths[i]
    piece = part[method](part, piece)
    local last = self.dim > 0 and self.dim or #piece + self.dim + 1
    if whole then piece[last] = piece[last] + whole[last] end
    whole = piece
  end
  return whole or { table.unpack(shape) }
end

--@ peri.transforms.Cat(list, dim, lengths) -> Transform
-- Transforms of parts along a dimension. Parts that are rows may change their lengths if it is the last.
--   list     list of transforms
--   dim      integer, from 1, or from -1 backwards; 1 unless told
--   lengths  list of integers: the parts' lengths; 1 each unless told
-- > transforms.Cat({ transforms.Exp(), transforms.identity }, 1, { 1, 2 }) { 0, 2, 3 }
-- Tensor(3)
--   1  2  3
return transform.kind("Cat", {
  params = { "list", "dim", "lengths" },
  join = tensor.cat,
  part = function (self, x, i, lengths)
    local at = 1
    for j = 1, i - 1 do at = at + lengths[j] end
    return x:narrow(self.dim, at, lengths[i])
  end,
  forward = function (self, x) return parts.apply(self, x, "forward", self.lengths) end,
  inverse = function (self, y) return parts.apply(self, y, "inverse", lengths_behind(self, transform.rank(y))) end,
  forward_shape = function (self, shape) return cat_shape(self, shape, "forward_shape", self.lengths) end,
  inverse_shape = function (self, shape)
    return cat_shape(self, shape, "inverse_shape", lengths_behind(self, #shape))
  end,
  log_det = parts.log_det,
}, function (self, list, dim, lengths)
  self.list, self.dim, self.out_lengths = transform.list("Cat", list), layout.dimension("Cat", dim or 1), {}
  self.lengths = layout.lengths("Cat", lengths, #self.list)
  for i, part in ipairs(self.list) do
    local n = self.lengths[i]
    local stretches = may_stretch(part, self.dim)
    self.out_lengths[i] = stretches and parts.length_behind(part, "forward_shape", part.domain.event_dim, n) or n
  end
  local domains, codomains
  domains, codomains, self.bijective = parts.domains(self.list)
  self.domain   = constraints.cat(domains, self.dim, self.lengths)
  self.codomain = constraints.cat(codomains, self.dim, parts.is_last(self.domain) and self.out_lengths or self.lengths)
end)
