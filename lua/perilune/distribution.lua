--- Distribution: the base class. Subclasses, shapes, and the methods that
-- follow from other methods.
local class     = require "perilune.class"
local construct = require "perilune.construct"
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"
local show      = require "perilune.show"
require "perilune.tensor"   -- parameters are tensors with methods

local construction = lazy "construction"
local raise = errors.raise

--@ Distribution
-- The class of all distributions. Class(...) makes one, of parameters in their order or of one table with names,
-- Normal { loc = 1, scale = 2 }; a parameter that breaks its constraint raises. Parameters are fields and may be
-- tensors: their broadcast shape is the batch. Methods take and give numbers where everything is a number, else
-- tensors. Classes of one's own: Distribution:extend.
-- > d = Normal { loc = { 0, 1 }, scale = 2 }
-- > d.scale, #d.batch_shape, d:mean():sum()
-- 2  1  1.0
local Distribution = { __name = "Distribution", params = {}, operands = {}, has_rsample = false }
Distribution.__index = Distribution

-- The shape of a single number, shared by all: it cannot be written to.
local SCALAR = setmetatable({}, {
  __tostring  = function () return "()" end,
  __newindex  = function () raise("batch_shape and event_shape cannot be changed") end,
  __metatable = false,
})
--@ Distribution.batch_shape -> table
-- The shape of the batch: how many distributions there are at once; a list of integers, empty for one.
-- > Normal({ 0, 1, 2 }, 1).batch_shape[1]
-- 3

--@ Distribution.event_shape -> table
-- The shape of a single draw: a list of integers, empty for a number.
-- > Dirichlet({ 1, 2, 3 }).event_shape[1]
-- 3

--@ Distribution.support -> Constraint
-- The constraint that all draws satisfy.
-- > Gamma(1, 1).support
-- nonnegative

--@ Distribution.has_rsample -> boolean
-- Do draws carry gradients? Then rsample gives them.
-- > Normal.has_rsample, Poisson.has_rsample
-- true  false

--@ Distribution.params -> table
-- Of a class: a list of { name, constraint, default = number }, in the order of arguments.
-- > Normal.params[2][1], Normal.params[2].default
-- scale  1

--@ Distribution.super -> Distribution
-- Of a class: its parent.
-- > Chi2.super == Gamma
-- true
Distribution.batch_shape = SCALAR
Distribution.event_shape = SCALAR

-- Classes --------------------------------------------------------------------

-- What Lua fetches raw from the metatable of an instance, its class: a class has copies of its parent's.
local EVENTS = {
  "__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm", "__idiv", "__band", "__bor", "__bxor", "__bnot",
  "__shl", "__shr", "__concat", "__len", "__eq", "__lt", "__le", "__call", "__tostring", "__pairs", "__newindex",
  "__gc", "__close", "__mode", "__metatable",
}

local function class_tostring (c) return "class " .. class.name(c) end

-- A class's fields for `pairs`, those that it inherits too; Lua's own events are its metatable's business.
local function class_pairs (c)
  local fields = {}
  for _, link in ipairs(class.chain(c)) do
    for key, value in next, link do
      if fields[key] == nil and not tostring(key):find "^__" then fields[key] = value end
    end
  end
  return next, fields, nil
end

-- The help of a class of ours is what its file begins with; it prints as its entry in the reference. (`help = true`
-- where nothing else tells that it is ours.)
local function help_of (name, help)
  help = help or lazy("help.classes", name)
  local meta = getmetatable(help) or {}
  function meta.__tostring () return tostring(require "perilune.help".entry(name)) end
  return setmetatable(help, meta)
end

local function names_of (params)
  local names = {}
  for i, param in ipairs(params) do names[i] = param[1] end
  return names
end

local function has_alternatives (params)
  for _, param in ipairs(params) do
    if param.gives then return true end
  end
  return false
end

-- Where instances look for what they do not have: in the class, and then among
-- alternatives and other fields that can be derived.
local function index_of (c)
  local derived = c.derived
  if not derived and not has_alternatives(c.params) then return c end
  return function (self, key)
    local value = c[key]
    if value ~= nil then return value end
    if derived and derived[key] then return derived[key](self) end
    return construct.derive(self, c, key)
  end
end

local UNDERSCORE = ("_"):byte()

local function is_method (key, value)
  if type(value) ~= "function" or type(key) ~= "string" or key == "init" then return false end
  local first, second = key:byte(1, 2)
  return first ~= UNDERSCORE or second ~= UNDERSCORE
end

local function set_call (c) getmetatable(c).__call = c.construct or construct.constructor(c) end

-- A new field of a class. Methods of ours count their arguments, and some fields decide how the class is called.
local set_field = core.field_setter(set_call)

-- A function of a class that is loaded, with others of methods/<class>.lua, when it is first called.
local function loaded_late (c, name)
  local found
  local function stand_in (...)
    if not found then
      found = require("perilune.methods." .. c.__name)[name]
      if is_method(name, found) then found = core.counted(c.__name, name, found) end
      if rawequal(rawget(c, name), stand_in) then rawset(c, name, found) end
    end
    return found(...)
  end
  return stand_in
end

-- Makes c a child of `parent` that can be called.
local function set_parent (c, parent)
  setmetatable(c, { __index = parent, __tostring = class_tostring, __pairs = class_pairs, __newindex = set_field })
  set_call(c)
end

-- A class without its methods, which it gets anew.
local function emptied (c)
  setmetatable(c, nil)
  for key, value in pairs(c) do
    if is_method(key, value) then c[key] = nil end
  end
  return c
end

-- A description that is an instance would have the kernels of its class, and take the place of the class of that name.
local function check_extension (parent, name, spec)
  if not class.is_class(parent) then raise("extend: a class is extended, got %s", show.value(parent)) end
  if type(name) ~= "string" or name == "" then
    raise("extend: name must be a string, got %s", show.value(name))
  end
  if spec ~= nil and (type(spec) ~= "table" or core.table_kind(spec) == "object") then
    raise("extend: the description of %s must be a plain table, got %s", name, show.value(spec))
  end
end

--@ Distribution:extend(name, options) -> Distribution
-- A new class with this one as its parent: its methods and KL pairs are inherited. A class with a log_prob and a
-- support, or a sample, takes part in everything.
--   name     string
--   options  params = list of { name, constraint, default = number }; support = constraint of the draws; event_shape =
--            of a draw; inherit_kl = false where the density differs from the parent's (true); derived = functions of
--            an instance for fields that are computed when asked for; init = function (self) that completes an
--            instance; construct = function (class, ...) that takes the place of params; has_rsample = do draws carry
--            gradients; help = what peri.help says of the class
-- > Peak = Distribution:extend("Peak", {
-- >   params = { { "rate", constraints.positive, default = 1 } }, support = constraints.real,
-- > })
-- > function Peak:log_prob (x) return log(self.rate / 2) - self.rate * abs(x) end
-- > Peak(2):log_prob(0), kl_divergence(Peak(2), Laplace(0, 0.5)) < 1e-12
-- 0.0  true
function Distribution:extend (name, spec)
  check_extension(self, name, spec)
  spec = spec or {}
  local is_ours = spec.kernels or spec.lazy_methods or spec.help == true
  local params = spec.params
  if params ~= nil and not is_ours then params = construction.checked_params(name, params) end
  if not is_ours then construction.check_support(name, spec.support) end
  local c = {}
  if spec.kernels then c = emptied(core.keep("class " .. name, c)) end   -- the same after a second load
  core.copy_fields(c, self, EVENTS)
  for key, value in next, spec do c[key] = value end
  c.__name, c.super = name, self
  c.params   = params or c.params or self.params
  c.operands = c.operands or (params and names_of(params)) or self.operands
  c.init     = c.init or rawget(self, "init")
  c.derived  = c.derived or self.derived
  c.__index, c.lazy_methods = index_of(c), nil
  if is_ours then c.help = help_of(name, spec.help ~= true and spec.help or nil) end
  for key in (spec.lazy_methods or ""):gmatch "%S+" do c[key] = loaded_late(c, key) end
  set_parent(c, self)
  if spec.kernels and not core.bind_methods(c, spec.kernels, name, c.operands) then
    raise("%s: there is no file of kernels named %s", name, spec.kernels)
  end
  return c
end

set_parent(Distribution)


-- Methods --------------------------------------------------------------------

--@ Distribution:is_a(class) -> boolean
-- Is it of this class, or of one that descends from it?
--   class  class of distributions
-- > Chi2(3):is_a(Gamma), Gamma(1, 1):is_a(Chi2)
-- true  false
function Distribution:is_a (c) return class.descends(class.of(self), c) end

function Distribution:__tostring ()
  local parts, derived = {}, {}
  for _, param in ipairs(self.params) do
    local value = rawget(self, param[1])
    if value ~= nil and not derived[param[1]] then   -- of alternatives, the first
      parts[#parts + 1] = param[1] .. "=" .. show.parameter(value)
      for other in pairs(param.gives or {}) do derived[other] = true end
    end
  end
  return class.name(class.of(self)) .. "(" .. table.concat(parts, ", ") .. ")"
end

--@ Distribution:batched(value) -> number or Tensor
-- For methods of one's own classes: a value that does not depend on every parameter, in the batch shape.
--   value  number or tensor
-- > Normal({ 0, 1, 2 }, 1):batched(5)
-- Tensor(3)
--   5  5  5
function Distribution:batched (value)
  if self.batch_shape == SCALAR then return value end
  return (core.is_tensor(value) and value or core.tensor(value)):expand(self.batch_shape)
end

-- The fields that have a batch shape, and the rank of what comes after it.
local function event_ranks (self)
  local ranks = {}
  for _, name in ipairs(self.operands) do ranks[name] = 0 end
  for _, param in ipairs(self.params) do ranks[param[1]] = param.event or 0 end
  return ranks
end

local function expanded (self, name, value, shape, event)
  local whole, own = { table.unpack(shape) }, core.shape(value)
  for d = #own - event + 1, #own do whole[#whole + 1] = own[d] end
  local ok, result = require "perilune.attempt".call("Tensor:expand: ", nil, core.expand, value, whole)
  if ok then return result end
  raise("%s: %s: %s", class.name(class.of(self)), name, (result:gsub("^.*Tensor:expand: ", "")))
end

--@ Distribution:with_batch(shape) -> Distribution
-- The same distribution with a batch of this shape: what expand calls, for classes made of others to define.
--   shape  integer, or a table of integers
-- > Normal(0, 1):with_batch({ 2 }).batch_shape[1]
-- 2
function Distribution:with_batch (shape)
  shape = core.to_shape(shape, class.name(class.of(self)) .. ":with_batch")
  local copy = {}
  for key, value in pairs(self) do copy[key] = value end
  for name, event in pairs(event_ranks(self)) do
    local value = rawget(self, name)
    if type(value) == "number" then value = core.tensor(value) end
    if value ~= nil then copy[name] = expanded(self, name, value, shape, event) end
  end
  copy.batch_shape = shape
  return setmetatable(copy, class.of(self))
end

--@ Distribution:expand(shape) -> Distribution
-- The same distribution with a batch of this shape; nothing is copied.
--   shape  integer, or a table of integers
-- > Normal(0, 1):expand(3).batch_shape[1]
-- 3
function Distribution:expand (shape)
  if class.is_class(self) then raise("expand: %s is no distribution, but makes them", tostring(self)) end
  return self:with_batch(core.to_shape(shape, class.name(class.of(self)) .. ":expand"))
end

--@ Distribution:cross_entropy(q, options) -> number or Tensor, number or Tensor
-- -E[log q(X)] with X from this distribution, in nats, and an error: peri.cross_entropy(d, q).
--   options  samples = draws where nothing better is known (10000); rng; fallback = false raises where there is no
--            formula (true)
-- > item(Normal(0, 1):cross_entropy(Normal(1, 2)))
-- 1.8620857137646
function Distribution:cross_entropy (q, opts) return require "perilune.divergences".cross_entropy(self, q, opts) end

--@ Distribution:expectation(f, options) -> number or Tensor, number or Tensor
-- E[f(X)] without sampling, and an estimate of its error: an integral over quantiles, or a sum over outcomes. For
-- distributions of single numbers.
--   f        function that gets a tensor of values, the batch in its last dimensions, and returns as many
--   options  rtol = relative error to reach (by itself); atol = absolute one; panels = at most so many; points = list
--            where f has a kink or jump; outcomes = after how many of a discrete law to stop; parts = functions inner
--            and outer, where f(x) is outer of inner
-- > value = Gamma(3, 2):expectation(function (x) return x:log() end)
-- > string.format("%.6f", value)
-- 0.229637
function Distribution:expectation (...)
  local expectation = require "perilune.expectation"
  return expectation.of(self, expectation.checked(self, ...))
end

--@ Distribution:fit_check(x) -> check
-- How well data agree with a distribution of single numbers: ks, the Kolmogorov-Smirnov distance, with its p-value p,
-- and quantiles of both, theoretical and observed, which printing shows as a Q-Q plot; check:plot() is that picture.
--   x  tensor or list of numbers
-- > Uniform(0, 1):fit_check({0.2, 0.5, 0.9}).ks
-- 0.23333333333333
function Distribution:fit_check (x) return require "perilune.fit.check".quantiles(self, x) end

--@ Distribution:enumerate_support() -> Tensor
-- All outcomes of a finite discrete distribution, along a new first dimension; raises where there is no end of them.
-- > Binomial(3, 0.5):enumerate_support()
-- Tensor(4)
--   0  1  2  3
function Distribution:enumerate_support () return require "perilune.enumeration".numbers(self) end


-- What follows from what ----------------------------------------------------------

-- What only distributions of single numbers have.
local ORDERED = { cdf = true, icdf = true, sf = true, isf = true, log_cdf = true, log_sf = true, median = true,
                  icdf_log = true, isf_log = true }

-- Raises, for the caller of a method, that the class lacks it.
local function refuse (self, name)
  local c = class.name(class.of(self))
  if ORDERED[name] and #self.event_shape > 0 then
    raise("%s has no %s: an event has shape %s", c, name, show.shape(self.event_shape))
  end
  raise("%s has no %s; a subclass may define %s:%s", c, name, c, name)
end

-- Is this a law of single numbers of which a density and a support are known, so that all else is a matter of
-- integrals and sums? Those of ours say themselves what they have.
local function has_density (self)
  local low = #self.event_shape == 0 and type(self.support) == "table" and self.support.low
  return low and self.log_prob ~= Distribution.log_prob and not (self.kernels or self.construct)
end

--@ Distribution:log_prob(x) -> number or Tensor
-- The logarithm of the density at x, in nats, or of the probability of x where outcomes are discrete: -inf outside of
-- the support, NaN of NaN, never an error.
--   x  number, table or tensor; its last dimensions are batch and event, and are broadcast
-- > Normal(0, 1):log_prob(0)
-- -0.91893853320467
-- > Categorical({ 0.25, 0.75 }):log_prob(2)
-- -0.28768207245178

--@ Distribution:cdf(x) -> number or Tensor
-- P(X <= x), of distributions of single numbers.
--   x  number, table or tensor; shapes are broadcast
-- > Normal(0, 1):cdf(1.96)
-- 0.97500210485178

--@ Distribution:icdf(p) -> number or Tensor
-- The quantile: the smallest x with P(X <= x) >= p. NaN where p is no probability.
--   p  number, table or tensor; shapes are broadcast
-- > Normal(0, 1):icdf(0.975)
-- 1.9599639845401

--@ Distribution:mean() -> number or Tensor
-- The mean; inf or NaN where the integral is infinite or does not exist.
-- > Gamma(3, 2):mean()
-- 1.5

--@ Distribution:variance() -> number or Tensor
-- The variance; inf or NaN where the integral is infinite or does not exist. Of vectors, that of each element.
-- > Gamma(3, 2):variance()
-- 0.75

--@ Distribution:mode() -> number or Tensor
-- Where the density is largest; of several such places one.
-- > Gamma(3, 2):mode()
-- 1.0

--@ Distribution:entropy() -> number or Tensor
-- -E[log p(X)], in nats.
-- > Uniform(0, 2):entropy()
-- 0.69314718055995

--@ Distribution:sample(shape, rng) -> number or Tensor
-- Draws, without gradients: of shape (shape, batch, event). A single draw of single numbers is a Lua number, an
-- integer where outcomes are.
--   shape  integer or table of integers; a single draw unless told
-- > Normal(0, 1):sample({ 2, 3 }, rng(1)).shape[2]
-- 3
-- > Poisson(4):sample(nil, rng(1))
-- 7

--@ Distribution:rsample(shape, rng) -> number or Tensor
-- Draws through which gradients flow to the parameters; raises for classes without has_rsample.
--   shape  integer or table of integers; a single draw unless told
-- > s = param(2)
-- > x = Normal(0, s):rsample(nil, rng(1))
-- > x:backward()
-- > s.grad == item(x) / 2
-- true

local tabulated = lazy "tabulated"

-- Methods of classes that do not have their own: found numerically where only the density is known.
for _, name in ipairs { "cdf", "icdf", "mean", "variance", "mode", "entropy", "sample" } do
  rawset(Distribution, name, function (self, ...)
    if not has_density(self) then refuse(self, name) end   -- whatever is passed
    return tabulated[name](self, ...)
  end)
end

-- What only a class itself can say.
for _, name in ipairs { "log_prob", "rsample" } do
  rawset(Distribution, name, function (self) refuse(self, name) end)
end

-- A method for classes that give no better, from another one that they must have; or from `other`. Where that is
-- found numerically, this may be so as well.
local function follows (name, from, formula, other)
  local function method (self, x)
    if self[from] == Distribution[from] and (not other or self[other] == Distribution[other]) then
      if not (from ~= "log_prob" and has_density(self)) then refuse(self, name) end
      if ORDERED[name] and name ~= "median" then return tabulated[name](self, x) end
    end
    return formula(self, x)
  end
  Distribution[name] = core.counted("Distribution", name, method, formula)
end

--@ Distribution:prob(x) -> number or Tensor
-- The density at x, or the probability of x: exp(log_prob(x)).
--   x  number, table or tensor; its last dimensions are batch and event, and are broadcast
-- > Binomial(4, 0.5):prob(2)
-- 0.375

--@ Distribution:stddev() -> number or Tensor
-- The standard deviation, the root of the variance.
-- > Normal(0, 2):stddev()
-- 2

--@ Distribution:median() -> number or Tensor
-- The quantile 0.5.
-- > Exponential(1):median()
-- 0.69314718055995

--@ Distribution:isf(p) -> number or Tensor
-- The quantile from above: x with P(X > x) = p, exact for tiny p.
--   p  number, table or tensor; shapes are broadcast
-- > Normal(0, 1):isf(1e-20)
-- 9.2623400897984

--@ Distribution:sf(x) -> number or Tensor
-- P(X > x) = 1 - cdf(x), without loss of digits in the upper tail.
--   x  number, table or tensor; shapes are broadcast
-- > Normal(0, 1):sf(10)
-- 7.6198530241605e-24

--@ Distribution:log_cdf(x) -> number or Tensor
-- The logarithm of cdf(x), also where that is too small for a double.
--   x  number, table or tensor; shapes are broadcast
-- > Normal(0, 1):log_cdf(-50)
-- -1254.8313611394

--@ Distribution:log_sf(x) -> number or Tensor
-- The logarithm of sf(x), also where that is too small for a double.
--   x  number, table or tensor; shapes are broadcast
-- > Normal(0, 1):log_sf(50)
-- -1254.8313611394
follows("prob",    "log_prob", function (self, x) return functions.exp(self:log_prob(x)) end)
follows("stddev",  "variance", function (self) return functions.sqrt((self:variance())) end)
follows("median",  "icdf",     function (self) return (self:icdf(0.5)) end)
follows("isf",     "icdf",     function (self, q) return self:icdf(1 - q) end)
follows("sf",      "cdf",      function (self, x) return 1 - self:cdf(x) end)
follows("log_cdf", "cdf",      function (self, x) return functions.log(self:cdf(x)) end)
follows("log_sf",  "cdf",      function (self, x) return functions.log(self:sf(x)) end, "sf")


-- Other names, and what few need ---------------------------------------------------------

local algebra, higher_moments, log_quantiles = lazy "algebra", lazy "higher_moments", lazy "log_quantiles"

--@ Distribution:pdf(x) -> number or tensor
-- The density at x, or the probability of an outcome: another name of `prob`.
--   x  number, tensor or table of numbers
-- > Normal(0, 1):pdf(0)
-- 0.39894228040143
function Distribution:pdf (x) return self:prob(x) end

--@ Distribution:std() -> number or tensor
-- The standard deviation: another name of `stddev`.
-- > Exponential(4):std()
-- 0.25
function Distribution:std () return self:stddev() end

--@ Distribution:var() -> number or tensor
-- The variance: another name of `variance`.
-- > Exponential(4):var()
-- 0.0625
function Distribution:var () return self:variance() end

--@ Distribution:kl(q, options) -> number or tensor
-- The divergence of q from this distribution, kl_divergence(self, q, options), in nats.
--   q        distribution
--   options  as of kl_divergence: samples, rng, fallback
-- > Normal(0, 1):kl(Normal(1, 1))
-- 0.5
function Distribution:kl (q, options) return require "perilune.kl".kl_divergence(self, q, options) end

--@ Distribution:skewness() -> number or tensor
-- E[((X - mean)/stddev)^3]: above 0 where the long tail is the upper one. Where there is no formula it is an integral,
-- and an estimate of its error is a second result. Of SkewNormal `skewness` is a parameter:
-- peri.Distribution.skewness(d).
-- > Exponential(3):skewness()
-- 2
function Distribution:skewness () return higher_moments.skewness(self) end

--@ Distribution:kurtosis() -> number or tensor
-- The excess kurtosis, E[((X - mean)/stddev)^4] - 3: 0 of a Normal. Where there is no formula it is an integral,
-- and an estimate of its error is a second result.
-- > Laplace(0, 1):kurtosis()
-- 3
function Distribution:kurtosis () return higher_moments.kurtosis(self) end

--@ Distribution:moment(k) -> number or tensor
-- E[X^k], about 0. From the third on it is an integral or a sum, and an estimate of its error is a second result.
--   k  integer from 0 on
-- > Uniform(0, 1):moment(2)
-- 0.33333333333333
function Distribution:moment (k) return higher_moments.moment(self, k) end

--@ Distribution:icdf_log(lp) -> number or tensor
-- The quantile of a probability given as its logarithm, the inverse of log_cdf: as good for lp = -1e5 and for -1e-300
-- as in between.
--   lp  number, tensor or table of numbers up to 0
-- > Normal(0, 1):icdf_log(-1e5)
-- -447.19789367853
follows("icdf_log", "icdf", function (self, lp) return log_quantiles.icdf_log(self, lp) end)

--@ Distribution:isf_log(lq) -> number or tensor
-- The same for the upper tail: the inverse of log_sf.
--   lq  number, tensor or table of numbers up to 0
-- > Exponential(2):isf_log(-1e5)
-- 50000.0
follows("isf_log", "icdf", function (self, lq) return log_quantiles.isf_log(self, lq) end)

local EVENT_OF = { add = "__add", sub = "__sub", mul = "__mul", div = "__div", unm = "__unm", equal = "__eq" }

-- 2 * d + 1, d + e, d == e: see algebra.lua.
for name, event in pairs(EVENT_OF) do
  rawset(Distribution, event, function (a, b) return algebra[name](a, b) end)
end

return core.keep("Distribution", Distribution)
