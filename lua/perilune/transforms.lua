--- Transforms: maps from one set of values to another, with inverses and determinants.
--
--   t(x)                           the value at x
--   t:inv()                        the inverse; t:inv():inv() is t
--   t:log_abs_det_jacobian(x, y)   log|det dy/dx|, one for each event; y = t(x) may be left out
--   t .. u                         t, then u
--
-- `domain` and `codomain` are constraints, `bijective` says whether t is one to one, `sign`
-- is 1 or -1 for maps of single numbers that increase or decrease (a tensor where a batch
-- has both), `image(c)` the constraint that t makes of c. A kind gives `forward`, `inverse`
-- and `log_det`, of numbers or tensors; torch's names (ExpTransform) are found as well.
local attempt     = require "perilune.attempt"
local class       = require "perilune.class"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local errors      = require "perilune.errors"
local functions   = require "perilune.functions"
local layout      = require "perilune.layout"
local show        = require "perilune.show"
local tensor      = require "perilune.tensor"

local raise = errors.raise

local transforms = {}

local Transform = { params = {}, bijective = true, domain = constraints.real, codomain = constraints.real }
Transform.__index = Transform

-- Values and shapes ------------------------------------------------------------

local function is_table_of_numbers (x) return core.table_kind(x) == "data" end

local function rank (x) return core.is_tensor(x) and #core.shape(x) or 0 end

--- x summed over its last n dimensions.
function transforms.sum_rightmost (x, n)
  for _ = 1, n do x = x:sum(-1) end
  return x
end

local sum_rightmost = transforms.sum_rightmost

-- A value that does not depend on every element of x, for each of them.
local function spread (value, x)
  if not core.is_tensor(x) then return value end
  value = core.is_tensor(value) and value or core.tensor(value)
  return value:expand(core.broadcast_shape(value, x))
end

-- What a transform is given, as a number or a tensor of at least n dimensions.
local function argument (self, name, x, n)
  x = core.operand(x, self.name, name)
  if rank(x) < n then
    raise("%s: %s must have at least %d dimension%s, got %s", self.name, name, n, n == 1 and "" or "s", show.value(x))
  end
  return x
end

local function is_transform (t)
  return type(t) == "table" and getmetatable(t) ~= nil and t.log_abs_det_jacobian ~= nil and not class.is_class(t)
end

local function list_of_transforms (name, list)
  if is_transform(list) then return { list } end
  if core.table_kind(list) ~= "data" then
    raise("%s: parts must be a transform or a table of them, got %s", name, show.value(list))
  end
  core.check_list(name, "parts", list)
  for i, t in ipairs(list) do
    if not is_transform(t) then raise("%s: part %d must be a transform, got %s", name, i, show.value(t)) end
  end
  return list
end


-- All transforms ---------------------------------------------------------------

function Transform:__call (x, ...)
  errors.no_more(self.name .. " transform", ...)
  return self:forward(argument(self, "x", x, self.domain.event_dim))
end

function Transform:log_abs_det_jacobian (x, y)
  if not (self.log_det and self.bijective) then
    raise("%s has no determinant: it is not one to one", tostring(self))
  end
  x = argument(self, "x", x, self.domain.event_dim)
  return self:log_det(x, y ~= nil and argument(self, "y", y, self.codomain.event_dim) or nil)
end

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

-- A tensor that is infinite throughout as a number.
local function plain_end (x)
  local infinite = core.is_tensor(x) and core.numel(x) > 0 and math.abs(core.item(x:min())) == math.huge
  return infinite and x:min() == x:max() and core.item(x:min()) or x
end

local function check_constraint (self, c)
  if not constraints.is_constraint(c) then
    raise("%s:image: c must be a constraint, got %s", self.name, show.value(c))
  end
end

--- What becomes of a constraint: the interval between the images of its ends where t is
-- monotone, else all of the codomain.
function Transform:image (c)
  check_constraint(self, c)
  if self.domain.event_dim == 0 and c.base and c.dims then   -- the same for each part
    return constraints.independent(self:image(c.base), c.dims)
  end
  if type(self.sign) ~= "number" or not c.low or c.is_discrete then return self.codomain end
  local low, left_open = end_of(c, self.domain, "low", math.max)
  local high, right_open = end_of(c, self.domain, "high", math.min)
  low, high = plain_end(self:forward(low)), plain_end(self:forward(high))
  if self.sign < 0 then low, high, left_open, right_open = high, low, right_open, left_open end
  return constraints.between(low, high, left_open, right_open)
end

local function equal (a, b)
  local kind = getmetatable(a)
  if kind ~= getmetatable(b) then return false end
  for _, name in ipairs(kind.params) do
    if not constraints.same(a[name], b[name]) then return false end
  end
  return true
end

local function text_of (value)
  if not is_table_of_numbers(value) then return show.parameter(value) end
  local parts = {}
  for i, part in ipairs(value) do parts[i] = text_of(part) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function describe (self)
  local parts = {}
  for _, name in ipairs(self.params) do parts[#parts + 1] = name .. "=" .. text_of(self[name]) end
  return self.name .. (#parts > 0 and "(" .. table.concat(parts, ", ") .. ")" or "")
end

-- A kind of transform: the metatable of its transforms, which `make(self, ...)` completes.
local function new_kind (name, kind, make)
  kind.name, kind.__index, kind.__eq, kind.__call = name, kind, equal, Transform.__call
  kind.__tostring, kind.__name = kind.__tostring or describe, name .. " transform"
  kind.__concat = function (a, b) return transforms.Compose { a, b } end
  transforms[name] = kind
  errors.count_arguments(kind.__name, kind, "image inv forward_shape inverse_shape")
  return setmetatable(kind, {
    __index = Transform,
    __tostring = function () return "transforms." .. name end,
    __call = function (_, ...)
      errors.check_arguments(name, kind.params, ...)
      local self = setmetatable({}, kind)
      if make then make(self, ...) end
      return self
    end,
  })
end


-- The inverse --------------------------------------------------------------------

local Inverse = new_kind("Inverse", {
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
transforms.Inverse = nil   -- made by t:inv() alone

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


-- Of single numbers ----------------------------------------------------------------

local function plain (fn) return function (_, x) return fn(x) end end

new_kind("Exp", {
  codomain = constraints.positive, sign = 1,
  forward = plain(functions.exp),
  inverse = plain(functions.log),
  log_det = function (_, x) return x end,
})

new_kind("Sigmoid", {
  codomain = constraints.unit_interval, sign = 1,
  forward = plain(functions.sigmoid),
  inverse = plain(functions.logit),
  log_det = function (_, x) return -functions.softplus(-x) - functions.softplus(x) end,
})

-- log(1 - tanh(x)^2), directly near 0 and by log 2 - |x| - log(1 + e^(-2|x|)) elsewhere
new_kind("Tanh", {
  codomain = constraints.interval(-1, 1), sign = 1,
  forward = plain(functions.tanh),
  inverse = function (_, y) return 0.5 * (functions.log1p(y) - functions.log1p(-y)) end,
  log_det = function (_, x)
    local t, a = functions.tanh(x), functions.abs(x)
    local far = 2 * (math.log(2) - a - functions.softplus(-2 * a))
    return functions.where(functions.lt(a, 0.5), functions.log1p(-t * t), far)
  end,
})

new_kind("Softplus", {
  codomain = constraints.positive, sign = 1,
  forward = plain(functions.softplus),
  inverse = function (_, y) return y + functions.log1mexp(-y) end,
  log_det = function (_, x) return -functions.softplus(-x) end,
})

-- 1 or -1, or a tensor of both.
local function sign_of (x)
  local signs = functions.sign(x)
  if type(signs) == "number" then return signs > 0 and 1 or -1 end
  local least = core.item(signs:min())
  return least == core.item(signs:max()) and least or signs
end

local function check_nonzero (kind, name, x)
  local zero = constraints.greater_than(0):violation(functions.abs(x))
  if zero then raise("%s: %s must not be 0, got %s", kind, name, show.number(zero)) end
end

local function number_or_tensor (kind, name, x, default)
  if x == nil and default then return default end
  return core.operand(x, kind, name)
end

-- The shape of the broadcast of a shape and some parameters.
local function broadcast_with (shape, ...)
  local operands = { core.tensor(0):expand(shape) }
  for _, x in ipairs { ... } do operands[#operands + 1] = core.is_tensor(x) and x or nil end
  return core.broadcast_shape(table.unpack(operands))
end

local function affine_shape (self, shape) return broadcast_with(shape, self.loc, self.scale) end

new_kind("Affine", {
  params = { "loc", "scale", "event_dim" },
  forward = function (self, x) return self.loc + self.scale * x end,
  inverse = function (self, y) return (y - self.loc) / self.scale end,
  log_det = function (self, x)
    return sum_rightmost(spread(functions.log(functions.abs(self.scale)), x), self.event_dim)
  end,
  forward_shape = affine_shape, inverse_shape = affine_shape,
  __tostring = function (self)
    return string.format("Affine(loc=%s, scale=%s)", show.parameter(self.loc), show.parameter(self.scale))
  end,
}, function (self, loc, scale, event_dim)
  self.loc, self.scale = number_or_tensor("Affine", "loc", loc, 0), number_or_tensor("Affine", "scale", scale, 1)
  self.event_dim = event_dim or 0
  if math.type(self.event_dim) ~= "integer" or self.event_dim < 0 then
    raise("Affine: event_dim must be a non-negative integer, got %s", show.value(event_dim))
  end
  check_nonzero("Affine", "scale", self.scale)
  self.domain = constraints.independent(constraints.real, self.event_dim)
  self.codomain = self.domain
  if self.event_dim == 0 then self.sign = sign_of(self.scale) end
end)

local function power_shape (self, shape) return broadcast_with(shape, self.exponent) end

new_kind("Power", {
  params = { "exponent" }, domain = constraints.positive, codomain = constraints.positive,
  forward = function (self, x) return functions.pow(x, self.exponent) end,
  inverse = function (self, y) return functions.pow(y, 1 / self.exponent) end,
  log_det = function (self, x)
    return functions.log(functions.abs(self.exponent)) + functions.xlogy(self.exponent - 1, x)
  end,
  forward_shape = power_shape, inverse_shape = power_shape,
}, function (self, exponent)
  self.exponent = number_or_tensor("Power", "exponent", exponent)
  check_nonzero("Power", "exponent", self.exponent)
  self.sign = sign_of(self.exponent)
end)

--- The magnitude. Of its two preimages `inverse` gives the positive one.
new_kind("Abs", {
  codomain = constraints.nonnegative, bijective = false,
  forward = plain(functions.abs),
  inverse = function (_, y) return y end,
})

local function batch_shape (self, shape)
  return broadcast_with(shape, core.tensor(0):expand(self.distribution.batch_shape))
end

--- The cdf of a distribution of single numbers.
new_kind("CumulativeDistribution", {
  params = { "distribution" }, codomain = constraints.unit_interval, sign = 1,
  forward = function (self, x) return self.distribution:cdf(x) end,
  inverse = function (self, y) return self.distribution:icdf(y) end,
  log_det = function (self, x) return self.distribution:log_prob(x) end,
  forward_shape = batch_shape, inverse_shape = batch_shape,
  __tostring = function (self) return "CumulativeDistribution(" .. tostring(self.distribution) .. ")" end,
}, function (self, distribution)
  if type(distribution) ~= "table" or class.is_class(distribution) or not distribution.log_prob
     or #distribution.event_shape > 0 then
    raise("CumulativeDistribution: distribution must be a distribution of single numbers, got %s",
          show.value(distribution))
  end
  self.distribution, self.domain = distribution, distribution.support
end)


-- Of rows and matrices ---------------------------------------------------------------

local function row_kernel (name, operands)
  return core.bind("row/transform", name, name, operands, operands)
end

-- A kind whose three functions are row kernels on one operand.
local function row_kind (name, kernel, kind)
  local forward, inverse = row_kernel(kernel, { "x" }), row_kernel(kernel .. "_inverse", { "y" })
  local log_det = row_kernel(kernel .. "_log_det", { "x" })
  kind.forward, kind.inverse, kind.log_det = plain(forward), plain(inverse), plain(log_det)
  return new_kind(name, kind)
end

row_kind("Ordered", "ordered", { domain = constraints.real_vector, codomain = constraints.ordered_vector })

-- Of x the lower triangle counts.
row_kind("LowerCholesky", "lower_cholesky", {
  domain = constraints.lower_triangular, codomain = constraints.lower_cholesky,
})

row_kind("PositiveDefinite", "positive_definite", {
  domain = constraints.lower_triangular, codomain = constraints.positive_definite,
})

-- A kind whose result has another size than its argument.
local function resizing_kind (name, kernel, kind)
  local operands = { "x", "size" }
  local forward, inverse = row_kernel(kernel, operands), row_kernel(kernel .. "_inverse", operands)
  local log_det = row_kernel(kernel .. "_log_det", { "x" })
  function kind:forward (x) return forward(x, core.zeros(self:forward_shape(core.shape(x))[rank(x)])) end
  function kind:inverse (y)
    local shape = self:inverse_shape(core.shape(y))
    return inverse(y, core.zeros(shape[#shape]))
  end
  kind.log_det = plain(log_det)
  return new_kind(name, kind)
end

local function with_last (shape, n, drop)
  local changed = { table.unpack(shape, 1, #shape - 1 - (drop or 0)) }
  changed[#changed + 1] = n
  return changed
end

-- The last dimension of a shape of n dimensions at least.
local function last_of (self, shape, n)
  if #shape >= n then return shape[#shape] end
  raise("%s: a shape must have at least %d dimension%s, got %s", self.name, n, n == 1 and "" or "s", show.shape(shape))
end

resizing_kind("StickBreaking", "stick_breaking", {
  domain = constraints.real_vector, codomain = constraints.simplex,
  forward_shape = function (self, shape) return with_last(shape, last_of(self, shape, 1) + 1) end,
  inverse_shape = function (self, shape) return with_last(shape, last_of(self, shape, 1) - 1) end,
})

--- d (d - 1)/2 numbers, row after row below the diagonal, and the factor of d by d.
resizing_kind("CorrCholesky", "corr_cholesky", {
  domain = constraints.real_vector, codomain = constraints.corr_cholesky,
  forward_shape = function (self, shape)
    local k = last_of(self, shape, 1)
    local d = math.floor(0.5 + math.sqrt(0.25 + 2 * k) + 0.5)
    if d * (d - 1) ~= 2 * k then
      raise("CorrCholesky: x must have d (d - 1)/2 elements in its last dimension, got %s", k)
    end
    local matrix = with_last(shape, d)
    matrix[#matrix + 1] = d
    return matrix
  end,
  inverse_shape = function (self, shape)
    local d = last_of(self, shape, 2)
    return with_last(shape, math.floor(d * (d - 1) / 2), 1)
  end,
})

new_kind("Softmax", {
  domain = constraints.real_vector, codomain = constraints.simplex, bijective = false,
  forward = plain(tensor.softmax),
  inverse = plain(functions.log),
})

--- The direction of a vector.
new_kind("UnitVector", {
  domain = constraints.real_vector, codomain = constraints.sphere, bijective = false,
  forward = function (_, x) return x / functions.sqrt((x * x):sum(-1, true)) end,
  inverse = function (_, y) return y end,
})

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

new_kind("Reshape", {
  params = { "in_shape", "out_shape" },
  forward = function (self, x) return x:reshape(self:forward_shape(core.shape(x))) end,
  inverse = function (self, y) return y:reshape(self:inverse_shape(core.shape(y))) end,
  log_det = function (self, x) return core.zeros(reshaped(core.shape(x), self.in_shape, {})) end,
  forward_shape = function (self, shape) return reshaped(shape, self.in_shape, self.out_shape) end,
  inverse_shape = function (self, shape) return reshaped(shape, self.out_shape, self.in_shape) end,
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


-- Made of others -----------------------------------------------------------------------

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

local function flattened (list)
  local parts = {}
  for _, t in ipairs(list) do
    if getmetatable(t) == transforms.Compose then
      for _, part in ipairs(t.parts) do parts[#parts + 1] = part end
    else
      parts[#parts + 1] = t
    end
  end
  return parts
end

local Compose = new_kind("Compose", {
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
    check_constraint(self, c)
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
  self.parts = flattened(list_of_transforms("Compose", list))
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
  local n, total = self.domain.event_dim, sum_rightmost(spread(0.0, x), self.domain.event_dim)
  for _, part in ipairs(self.parts) do
    local y = part:forward(x)
    total = total + sum_rightmost(part:log_det(x, y), n - part.domain.event_dim)
    n, x = n + part.codomain.event_dim - part.domain.event_dim, y
  end
  return total
end

transforms.identity = Compose {}

--- Treats n more dimensions as one event.
new_kind("Independent", {
  params = { "base", "dims" },
  forward = function (self, x) return self.base:forward(x) end,
  inverse = function (self, y) return self.base:inverse(y) end,
  log_det = function (self, x, y) return sum_rightmost(self.base:log_det(x, y), self.dims) end,
  forward_shape = function (self, shape) return self.base:forward_shape(shape) end,
  inverse_shape = function (self, shape) return self.base:inverse_shape(shape) end,
}, function (self, base, dims)
  if not is_transform(base) then raise("Independent: base must be a transform, got %s", show.value(base)) end
  if math.type(dims) ~= "integer" or dims < 0 then
    raise("Independent: dims must be a non-negative integer, got %s", show.value(dims))
  end
  self.base, self.dims, self.bijective = base, dims, base.bijective
  self.domain   = constraints.independent(base.domain, dims)
  self.codomain = constraints.independent(base.codomain, dims)
  if dims == 0 then self.sign = base.sign end
end)

-- The dimension of this shape along which there are parts, n elements.
local function dimension_of_parts (self, shape, n)
  local dim = self.dim > 0 and self.dim or #shape + self.dim + 1
  if shape[dim] ~= n then
    raise("%s: dimension %d must have %d element%s, got shape %s", self.name, self.dim, n, n == 1 and "" or "s",
          show.shape(shape))
  end
  return dim
end

local function sum (lengths)
  local total = 0
  for _, n in ipairs(lengths) do total = total + n end
  return total
end

-- Refuses what has no such parts.
local function check_parts (self, x, lengths)
  if not core.is_tensor(x) then raise("%s: x must be a tensor, got %s", self.name, show.value(x)) end
  dimension_of_parts(self, core.shape(x), lengths and sum(lengths) or #self.list)
end

-- Parts of x, transformed and put together again.
local function apart (self, x, method, lengths)
  local results = {}
  check_parts(self, x, lengths)
  for i, part in ipairs(self.list) do results[i] = part[method](part, self.part(self, x, i, lengths)) end
  return self.join(results, self.dim)
end

-- Determinants multiply where parts lie within one event, and stand side by side else.
local function parts_log_det (self, x)
  check_parts(self, x, self.lengths)
  local logs, total, within = {}, 0, self.domain:is_within(rank(x))
  for i, part in ipairs(self.list) do
    local piece = self:part(x, i, self.lengths)
    logs[i] = sum_rightmost(part:log_det(piece), self.domain.part_event_dim - part.domain.event_dim)
    total = total + (within and logs[i] or 0)
  end
  return within and total or self.join(logs, self.dim)
end

local function list_domains (list)
  local domains, codomains, bijective = {}, {}, true
  for i, part in ipairs(list) do
    domains[i], codomains[i], bijective = part.domain, part.codomain, bijective and part.bijective
  end
  return domains, codomains, bijective
end

-- Is this the last dimension of the events of a constraint made of parts, if they have no batch?
local function is_last (c) return c.dim == -1 or c.dim > 0 and c.dim >= c.event_dim end

-- Can a part change its length along this dimension? Counted from 1 it may be one of the batch.
local function may_stretch (part, dim)
  local from, to = part.domain.event_dim, part.codomain.event_dim
  return dim == -1 and from > 0 or dim > 0 and from == 1 and to == 1
end

-- What becomes of n elements in the last dimension of an event of `event_dim`, by forward_shape or inverse_shape. Parts
-- that are made of others by numbers of elements which one does not know leave them as they are.
local function length_behind (part, method, event_dim, n)
  local shape = {}
  for d = 1, event_dim - 1 do shape[d] = 1 end
  shape[#shape + 1] = n
  local ok, behind = attempt.call("Stack: dimension ", "Cat: dimension ", part[method], part, shape)
  return ok and behind[#behind] or n
end

-- The lengths of parts of what Cat gives, if that has n dimensions.
local function lengths_behind (self, n)
  return (self.dim == -1 or self.dim == n) and self.out_lengths or self.lengths
end

local function cat_shape (self, shape, method, lengths)
  local dim, whole = dimension_of_parts(self, shape, sum(lengths)), nil
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

local function stack_shape (self, shape, method)
  local piece = { table.unpack(shape) }
  table.remove(piece, dimension_of_parts(self, shape, #self.list))
  local part = self.list[1]
  piece = part and part[method](part, piece) or piece
  table.insert(piece, self.dim > 0 and self.dim or #piece + self.dim + 2, #self.list)
  return piece
end

--- Transforms of parts of the given lengths (1 each unless told) along a dimension. Parts that are
-- rows may change their lengths if it is the last.
new_kind("Cat", {
  params = { "list", "dim", "lengths" },
  join = tensor.cat,
  part = function (self, x, i, lengths)
    local at = 1
    for j = 1, i - 1 do at = at + lengths[j] end
    return x:narrow(self.dim, at, lengths[i])
  end,
  forward = function (self, x) return apart(self, x, "forward", self.lengths) end,
  inverse = function (self, y) return apart(self, y, "inverse", lengths_behind(self, rank(y))) end,
  forward_shape = function (self, shape) return cat_shape(self, shape, "forward_shape", self.lengths) end,
  inverse_shape = function (self, shape)
    return cat_shape(self, shape, "inverse_shape", lengths_behind(self, #shape))
  end,
  log_det = parts_log_det,
}, function (self, list, dim, lengths)
  self.list, self.dim, self.out_lengths = list_of_transforms("Cat", list), layout.dimension("Cat", dim or 1), {}
  self.lengths = layout.lengths("Cat", lengths, #self.list)
  for i, part in ipairs(self.list) do
    local n = self.lengths[i]
    local stretches = may_stretch(part, self.dim)
    self.out_lengths[i] = stretches and length_behind(part, "forward_shape", part.domain.event_dim, n) or n
  end
  local domains, codomains
  domains, codomains, self.bijective = list_domains(self.list)
  self.domain   = constraints.cat(domains, self.dim, self.lengths)
  self.codomain = constraints.cat(codomains, self.dim, is_last(self.domain) and self.out_lengths or self.lengths)
end)

--- Transforms of the slices along a dimension.
new_kind("Stack", {
  params = { "list", "dim" },
  join = tensor.stack,
  part = function (self, x, i) return x:select(self.dim, i) end,
  forward = function (self, x) return apart(self, x, "forward") end,
  inverse = function (self, y) return apart(self, y, "inverse") end,
  forward_shape = function (self, shape) return stack_shape(self, shape, "forward_shape") end,
  inverse_shape = function (self, shape) return stack_shape(self, shape, "inverse_shape") end,
  log_det = parts_log_det,
}, function (self, list, dim)
  self.list, self.dim = list_of_transforms("Stack", list), layout.dimension("Stack", dim or 1)
  local domains, codomains
  domains, codomains, self.bijective = list_domains(self.list)
  self.domain, self.codomain = constraints.stack(domains, self.dim), constraints.stack(codomains, self.dim)
end)


-- From free numbers to constraints --------------------------------------------------------

local Registry = {}
Registry.__index = Registry

--- Makes factory(constraint) the way to the constraints of a kind.
function Registry:register (kind, factory)
  if not (constraints.is_constraint(kind) or class.is_class(kind) and kind.violation) then
    raise("%s: register: kind must be a constraint or a kind of them, got %s", self.name, show.value(kind))
  elseif type(factory) ~= "function" then
    raise("%s: register: factory must be a function of a constraint, got %s", self.name, show.value(factory))
  end
  self.factories[rawget(kind, "__index") and kind or getmetatable(kind)] = factory
end

function Registry:__call (constraint)
  if not constraints.is_constraint(constraint) then
    raise("%s: constraint must be a constraint, got %s", self.name, show.value(constraint))
  end
  local factory = self.factories[getmetatable(constraint)]
  if not factory then
    raise("%s: there is no transform to %s; %s:register(constraint, factory) adds one", self.name,
          tostring(constraint), self.name)
  end
  return factory(constraint)
end

function Registry:__tostring () return self.name end

errors.count_arguments("Registry", Registry, "register")

local function new_registry (name) return setmetatable({ name = name, factories = {} }, Registry) end

transforms.biject_to    = new_registry "biject_to"      -- one to one, with a determinant
transforms.transform_to = new_registry "transform_to"   -- onto, and friendly to optimisers

local function register_both (c, factory)
  transforms.biject_to:register(c, factory)
  transforms.transform_to:register(c, factory)
end

local function from (kind) return function () return kind() end end
local exp = transforms.Exp()

local function above (c) return Compose { exp, transforms.Affine(c.low, 1) } end

-- Between two ends: Sigmoid, stretched unless it fits.
local function inside (c)
  if c == constraints.unit_interval then return transforms.Sigmoid() end
  return Compose { transforms.Sigmoid(), transforms.Affine(c.low, c.high - c.low) }
end

register_both(constraints.real, function () return transforms.identity end)
register_both(constraints.positive, from(transforms.Exp))
register_both(constraints.nonnegative, from(transforms.Exp))
register_both(constraints.greater_than, above)
register_both(constraints.greater_than_eq, above)
register_both(constraints.less_than, function (c) return Compose { exp, transforms.Affine(c.high, -1) } end)
register_both(constraints.interval, inside)
register_both(constraints.half_open_interval, inside)
register_both(constraints.left_open_interval, inside)
register_both(constraints.corr_cholesky, from(transforms.CorrCholesky))
register_both(constraints.lower_cholesky, from(transforms.LowerCholesky))
register_both(constraints.positive_definite, from(transforms.PositiveDefinite))
register_both(constraints.positive_semidefinite, from(transforms.PositiveDefinite))
register_both(constraints.ordered_vector, from(transforms.Ordered))
transforms.biject_to:register(constraints.simplex, from(transforms.StickBreaking))
transforms.transform_to:register(constraints.simplex, from(transforms.Softmax))
transforms.transform_to:register(constraints.sphere, from(transforms.UnitVector))

for _, registry in ipairs { transforms.biject_to, transforms.transform_to } do
  local function each (list)
    local found = {}
    for i, c in ipairs(list) do found[i] = registry(c) end
    return found
  end
  registry:register(constraints.real_vector, function (c) return transforms.Independent(registry(c.base), c.dims) end)
  registry:register(constraints.cat { constraints.real }, function (c)
    local parts, lengths = each(c.list), {}
    for i, part in ipairs(parts) do
      local is_row, n = part.domain.event_dim > 0 and is_last(c), c.lengths[i]
      lengths[i] = is_row and length_behind(part, "inverse_shape", part.codomain.event_dim, n) or n
    end
    return transforms.Cat(parts, c.dim, lengths)
  end)
  registry:register(constraints.stack { constraints.real }, function (c)
    return transforms.Stack(each(c.list), c.dim)
  end)
end


-- torch's names
local function long_name (name)
  local short = name:match("^(.+)Transform$") or name:match("^(.+)_transform$")
  return short and rawget(transforms, short)
end

return core.keep("transforms", errors.module("transforms", transforms, long_name))
