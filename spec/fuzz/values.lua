--- Expressions: Lua text for values of a wanted kind, out of what a case has made so far or new.
--
-- A Source looks at the values themselves, so that a dimension, an index or an x fits in most calls; and
-- now and then gives something else altogether.
local peri    = require "perilune"
local params  = require "spec.fuzz.params"
local surface = require "spec.fuzz.surface"
local text    = require "spec.fuzz.text"
local world   = require "spec.fuzz.world"

local Source = {}
Source.__index = Source

--- From a generator of choices; `wildness` is how often an argument is of a wrong kind.
function Source.new (random, wildness)
  return setmetatable({ random = random, wildness = wildness, last = 0 }, Source)
end


-- What there is ----------------------------------------------------------------------

-- Names of metatables that say what an object is.
local OBJECTS = { posterior = true, ["posed model"] = true, ["running fit"] = true, sampling = true, Plot = true,
                  help = true, Rows = true }

local function kind_of (x)
  local meta_name = (debug.getmetatable(x) or {}).__name
  if type(x) == "table" and type(meta_name) == "string" and OBJECTS[meta_name] then return meta_name end
  if peri.is_tensor(x) then return "tensor" end
  if type(x) ~= "table" then return type(x) == "userdata" and tostring(x):match("^%a+") or type(x) end
  local meta = getmetatable(x)
  if meta == nil or world.is_odd[x] then return "table" end
  if x.log_prob and x.batch_shape then return rawget(x, "__index") and "class" or "distribution" end
  if x.log_abs_det_jacobian then return "transform" end
  if x.violation then return "constraint" end
  if x.zero_grad then return "optimiser" end
  return "table"
end

Source.kind_of = kind_of

-- A random one of the values of a kind: its text, and itself.
function Source:ref (kind)
  local found = {}
  for k = 1, self.last do
    local x = world.v[k]
    local ok, is = pcall(kind_of, x)
    if x ~= nil and ok and is == kind then found[#found + 1] = k end
  end
  if #found == 0 then return nil end
  local k = self.random:pick(found)
  return "v[" .. k .. "]", world.v[k]
end

--- A name for the next value.
function Source:next ()
  self.last = self.last + 1
  return self.last
end


-- Numbers ------------------------------------------------------------------------------

local SMALL = { 0, 1, 2, 3, -1, 0.5, 0.3, 1.5, -2.5, 7 }
local ODD_NUMBERS = {
  0 / 0, math.huge, -math.huge, -0.0, 2 ^ 53 + 1, (1 << 53) + 1, math.maxinteger, math.mininteger, 1e308, -1e308,
  5e-324, 1e-200, 1e17, 0.1, 1 / 3, 1e6, -1e17, 2 ^ 40, 2 ^ 63, 1.5, 100, 65536,
}

function Source:number ()
  local random = self.random
  if random:once_in(10) then return text.number(random:pick(ODD_NUMBERS)) end
  if random:once_in(2) then return text.number(random:pick(SMALL)) end
  return text.number(random:between(-3, 3))
end

function Source:integer () return text.number(self.random:integer(-2, 5)) end

function Source:positive () return text.number(params.size(self.random)) end

function Source:level () return text.number(self.random:unit()) end

function Source:boolean () return self.random:pick { "true", "false" } end

function Source:seed () return text.number(self.random:integer(0, 9)) end


-- Shapes and tensors ---------------------------------------------------------------------

function Source:extent ()
  local random = self.random
  if random:once_in(15) then return 0 end
  return random:integer(1, 4)
end

function Source:shape ()
  local random, parts = self.random, {}
  if random:once_in(40) then return random:pick { "2^40", "{ 2^31, 2^31 }", "{ 2^62, 4 }", "{ -1 }", "2^53" } end
  for d = 1, random:integer(0, 3) do parts[d] = self:extent() end
  if #parts == 1 and random:once_in(2) then return tostring(parts[1]) end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local function nested (self, shape, depth)
  if depth > #shape then return self:number() end
  local parts = {}
  for i = 1, shape[depth] do parts[i] = nested(self, shape, depth + 1) end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

--- A table of numbers, of rank 1 to 3.
function Source:numbers ()
  local shape = {}
  for d = 1, self.random:integer(1, 3) do shape[d] = self.random:integer(1, 3) end
  return nested(self, shape, 1)
end

function Source:vector ()
  return nested(self, { self.random:integer(1, 5) }, 1)
end

local VIEWS = {
  function (s) return s .. ":transpose(1, 2)" end,
  function (s) return s .. ":transpose(1, -1)" end,
  function (s) return s .. ":unsqueeze(1):expand(3, 2, 4)" end,
  function (s) return s .. ":narrow(1, 2, 1)" end,
  function (s) return s .. ":select(2, 2)" end,
  function (s) return s .. ":reshape(-1)" end,
}

local MAKERS = {
  function (self) return "peri.tensor(" .. self:numbers() .. ")" end,
  function (self) return "peri.tensor(" .. self:vector() .. ")" end,
  function (self) return "peri.tensor(" .. self:number() .. ")" end,
  function (self) return "peri.param(" .. self:vector() .. ")" end,
  function (self) return "peri.rng(" .. self:seed() .. "):normal({ 2, 4 })" .. self.random:pick(VIEWS)("") end,
  function (self) return "peri.rng(" .. self:seed() .. "):uniform(" .. self.random:integer(1, 6) .. ")" end,
  function () return "peri.zeros(0)" end,
  function (self) return "peri.arange(" .. self.random:integer(1, 9) .. ")" end,
  function (self) return "peri.eye(" .. self.random:integer(1, 3) .. ")" end,
  function (self) return "peri.rng(" .. self:seed() .. "):normal(" .. self.random:pick { 600, 4500 } .. ")" end,
}

function Source:new_tensor () return self.random:pick(MAKERS)(self) end

function Source:tensor ()
  local ref = not self.random:once_in(3) and self:ref "tensor"
  return ref or self:new_tensor()
end

function Source:operand ()
  if self.random:once_in(3) then return self:number() end
  if self.random:once_in(6) then return self:numbers() end
  return self:tensor()
end

--- A dimension of a tensor, counted from either end.
function Source:dim (t)
  local rank = math.max(1, peri.is_tensor(t) and #t.shape or 2)
  local d = self.random:integer(1, rank)
  return tostring(self.random:once_in(2) and d or d - rank - 1)
end

function Source:dims (t)
  if self.random:once_in(4) then return "{ " .. self:dim(t) .. ", " .. self:dim(t) .. " }" end
  return self.random:once_in(3) and "nil" or self:dim(t)
end


-- Distributions --------------------------------------------------------------------------

-- A distribution of single numbers, with a batch of k if that is not nil.
local function of_numbers (self, k)
  for _ = 1, 20 do
    local name = self.random:pick(surface.classes)
    local class = peri[name]
    local given = not class.construct and params.batch(self.random, class, k or 1)
    if given then return "peri." .. name .. text.value(k and given or params.first(given)) end
  end
  return "peri.Normal(0, 1)"
end

local MADE_OF_OTHERS = {
  Independent = function (self) return "(" .. of_numbers(self, 3) .. ", 1)" end,
  Masked      = function (self) return "(" .. of_numbers(self, 2) .. ", { true, false })" end,
  MixtureSameFamily = function (self)
    return "(peri.Categorical({ 0.2, 0.5, 0.3 }), " .. of_numbers(self, 3) .. ")"
  end,
  TransformedDistribution = function (self) return "(" .. of_numbers(self) .. ", " .. self:transform() .. ")" end,
  Truncated = function (self)
    return "(" .. of_numbers(self) .. ", " .. self:number() .. ", " .. self:number() .. ")"
  end,
}

--- A distribution of a class.
function Source:of_class (name)
  local random, class = self.random, peri[name]
  local made = MADE_OF_OTHERS[name]
  if made then return "peri." .. name .. made(self) end
  local given = random:once_in(3) and params.batch(random, class, random:integer(1, 3)) or params.named(random, class)
  return "peri." .. name .. (given and next(given) and text.value(given) or "()")
end

function Source:new_distribution () return self:of_class(self.random:pick(surface.classes)) end

function Source:distribution ()
  local ref = not self.random:once_in(3) and self:ref "distribution"
  return ref or self:new_distribution()
end

--- Where to ask a distribution: a draw, or any numbers.
function Source:point (d_text)
  local random = self.random
  if random:once_in(3) then return self:operand() end
  return string.format("%s:sample(%s, peri.rng(%s))", d_text, random:pick { "nil", "3", "{ 2, 1 }" }, self:seed())
end

function Source:class () return "peri." .. self.random:pick(surface.classes) end


-- The rest -------------------------------------------------------------------------------

function Source:rng () return self:ref "rng" or "peri.rng(" .. self:seed() .. ")" end

local TRANSFORMS = {
  Affine = function (self) return "(" .. self:number() .. ", " .. self:positive() .. ")" end,
  Power  = function (self) return "(" .. self:number() .. ")" end,
  Compose = function (self) return "{ " .. self:transform() .. ", " .. self:transform() .. " }" end,
  CumulativeDistribution = function (self) return "(" .. of_numbers(self) .. ")" end,
  Independent = function (self) return "(" .. self:transform() .. ", 1)" end,
  Reshape = function () return "({ 4 }, { 2, 2 })" end,
  Cat   = function (self) return "({ " .. self:transform() .. ", " .. self:transform() .. " }, -1, { 1, 2 })" end,
  Stack = function (self) return "({ " .. self:transform() .. ", " .. self:transform() .. " }, -1)" end,
}

function Source:transform ()
  local name = self.random:pick(surface.transforms)
  if not name:find("^%u") then return self:ref "transform" or "peri.transforms.Exp()" end
  local given = TRANSFORMS[name]
  return "peri.transforms." .. name .. (given and given(self) or "()")
end

local CONSTRAINTS = {
  greater_than = 1, greater_than_eq = 1, less_than = 1, interval = 2, half_open_interval = 2, left_open_interval = 2,
  integer_interval = 2, multinomial = 1, between = 2,
}

function Source:constraint ()
  local name = self.random:pick(surface.constraints)
  local n = CONSTRAINTS[name]
  if n then return "peri.constraints." .. name .. "(" .. self:integer() .. (n == 2 and ", 7)" or ")") end
  if name == "independent" then return "peri.constraints.independent(" .. self:constraint() .. ", 1)" end
  if name == "cat" or name == "stack" then
    return "peri.constraints." .. name .. "({ " .. self:constraint() .. ", " .. self:constraint() .. " }, -1)"
  end
  return "peri.constraints." .. name
end

function Source:params ()
  return self.random:pick { "{ peri.param(%s) }", "{ a = peri.param(%s) }", "peri.param(%s)" }:format(self:vector())
end

-- Functions of a tensor or a number, as callbacks.
local CALLBACKS = {
  "function (x) return x end", "function (x) return peri.mul(x, x) end", "function (x) return peri.exp(x) end",
  "function (x) return peri.Normal(0, 1):log_prob(x) end", "function () return 1 end", "function () end",
  "function () error(own_error, 0) end", "function (x) coroutine.yield() return x end",
  "function (x) collectgarbage() return peri.mul(x, 2) end",
  "function (x) return peri.mul(peri.tensor { 1, 2 }, x) end",
  "function (x) return peri.lt(x, 1) end", "function () return 'x' end", "function () return 0 / 0 end",
  -- those that come back into the library, or change what it is at work on
  "function (x) return peri.trace(function () return total(x) end)() end",
  "function (x) return peri.grad(function (y) return peri.mul(y, y) end)(total(x)) end",
  "function (x) total(peri.mul(peri.param(1), x)):backward() return x end",
  "function (x) if peri.is_tensor(x) then x:copy(7) end return peri.exp(x) end",
  "function (x) return peri.scan(function (s) return s * 2 end, total(x), 3) end",
  "function (x) return peri.kl_divergence(peri.Normal(total(x), 1), peri.Cauchy(0, 1)) end",
  "function (x) for k in pairs(v) do v[k] = nil end collectgarbage() return x end",
  "function (x) return inside_coroutine(function () coroutine.yield(x) end) or x end",
  "function (x) finalizer(x, function (y) return peri.exp(y) end) collectgarbage() return peri.mul(x, x) end",
  "function (x) return peri.no_grad(function () return peri.mul(x, 2) end) end",
  "function (x) peri.set_threads(2) return peri.exp(x) end",
}

function Source:callback ()
  if self.random:once_in(4) then
    return "function (x) return peri." .. self.random:pick(surface.elementwise) .. "(x, x) end"
  end
  return self.random:pick(CALLBACKS)
end

local ODD = {}
for name in pairs(world.odd) do ODD[#ODD + 1] = "odd." .. name end
table.sort(ODD)
for _, word in ipairs { "nil", "true", "false", "''", "'x'", "'1'", "'mean'", "peri", "peri.Normal", "peri.vi" } do
  ODD[#ODD + 1] = word
end

local GRAFTS = {}
for name in pairs(world.grafts) do GRAFTS[#GRAFTS + 1] = name end
table.sort(GRAFTS)

--- Anything at all.
function Source:anything ()
  local random = self.random
  if random:once_in(30) then return string.format("graft %q", random:pick(GRAFTS)) end
  if random:once_in(2) then return random:pick(ODD) end
  if random:once_in(3) then return text.number(random:pick(ODD_NUMBERS)) end
  if self.last > 0 and random:once_in(2) then return "v[" .. random:integer(1, self.last) .. "]" end
  local kind = random:pick { "number", "tensor", "distribution", "class", "rng", "transform", "constraint", "numbers",
                             "shape", "callback" }
  return self[kind](self)
end

--- An argument of a kind, or in a wild case something else.
function Source:argument (kind, receiver)
  if self.random:unit() < self.wildness then return self:anything() end
  return self[kind](self, receiver)
end

--- Arguments of these kinds, "kind?" being one that may be missing: text to put between parentheses.
function Source:arguments (kinds, receiver)
  local parts = {}
  for i, kind in ipairs(kinds) do
    local optional = kind:sub(-1) == "?"
    if optional and self.random:once_in(2) then break end
    parts[i] = self:argument(optional and kind:sub(1, -2) or kind, receiver)
  end
  if self.random:unit() < self.wildness / 3 then parts[#parts + 1] = self:anything() end
  return table.concat(parts, ", ")
end

return Source
