--- The maxima of a density: where a fit begins (steps 1 and 2 of docs/inference.md).
local core     = require "perilune.core"
local functions = require "perilune.functions"
local lbfgs    = require "perilune.inference.lbfgs"
local matrices = require "perilune.matrices"
local Normal   = require "perilune.distributions.Normal"
local Uniform  = require "perilune.distributions.Uniform"
local Units    = require "perilune.inference.units"

local STARTS   = 8                -- and as many again where the best end was reached once
local WIDTHS   = { 2, 4, 8 }      -- of pairs of starts, in turn
local RETRIES  = 100              -- where the density is not finite
local STEP     = 0.01             -- of differences of gradients, in sds
local POLISH   = 6                -- rounds in whitened units,
local NEAR     = 1e-4             -- until |L'g|^2 is below
local FORCED   = 6                -- more of these rounds where the density is not concave,
local ADDED    = { 0.01, 0.1, 1, 10 }   -- with so much added to second derivatives
local DISTINCT = 0.5              -- modes nearer than this, in their units, are one
local MOST     = 4                -- modes looked at
local WITHIN   = 8                -- nats of evidence below the best that are kept
local SAME_END = 0.5              -- nats

local modes = { MATRIX_MOST = 600 }   -- free numbers whose second derivatives are asked for unbidden

local function is_finite (x) return x - x == 0 end

--- The function to minimise: minus the density.
function modes.objective (density)
  return function (u)
    local value, gradient = density:at(u)
    return -value, -gradient
  end
end

--- Are the density and its gradient finite there?
function modes.is_finite_at (density, u)
  local value, gradient = density:at(u)
  return is_finite(value) and is_finite(gradient:sum())
end

--- A start: `init`, moved by up to `width`, where the density is finite; nil if there is none.
function modes.start_near (density, init, width, rng)
  for _ = 1, RETRIES do
    local u = init + Uniform(-width, width):sample({ density.size }, rng)
    if modes.is_finite_at(density, u) then return u end
  end
  return nil
end

-- The start of path i: `init` first, then pairs on opposite sides of it, so that labels that can be swapped are.
local function start_of (i, density, init, before, rng)
  if i == 1 and modes.is_finite_at(density, init) then return init end
  local opposite = i % 2 == 1 and before and 2 * init - before
  if opposite and modes.is_finite_at(density, opposite) then return opposite end
  return modes.start_near(density, init, WIDTHS[(math.floor(i / 2) - 1) % #WIDTHS + 1], rng)
end

-- Follows L-BFGS from n starts; `ends` gets their states.
local function climb (density, init, first, n, rng, ends, options)
  local f, u = modes.objective(density), nil
  for i = first, first + n - 1 do
    u = start_of(i, density, init, u, rng)
    if u then
      local path = options.on_path and options.on_path(i)
      ends[#ends + 1] = lbfgs.minimise(f, u, { iterations = options.iterations or 200, on_step = path })
    end
  end
end

local function best_of (ends)
  local best
  for _, e in ipairs(ends) do
    if is_finite(e.value) and (not best or e.value < best.value) then best = e end
  end
  return best
end

-- How many ends are as good as the best.
local function hits_of (ends, best)
  local hits = 0
  for _, e in ipairs(ends) do
    if e.value - best.value < SAME_END then hits = hits + 1 end
  end
  return hits
end

--- Minus the matrix of second derivatives at u, by differences of gradients over steps in proportion to `sd`.
function modes.curvature (density, u, sd)
  local n = density.size
  local step = sd * STEP
  local shifts = core.eye(n) * step
  local _, above = density:gradients(u + shifts)
  local _, below = density:gradients(u - shifts)
  local h = (below - above) / (2 * step):reshape(n, 1)
  return (h + h:transpose()) / 2
end

--- Standard deviations at the end of a path, as its pairs describe them.
function modes.sd_of_end (found) return lbfgs.inverse_diagonal(found):abs():sqrt() end

--- Standard deviations near the end of a path by second derivatives along the axes, differences of gradients in random
-- directions of signs: the diagonal on average.
function modes.diagonal_sd (density, found, rng)
  local sd = modes.sd_of_end(found)
  local n, total, rounds = density.size, core.zeros(density.size), 16
  for _ = 1, rounds do
    local signs = modes.noise(1, n, rng):sign()
    local step = signs * sd * 0.01
    local _, above = density:gradients(found.x + step)
    local _, below = density:gradients(found.x - step)
    total = total + ((below - above) / (2 * step)):reshape(n)
  end
  local curvature = total / rounds
  return functions.where(curvature:gt(0), curvature:abs():sqrt():reciprocal(), sd)
end

-- The lower triangular factor of the inverse of a matrix; nil if that is not positive definite.
local function inverse_factor (matrix)
  if not is_finite(matrix:sum()) then return nil end
  local l = matrices.cholesky_inverse(matrix)
  return is_finite(l:sum()) and l or nil
end

-- The same of a matrix with as much added to its diagonal, in proportion, as makes it positive definite. Directions
-- that are flat get `sd`.
local function forced_factor (matrix, sd)
  local diagonal = matrices.diagonal(matrix):abs()
  local scale = functions.where(diagonal:gt(0), diagonal:sqrt():reciprocal(), sd)
  local whole = matrix * scale * scale:reshape(-1, 1)
  for _, added in ipairs(ADDED) do
    local l = inverse_factor(whole + core.eye(core.numel(sd)) * added)
    if l then return l * scale:reshape(-1, 1) end
  end
  return nil
end

-- Where L-BFGS ends that begins at the centre of `units`, in these units.
local function climb_within (density, units, iterations)
  local f, size = modes.objective(density), density.size
  local ended = lbfgs.minimise(function (v)
    local negative, gradient = f(units:to(v:reshape(1, size)):reshape(size))
    return negative, units:pull(gradient:reshape(1, size)):reshape(size)
  end, core.zeros(size), { iterations = iterations })
  return units:to(ended.x:reshape(1, size)):reshape(size)
end

--- The mode near u, as Units with `value`, the log density there; or nil. `sd` is a first idea of scales. Steps along
-- rows of the whitened space, in which all directions have about the same scale. Where u is not near a mode yet, since
-- the scales of the free numbers lie too far apart, the first of these steps lead there. Differences over steps
-- that are longer than the scales they give are those of another place, and are taken again over shorter ones.
function modes.polish (density, u, sd)
  local forced = 0
  for _ = 1, POLISH + FORCED do
    local curvature = modes.curvature(density, u, sd)
    local l = inverse_factor(curvature)
    local value, g = density:at(u)
    local units, is_local = l and Units.new(u, l), true
    if l then
      local pulled = units:pull(g:reshape(1, density.size))
      is_local = (sd * STEP):le(units:sd()):min() == 1
      if is_local and (pulled * pulled):sum() < NEAR then
        units.value = value
        return units
      end
    else
      forced = forced + 1
      l = forced <= FORCED and is_finite(curvature:sum()) and forced_factor(curvature, sd)
      if not l then return nil end
      units = Units.new(u, l)
    end
    u, sd = is_local and climb_within(density, units, 50) or u, units:sd()
  end
  return nil
end

local function is_same (a, b)
  return b:from(a.centre:reshape(1, a.size)):abs():max() < DISTINCT
end

-- Adds the mode near the end of a path, if it is a new one.
local function add_mode (list, density, found)
  local mode = modes.polish(density, found.x, modes.sd_of_end(found))
  if not mode then return end
  for _, known in ipairs(list) do
    if is_same(mode, known) then
      known.hits = known.hits + 1
      return
    end
  end
  mode.hits = 1
  mode.evidence = mode.value + mode.log_det + mode.size / 2 * math.log(2 * math.pi)   -- Laplace's
  list[#list + 1] = mode
end

-- Counts an end that lies at a known mode, without polishing it.
local function count_hit (list, found)
  for _, mode in ipairs(list) do
    if -found.value > mode.value - SAME_END and mode:from(found.x:reshape(1, mode.size)):abs():max() < DISTINCT then
      mode.hits = mode.hits + 1
      return true
    end
  end
  return false
end

--- The ends of paths from `init` and around it. Options: `starts`, how many, the first being number `first` (1 unless
-- told); `once`: no more where the best end was reached once; `on_path(i)` gives a function for the points of path i.
function modes.ends (density, init, rng, options)
  local ends = {}
  options = options or {}
  local starts = options.starts or STARTS
  climb(density, init, options.first or 1, starts, rng, ends, options)
  local best = best_of(ends)
  if best and hits_of(ends, best) == 1 and not options.once then
    climb(density, init, starts + 1, starts, rng, ends, options)
  end
  return ends, best_of(ends)
end

--- Adds the modes where these paths ended to a list: Units with value, evidence, hits. Those that matter are kept, the
-- best first.
function modes.add (list, density, ends, best)
  table.sort(ends, function (a, b) return a.value < b.value end)
  for _, found in ipairs(ends) do
    local top = list[1] and -list[1].value or best.value   -- an end that is no mode may be on its way to infinity
    local is_near = is_finite(found.value) and (#list == 0 or found.value < top + 30 + density.size)
    if is_near and not count_hit(list, found) and #list < MOST then add_mode(list, density, found) end
  end
  table.sort(list, function (a, b) return a.evidence > b.evidence end)
  for i = #list, 2, -1 do
    if list[i].evidence < list[1].evidence - WITHIN then table.remove(list, i) end
  end
  return list
end

--- The modes of a density that matter. Empty if there is none.
function modes.of (density, ends, best) return modes.add({}, density, ends, best) end

--- The ends of paths from these rows.
function modes.ends_from (density, rows)
  local f, ends = modes.objective(density), {}
  for i = 1, core.shape(rows)[1] do ends[i] = lbfgs.minimise(f, rows[i], {}) end
  return ends
end

--- n rows of standard normal numbers.
function modes.noise (n, size, rng) return Normal(0, 1):sample({ n, size }, rng) end

return modes
