--- A model's body, or a guide, run once.
--
-- The body gets m and d, a guide g and d. What is assigned to m goes to a handler, which gives unobserved sites their
-- values:
--
--   handler:latent(name, distribution)             the value of a site
--   handler:observed(name, distribution, value)    of a site whose name is one of the data
--   handler:derived(name, value)
--   handler:factor(name, value)
--   handler:plate(name, n, size, block)            a Batch of the plate's rows, or nil for all of them; `block` is not
--                                                  nil where rows are streamed (model/data.lua), nor is the Batch
--   handler:param(name, init, constraint)          of guides alone: the value of a parameter
--   handler:finish(values)                         the body is done; all its values by name
--
-- Handlers leave out what they have no use for. `handler.who` is "guide" for guides. `handler.scale` is the factor of
-- log densities within the plates that are open, `handler.depth` the number of these.
local class        = require "perilune.class"
local core         = require "perilune.core"
local Distribution = require "perilune.distribution"
local errors       = require "perilune.errors"
local show         = require "perilune.show"

local raise = errors.raise

local function is_distribution (x)
  local c = class.of(x)
  return c ~= nil and class.descends(c, Distribution) and not class.is_class(x)
end

-- An observed value, which must be numbers.
local function checked (self, name, value)
  if type(value) == "number" or core.is_tensor(value) then return value end
  if core.table_kind(value) == "data" and next(value) == nil then return value end   -- no data are data, too
  if self.data.streamed then
    raise("model: %s is observed, and its rows are not to be had all at once: declare it within a plate of %d rows",
          name, self.data.streamed)
  end
  raise("model: %s is observed, and must be a number, a table of numbers or a tensor, got %s", name, show.value(value))
end

-- What becomes of an assignment to m.
local function declare (self, name, x)
  local handler, who = self.handler, self.who
  if type(name) ~= "string" then raise("%s: a site must have a name, got %s", who, show.value(name)) end
  if self.methods[name] then
    raise("%s: %s is a method of %s, and cannot be the name of a site", who, name, who:sub(1, 1))
  end
  if self.values[name] ~= nil then raise("%s: %s is set twice", who, name) end
  local value
  if is_distribution(x) then
    value = self.data:observed(name)
    if value == nil then value = handler:latent(name, x)
    elseif handler.observed then handler:observed(name, x, checked(self, name, value)) end
  else
    value = core.table_kind(x) == "data" and core.tensor(x) or x
    if type(value) ~= "number" and not core.is_tensor(value) then
      raise("%s: %s must be a distribution, or a number or tensor, got %s", who, name, show.value(x))
    end
    if handler.derived and not self.data:is_in_stream() then handler:derived(name, value) end
  end
  self.values[name] = value
end

local function names_of (values)
  local names = {}
  for name in pairs(values) do names[#names + 1] = name end
  return names
end

local function read (self, name)
  local value = self.values[name]
  if value ~= nil or type(name) ~= "string" then return value end
  local near, m = core.nearest(name, names_of(self.values)), self.who:sub(1, 1)
  if near then raise("%s: %s is not set yet; did you mean %s?", self.who, name, near) end
  raise("%s: %s is not set yet (a statement that sets several, %s.a, %s.b = ..., computes all before it sets any)",
        self.who, name, m, m)
end

local function check_factor (name, value)
  if type(name) ~= "string" then
    raise("model: factor(name, value): name must be a string, got %s", show.value(name))
  end
  if type(value) ~= "number" and not core.is_tensor(value) then
    raise("model: factor %s must be a number or a tensor, got %s", name, show.value(value))
  end
end

local function check_plate (self, name, n, size, fn)
  if type(name) ~= "string" then raise("%s: a plate must have a name, got %s", self.who, show.value(name)) end
  local who = self.who .. ": plate " .. name
  if math.type(n) ~= "integer" or n < 1 then raise("%s: N must be a positive integer, got %s", who, show.value(n)) end
  if math.type(size) ~= "integer" or size < 1 or size > n then
    raise("%s: size must be an integer from 1 to N = %d, got %s", who, n, show.value(size))
  end
  return errors.check_function(who, "the last argument", fn)
end

-- Raises because a run needs all rows of a plate at once.
local function refuse_stream (self, name, n)
  raise("%s: plate %s has %d rows, of data that are not all in memory, and this needs all of them at once; give it "
        .. "tensors: rows:read(first, last) is one", self.who, name, n)
end

--@ Sites:factor(name, value) -> nothing
-- In a model's body, m:factor(name, value) adds a value to the log density; a tensor with its sum.
--   name   string
--   value  number or tensor
-- > posed = model(function (m) m.x = Normal(0, 1); m:factor("tilt", 2 * m.x) end) {}
-- > string.format("%.3f", posed:vi({ seed = 1 }).mean.x)
-- 2.000
local function factor (self, name, value)
  check_factor(name, value)
  if self.handler.factor then self.handler:factor(name, value) end
end

--@ Sites:plate(name, N, size, fn) -> nothing
-- In a model's body: looks at size of N rows at a time. Within fn data of N rows are indexed by themselves, those that
-- are Rows (peri.map_file) being tensors there, and log densities count N/size times.
--   name  string
--   N     integer: how many rows there are
--   size  integer: how many at a time; may be left out: all
--   fn    function (i) that declares sites, i being the numbers of the rows
-- > posed = model(function (m, d)
-- >   m.mu = Flat()
-- >   m:plate("rows", 4, function () m.y = Normal(m.mu, 1) end)
-- > end) { y = { 1, 2, 3, 6 } }
-- > string.format("%.3f", posed:map({ seed = 1 }).mean.mu)
-- 3.000

--@ Guide:plate(name, N, size, fn) -> nothing
-- In a guide: the model's plate of that name, with the same rows at every step.
--   name  string
--   N     integer: how many rows there are
--   size  integer: how many at a time; may be left out: all
--   fn    function (i) that declares sites, i being the numbers of the rows
-- > posed = model(function (m)
-- >   m:plate("rows", 4, function (i) m.z = Normal(0, 1):expand(#i); m.y = Normal(m.z, 1) end)
-- > end) { y = { 1, 2, 3, 6 } }
-- > post = posed:vi { seed = 1, guide = function (g, d)
-- >   g:plate("rows", 4, function () g.z = Normal(g:param("share", 0.5) * d.y, math.sqrt(0.5)) end)
-- > end }
-- > post.verdict
-- ok
local function plate (self, name, n, size, fn)
  if fn == nil then size, fn = n, size end
  fn = check_plate(self, name, n, size, fn)
  local handler = self.handler
  local batch, block = nil, n == self.data.streamed and self.data.block or nil
  if handler.plate then batch = handler:plate(name, n, size, block)
  elseif block then refuse_stream(self, name, n) end
  handler.depth = handler.depth + 1
  if batch then
    local scale = handler.scale
    handler.scale = scale * n / batch.size
    self.data:open(batch)
    fn(batch.index)
    self.data:close()
    handler.scale = scale
  else fn(core.arange(1, n + 1)) end
  handler.depth = handler.depth - 1
end

--@ Guide:param(name, init, constraint) -> Tensor
-- In a guide: a parameter that the fit moves. The same name gives the same parameter in every run.
--   name        string
--   init        number, table or tensor where it begins; or a distribution, of which it is a draw
--   constraint  constraint; constraints.real unless told
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > post = posed:vi { seed = 1, guide = function (g)
-- >   g.mu = Normal(g:param("loc", 0), g:param("scale", 1, constraints.positive))
-- > end }
-- > post.verdict
-- ok
local function param (self, ...) return self.handler:param(...) end

local METHODS = { model = { factor = factor, plate = plate }, guide = { param = param, plate = plate } }

-- m or g: an empty table, so that every assignment and every reading comes by here.
local function new_m (self)
  local m = {}
  local bound = {}
  for name, method in pairs(self.methods) do
    bound[name] = function (of, ...)
      if of ~= m then raise("%s: call %s:%s(...), with a colon", self.who, self.who:sub(1, 1), name) end
      return method(self, ...)
    end
  end
  return setmetatable(m, {
    __newindex = function (_, name, x) declare(self, name, x) end,
    __index    = function (_, name) return bound[name] or read(self, name) end,
  })
end

local run = { is_distribution = is_distribution, methods = METHODS }

--- Runs the body with these data; returns the handler.
function run.body (body, data, handler)
  handler.scale, handler.depth = 1, 0
  local who = handler.who or "model"
  local self = { handler = handler, who = who, methods = METHODS[who], data = data:reader(), values = {} }
  body(new_m(self), self.data.proxy)
  if handler.finish then handler:finish(self.values) end
  return handler
end

return run
