--- Quantiles of two laws at the same levels, which distances between them are made of, and where those of a discrete
-- law jump.
local batches   = require "perilune.batches"
local core      = require "perilune.core"
local effort    = require "perilune.effort"
local functions = require "perilune.functions"
local settling  = require "perilune.settling"
local tails     = require "perilune.tails"
local tensor    = require "perilune.tensor"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local log, gt = functions.log, functions.gt
local INF = math.huge
local JUMPS, LISTED, LEAST = 256, 4096, 1e-13
local NEXT, SOON = 2 ^ -40, 1 / 16   -- more than the tails of any law are off by; a part of the way to the next jump
local KINKS = 10000                  -- for an element, in units of effort.lua
local COMPLETE = 1e-9                -- what outcomes may lack that are all of a law

local quantile_gaps = {}

local function is_discrete (d) return d.support and d.support.is_discrete or false end

--- log(u/(1 - u)) at x, u being its cdf.
function quantile_gaps.log_odds (d, x)
  local below, above = tails.logarithms(d, x)
  return below - above
end

local log_odds = quantile_gaps.log_odds

-- Outcomes soon after each of these jumps, { n, batch... }; -INF after the last.
local function outcomes_after (d, jumps)
  local n = #jumps - 1
  local from, to = jumps:narrow(1, 1, n), jumps:narrow(1, 2, n)
  local x = where(functions.eq(to, INF), where(functions.eq(from, -INF), 0, from + 1),
                  where(functions.eq(from, -INF), to - 1, from + SOON * (to - from)))
  local tail = functions.sigmoid(-abs(x))
  for _ = 1, 2 do effort.count_quantiles(d, tail) end
  local found = where(gt(x, 0), d:isf(tail), d:icdf(tail))
  return tensor.cat { batches.rows(d, n, found), batches.rows(d, 1, -INF) }
end

-- Are all outcomes of d integers? Of laws that are not made of ours nobody knows.
local function is_whole (d)
  if d.transforms then return false end
  for _, part in ipairs(d.list or {}) do
    if not is_whole(part) then return false end
  end
  local inner = d.component_distribution or d.base
  if inner then return is_whole(inner) end
  return d.kernels ~= nil or d.list ~= nil
end

-- log(u/(1 - u)) at outcomes x, { n, batch... }, u being their cdf, from the probabilities between.
local function summed_odds (d, x, mass)
  local n = #x
  local order = core.arange(n, 0, -1)
  local inner = mass:narrow(1, 2, n - 1)
  local below = tensor.cat { batches.rows(d, 1, d:cdf(x:narrow(1, 1, 1))), inner }:cumsum(1)
  local above = tensor.cat { inner, batches.rows(d, 1, d:sf(x:narrow(1, n, 1))) }
  return log(below) - log(above:index_select(1, order):cumsum(1):index_select(1, order))
end

local function asked_odds (d, x)
  effort.count(d, x, 2)
  return log_odds(d, x)
end

-- Where quantiles of d jump and where they meet those of another law, unless that is too dear, as lists.
local function listed (jumps, d, other, x)
  local n, lists = #jumps, { jumps = {}, kinks = {} }
  local is_asked = not is_discrete(other) and 2 * n * effort.tail(other) < KINKS
  local met = is_asked and minimum(batches.rows(d, n, asked_odds(other, x)), jumps)
  for k = 1, n do
    lists.jumps[k] = jumps:select(1, k)
    if met then lists.kinks[k] = maximum(lists.jumps[k - 1] or -INF, met:select(1, k)) end
  end
  return lists
end

--- Where the quantile function of a discrete d jumps, at log(u/(1 - u)), for all outcomes that matter, and where
-- between two jumps it may meet that of a continuous law: there the difference has a kink. Of more outcomes than JUMPS
-- but not than LISTED the jumps only serve to find quantiles; of more, nil: then steps are not resolved. Levels have no
-- slopes here: those of distances are in level_slopes.lua.
function quantile_gaps.steps (d, other)
  local first, whole = d:icdf(LEAST) - 1, is_whole(d)   -- the outcome before those that count
  local span = d:isf(LEAST) - first
  span = core.is_tensor(span) and core.item(span:max()) or span
  if span ~= span or span > (whole and LISTED or JUMPS) then return nil end
  local n = math.floor(span) + 1
  local count = core.arange(0, n)
  for _ = 1, #d.batch_shape do count = count:unsqueeze(-1) end
  local x = batches.rows(d, n, first + count)
  local probs = d:prob(x)
  local mass = batches.rows(d, n, core.bare(probs))
  local levels = core.bare(span > JUMPS and summed_odds(d, x, mass) or batches.rows(d, n, asked_odds(d, x)))
  local steps = span > JUMPS and { jumps = {}, kinks = {} } or listed(levels, d, other, x)
  steps.levels, steps.are_listed, steps.are_all = levels, span <= JUMPS, 0
  if not whole then
    steps.after = core.bare(outcomes_after(d, levels))
    return steps
  end
  steps.after = tensor.cat { core.bare(x):narrow(1, 2, n - 1), batches.rows(d, 1, -INF) }
  steps.is_tracked = core.tracked(probs)
  local total = mass:narrow(1, 2, n - 1):sum(1) + core.bare(d:cdf(x:select(1, 1)) + d:sf(x:select(1, n)))
  steps.lack = abs(total - 1)
  steps.are_all = functions.le(steps.lack, COMPLETE)
  return steps
end

-- How many of the levels of a law are below x, { n, batch... }: by halving, as they are in order.
local function count_below (d, levels, x)
  local n, size, k = #x, batches.size(d), #levels
  local flat, element = levels:reshape(-1), core.arange(1, size + 1)
  local at = core.bare(batches.rows(d, n, x)):reshape(n, size)
  local low, high = core.zeros(n, size), core.full({ n, size }, k)
  for _ = 1, math.ceil(math.log(k + 1, 2)) do
    local middle = functions.floor(0.5 * (low + high))
    local index = minimum(middle, k - 1)
    local is_below = functions.lt(flat[index * size + element], at) * functions.lt(middle, high)
    low, high = where(is_below, middle + 1, low), where(is_below, high, middle)
  end
  return low:reshape(n, table.unpack(d.batch_shape))
end

-- Quantiles of d by icdf or isf.
local function asked (d, method, tail)
  effort.count_quantiles(d, tail)
  return d[method](d, tail)
end

-- Quantiles of d by icdf or isf, { n, batch... }, at levels u = sigmoid(x) where that tail is `tail`. Between the first
-- jump and the last they are known if all jumps are. A level past a jump by rounding alone may have the quantile
-- before it, which panels that begin there must not see: it has the next at least.
local function quantiles (d, steps, method, x, tail)
  if not steps then return asked(d, method, tail) end
  local n, size, shape = #x, batches.size(d), { #x, table.unpack(d.batch_shape) }
  local place = count_below(d, steps.levels, x)
  local index = maximum(place - 1, 0):reshape(n, size) * size + core.arange(1, size + 1)
  local past = x - steps.levels:reshape(-1)[index]:reshape(shape)
  local known = steps.are_all * gt(place, 0) * functions.lt(place, #steps.levels)
  local is_next = gt(past, 0) * functions.lt(past, NEXT)
  local least = where(maximum(known, is_next), steps.after:reshape(-1)[index]:reshape(shape), -INF)
  return settling.run(function (s)
    s.x = where(s.ended, s.x, maximum(s.x, asked(d, method, s.tail)))
    s.ended = 1
  end, { x = least, tail = tail, ended = known }, 1, #d.batch_shape)
end

--- quantile of p - quantile of q at levels u = sigmoid(x), from the end that is nearer: expectations ask for both
-- halves of the mass, one after the other. Of either law that jumps `steps` has what is known.
function quantile_gaps.at (p, q, x, steps)
  local function from (method, part)
    local tail = functions.sigmoid(-abs(part))
    return quantiles(p, steps[p], method, part, tail) - quantiles(q, steps[q], method, part, tail)
  end
  local n = #x
  local low = core.item(functions.le(x, 0):reshape(n, -1):min(2):sum())
  local parts = {}
  if low > 0 then parts[1] = from("icdf", x:narrow(1, 1, low)) end
  if low == n then return parts[1] end
  local high = x:narrow(1, low + 1, n - low)
  if core.item(high:min()) < 0 then return where(functions.gt(x, 0), from("isf", x), from("icdf", x)) end
  parts[#parts + 1] = from("isf", high)
  return #parts == 1 and parts[1] or tensor.cat(parts)
end

--- Quantiles of a continuous law at levels u = sigmoid(x), { n, batch... } in order.
function quantile_gaps.quantiles_at (d, x)
  local n = #x
  local low = math.tointeger(core.item(functions.le(x, 0):reshape(n, -1):min(2):sum()))
  local parts = {}
  local function add (method, part)
    parts[#parts + 1] = batches.rows(d, #part, asked(d, method, functions.sigmoid(-abs(part))))
  end
  if low > 0 then add("icdf", x:narrow(1, 1, low)) end
  if low < n then
    local rest = x:narrow(1, low + 1, n - low)
    if core.item(rest:min()) < 0 then
      local tail = functions.sigmoid(-abs(rest))
      parts[#parts + 1] = batches.rows(d, #rest, where(gt(rest, 0), asked(d, "isf", tail), asked(d, "icdf", tail)))
    else add("isf", rest) end
  end
  return #parts == 1 and parts[1] or tensor.cat(parts)
end

return quantile_gaps
