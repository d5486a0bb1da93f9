--- Stretches of a law in which its density hardly changes: masses of them, and quantiles close to an end.
local batches   = require "perilune.batches"
local class     = require "perilune.class"
local core      = require "perilune.core"
local effort    = require "perilune.effort"
local functions = require "perilune.functions"
local modes     = require "perilune.modes"
local settling  = require "perilune.settling"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local exp, log, le = functions.exp, functions.log, functions.le
local any = batches.any
local INF = math.huge

local slivers = {}

-- Nodes and logarithms of weights of the five-point rule of Gauss on [-1, 1], and a last node at its end.
local INNER, OUTER = 0.53846931010568309104, 0.90617984593866399280
local PLACES  = core.tensor { 0, -INNER, INNER, -OUTER, OUTER, 1 }
local WEIGHTS = log(core.tensor { 0.56888888888888888889, 0.47862867049936646804, 0.47862867049936646804,
                                  0.23692688505618908751, 0.23692688505618908751 })
local RULE = #WEIGHTS

local function rank_of (x) return core.is_tensor(x) and core.rank(x) or 0 end

-- log_density(x) of a law of this batch at all places within `half` of a centre, { place, points... }.
local function heights_of (log_density, centre, half, batch)
  local places, rank = PLACES, math.max(rank_of(centre), rank_of(half))
  for _ = 1, math.max(rank, #batch) do places = places:unsqueeze(-1) end
  local x = centre + places * half
  return log_density(rank < #batch and x:expand(#x, table.unpack(batch)) or x)
end

-- log of the mass within `half` of a centre where the density hardly changes, by its heights there.
local function log_sliver (heights, half)
  local weights = WEIGHTS
  for _ = 2, core.rank(heights) do weights = weights:unsqueeze(-1) end
  return (heights:narrow(1, 1, RULE) + weights):logsumexp(1) + log(half)
end

local function log_density_of (base)
  return function (x) return base:log_prob(x) end
end

-- Weights of the rule through the first and the last two of these nodes, and how its error, of fourth order, stands to
-- that of all five, of tenth, where the density has a pole next to the line, as that of StudentT has.
local OUTERS = 1 / (3 * OUTER ^ 2)
local function error_of_five (error_of_three) return error_of_three ^ 2.5 end

local NEAR = 3   -- widths of a sliver from which on a cusp does not matter

-- Between which numbers the density of a law may have a cusp: at its mode if the class says that it `has_cusp`, or says
-- nothing; anywhere if such a law is transformed, or in a mixture, where components begin and end; nil for none.
local function cusps_of (d)
  local inner = d.base or d.base_dist
  if d.component_distribution then return -INF, INF end
  if class.of(inner) then
    local low, high = cusps_of(inner)
    if d.transforms and low then return -INF, INF end
    return low, high
  end
  local mode = (d.has_cusp or not d.kernels) and modes.of(d) or nil
  return mode, mode
end

-- By what the mass e^log_mass between a and b may be off, as a part of it, if the density has a cusp there or near: by
-- what it differs from that of both halves.
local function error_by_cusps (base, a, b, log_mass, log_density)
  local low, high = cusps_of(base)
  if not low then return 0 end
  local width = b - a
  local is_near = functions.lt(a - NEAR * width, high) * functions.lt(low, b + NEAR * width)
  if not batches.any_may_be(is_near) then return 0 end
  local quarter, batch = 0.25 * width, base.batch_shape
  local halves = functions.logaddexp(log_sliver(heights_of(log_density, a + quarter, quarter, batch), quarter),
                                     log_sliver(heights_of(log_density, b - quarter, quarter, batch), quarter))
  return where(is_near, 4 * abs(functions.expm1(halves - log_mass)), 0)
end

-- log P(a < X <= b) of a law with density, and about how wrong that is.
local function measured (base, a, b)
  local exact, half = log_density_of(base), 0.5 * b - 0.5 * a
  local heights = heights_of(exact, 0.5 * a + 0.5 * b, half, base.batch_shape)
  local mass = log_sliver(heights, half)
  local outer = functions.logaddexp(heights:select(1, 4), heights:select(1, 5)) + math.log(OUTERS)
  local rough = functions.logaddexp(outer, heights:select(1, 1) + math.log(2 - 2 * OUTERS)) + log(half)
  return mass, maximum(error_of_five(abs(functions.expm1(rough - mass))), error_by_cusps(base, a, b, mass, exact))
end

local FINE, COARSE = 2 ^ -46, 0.1   -- what is off by more, but not by that much,
local PARTS, DEAR_PARTS = 16, 4     -- is measured in so many parts

-- The same from equal parts.
local function in_parts (base, a, b)
  local count = effort.is_dear(base) and DEAR_PARTS or PARTS
  local from, width, batch = core.arange(0, count), (b - a) / count, base.batch_shape
  for _ = 1, math.max(rank_of(width), #batch) do from = from:unsqueeze(-1) end
  if rank_of(width) < #batch then from = from:expand(count, table.unpack(batch)) end
  effort.spend(count * #PLACES * effort.density(base), core.is_tensor(width) and core.numel(width) or 1)
  local masses, errors = measured(base, a + from * width, a + (from + 1) * width)
  local mass = masses:logsumexp(1)
  return mass, (exp(masses - mass) * errors):sum(1)
end

--- log P(a < X <= b) of a law with density, and about how wrong that is; those that matter(log P) are worth more of
-- them.
function slivers.log_mass (base, a, b, matter)
  local mass, error = measured(base, a, b)
  local is_off = functions.gt(error, FINE) * functions.lt(error, COARSE) * matter(mass)
  if not batches.any_may_be(is_off) then return mass, error end
  local finer, its_error = in_parts(base, a, b)
  local is_better = is_off * functions.lt(its_error, error)
  return where(is_better, finer, mass), where(is_better, its_error, error)
end

local FEW = 64                 -- points that are not worth a selection, of a cheap law
local CLOSE, TRIES = 1e-7, 5   -- what Newton's method leaves of this is rounding; how often it is tried
local CUSP  = 1e-12            -- errors by cusps that are rounding, and as a part of the logarithm of a density
local CUSPS = 2 ^ -49
local STEEP = 0.5              -- a density that changes by more than e^STEEP is too much for a sliver
local NODES = 14               -- of polynomials that stand for it,
local SAME  = 1e-14            -- and differ by no more than this

-- Chebyshev's points in [-1, 1], and some more; the matrix that makes coefficients of Chebyshev's polynomials of values
-- at the points, and that which makes coefficients of 1, t, t^2, ... of those.
local function chebyshev ()
  local places, terms, powers = {}, {}, { { 1 } }
  for k = 1, NODES do
    places[k], terms[k] = math.cos(math.pi * (k - 0.5) / NODES), {}
    for i = 1, NODES do terms[k][i] = (k == 1 and 1 or 2) / NODES * math.cos(math.pi * (k - 1) * (i - 0.5) / NODES) end
    if k > 1 then powers[k] = {} end
    for j = 1, NODES do
      local twice, before = k > 1 and powers[k - 1][j - 1] or 0, k > 2 and powers[k - 2][j] or 0
      powers[k][j] = k == 1 and (j == 1 and 1 or 0) or (k == 2 and 1 or 2) * twice - before
    end
  end
  for _, t in ipairs { -1, -0.83, 0.07, 0.91, 1 } do places[#places + 1] = t end
  return core.tensor(places), core.tensor(terms), core.tensor(powers):transpose(1, 2)
end

local POINTS, TERMS, POWERS = chebyshev()

-- The polynomials through y, { NODES, batch... }.
local function polynomials (y)
  local flat = POWERS:matmul(TERMS:matmul(y:reshape(NODES, -1)))
  local rows = {}
  for j = 1, NODES do rows[j] = flat:select(1, j):reshape({ table.unpack(core.shape(y), 2) }) end
  return function (t)
    local sum = rows[NODES]
    for j = NODES - 1, 1, -1 do sum = sum * t + rows[j] end
    return sum
  end
end

-- The greatest of x, { n, batch... }, for each element.
local function greatest (self, x) return x:reshape(-1, batches.size(self)):max(1):reshape(self.batch_shape) end

-- The logarithm of the density on the `side` of `start`, up to e^STEEP times these distances: of a dear law that is
-- asked for many points by polynomials, if they are as good.
local function log_density_beside (self, start, side, guess, near)
  local base = self.base
  local exact = log_density_of(base)
  local is_many = core.is_tensor(guess) and core.numel(guess) > 3 * NODES * batches.size(self)
  if not is_many or not effort.is_dear(base) or core.tracked(guess) then return exact end
  local t = POINTS
  for _ = 1, #self.batch_shape do t = t:unsqueeze(-1) end
  local half = 0.5 * minimum(exp(STEEP) * greatest(self, guess), self.last - self.first)
  local values = batches.rows(self, #t, exact(start + side * half * (1 + t)))
  local is_used = greatest(self, near) * functions.isfinite(values:sum(1))
  local top = where(is_used, values:max(1), 0)
  local above = where(is_used, values - top, 0)
  local fit = polynomials(above:narrow(1, 1, NODES))
  local is_same = le(abs(fit(t) - above):max(1), SAME * maximum(1, abs(top))) * is_used
  if core.tracked(values) or any(greatest(self, near) * (1 - is_same)) then return exact end
  return function (x) return top + fit(side * (x - start) / half - 1) end
end

--- Distances from an end `start` to quantiles of small masses e^target there, of density nearly constant: Newton steps
-- on the mass of the sliver, NaN where it changes, or has a cusp. `side` is 1 at the lower end and -1 at the upper.
function slivers.distances (self, start, side, target, near)
  local base = self.base
  local density = base:log_prob(start)
  local guess = where(near, exp(target - density), 0)
  local log_density = log_density_beside(self, start, side, guess, near)
  local x = settling.run(function (s)
    effort.spend(#PLACES * effort.density(base), core.is_tensor(s.x) and core.numel(s.x) or 1)
    local half = 0.5 * side * s.x
    local heights = heights_of(log_density, start + half, half, base.batch_shape)
    local found, here = log_sliver(heights, 0.5 * s.x), heights:select(1, RULE + 1)
    local off = functions.expm1(found - s.target)
    local is_steep = 1 - le(abs(here - density), STEEP)
    s.x = where(s.ended, s.x, where(is_steep, 0 / 0, s.x - off * exp(s.target - here)))
    s.ended = maximum(s.ended, maximum(is_steep, le(abs(off), CLOSE)))
  end, { x = guess, target = target, ended = 1 - near }, TRIES, #self.batch_shape, math.min(FEW, effort.few(base)))
  local last = start + side * x
  local off = error_by_cusps(base, minimum(start, last), maximum(start, last), target, log_density)
  return where(le(off, maximum(CUSP, CUSPS * abs(density))), x, 0 / 0)
end

return slivers
