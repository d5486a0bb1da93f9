--- KL divergence: a registry of pairs that inheritance dispatches on.
local attempt    = require "perilune.attempt"
local class      = require "perilune.class"
local core       = require "perilune.core"
local errors     = require "perilune.errors"
local functions  = require "perilune.functions"
local families   = require "perilune.kl_families"
local fallback   = require "perilune.kl_fallback"
local kl_pairs   = require "perilune.kl_pairs"
local lazy       = require "perilune.lazy"
local rules      = require "perilune.kl_rules"
local show       = require "perilune.show"
local statistics = require "perilune.kl_statistics"

local conversions = lazy "rounding"

local raise = errors.raise

local kl     = {}   -- functions of peri
local inside = {}   -- and those for our own files

local weak     = { __mode = "k" }
local registry = setmetatable({}, weak)   -- [P][Q] -> function, by users
local cache    = setmetatable({}, weak)   -- [P][Q] -> what dispatch found
local may_fall_back = true
local ROUNDING = 2.0 ^ -46   -- of a formula of its own


-- Built-in pairs -------------------------------------------------------------------

local function bind_kernel (P, Q)
  local operands = {}
  for _, name in ipairs(P.operands) do operands[#operands + 1] = "p." .. name end
  for _, name in ipairs(Q.operands) do operands[#operands + 1] = "q." .. name end
  local who = "kl_divergence(" .. P.__name .. ", " .. Q.__name .. ")"
  return core.bind("kl/" .. P.kernels, Q.__name, who, { "p", "q", "opts" }, operands)
end

-- Refuses batches that do not broadcast, as kernels do.
local function check_batches (p, q)
  local a, b = p.batch_shape, q.batch_shape
  for d = 0, math.min(#a, #b) - 1 do
    local m, n = a[#a - d], b[#b - d]
    if m ~= n and m ~= 1 and n ~= 1 then
      raise("kl_divergence(%s, %s): shapes %s and %s do not broadcast", class.name(class.of(p)),
            class.name(class.of(q)), show.shape(a), show.shape(b))
    end
  end
end

-- A formula in Lua, run in one pass over memory.
local function fused (formula)
  return function (p, q)
    check_batches(p, q)
    return (core.fused(formula, p, q))
  end
end

-- A formula that holds where q has a density wherever p has.
local function where_within (formula)
  return function (p, q)
    local within = fallback.within(p, q)
    if within == 1 then return formula(p, q) end
    return functions.where(within, formula(p, q), math.huge)
  end
end

local fall_back   -- below

-- Does a gradient flow to a parameter of these names?
local function follows (d, names)
  for name in names:gmatch "%S+" do
    local x = rawget(d, name)
    if core.is_tensor(x) and core.tracked(x) then return true end
  end
  return false
end

-- A formula where a condition on the parameters holds; elsewhere the divergence is computed numerically, and where a
-- slope is asked for that the formula has not: by parameters of these names.
local function where_closed (condition, formula, names)
  return function (p, q, opts)
    check_batches(p, q)
    if names and (follows(p, names) or follows(q, names)) then return fall_back(p, q, opts) end
    local closed = condition(p, q)
    local all, any = closed, closed
    if core.is_tensor(closed) then all, any = core.item(closed:min()), core.item(closed:max()) end
    if all == 1 then return core.fused(formula, p, q) end
    if any == 0 then return fall_back(p, q, opts) end
    local value, method, error, more = fall_back(p, q, opts)
    return functions.where(closed, formula(p, q), value), method, functions.where(closed, 0, error),
           more and function () return functions.where(closed, 0, more()) end
  end
end

-- A rule of kl_rules.lua, or numerically where it does not apply.
local function or_fall_back (rule)
  return function (p, q, opts)
    check_batches(p, q)
    local value, method, error, more = rule(p, q, opts)
    if value == nil then return fall_back(p, q, opts) end
    return value, method, error, more
  end
end

local function infinite ()
  return function (p, q)
    check_batches(p, q)
    return fallback.infinite(p, q)
  end
end

local roundings = setmetatable({}, weak)   -- of a function of p and q: another, that bounds its rounding error

local function from_statistics (P, Q)
  local formula, rounding = statistics.pair(P, Q)
  local fn = fused(where_within(function (p, q) return fallback.not_negative(formula(p, q)) end))
  roundings[fn] = rounding
  return fn
end

-- Names of our own classes, and which of them has the kernels of a file.
local ours, class_of_file = {}, {}
for _, name in ipairs(core.classes()) do
  ours[name], class_of_file[name:lower()] = true, name
end

-- [name of P][name of Q] -> function (P, Q) that gives the function of p and q
local listed, ruled = {}, {}

local function list (pairs_of, P, Q, make)
  pairs_of[P] = pairs_of[P] or {}
  pairs_of[P][Q] = pairs_of[P][Q] or make   -- the first to come is the best
end

for _, file in ipairs(core.kernel_files "kl") do
  local P = class_of_file[file:match "^kl/(.*)$"]
  for _, kernel in ipairs(P and core.kernels(file) or {}) do
    if ours[kernel.name] then list(listed, P, kernel.name, bind_kernel) end
  end
end
for _, pair in ipairs(kl_pairs.formulas) do list(listed, pair[1], pair[2], function () return fused(pair[3]) end) end
for _, pair in ipairs(kl_pairs.conditional) do
  list(listed, pair[1], pair[2], function () return where_closed(pair[3], pair[4], pair[5]) end)
end
for _, rule in ipairs(rules) do list(ruled, rule[1], rule[2], function () return or_fall_back(rule[3]) end) end

-- What makes the function for two classes of ours, or nil: a pair that is listed is better than one that follows
-- from what the classes say, and that is better than a rule.
local function built_in (P, Q)
  local p, q = P.__name, Q.__name
  if listed[p] and listed[p][q] then return listed[p][q] end
  if families.is_infinite(P, Q) then return infinite end
  if statistics.has_pair(P, Q) then return from_statistics end
  return ruled[p] and ruled[p][q]
end

local function class_named (name)
  return require(name == "Distribution" and "perilune.distribution" or "perilune.distributions." .. name)
end

local function is_ours (c)
  local name = rawget(c, "__name")
  return (ours[name] or name == "Distribution") and class_named(name) == c
end

-- The function registered for exactly (P, Q), or nil.
local function registered (P, Q)
  local row = registry[P]
  if row and row[Q] then return row[Q] end
  local make = is_ours(P) and is_ours(Q) and built_in(P, Q)
  return make and make(P, Q) or nil
end


-- Registration -----------------------------------------------------------------------

-- A user's formula: it answers for the shape of its result, but a result there must be.
local function answered (P, Q, formula)
  local name_p, name_q = class.name(P), class.name(Q)
  formula = core.located(formula)
  return function (p, q)
    local value = core.fused(formula, p, q)
    if type(value) ~= "number" and not core.is_tensor(value) then
      raise("kl_divergence: the function registered for (%s, %s) returned %s, not a number or a tensor", name_p,
            name_q, show.value(value))
    end
    return value
  end
end

local function check_class (who, what, c)
  local is_class = type(c) == "table" and rawget(c, "__index") ~= nil   -- an instance has none of its own
  if not is_class or not class.descends(c, require "perilune.distribution") then
    raise("%s: %s must be a class of distributions, got %s", who, what, show.value(c))
  end
end

--@ peri.register_kl(P, Q, fn, options) -> nothing
-- Makes fn(p, q) the divergence of every p of class P from every q of class Q, and of their descendants. Raises if
-- there is such a pair already.
--   P        class of distributions
--   Q        class of distributions
--   fn       function of p and q that returns a number or tensor
--   options  override = true replaces a pair (false)
-- > Mine = Normal:extend("Mine")
-- > register_kl(Mine, Normal, function () return 42 end)
-- > kl_divergence(Mine(0, 1), Normal(0, 1)), kl_divergence(Mine(0, 1), Mine(0, 1))
-- 42  42
function kl.register_kl (P, Q, fn, opts, ...)
  errors.no_more("register_kl(P, Q, fn, opts)", ...)
  check_class("register_kl", "P", P)
  check_class("register_kl", "Q", Q)
  if type(fn) ~= "function" then
    raise("register_kl: fn must be a function of p and q, got %s", show.value(fn))
  end
  errors.check_options("register_kl", opts, { "override" })
  if not (opts and opts.override) and registered(P, Q) then
    raise("register_kl: the pair (%s, %s) is registered already; { override = true } replaces it", class.name(P),
          class.name(Q))
  end
  for class_p in pairs(cache) do cache[class_p] = nil end
  registry[P] = registry[P] or setmetatable({}, weak)
  registry[P][Q] = answered(P, Q, fn)   -- last: an error before it leaves the pair as it was
end

--@ peri.kl_pairs() -> table
-- All registered pairs, a list of { "P", "Q" } in alphabetical order.
-- > #kl_pairs() > 100
-- true
function kl.kl_pairs (...)
  errors.no_more("kl_pairs()", ...)
  local all, names = {}, core.classes()
  names[#names + 1] = "Distribution"
  for _, p in ipairs(names) do
    for _, q in ipairs(names) do
      if built_in(class_named(p), class_named(q)) then all[#all + 1] = { p, q } end
    end
  end
  for P, row in pairs(registry) do
    for Q in pairs(row) do
      local replaced = is_ours(P) and is_ours(Q) and built_in(P, Q)
      if not replaced then all[#all + 1] = { class.name(P), class.name(Q) } end
    end
  end
  table.sort(all, function (a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
  return show.listed(all)
end

--@ peri.kl_fallback(on) -> nothing
-- May kl_divergence compute numerically what no pair is registered for? It may, unless told: then it raises, and names
-- both classes.
--   on  true or false
-- > kl_fallback(true)
--
function kl.kl_fallback (on, ...)
  errors.no_more("kl_fallback(on)", ...)
  if type(on) ~= "boolean" then raise("kl_fallback: on must be true or false, got %s", show.value(on)) end
  may_fall_back = on
end


-- Dispatch -----------------------------------------------------------------------

-- The classes at which c's KL may be looked up: up to the first that says its
-- density is not its parent's.
local function usable (c)
  local chain = {}
  for _, link in ipairs(class.chain(c)) do
    chain[#chain + 1] = link
    if rawget(link, "inherit_kl") == false then break end
  end
  return chain
end

-- All pairs at the smallest sum of distances, P's nearest first.
local function nearest (P, Q)
  local chain_p, chain_q = usable(P), usable(Q)
  for distance = 0, #chain_p + #chain_q - 2 do
    local found = {}
    for i = 0, math.min(distance, #chain_p - 1) do
      local a, b = chain_p[i + 1], chain_q[distance - i + 1]
      local fn = b and registered(a, b)
      if fn then found[#found + 1] = { P = a, Q = b, fn = fn } end
    end
    if #found > 0 then return found end
  end
  return {}
end

-- Equally near pairs: P's specificity wins, and each use says so.
local function warned (P, Q, found)
  local message = string.format(
    "kl_divergence(%s, %s) is ambiguous: (%s, %s) is used, (%s, %s) is as near; register_kl(%s, %s, fn) decides",
    class.name(P), class.name(Q), class.name(found[1].P), class.name(found[1].Q),
    class.name(found[2].P), class.name(found[2].Q), class.name(P), class.name(Q))
  local fn = found[1].fn
  return function (p, q, opts)
    if warn then warn(message) end
    return fn(p, q, opts)
  end
end

local function distribution_class (who, what, d)
  local c = class.of(d)
  if c == nil or not class.descends(c, require "perilune.distribution") then
    raise("%s: %s must be a distribution, got %s", who, what, show.value(d))
  end
  return c
end

-- Numerically, if that is allowed.
function fall_back (p, q, opts)
  local P, Q = class.name(class.of(p)), class.name(class.of(q))
  local allowed = may_fall_back
  if opts and opts.fallback ~= nil then allowed = opts.fallback end
  if not allowed then
    raise("kl_divergence: no pair is registered for %s and %s; register_kl(%s, %s, fn) adds one", P, Q, P, Q)
  end
  if show.shape(p.event_shape) ~= show.shape(q.event_shape) then
    raise("kl_divergence: %s and %s have events of different shapes, %s and %s", P, Q, show.shape(p.event_shape),
          show.shape(q.event_shape))
  end
  check_batches(p, q)
  return fallback.answer(p, q, opts)
end

-- The function of p and q for two classes, and the pair it was registered for, if any.
local function find (P, Q)
  local found = nearest(P, Q)
  if #found == 0 then return fall_back, nil end
  return #found == 1 and found[1].fn or warned(P, Q, found), found[1]
end

-- What dispatch does on its first meeting of two classes, and with options; called from the dispatcher in C.
local function resolve (p, q, opts)
  local P, Q = distribution_class("kl_divergence", "p", p), distribution_class("kl_divergence", "q", q)
  fallback.check_options("kl_divergence", opts)
  local fn = cache[P] and cache[P][Q] or find(P, Q)
  cache[P] = cache[P] or setmetatable({}, weak)
  cache[P][Q] = fn
  return fn(p, q, opts)
end

--@ peri.kl_divergence(p, q, options) -> number or Tensor
-- KL(p || q), in nats: one value for each element of both batches, which are broadcast. By the registered pair nearest
-- to both classes; without one it is inf where p has mass and q has none, else an exact sum, quadrature or Monte
-- Carlo: kl_explain says which.
--   options  samples = draws for Monte Carlo (10000); rng; fallback = false raises where no pair is registered (true)
-- > kl_divergence(Normal(0, 1), Normal(1, 2))
-- 0.44314718055995
-- > kl_divergence(Gamma(2, 1), Normal(0, 1)), kl_divergence(Normal(0, 1), Gamma(2, 1))
-- 2.3417228683031  inf
kl.kl_divergence = core.dispatcher(cache, resolve)

local NO_FALLBACK = { fallback = false }

--- KL(p || q) of the pair registered for their classes, where that is a closed form for these two; else nil.
function inside.closed (p, q)
  local fn, pair = find(class.of(p), class.of(q))
  if not pair then return nil end
  local function call () return { fn(p, q, NO_FALLBACK) } end
  local ok, found = attempt.call("kl_divergence: no pair is registered", nil, call)
  if not ok then return nil end
  local value, method = found[1], found[2]
  return (method == nil or method == "closed form" or method == "infinite") and value or nil
end

local function is_infinite (value)
  if not core.is_tensor(value) then return value == math.huge end
  return core.item(value:min()) == math.huge
end

-- What rounding may have done to a closed form.
local function rounding_error (fn, p, q, value)
  local rounding = roundings[fn]
  local error = rounding and core.no_grad(rounding, p, q) or ROUNDING * functions.abs(value)
  for _, d in ipairs { p, q } do error = error + core.no_grad(conversions.of_conversions, d, value) end
  error = functions.where(functions.isnan(error), math.huge, error)   -- of parameters that are no longer allowed
  return functions.where(functions.isinf(value), 0, error)
end

--- KL(p || q), how it was found (nil: by a formula), an estimate of its error and a function that gives what is to be
-- added to that, or nil. What a trace could not replay is left to that function.
function inside.answer (p, q, opts)
  local fn = find(class.of(p), class.of(q))
  local value, method, error, more = fn(p, q, opts)
  if method or error then return value, method, error, more end
  return value, nil, 0, function () return rounding_error(fn, p, q, value) end
end

--@ peri.kl_explain(p, q, options) -> table
-- How kl_divergence(p, q, options) comes to its answer: method ("closed form", "infinite", "sum", "quadrature" or
-- "monte carlo"), pair (names of the classes), value, and error, an estimate; where it is infinite `where`, which says
-- in words where p has mass and q has none.
--   options  samples = draws for Monte Carlo (10000); rng; fallback = false raises where no pair is registered (true)
-- > kl_explain(StudentT(5, 0, 1), Normal(0, 1)).method
-- closed form
-- > kl_explain(Normal(0, 1), Gamma(2, 1)).method
-- infinite
-- > kl_explain(Normal(0, 1), Gamma(2, 1)).where
-- p has mass below 0, q has none
function kl.kl_explain (p, q, opts, ...)
  errors.no_more("kl_explain(p, q, opts)", ...)
  local P, Q = distribution_class("kl_explain", "p", p), distribution_class("kl_explain", "q", q)
  fallback.check_options("kl_explain", opts)
  local fn, pair = find(P, Q)
  local value, method, error, more = fn(p, q, opts)
  method = method or is_infinite(value) and "infinite" or "closed form"
  error = error or rounding_error(fn, p, q, value)
  if more then error = error + more() end
  local names = pair and { class.name(pair.P), class.name(pair.Q) } or { class.name(P), class.name(Q) }
  return show.listed { method = method, pair = names, value = value, error = error,
                       where = require "perilune.kl_where"(p, q, value) }
end

return core.keep("kl", setmetatable(kl, { __index = inside }))
