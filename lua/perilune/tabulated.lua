--- What follows from a density alone: tails, quantiles, moments and draws of a class that has log_prob and no more.
--
-- The support is a line t, x = x(t), along which the density of t is one smooth hill: x = c + w sinh t on the real
-- line, low + w e^t above an end, a logistic curve between two. It is cut into cells, each halved until the ten-point
-- rule of Gauss agrees with that of both halves to 1e-13 of the cell's own mass, so that tails have the digits
-- that the middle has. Logarithms of masses are summed from both ends. Laws on the integers are summed outcome by
-- outcome. Moments are expectations (expectation.lua). All that are integrals return an estimate of their
-- error as well. A density that does not integrate to 1 is refused.
local batches    = require "perilune.batches"
local class      = require "perilune.class"
local core       = require "perilune.core"
local ends       = require "perilune.ends"
local events     = require "perilune.events"
local functions  = require "perilune.functions"
local kept       = require "perilune.kept"
local levels     = require "perilune.levels"
local outcomes   = require "perilune.outcomes"
local peaks      = require "perilune.peaks"
local quadrature = require "perilune.quadrature"
local raise      = require "perilune.errors".raise
local support_line = require "perilune.support_line"
local tensor     = require "perilune.tensor"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local exp, log, log1p, floor       = functions.exp, functions.log, functions.log1p, functions.floor
local lt, le, gt, ge, eq           = functions.lt, functions.le, functions.gt, functions.ge, functions.eq
local logaddexp, rows              = functions.logaddexp, batches.rows

local INF       = math.huge
local REACH     = 700      -- of t
local SAME      = 1e-13    -- a cell is known when halving it changes its mass by no more than this part
local LEAST     = -1e4     -- log of what a cell must have of the largest one to be looked at closely
local CELLS     = 4096     -- at most
local ROUNDS    = 60       -- of halving
local FEW       = 2 ^ 20   -- outcomes of a law on the integers, at most
local DEEPEST   = -690     -- log of the least level of a law on the integers
local OFF       = 1e-3     -- a mass that is further from 1 than this is not meant to be 1

-- Nodes and weights of Gauss' rule on [-1, 1].
local NODES = { 0.14887433898163121088, 0.43339539412924719080, 0.67940956829902440623, 0.86506336668898451073,
                0.97390652851717172008 }
local WEIGHTS = { 0.29552422471475287017, 0.26926671930999635509, 0.21908636251598204400, 0.14945134915058059315,
                  0.06667134430868813759 }
local nodes, log_weights = {}, {}
for i = 1, 5 do
  nodes[i], nodes[11 - i] = NODES[i], -NODES[i]
  log_weights[i], log_weights[11 - i] = math.log(WEIGHTS[i]), math.log(WEIGHTS[i])
end
local POINTS = #nodes

local tabulated = {}


-- The line ------------------------------------------------------------------------

-- A number for each element of the batch, in a row.
local function flat (d, x) return core.bare(rows(d, 1, x)):reshape(-1) end

-- log p at x of shape { n, element }; where x has overflown there is nothing.
local function log_density (d, x)
  local n = #x
  local value = core.bare(rows(d, n, d:log_prob(x:reshape(n, table.unpack(d.batch_shape))))):reshape(n, -1)
  return where(x:isinf() * value:isnan(), -INF, value)
end

-- The ends of the support of each element.
local function bounds (d)
  local low, high = ends.of(d.support)
  return flat(d, low), flat(d, high)
end

-- Where the density is highest, and its logarithm there; or beside an end, that of t.
local function top_of (d, low, high, of_t)
  local start = support_line.new(low, high, where(low:isfinite() * high:isfinite(), 0.5 * low + 0.5 * high, 0),
                         core.zeros(core.numel(low)) + 1)
  local weight = of_t and maximum(low:isfinite(), high:isfinite()) or 0
  local function place (t) return d.support.is_discrete and floor(start.x(t)) or start.x(t) end
  local t = peaks.search(function (t)
    return log_density(d, place(t)) + weight * start.log_slope(t)
  end, core.zeros(core.numel(low)), REACH)
  local x = place(t:unsqueeze(1))
  return x:select(1, 1), log_density(d, x):select(1, 1)
end

-- A line that has the hill at t = 0, as wide as it is.
local function line_of (d)
  local low, high = bounds(d)
  local c, top = top_of(d, low, high, true)
  local width = minimum(maximum(0.4 * exp(-top), 1e-300), 1e300)
  local gap = where(low:isfinite(), c - low, high - c)
  local is_half = maximum(low:isfinite(), high:isfinite()) * (1 - low:isfinite() * high:isfinite())
  local w = where(is_half, where(gap:gt(0), gap, width), width)
  return support_line.new(low, high, c, w), c, w
end

--- The outcome of a law on the integers that is most probable, for each element in a row.
function tabulated.likeliest (d) return (core.no_grad(top_of, d, bounds(d))) end

--- A centre of the mass and its width, from the density alone: see expectation.lua.
function tabulated.place (d)
  local _, c, w = core.no_grad(line_of, d)
  return c:reshape(d.batch_shape), w:reshape(d.batch_shape)
end


-- Cells ---------------------------------------------------------------------------

local function column (list) return core.tensor(list):unsqueeze(-1) end

-- Logarithms of the masses between a and b, columns or { n, element }.
local function log_masses (d, line, a, b)
  local centre, half = 0.5 * a + 0.5 * b, 0.5 * b - 0.5 * a
  local parts = {}
  for j = 1, POINTS do
    local t = centre + nodes[j] * half
    parts[j] = log_density(d, line.x(t)) + line.log_slope(t) + log_weights[j]
  end
  return tensor.stack(parts, 1):logsumexp(1) + log(half)
end

-- The first ends of cells: finer towards the top.
local function first_ends ()
  local list = { 0 }
  for e = -40, 8 do list[#list + 1], list[#list + 2] = 2.0 ^ e, -2.0 ^ e end
  list[#list + 1], list[#list + 2] = -REACH, REACH
  table.sort(list)
  return list
end

-- Halves cells until their masses stay: a list of { a, b, log mass of each element }, from the lowest on, and how much
-- may be wrong with all of them.
local function settle (d, line)
  local done, active, ends_of = {}, {}, first_ends()
  local n = #ends_of - 1
  local first = log_masses(d, line, column { table.unpack(ends_of, 1, n) }, column { table.unpack(ends_of, 2) })
  for i = 1, n do active[i] = { ends_of[i], ends_of[i + 1], first:narrow(1, i, 1) } end
  local most, wrong = first:max(1, true), 0
  for round = 1, ROUNDS do
    local a, b, before = {}, {}, {}
    for i, cell in ipairs(active) do
      local middle = 0.5 * cell[1] + 0.5 * cell[2]
      a[2 * i - 1], b[2 * i - 1], a[2 * i], b[2 * i] = cell[1], middle, middle, cell[2]
      before[i] = cell[3]
    end
    local found = log_masses(d, line, column(a), column(b))
    most = maximum(most, found:max(1, true))
    local left, right = found:reshape(#active, 2, -1):select(2, 1), found:reshape(#active, 2, -1):select(2, 2)
    local whole, old = logaddexp(left, right), tensor.cat(before)
    local off = abs(functions.expm1(old - whole))
    local is_open = gt(whole, most + LEAST) * (1 - le(off, SAME)) * (1 - whole:isnan())
    local open, last = is_open:max(2):totable(), round == ROUNDS or #done + 4 * #active > CELLS
    wrong = wrong + where(last and is_open:eq(is_open) or 1 - is_open, minimum(off, 1) * exp(whole), 0):sum(1)
    local next = {}
    for i = 1, #active do
      local list = (open[i] == 0 or last) and done or next
      for k = 2 * i - 1, 2 * i do list[#list + 1] = { a[k], b[k], found:narrow(1, k, 1) } end
    end
    active = next
    if #active == 0 then break end
  end
  table.sort(done, function (x, y) return x[1] < y[1] end)
  return done, wrong
end

-- Logarithms of the mass below and above each end of the cells.
local function sums_of (cells)
  local n = #cells
  local none = core.zeros(core.shape(cells[1][3])) - INF
  local below, above = { none }, { [n + 1] = none }
  for i = 1, n do below[i + 1] = logaddexp(below[i], cells[i][3]) end
  for i = n, 1, -1 do above[i] = logaddexp(above[i + 1], cells[i][3]) end
  return tensor.cat(below), tensor.cat(above)
end

local function name_of (d) return class.name(class.of(d)) end

-- Refuses a density whose total is not 1.
local function check_mass (d, what, mass)
  local off = abs(mass - 1)
  if core.item(where(off:isnan(), INF, off):max()) <= OFF then return off end
  local worst = mass:totable()
  table.sort(worst, function (a, b) return math.abs(a - 1) > math.abs(b - 1) or a ~= a and b == b end)
  raise("%s has no %s: as far as can be found its probabilities sum to %.6g, not to 1", name_of(d), what, worst[1])
end

local function new_table (d, what)
  local line = line_of(d)
  local cells, wrong = settle(d, line)
  local below, above = sums_of(cells)
  local edges = {}
  for i, cell in ipairs(cells) do edges[i] = cell[1] end
  edges[#edges + 1] = cells[#cells][2]
  local off = check_mass(d, what, exp(above:select(1, 1)))
  return { line = line, edges = core.tensor(edges), n = #cells, below = below, above = above,
           error = maximum(wrong + off, 2 ^ -48), size = batches.size(d) }
end


-- Outcomes ------------------------------------------------------------------------

local function new_outcomes (d, what)
  local from, to = outcomes.range(d)   -- but for a factor of 2 from the top
  local top, low, high = tabulated.likeliest(d), bounds(d)
  from, to = maximum(2 * from - top, low), minimum(2 * to - top, high)
  local n = core.item((to - from):max()) + 1
  if n ~= n or n > FEW then raise("%s has no %s: it has more than %d outcomes", name_of(d), what, FEW) end
  local p = exp(log_density(d, from + core.public.arange(0, n):unsqueeze(-1)))
  p = where(p:isnan(), 0, p)
  local below = p:cumsum(1)
  local backwards = core.public.arange(#p, 0, -1)
  local from_here = p:index_select(1, backwards):cumsum(1):index_select(1, backwards)
  local above = tensor.cat { from_here:narrow(1, 2, #p - 1), core.zeros(1, core.numel(from)) }
  return { from = from, n = #p, p = p, below = below, above = above, size = batches.size(d),
           error = check_mass(d, what, below:select(1, #below)) + 2 ^ -48 }
end


local kept_table = kept.new(function (d, what)
  return core.no_grad(d.support.is_discrete and new_outcomes or new_table, d, what)
end)

local function table_of (d, what)
  for _, name in ipairs(d.operands) do
    if core.tracked(d[name]) then
      raise("%s has no %s with a gradient; a subclass may define %s:%s", name_of(d), what, name_of(d), what)
    end
  end
  return kept_table(d, what)
end


-- Tails and quantiles ----------------------------------------------------------------

-- x as { n, element }, and a function that gives results the shape that they should have.
local function spread (d, what, x)
  local is_number = type(x) == "number" and rawget(d, "batch_shape") == nil
  x = events.argument(d, what, x)
  if core.tracked(x) then
    raise("%s has no %s with a gradient; a subclass may define %s:%s", name_of(d), what, name_of(d), what)
  end
  x = core.is_tensor(x) and x or core.tensor(x)
  local shape = core.broadcast_shape(x, core.zeros(d.batch_shape))
  local function shaped (y) return (is_number or #shape == 0) and core.item(y) or y:reshape(shape) end
  return x:expand(1, table.unpack(shape)):reshape(-1, batches.size(d)), shaped
end

-- The rows i of t for each element, i of shape { n, element }.
local function gathered (t, i, size)
  if size == 1 then return t:reshape(-1)[i:reshape(-1)]:reshape(core.shape(i)) end
  local place = (i - 1) * size + core.public.arange(1, size + 1)
  return t:reshape(-1)[place:reshape(-1)]:reshape(core.shape(i))
end

-- The largest i from 1 to n at which is_reached(i), which holds up to some i; 1 if it never does.
local function last_of (n, like, is_reached)
  local first, beyond = core.zeros(core.shape(like)) + 1, core.zeros(core.shape(like)) + n + 1
  for _ = 1, math.ceil(math.log(n, 2)) + 1 do
    local middle = floor(0.5 * (first + beyond))
    local reached = is_reached(middle)
    first, beyond = where(reached, middle, first), where(reached, beyond, middle)
  end
  return first
end

-- log P(X <= x) and log P(X > x), and log p dx/dt, at t between the ends of cell i.
local function log_tails_at (d, found, t, i)
  local size, edges = found.size, found.edges
  local a, b = edges[i:reshape(-1)]:reshape(core.shape(i)), edges[(i + 1):reshape(-1)]:reshape(core.shape(i))
  local below = logaddexp(gathered(found.below, i, size), log_masses(d, found.line, a, t))
  local above = logaddexp(gathered(found.above, i + 1, size), log_masses(d, found.line, t, b))
  return below, above
end

local function continuous_tails (d, found, x)
  local low, high = bounds(d)
  local t = found.line.t(minimum(maximum(x, low), high))
  t = where(t:isnan(), 0, minimum(maximum(t, -REACH), REACH))
  local i = last_of(found.n, t, function (k) return le(found.edges[k:reshape(-1)]:reshape(core.shape(k)), t) end)
  local below, above = log_tails_at(d, found, t, i)
  below = where(le(x, low), -INF, where(ge(x, high), 0, below))
  above = where(ge(x, high), -INF, where(le(x, low), 0, above))
  below, above = minimum(below, 0), minimum(above, 0)
  return where(lt(above, below), functions.log1mexp(above), below),
         where(lt(below, above), functions.log1mexp(below), above)
end

local function discrete_tails (_, found, x)
  local i = floor(x) - found.from + 1
  local at = where(i:isnan(), 1, minimum(maximum(i, 1), found.n))
  local below, above = gathered(found.below, at, found.size), gathered(found.above, at, found.size)
  below, above = where(lt(i, 1), 0, minimum(below, 1)), where(lt(i, 1), 1, maximum(above, 0))
  return where(lt(above, below), log1p(-above), log(below)), where(lt(below, above), log1p(-below), log(above))
end

-- Both, for all x; NaN for NaN.
local function log_tails (d, what, x)
  local found, points, shaped = table_of(d, what), spread(d, what, x)
  x = points
  local tails = d.support.is_discrete and discrete_tails or continuous_tails
  local below, above = core.no_grad(tails, d, found, x)
  below, above = where(x:isnan(), x, below), where(x:isnan(), x, above)
  return below, above, shaped, found.error + x * 0
end

function tabulated.log_cdf (d, x)
  local below, _, shaped = log_tails(d, "log_cdf", x)
  return shaped(below)
end

function tabulated.log_sf (d, x)
  local _, above, shaped = log_tails(d, "log_sf", x)
  return shaped(above)
end

--- P(X <= x), and an estimate of its error.
function tabulated.cdf (d, x)
  local below, _, shaped, error = log_tails(d, "cdf", x)
  return shaped(exp(below)), shaped(minimum(error, 1) * exp(below))
end

function tabulated.sf (d, x)
  local _, above, shaped, error = log_tails(d, "sf", x)
  return shaped(exp(above)), shaped(minimum(error, 1) * exp(above))
end

-- t in the cell where the mass below, or above it where `upper`, has this logarithm.
local function continuous_quantile (d, found, target, upper)
  local size, edges = found.size, found.edges
  local i = last_of(found.n, target, function (k)
    return where(upper, gt(gathered(found.above, k, size), target), le(gathered(found.below, k, size), target))
  end)
  local function edge (k) return edges[k:reshape(-1)]:reshape(core.shape(k)) end
  local sign = where(upper, -1, 1)
  local t = quadrature.root(function (t)
    local below, above = log_tails_at(d, found, t, i)
    local tail = where(upper, above, below)
    local slope = exp(log_density(d, found.line.x(t)) + found.line.log_slope(t) - tail)
    return sign * (tail - target), slope, 2 ^ -50 * maximum(1, abs(target))
  end, edge(i), edge(i + 1), 0.5 * edge(i) + 0.5 * edge(i + 1))
  return found.line.x(t)
end

-- The smallest outcome whose lower tail is at least e^target, or whose upper one is at most that.
local function discrete_quantile (d, found, target, upper)
  local level = exp(target)
  if core.item(target:min()) < DEEPEST then
    raise("%s has no quantiles of levels below e^%d, where its outcomes were not looked at", name_of(d), DEEPEST)
  end
  local function short (k)   -- of what is wanted, at the outcome k
    local x = found.from + k - 1
    local tail = where(upper, gathered(found.above, k, found.size), gathered(found.below, k, found.size))
    return 1 - levels.reached(d, x, tail, level, upper, level)
  end
  local ones = core.zeros(core.shape(target)) + 1
  local last = last_of(found.n, target, short)
  return found.from + minimum(last - 1 + short(ones), found.n - 1)
end

-- Quantiles of probabilities that are given as the logarithms of both tails.
local function quantile (d, found, log_p, log_q)
  local upper = lt(log_q, log_p)
  local target = where(upper, log_q, log_p)
  local bad = maximum(maximum(gt(log_p, 0), gt(log_q, 0)), maximum(log_p:isnan(), log_q:isnan()))
  local low, high = bounds(d)
  local inside = (1 - bad) * gt(target, -INF)
  local solve = d.support.is_discrete and discrete_quantile or continuous_quantile
  local x = solve(d, found, where(inside, target, -1), where(inside, upper, 0))
  x = minimum(maximum(x, low), high)
  return where(bad, 0 / 0, where(eq(log_p, -INF), low, where(eq(log_q, -INF), high, x)))
end

local function quantiles (d, what, given, logs)
  local found, p, shaped = table_of(d, what), spread(d, what, given)
  return shaped(core.no_grad(function () return quantile(d, found, logs(p)) end))
end

local function of_level (p) return log(p), log1p(-p) end
local function of_upper_level (q) return log1p(-q), log(q) end
local function of_log (lp) return lp, functions.log1mexp(lp) end
local function of_upper_log (lq) return functions.log1mexp(lq), lq end

function tabulated.icdf (d, p) return quantiles(d, "icdf", p, of_level) end
function tabulated.isf (d, q) return quantiles(d, "isf", q, of_upper_level) end
function tabulated.icdf_log (d, lp) return quantiles(d, "icdf_log", lp, of_log) end
function tabulated.isf_log (d, lq) return quantiles(d, "isf_log", lq, of_upper_log) end

function tabulated.sample (d, shape, rng)
  local u = require "perilune.distributions.Uniform"(0, 1)
  if rawget(d, "batch_shape") then u = u:expand(d.batch_shape) end
  local x = quantiles(d, "sample", u:sample(shape, rng), of_level)
  return d.support.is_discrete and type(x) == "number" and math.tointeger(x) or x
end


-- Moments -----------------------------------------------------------------------------

--- E X, and an estimate of its error; as a difference from the centre, which may be large beside the width.
function tabulated.mean (d)
  local centre = 0
  if not d.support.is_discrete then
    centre = tabulated.place(d)
    if rawget(d, "batch_shape") == nil then centre = core.item(centre) end
  end
  local value, error = d:expectation(function (x) return x - centre end)
  return centre + value, error + 2 ^ -53 * abs(centre)
end

function tabulated.variance (d)
  local mean, off = d:mean()
  local value, error = d:expectation(function (x) return functions.square(x - mean) end)
  return value, error + functions.square(off or 0)
end

function tabulated.entropy (d)
  local value, error = d:expectation(function (x) return d:log_prob(x) end)
  return -value, error
end

function tabulated.mode (d)
  if d.support.is_discrete then
    local found = table_of(d, "mode")
    local x = found.from + found.p:argmax(1) - 1
    return rawget(d, "batch_shape") and x:reshape(d.batch_shape) or core.item(x)
  end
  local low, high = bounds(d)
  local x, top = core.no_grad(top_of, d, low, high)
  x, top = peaks.summit(d, x:reshape(d.batch_shape), top:reshape(d.batch_shape)), top:reshape(d.batch_shape)
  for _, limit in ipairs { low, high } do
    limit = limit:reshape(d.batch_shape)
    x = where(ge(d:log_prob(limit), top), limit, x)
  end
  return rawget(d, "batch_shape") and x or core.item(x)
end

return tabulated
