--- KL divergence: a registry of pairs that inheritance dispatches on.
local class = require "perilune.class"
local core  = require "perilune.core"
local show  = require "perilune.show"
local pairs_listed = require "perilune.kl_pairs"

local kl = {}

local weak     = { __mode = "k" }
local registry = setmetatable({}, weak)   -- [P][Q] -> function, by users
local cache    = setmetatable({}, weak)   -- [P][Q] -> what dispatch found


-- Registered pairs -------------------------------------------------------------

local listed = {}   -- [name of P][name of Q] -> true
for _, pair in ipairs(pairs_listed) do
  listed[pair[1]] = listed[pair[1]] or {}
  listed[pair[1]][pair[2]] = true
end

-- The name of a class that has kernels, or nil: only those have listed pairs.
local function kernel_class (c) return rawget(c, "kernels") and rawget(c, "__name") or nil end

local function bind_kernel (P, Q)
  local operands = {}
  for _, name in ipairs(P.operands) do operands[#operands + 1] = "p." .. name end
  for _, name in ipairs(Q.operands) do operands[#operands + 1] = "q." .. name end
  local who = "kl_divergence(" .. P.__name .. ", " .. Q.__name .. ")"
  return core.bind("kl/" .. P.kernels, Q.__name, who, { "p", "q" }, operands)
end

-- The function registered for exactly (P, Q), or nil.
local function registered (P, Q)
  local row = registry[P]
  if row and row[Q] then return row[Q] end
  local p, q = kernel_class(P), kernel_class(Q)
  return p and q and listed[p] and listed[p][q] and bind_kernel(P, Q) or nil
end

local function check_class (who, what, c)
  local is_class = type(c) == "table" and rawget(c, "__index") ~= nil   -- an instance has none of its own
  if not is_class or not class.descends(c, require "perilune.distribution") then
    error(who .. ": " .. what .. " must be a class of distributions, got " .. show.value(c), 3)
  end
end

--- Registers fn(p, q) for every p of class P and q of class Q, and their
-- descendants. Replaces a pair only with { override = true }.
function kl.register_kl (P, Q, fn, opts)
  check_class("register_kl", "P", P)
  check_class("register_kl", "Q", Q)
  if type(fn) ~= "function" then
    error("register_kl: fn must be a function of p and q, got " .. show.value(fn), 2)
  end
  if opts ~= nil and type(opts) ~= "table" then
    error("register_kl: opts must be a table, got " .. show.value(opts), 2)
  end
  if not (opts and opts.override) and registered(P, Q) then
    error(string.format("register_kl: the pair (%s, %s) is registered already; { override = true } replaces it",
                        class.name(P), class.name(Q)), 2)
  end
  for class_p in pairs(cache) do cache[class_p] = nil end
  registry[P] = registry[P] or setmetatable({}, weak)
  registry[P][Q] = fn   -- last: an error before it leaves the pair as it was
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
  return function (p, q)
    if warn then warn(message) end
    return fn(p, q)
  end
end

local function distribution_class (what, d, level)
  local c = class.of(d)
  if c == nil or not class.descends(c, require "perilune.distribution") then
    error("kl_divergence: " .. what .. " must be a distribution, got " .. show.value(d), level + 1)
  end
  return c
end

-- What dispatch does on its first meeting of two classes. (It is called from
-- the dispatcher in C, hence level 3 is the caller of kl_divergence.)
local function resolve (p, q, opts)
  local P, Q = distribution_class("p", p, 3), distribution_class("q", q, 3)
  local found = nearest(P, Q)
  if #found == 0 then
    error(string.format("kl_divergence: no pair is registered for %s and %s; register_kl(%s, %s, fn) adds one",
                        class.name(P), class.name(Q), class.name(P), class.name(Q)), 3)
  end
  local fn = #found == 1 and found[1].fn or warned(P, Q, found)
  cache[P] = cache[P] or setmetatable({}, weak)
  cache[P][Q] = fn
  return fn(p, q, opts)
end

--- kl_divergence(p, q): KL(p || q) in nats, one value per batch element.
kl.kl_divergence = core.dispatcher(cache, resolve)

return core.keep("kl", kl)
