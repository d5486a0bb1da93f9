--- Heat maps: laws of two dimensions, functions of two numbers, matrices.
local attempt   = require "perilune.attempt"
local core      = require "perilune.core"
local curves    = require "perilune.plot.curves"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local gradient  = require "perilune.gradient"
local options   = require "perilune.plot.options"
local scene     = require "perilune.plot.scene"
local show      = require "perilune.show"
local tensor    = require "perilune.tensor"
local ticks     = require "perilune.plot.ticks"

local raise = errors.raise

local planes = {}

local CELLS     = 72     -- along each side
local MOST_ROWS = 128    -- of a matrix, and columns, that are drawn one by one
local DRAWS     = 4000   -- that say where a law is
local TAIL, REACH = 0.002, 5

-- Middles of n cells between two numbers.
local function middles (low, high, n)
  local step = (high - low) / n
  return core.linspace(low + step / 2, high - step / 2, n)
end

-- Coordinates of all cells' middles, (rows, columns) each; rows from below.
local function mesh (xs, ys)
  local x = middles(xs[1], xs[2], CELLS):reshape(1, -1):expand(CELLS, CELLS)
  local y = middles(ys[1], ys[2], CELLS):reshape(-1, 1):expand(CELLS, CELLS)
  return x:contiguous(), y:contiguous()
end

local function panel_of (mark, xs, ys, read)
  return scene.panel { marks = { mark }, notes = {}, is_square = true,
                       x = options.axis(read, "x", { low = xs[1], high = xs[2] }),
                       y = options.axis(read, "y", { low = ys[1], high = ys[2] }) }
end


-- Laws ---------------------------------------------------------------------------------------

-- Where a column of draws lies, but for its tails.
local function window (x)
  local q = x:quantile { TAIL, 0.25, 0.5, 0.75, 1 - TAIL } :totable()
  local reach = REACH * (q[4] - q[2])
  local low, high = q[1], q[5]
  if reach > 0 then low, high = math.max(low, q[3] - reach), math.min(high, q[3] + reach) end
  local room = 0.05 * (high - low)
  return { ticks.ends(low - room, high + room) }
end

-- Cells of densities: where they are infinite, or nearly, the scale ends before.
local function density_mark (values, xs, ys, notes)
  local flat = values:reshape(-1)
  local cap
  if core.item(functions.isinf(flat):sum()) > 0 then
    local finite = functions.where(functions.isfinite(flat), flat, 0)
    cap = finite:quantile(0.995)
    notes[#notes + 1] = string.format("densities above %s, some of them infinite, have one shade",
                                      ticks.text(cap, cap * 1e-2))
    values = functions.where(functions.isnan(values), values, functions.minimum(values, cap))
  end
  return scene.cells(values:totable(), xs[1], xs[2], ys[1], ys[2], "density")
end

-- A law of pairs of numbers.
local function pair (d, read)
  local draws = d:sample(DRAWS, core.rng(1)):detach()
  local xs, ys = read.range or window(draws:select(2, 1)), read.yrange or window(draws:select(2, 2))
  local x, y = mesh(xs, ys)
  local values = gradient.no_grad(function () return d:prob(tensor.stack({ x, y }, 3)) end):detach()
  local notes = {}
  local panel = panel_of(density_mark(values, xs, ys, notes), xs, ys, read)
  panel.notes = notes
  local inside = draws:select(2, 1)
  inside = inside:ge(xs[1]) * inside:le(xs[2]) * draws:select(2, 2):ge(ys[1]) * draws:select(2, 2):le(ys[2])
  local outside = 1 - core.item(inside:mean())
  if outside > 0.02 then notes[#notes + 1] = string.format("about %.0f %% of the mass lies outside", 100 * outside) end
  return panel
end

-- A law of three numbers that sum to 1, over the first two of them.
local function triangle (d, read)
  local xs, ys = { 0, 1 }, { 0, 1 }
  local x, y = mesh(xs, ys)
  local rest = 1 - x - y
  local is_inside = rest:gt(0)
  local third = functions.where(is_inside, rest, 1 / 3)
  local first, second = functions.where(is_inside, x, 1 / 3), functions.where(is_inside, y, 1 / 3)
  local values = gradient.no_grad(function () return d:prob(tensor.stack({ first, second, third }, 3)) end):detach()
  local notes = {}
  read.xlabel, read.ylabel = read.xlabel or "x[1]", read.ylabel or "x[2]"
  local panel = panel_of(density_mark(functions.where(is_inside, values, 0 / 0), xs, ys, notes), xs, ys, read)
  panel.notes = notes
  return panel
end

-- Outcomes that can be listed, as bars of their probabilities.
local function one_hot (d, read)
  return require "perilune.plot.laws".panel({ require "perilune.distributions.Categorical" { probs = d.probs } }, read)
end

local function is_simplex (d) return tostring(d.support) == "simplex" end

--- A law of vectors: a heat map of two dimensions, pairs of draws of more.
function planes.law (new, d, read)
  local event = d.event_shape
  if #event > 1 then
    raise("plot: events of %s are matrices, of shape %s; plot draws of their elements", tostring(d), show.shape(event))
  elseif #d.batch_shape > 0 then raise("plot: a batch of laws of vectors, got batch shape %s; plot one of them",
                                       show.shape(d.batch_shape))
  elseif read.log then raise "plot: a law of vectors is drawn on linear axes only"
  end
  local is_discrete = d.support and d.support.is_discrete
  local panel
  if d.probs and tostring(d.support):find "one_hot" then panel = one_hot(d, read)
  elseif is_simplex(d) and event[1] == 3 then panel = triangle(d, read)
  elseif event[1] == 2 and not is_discrete and not is_simplex(d) then panel = pair(d, read)
  else
    local draws = attempt.method(d, "sample", DRAWS, core.rng(1))
    if not draws then
      raise("plot: %s cannot be drawn from, and a picture of %d dimensions needs draws", tostring(d), event[1])
    end
    return require "perilune.plot.pairs".of_draws(new, draws:detach(), read, tostring(d))
  end
  return new { kind = "law", panels = { panel }, title = read.title or tostring(d), notes = {} }
end


-- Functions and matrices ---------------------------------------------------------------------

local function check_range (name, x)
  local is_range = type(x) == "table" and #x == 2 and math.type(x[1]) and math.type(x[2])
                   and x[1] - x[1] == 0 and x[2] - x[2] == 0 and x[1] < x[2]
  if not is_range then raise("plot: %s must be two finite numbers {low, high}, got %s", name, show.value(x)) end
end

--- A function of two numbers: by one call if it takes tensors, else by one for each cell.
function planes.of_function (f, xs, ys, read)
  check_range("the range of x", xs)
  check_range("the range of y", ys)
  f = errors.check_function("plot", "f", f)
  local x, y = mesh(xs, ys)
  local values = curves.values(f, { x:reshape(-1), y:reshape(-1) })
  values = core.tensor(values):reshape(CELLS, CELLS)
  return panel_of(scene.cells(values:totable(), xs[1], xs[2], ys[1], ys[2]), xs, ys, read)
end

-- Means of blocks of k by l elements, of as many whole blocks as there are.
local function blocks (t, k, l)
  local rows, columns = table.unpack(core.shape(t))
  local m, n = rows // k, columns // l
  return t:narrow(1, 1, m * k):narrow(2, 1, n * l):contiguous():reshape(m, k, n, l):mean(4):mean(2)
end

--- A matrix, its first row above.
function planes.matrix (t, read)
  local rows, columns = table.unpack(core.shape(t))
  if rows == 0 or columns == 0 then
    return scene.panel { notes = { "nothing to draw: there are no elements" } }
  end
  local k, l = math.ceil(rows / MOST_ROWS), math.ceil(columns / MOST_ROWS)
  local notes = {}
  if k > 1 or l > 1 then
    t = blocks(t, k, l)
    notes[1] = string.format("each cell is the mean of %d by %d elements", k, l)
    if rows % k + columns % l > 0 then
      notes[2] = string.format("left out: the last %d rows and %d columns", rows % k, columns % l)
    end
    rows, columns = core.shape(t)[1] * k, core.shape(t)[2] * l
  end
  local mark = scene.cells(t:totable(), 0.5, columns + 0.5, 0.5, rows + 0.5)
  local panel = panel_of(mark, { 0.5, columns + 0.5 }, { 0.5, rows + 0.5 }, read)
  panel.y.down, panel.y.integer, panel.x.integer, panel.notes = true, true, true, notes
  panel.matrix = core.shape(t)
  return panel
end

return planes
