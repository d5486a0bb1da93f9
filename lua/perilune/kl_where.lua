--- Why a divergence KL(p || q) is infinite, in words: where p has mass and q has none, or which tail of q is too light.
local attempt   = require "perilune.attempt"
local core      = require "perilune.core"
local events    = require "perilune.events"
local functions = require "perilune.functions"
local show      = require "perilune.show"

local INF = math.huge

-- Places in the flat order of a shape, as indices.
local function indices (shape, k)
  local list = {}
  k = k - 1
  for d = #shape, 1, -1 do
    list[d] = k % shape[d] + 1
    k = math.floor(k / shape[d])
  end
  return list
end

local function as_tensor (x) return core.is_tensor(x) and core.bare(x) or core.tensor(x) end

-- The element k of what has the batch shape, or is one number for all of it.
local function element (x, shape, k)
  if not core.is_tensor(x) then return x end
  return core.item(core.bare(x):expand(1, table.unpack(shape)):reshape(-1)[k])
end

local function outside (what) return "p has mass " .. what .. ", q has none" end

-- By the ends of both supports.
local function by_ends (p, q, shape, k)
  local inner, outer = p.support, q.support
  if not (inner and outer) then return nil end
  if (inner.is_discrete or false) ~= (outer.is_discrete or false) then
    return inner.is_discrete and "p has mass at single outcomes, q is continuous and has none there"
           or "p is continuous, q has all of its mass at single outcomes"
  end
  if not (inner.low and outer.low) or inner.is_wide then return nil end
  local low_p, low_q = element(inner.low, shape, k), element(outer.low, shape, k)
  local high_p, high_q = element(inner.high, shape, k), element(outer.high, shape, k)
  local parts = {}
  if low_p < low_q then parts[1] = "below " .. show.number(low_q) end
  if high_p > high_q then parts[#parts + 1] = "above " .. show.number(high_q) end
  return #parts > 0 and outside(table.concat(parts, " and ")) or nil
end

-- Both at points x along a new first dimension: the first one where q has nothing and p something.
local function by_points (p, q, x, shape, k)
  local function at (d)
    local n = core.shape(x)[1]
    return as_tensor(d:log_prob(x)):expand(n, table.unpack(shape)):reshape(n, -1):select(2, k)
  end
  local log_p, log_q = at(p):totable(), at(q):totable()
  for i, a in ipairs(log_p) do
    if a > -INF and log_q[i] == -INF then return i end
  end
end

local function by_outcomes (p, q, shape, k)
  local x = attempt.method(p, "enumerate_support")
  if not x then return nil end
  local i = by_points(p, q, x, shape, k)
  if not i then return nil end
  local place = as_tensor(x)[i]
  if #p.event_shape == 0 then return outside("at " .. show.number(element(place, shape, k))) end
  return outside("at outcome " .. i .. " of enumerate_support")
end

local LEVELS = { 1e-300, 1e-100, 1e-10, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5 }

-- Quantiles of p, from the lowest on: a hole of q among them, or the side where log q falls away.
local function by_quantiles (p, q, shape, k)
  local icdf, isf = attempt.method(p, "icdf", 0.5), attempt.method(p, "isf", 0.5)
  if not (icdf and isf) then return nil end
  local lower, upper = {}, {}
  for i, level in ipairs(LEVELS) do
    lower[i], upper[i] = element(p:icdf(level), shape, k), element(p:isf(level), shape, k)
  end
  local function log_q (x) return element(q:log_prob(x), shape, k) end
  for _, list in ipairs { lower, upper } do
    for i = #LEVELS, 1, -1 do
      if log_q(list[i]) == -INF and math.abs(list[i]) < 1e100 then
        return outside("at " .. show.number(list[i]))
      end
    end
  end
  local below, above = -log_q(lower[1]), -log_q(upper[1])
  local side = below > 2 * above and "lower tail of q is" or above > 2 * below and "upper tail of q is"
               or "tails of q are"
  return "the " .. side .. " too light for p: E[-log q(X)] is infinite"
end

-- For rows and matrices: parts that are independent.
local function by_parts (p, q, shape, k)
  local inner, outer = p.support, q.support
  if inner and outer and inner.dims and outer.dims then
    local base = { support = inner.base, batch_shape = {}, event_shape = {} }
    local found = by_ends(base, { support = outer.base }, events.joined(shape, p.event_shape),
                          (k - 1) * core.numel(core.zeros(p.event_shape)) + 1)
    if found then return found .. " (in a part of the event)" end
  end
end

--- The sentence for the first element of the batch that is infinite; nil where none is.
return function (p, q, value)
  local is_infinite = functions.eq(value, INF)
  local flags = core.is_tensor(is_infinite) and is_infinite:reshape(-1):totable() or { is_infinite }
  local shape, k = core.is_tensor(value) and core.shape(value) or {}, nil
  for i, flag in ipairs(flags) do
    if flag ~= 0 and not k then k = i end
  end
  if not k then return nil end
  local ways = #p.event_shape == 0 and { by_ends, by_outcomes, by_quantiles } or { by_parts, by_outcomes }
  local found = nil
  for _, way in ipairs(ways) do found = found or core.no_grad(way, p, q, shape, k) end
  found = found or "p has mass where q has none, or tails that are too heavy for q"
  if #shape == 0 then return found end
  return "at [" .. table.concat(indices(shape, k), ", ") .. "]: " .. found
end
