--- Transform: what all transforms have, and how a kind of them is made. A kind is a file of transforms/.
--
--   t(x)                           the value at x
--   t:inv()                        the inverse; t:inv():inv() is t
--   t:log_abs_det_jacobian(x, y)   log|det dy/dx|, one for each event; y = t(x) may be left out
--   t .. u                         t, then u
--
-- `domain` and `codomain` are constraints, `bijective` says whether t is one to one, `sign`
-- is 1 or -1 for maps of single numbers that increase or decrease (a tensor where a batch
-- has both), `image(c)` the constraint that t makes of c. A kind gives `forward`, `inverse`
-- and `log_det`, of numbers or tensors.
local class       = require "perilune.class"
local constraint  = require "perilune.constraint"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local errors      = require "perilune.errors"
local functions   = require "perilune.functions"
local show        = require "perilune.show"

local raise = errors.raise

local transform = {}

--@ Transform
-- A transform t: t(x) is its value at x, t .. u does t and then u. Fields: domain and codomain, constraints;
-- bijective, whether it is one to one; sign, 1 or -1 where it maps single numbers and increases or decreases.
-- > t = transforms.Affine(1, 2) .. transforms.Exp()
-- > t(0) == math.exp(1), t.codomain
-- false  positive
local Transform = { params = {}, bijective = true, domain = constraints.real, codomain = constraints.real }
Transform.__index = Transform

-- Values and shapes ------------------------------------------------------------


--- How many dimensions a number or a tensor has.
function transform.rank (x) return core.is_tensor(x) and #core.shape(x) or 0 end

--- A value that does not depend on every element of x, for each of them.
function transform.spread (value, x)
  if not core.is_tensor(x) then return value end
  value = core.is_tensor(value) and value or core.tensor(value)
  return value:expand(core.broadcast_shape(value, x))
end

-- What a transform is given, as a number or a tensor of at least n dimensions.
local function argument (self, name, x, n)
  x = core.operand(x, self.name, name)
  if transform.rank(x) < n then
    raise("%s: %s must have at least %d dimension%s, got %s", self.name, name, n, n == 1 and "" or "s", show.value(x))
  end
  return x
end

--- Is this a transform, and not a kind of them?
function transform.is_transform (t)
  return type(t) == "table" and getmetatable(t) ~= nil and t.log_abs_det_jacobian ~= nil and not class.is_class(t)
end

--- The transforms that one of this name is made of: a list, or a single one.
function transform.list (name, list)
  if transform.is_transform(list) then return { list } end
  if core.table_kind(list) ~= "data" then
    raise("%s: parts must be a transform or a table of them, got %s", name, show.value(list))
  end
  list = core.check_list(name, "parts", list)
  for i, t in ipairs(list) do
    if not transform.is_transform(t) then raise("%s: part %d must be a transform, got %s", name, i, show.value(t)) end
  end
  return list
end


-- All transforms ---------------------------------------------------------------

function Transform:__call (x, ...)
  errors.no_more(self.name .. " transform", ...)
  return self:forward(argument(self, "x", x, self.domain.event_dim))
end

--@ Transform:log_abs_det_jacobian(x, y) -> number or Tensor
-- log |det dy/dx|, one for each event; raises where the transform is not one to one.
--   x  number, table or tensor
--   y  number, table or tensor: t(x), which may be left out
-- > transforms.Exp():log_abs_det_jacobian(3)
-- 3
function Transform:log_abs_det_jacobian (x, y)
  if not (self.log_det and self.bijective) then
    raise("%s has no determinant: it is not one to one", tostring(self))
  end
  x = argument(self, "x", x, self.domain.event_dim)
  return self:log_det(x, y ~= nil and argument(self, "y", y, self.codomain.event_dim) or nil)
end

--@ Transform:forward_shape(shape) -> table
-- The shape of t(x), given that of x.
--   shape  table of integers
-- > transforms.StickBreaking():forward_shape({ 2 })[1]
-- 3

--@ Transform:inverse_shape(shape) -> table
-- The shape of x, given that of t(x).
--   shape  table of integers
-- > transforms.StickBreaking():inverse_shape({ 3 })[1]
-- 2
local function copied (_, shape) return { table.unpack(shape) } end
Transform.forward_shape, Transform.inverse_shape = copied, copied

-- An end of c, or of the domain if that is nearer; whether it is open.
local function end_of (c, domain, which, nearer)
  local own, limit = c[which], domain[which]
  local open = which == "low" and "left_open" or "right_open"
  local outside = type(own) == "number" and type(limit) == "number" and nearer(own, limit) ~= own
  local finish = outside and limit or own
  return finish, (outside and domain or c)[open] or finish == math.huge or finish == -math.huge
end

-- The number that a tensor is throughout, now; or nil.
local function common (x)
  if core.numel(x) == 0 then return nil end
  x = core.bare(x)
  local least = core.item(x:min())
  return least == core.item(x:max()) and least or nil
end

-- A tensor that is infinite throughout as a number.
local function plain_end (x)
  local number = core.is_tensor(x) and common(x)
  return number and math.abs(number) == math.huge and number or x
end

--- Refuses what is no constraint, for the method image.
function transform.check_constraint (self, c)
  if not constraints.is_constraint(c) then
    raise("%s:image: c must be a constraint, got %s", self.name, show.value(c))
  end
end

--@ Transform:image(c) -> Constraint
-- What becomes of a constraint: the interval between the images of its ends where t is monotone, else all of the
-- codomain.
--   c  constraint
-- > transforms.Exp():image(constraints.interval(0, math.huge))
-- greater_than_eq(1)
function Transform:image (c)
  transform.check_constraint(self, c)
  if self.domain.event_dim == 0 and c.base and c.dims then   -- the same for each part
    return constraints.independent(self:image(c.base), c.dims)
  end
  local sign = self.sign
  if core.tracked(sign) then sign = common(sign) end
  if type(sign) ~= "number" or not c.low or c.is_discrete then return self.codomain end
  local low, left_open = end_of(c, self.domain, "low", math.max)
  local high, right_open = end_of(c, self.domain, "high", math.min)
  low, high = plain_end(self:forward(low)), plain_end(self:forward(high))
  if sign < 0 then low, high, left_open, right_open = high, low, right_open, left_open end
  return constraints.between(low, high, left_open, right_open)
end

local function describe (self)
  local parts = {}
  for _, name in ipairs(self.params) do parts[#parts + 1] = name .. "=" .. constraint.text_of(self[name]) end
  return self.name .. (#parts > 0 and "(" .. table.concat(parts, ", ") .. ")" or "")
end

--- A kind of transform: the metatable of its transforms, which `make(self, ...)` completes. It is the same after a
-- second load.
function transform.kind (name, kind, make)
  kind.name, kind.__index, kind.__eq, kind.__call = name, kind, constraint.equal, Transform.__call
  kind.__tostring, kind.__name = kind.__tostring or describe, name .. " transform"
  kind.__concat = function (a, b) return require "perilune.transforms.Compose" { a, b } end
  errors.count_arguments(kind.__name, kind, "image inv forward_shape inverse_shape")
  return core.keep("transform " .. name, setmetatable(kind, {
    __index = Transform,
    __tostring = function () return "transforms." .. name end,
    __call = function (_, ...)
      errors.check_arguments(name, kind.params, ...)
      local self = setmetatable({}, kind)
      if make then make(self, ...) end
      return self
    end,
  }))
end


-- The inverse, made by t:inv() alone ------------------------------------------------

local Inverse = transform.kind("Inverse", {
  params = { "base" },
  forward = function (self, x) return self.base:inverse(x) end,
  inverse = function (self, y) return self.base:forward(y) end,
  forward_shape = function (self, shape) return self.base:inverse_shape(shape) end,
  inverse_shape = function (self, shape) return self.base:forward_shape(shape) end,
  inv = function (self) return self.base end,
  __tostring = function (self) return "Inverse(" .. tostring(self.base) .. ")" end,
}, function (self, base)
  self.base, self.domain, self.codomain, self.bijective = base, base.codomain, base.domain, base.bijective
  self.sign = base.sign
  if base.log_det then
    function self.log_det (_, x, y) return -base:log_det(y or base:inverse(x), x) end
  end
end)

--@ Transform:inv() -> Transform
-- The inverse; t:inv():inv() is t.
-- > transforms.Exp():inv()(1)
-- 0.0
function Transform:inv ()
  if class.is_class(self) then raise("inv: %s is no transform, but makes them", tostring(self)) end
  local inverse = rawget(self, "inverse_transform")
  if not inverse then
    inverse = Inverse(self)
    self.inverse_transform = inverse
  end
  return inverse
end

errors.count_arguments("Transform", Transform, "image inv log_abs_det_jacobian forward_shape inverse_shape")


-- For kinds of single numbers -------------------------------------------------------

--- A function of x alone as a method.
function transform.plain (fn) return function (_, x) return fn(x) end end

--- 1 or -1, or a tensor of both, or in a trace, in which it may change, a tensor.
function transform.sign_of (x)
  local signs = 2 * functions.gt(x, 0) - 1   -- recorded within traces alone
  if type(signs) == "number" then return signs end
  return not core.tracked(signs) and common(signs) or signs
end

--- Refuses a parameter that is not finite.
function transform.check_finite (kind, name, x)
  local bad = constraints.finite:violation(x)
  if bad then raise("%s: %s must be finite, got %s", kind, name, show.number(bad)) end
end

--- Refuses a parameter that is not finite, or with a zero.
function transform.check_factor (kind, name, x)
  transform.check_finite(kind, name, x)
  local zero = constraints.greater_than(0):violation(functions.abs(x))
  if zero then raise("%s: %s must not be 0, got %s", kind, name, show.number(zero)) end
end

--- A parameter as it is kept.
function transform.number_or_tensor (kind, name, x, default)
  if x == nil and default then return default end
  return core.operand(x, kind, name)
end

--- The shape of the broadcast of a shape and some parameters of a transform; raises if there is none.
function transform.broadcast_with (self, shape, ...)
  local operands = { core.tensor(0):expand(shape) }
  for _, x in ipairs { ... } do operands[#operands + 1] = core.is_tensor(x) and x or nil end
  local found, why = core.broadcast_shape(table.unpack(operands))
  if not found then errors.raise("%s: %s", getmetatable(self).__name, why) end
  return found
end

return transform
