--- Transforms of the parts of a tensor along a dimension: what Cat and Stack share.
local attempt   = require "perilune.attempt"
local core      = require "perilune.core"
local events    = require "perilune.events"
local raise     = require "perilune.errors".raise
local show      = require "perilune.show"
local transform = require "perilune.transform"

local transform_parts = {}

--- The dimension of this shape along which there are parts, n elements.
function transform_parts.dimension (self, shape, n)
  local dim = self.dim > 0 and self.dim or #shape + self.dim + 1
  if shape[dim] ~= n then
    raise("%s: dimension %d must have %d element%s, got shape %s", self.name, self.dim, n, n == 1 and "" or "s",
          show.shape(shape))
  end
  return dim
end

--- The length of all parts together.
function transform_parts.sum (lengths)
  local total = 0
  for _, n in ipairs(lengths) do total = total + n end
  return total
end

-- Refuses what has no such parts.
local function check_parts (self, x, lengths)
  if not core.is_tensor(x) then raise("%s: x must be a tensor, got %s", self.name, show.value(x)) end
  transform_parts.dimension(self, core.shape(x), lengths and transform_parts.sum(lengths) or #self.list)
end

--- Parts of x, transformed and put together again.
function transform_parts.apply (self, x, method, lengths)
  local results = {}
  check_parts(self, x, lengths)
  for i, part in ipairs(self.list) do results[i] = part[method](part, self.part(self, x, i, lengths)) end
  return self.join(results, self.dim)
end

--- Determinants multiply where parts lie within one event, and stand side by side else.
function transform_parts.log_det (self, x)
  check_parts(self, x, self.lengths)
  local logs, total, within = {}, 0, self.domain:is_within(transform.rank(x))
  for i, part in ipairs(self.list) do
    local piece = self:part(x, i, self.lengths)
    logs[i] = events.sum_rightmost(part:log_det(piece), self.domain.part_event_dim - part.domain.event_dim)
    total = total + (within and logs[i] or 0)
  end
  return within and total or self.join(logs, self.dim)
end

--- The domains of a list of transforms, their codomains, and whether all are one to one.
function transform_parts.domains (list)
  local domains, codomains, bijective = {}, {}, true
  for i, part in ipairs(list) do
    domains[i], codomains[i], bijective = part.domain, part.codomain, bijective and part.bijective
  end
  return domains, codomains, bijective
end

--- Is this the last dimension of the events of a constraint made of parts, if they have no batch?
function transform_parts.is_last (c) return c.dim == -1 or c.dim > 0 and c.dim >= c.event_dim end

--- What becomes of n elements in the last dimension of an event of `event_dim`, by forward_shape or inverse_shape.
-- Parts that are made of others by numbers of elements which one does not know leave them as they are.
function transform_parts.length_behind (part, method, event_dim, n)
  local shape = {}
  for d = 1, event_dim - 1 do shape[d] = 1 end
  shape[#shape + 1] = n
  local ok, behind = attempt.call("Stack: dimension ", "Cat: dimension ", part[method], part, shape)
  return ok and behind[#behind] or n
end

return transform_parts
