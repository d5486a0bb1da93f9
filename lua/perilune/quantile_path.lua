--- A path through the support of a law that runs nearly as its quantiles do, for laws whose quantiles cost much more
-- than their density. Quantiles of some levels e^-t/2 of either half are joined by cubics in t, on the line of the
-- support (support_line.lua). Whatever the path,
--
--   int f p dx  =  int f(x(t)) p(x(t)) |dx/dt| dt
--
-- over all of it, and the closer it is to the quantiles the closer p |dx/dt| is to e^-t/2.
local batches      = require "perilune.batches"
local core         = require "perilune.core"
local effort       = require "perilune.effort"
local ends         = require "perilune.ends"
local functions    = require "perilune.functions"
local kept         = require "perilune.kept"
local quadrature   = require "perilune.quadrature"
local support_line = require "perilune.support_line"
local tensor       = require "perilune.tensor"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local exp, log, le, gt, ge = functions.exp, functions.log, functions.le, functions.gt, functions.ge
local any, rows = batches.any, batches.rows
local INF     = math.huge
local BLURRED = 2 ^ -24   -- closer to an end than this part of itself a quantile has lost digits of the distance
local LEAST   = 3         -- a level of t that quantiles must reach before that
local ASTRAY  = 1e-6      -- a path that misses more of the mass has left the law
local WORTH   = 1.2       -- quantiles that cost more than this, in units of effort.lua,
local DEAR    = 5         -- and where they cost less than this they are better
local ROUGH   = 1e-8      -- than a path along which masses are known no better
local REACHED = 1e-300    -- no more mass is beyond the last level
local EXACT   = 2 ^ -40   -- a mass whose error is no more than this says how densities are rounded
local CHEAP   = 1         -- a density that costs less, in units of effort.lua, may be looked at more often
local STEEP   = 3         -- a cubic whose slopes are no more than this times its rise is monotone

local quantile_path = {}

-- Levels t at v of a list, of shape { level, half, batch... }.
local function levels_of (d, list, range)
  local v = core.tensor(list):unsqueeze(-1)
  for _ = 1, #d.batch_shape do v = v:unsqueeze(-1) end
  return (range and range.from + v * range.pace or v):expand(#list, 2, table.unpack(d.batch_shape))
end

-- Quantiles of both halves at these levels, of shape { level, half and element }. Both begin at one median, or each
-- where the range does, and they end where that does.
local function quantiles (d, t, range)
  local n, u = #t, 0.5 * exp(-t)
  local low, high = rows(d, n, d:icdf(u:select(2, 1))), rows(d, n, d:isf(u:select(2, 2)))
  high = tensor.cat { low:narrow(1, 1, 1), high:narrow(1, 2, n - 1) }
  local x = tensor.stack({ low, high }, 2)
  if range then
    local first, last = range.first:unsqueeze(1), range.last:unsqueeze(1)
    x = tensor.cat { where(first:isnan(), x:narrow(1, 1, 1), first), x:narrow(1, 2, n - 2),
                     where(last:isnan(), x:narrow(1, n, 1), last) }
  end
  return x:reshape(n, -1)
end

-- log p at x, { n, half and element }.
local function log_density (d, x)
  local n = #x
  effort.count_densities(d, x)
  return rows(d, 2 * n, d:log_prob(x:reshape(2 * n, table.unpack(d.batch_shape)))):reshape(n, -1)
end

-- The ends of the support, for both halves.
local function bounds (d)
  local function doubled (e)
    local t = rows(d, 1, e):reshape(-1)
    return tensor.cat { t, t }
  end
  local low, high = ends.of(d.support)
  return doubled(low), doubled(high)
end

-- 1 for nodes up to the first that is not good, { node, column }.
local function leading (good)
  local list, so_far = {}, 1
  for i = 1, #good do
    so_far = so_far * good:narrow(1, i, 1)
    list[i] = so_far
  end
  return tensor.cat(list)
end

-- Slopes that leave cubics between these nodes monotone; `rise` is the mean slope between them. Behind the last good
-- node the path goes on as it went there.
local function limited (slope, rise, good)
  local n = #slope
  local before = tensor.cat { rise:narrow(1, 1, 1), rise }
  local after = tensor.cat { rise, rise:narrow(1, n - 1, 1) }
  after = where(tensor.cat { good:narrow(1, 2, n - 1), good:narrow(1, n, 1) }, after, before)
  local most = STEEP * minimum(before, after)
  return maximum(0, minimum(slope, most))
end

-- Nodes s(v) whose quantiles are known, and slopes of them; both grow with v in each half. t are their levels.
local function nodes_of (d, line, v, t, x, low, high, pace)
  local n, half = #x, core.numel(low) / 2
  local sign = tensor.cat { core.zeros(half) - 1, core.zeros(half) + 1 }
  local s = line.t(x)
  local slope = pace * exp(-t - math.log(2) - log_density(d, x) - line.log_slope(s))
  local gap = minimum(where(low:isfinite(), x - low, INF), where(high:isfinite(), high - x, INF))
  local good = functions.isfinite(s) * functions.isfinite(slope) * gt(gap, BLURRED * abs(x))
  local out = sign * s
  local rise = (out:narrow(1, 2, n - 1) - out:narrow(1, 1, n - 1)) / (v:narrow(1, 2, n - 1) - v:narrow(1, 1, n - 1))
  good = leading(good * tensor.cat { core.zeros(1, 2 * half) + 1, gt(rise, 0) })
  rise = where(good:narrow(1, 2, n - 1), rise, 0)
  return { s = where(good, out, 0), slope = where(good, limited(slope, rise, good), 0), good = good, sign = sign }
end

-- Do the quantiles that are known lead far enough for all of the mass? In a half that the range cuts all must be.
local function is_whole (nodes, t, range)
  local reach = ge((nodes.good * t):max(1), LEAST)
  if not range then return not any(1 - reach) end
  local is_cut, is_open = range.is_cut:reshape(-1), range.is_open:reshape(-1)
  return not any(is_open * (1 - where(is_cut, nodes.good:min(1), reach)))
end

-- The last node of each column that is good carries all behind it: those lie on its tangent.
local function extended (nodes, v)
  local s, slope = { nodes.s:narrow(1, 1, 1) }, { nodes.slope:narrow(1, 1, 1) }
  for i = 2, #nodes.s do
    local good = nodes.good:narrow(1, i, 1)
    local ahead = v:narrow(1, i, 1) - v:narrow(1, i - 1, 1)
    slope[i] = where(good, nodes.slope:narrow(1, i, 1), slope[i - 1])
    s[i] = where(good, nodes.s:narrow(1, i, 1), s[i - 1] + slope[i - 1] * ahead)
  end
  return tensor.cat(s), tensor.cat(slope)
end

-- s and ds/dv at v, { n, column }, by the cubics between nodes.
local function cubics (list, s, slope)
  local cells, columns = #list - 1, core.shape(s)[2]
  local width = {}
  for i = 1, cells do width[i] = list[i + 1] - list[i] end
  width = core.tensor(width)
  local start, column = core.tensor(list), core.arange(1, columns + 1)
  local rise = s:narrow(1, 2, cells) - s:narrow(1, 1, cells)
  local from, to = slope:narrow(1, 1, cells) * width:unsqueeze(-1), slope:narrow(1, 2, cells) * width:unsqueeze(-1)
  local terms = { s:narrow(1, 1, cells), from, 3 * rise - 2 * from - to, from + to - 2 * rise }
  for k, term in ipairs(terms) do terms[k] = term:reshape(-1) end
  return function (v)
    local cell = 1
    for i = 2, cells do cell = cell + ge(v, list[i]) end
    local shape, place = core.shape(v), ((cell - 1) * columns + column):reshape(-1)
    cell = cell:reshape(-1)
    local function at (k) return terms[k][place]:reshape(shape) end
    local each = width[cell]:reshape(shape)
    local part = (v - start[cell]:reshape(shape)) / each
    local a, b, c, e = at(1), at(2), at(3), at(4)
    return a + part * (b + part * (c + part * e)), (b + part * (2 * c + part * (3 * e))) / each
  end
end

-- The path between v of a list, from 0 on: a function of v, { n, half, batch... }, which returns x and log |dx/dv| of
-- that shape, and whether it leads through all of the mass; or nil where quantiles do not tell.
local function path_between (d, list, range)
  local levels = levels_of(d, list, range)
  local x, t = quantiles(d, levels, range), levels:reshape(#list, -1)
  local low, high = bounds(d)
  local c = x:select(1, 1)
  local w = maximum(1e-300, abs(x:select(1, 2) - c))
  w = where(le(w, 1e300), w, 1)
  local line, v = support_line.new(low, high, c, w), core.tensor(list):unsqueeze(-1)
  local nodes = nodes_of(d, line, v, t, x, low, high, range and range.pace:reshape(-1) or 1)
  if not range and any(1 - nodes.good:select(1, 2)) then return nil end
  local along, sign = cubics(list, extended(nodes, v)), nodes.sign
  return function (at)
    local shape = core.shape(at)
    local s, slope = along(at:reshape(shape[1], -1))
    s = sign * s
    return line.x(s):reshape(shape), (line.log_slope(s) + log(slope)):reshape(shape)
  end, is_whole(nodes, t, range)
end

-- The last places of the path in both halves, { 2, batch... }, and the mass beyond them, where the range does not end
-- sooner: the path of a law that is cut may not come to its ends.
local function beyond (d, path, range)
  local shape = { 1, 2, table.unpack(d.batch_shape) }
  local last = path(core.full(shape, ends.REACH)):select(1, 1)
  local mass = tensor.stack { rows(d, 1, d:cdf(last:select(1, 1))):select(1, 1),
                              rows(d, 1, d:sf(last:select(1, 2))):select(1, 1) }
  mass = where(gt(mass, REACHED) * functions.isfinite(mass), mass, 0)
  return last, range and where(range.is_cut, 0, mass) or mass
end

-- How far the mass along the path is from what it should be, for each element: what rounding makes of the density; and
-- the factor of densities that puts it right, where the mass is known that well. nil where the path has left the law.
local function correction (d, path, points, reach, range, outside)
  local rounds = effort.density(d) < CHEAP and 16 or 1
  local shape = { 2, table.unpack(d.batch_shape) }
  local mass, error = quadrature.integrate(function (v)
    local x, log_slope = path(v)
    local log_p = log_density(d, x:reshape(#v, -1)):reshape(core.shape(v))
    return where(gt(log_p, -INF) * gt(log_slope, -INF), exp(log_p + log_slope), 0)
  end, 0, reach, { shape = shape, as_tensor = true, points = points(path), rounds = rounds, panels = 48 })
  local off = mass:sum(1) - (1 - outside - (range and range.outside or 0))
  error = error:sum(1)
  if any(1 - le(abs(off), ASTRAY)) or effort.quantile(d) < DEAR and any(gt(error, ROUGH)) then return nil end
  return abs(off), where(maximum(gt(abs(off), 2 * error), le(error, EXACT)), 1 - off, 1)
end

--- Is a quantile of d dearer than its density, and neither recorded?
function quantile_path.is_worth (d)
  return effort.quantile(d) >= WORTH and batches.own(d, "log_prob") and not core.tracked(d:log_prob(1))
end

-- The v of nodes, which are ends of panels as well: some points in each panel, and a quantile for each node.
local function list_of (d)
  local list = { 0, table.unpack(ends.breaks(effort.density(d) + effort.quantile(d) / quadrature.POINTS)) }
  list[#list + 1] = ends.REACH
  return list
end

-- A path, and whether it leads through all of the mass.
local function new_path (d, range)
  local path = {}
  path.at, path.is_whole = core.no_grad(path_between, d, list_of(d), range)
  return path
end

local path_of = kept.new(new_path, effort.call)

--- The path of d as a function of levels t up to ends.REACH, { n, half, batch... }, that returns x and log |dx/dt| of
-- that shape; or nil where quantiles do not tell. Far out it may be anywhere.
function quantile_path.along (d) return path_of(d).at end

--- The same for integrals: { at = that function; factor = of masses along it, about 1; off = their relative error;
-- last = where it ends in both halves, and the mass `beyond` }, or nil. With a range of expectation.lua it is a
-- function of v, which runs over that. points(at) lists where on it densities may have kinks.
function quantile_path.new (d, points, range)
  local path = range and new_path(d, range) or path_of(d)
  if not (path.at and path.is_whole) then return nil end
  if path.off == nil then
    path.last, path.beyond = core.no_grad(beyond, d, path.at, range)
    path.off, path.factor = core.no_grad(correction, d, path.at, points, ends.REACH, range, path.beyond:sum(1))
    path.is_whole = path.off ~= nil
  end
  return path.is_whole and path or nil
end

return quantile_path
