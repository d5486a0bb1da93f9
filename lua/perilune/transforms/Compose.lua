--- Compose(parts): one transform after the other.
local constraints = require "perilune.constraints"
local events      = require "perilune.events"
local transform   = require "perilune.transform"

-- What domain or codomain has, with n dimensions in an event.
local function widened (constraint, n)
  return constraints.independent(constraint, math.max(0, n - constraint.event_dim))
end

-- Dimensions of an event before the first part, so that each part finds its own.
local function domain_event_dim (parts)
  local n = parts[#parts].codomain.event_dim
  for i = #parts, 1, -1 do
    local part = parts[i]
    n = math.max(n + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
  end
  return n
end

local function codomain_event_dim (parts, n)
  for _, part in ipairs(parts) do n = n + part.codomain.event_dim - part.domain.event_dim end
  return n
end

local function product_of_signs (parts)
  local sign = 1
  for _, part in ipairs(parts) do
    if not part.sign then return nil end
    sign = sign * part.sign
  end
  return sign
end

local Compose   -- below

local function flattened (list)
  local parts = {}
  for _, t in ipairs(list) do
    if getmetatable(t) == Compose then
      for _, part in ipairs(t.parts) do parts[#parts + 1] = part end
    else
      parts[#parts + 1] = t
    end
  end
  return parts
end

--@ peri.transforms.Compose(parts) -> Transform
-- One transform after the other; of none, the identity.
--   parts  list of transforms, or a single one
-- > transforms.Compose({ transforms.Affine(1, 2), transforms.Abs() })(-3)
-- 5.0
Compose = transform.kind("Compose", {
  params = { "parts" },
  forward = function (self, x)
    for _, part in ipairs(self.parts) do x = part:forward(x) end
    return x
  end,
  inverse = function (self, y)
    for i = #self.parts, 1, -1 do y = self.parts[i]:inverse(y) end
    return y
  end,
  forward_shape = function (self, shape)
    for _, part in ipairs(self.parts) do shape = part:forward_shape(shape) end
    return { table.unpack(shape) }
  end,
  inverse_shape = function (self, shape)
    for i = #self.parts, 1, -1 do shape = self.parts[i]:inverse_shape(shape) end
    return { table.unpack(shape) }
  end,
  image = function (self, c)   -- what comes through all parts
    transform.check_constraint(self, c)
    if #self.parts == 0 then return c end
    for _, part in ipairs(self.parts) do c = part:image(c) end
    return widened(c, self.codomain.event_dim)
  end,
  __tostring = function (self)
    local names = {}
    for i, part in ipairs(self.parts) do names[i] = tostring(part) end
    return #names == 0 and "identity" or "Compose[" .. table.concat(names, ", ") .. "]"
  end,
}, function (self, list)
  self.parts = flattened(transform.list("Compose", list))
  if #self.parts == 0 then
    self.sign = 1
    return
  end
  local n = domain_event_dim(self.parts)
  self.domain   = widened(self.parts[1].domain, n)
  self.codomain = widened(self.parts[#self.parts].codomain, codomain_event_dim(self.parts, n))
  self.sign     = n == 0 and product_of_signs(self.parts) or nil
  for _, part in ipairs(self.parts) do self.bijective = self.bijective and part.bijective end
  if self.sign then self.codomain = self:image(self.domain) end
end)

function Compose:log_det (x)
  local n, total = self.domain.event_dim, events.sum_rightmost(transform.spread(0.0, x), self.domain.event_dim)
  for _, part in ipairs(self.parts) do
    local y = part:forward(x)
    total = total + events.sum_rightmost(part:log_det(x, y), n - part.domain.event_dim)
    n, x = n + part.codomain.event_dim - part.domain.event_dim, y
  end
  return total
end

return Compose
