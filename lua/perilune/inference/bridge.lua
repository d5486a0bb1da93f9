--- The log evidence of a model from draws of its posterior, by bridge sampling.
--
-- X.-L. Meng and W. H. Wong, "Simulating ratios of normalizing constants via a simple identity", Statistica Sinica 6
-- (1996). The bridge leads to a Gaussian g with the moments of half of the draws; the other half, and more draws
-- of g, give Z as the fixed point of
--
--   Z = mean over g of p/(s1 p + s2 Z g)  /  mean over the posterior of g/(s1 p + s2 Z g),   s1 + s2 = 1
--
-- Then the halves change places, and the two answers are averaged.
local core        = require "perilune.core"
local diagnostics = require "perilune.inference.diagnostics"
local functions   = require "perilune.functions"
local matrices    = require "perilune.matrices"
local modes       = require "perilune.inference.modes"
local tensor      = require "perilune.tensor"
local Units       = require "perilune.inference.units"

local SHARE       = 4       -- draws of g for each of the posterior, at a time,
local MOST_PARTS  = 8       -- at most so many times,
local ENOUGH      = 0.01    -- until the error is as small, in nats
local MOST_ROUNDS = 1000
local CLOSE       = 1e-10   -- nats between two rounds
local LOG_2PI     = math.log(2 * math.pi)

local bridge = {}

local function is_finite (x) return x - x == 0 end

-- The share by which correlations r, found from n rows, are best made smaller (Schaefer and Strimmer 2005).
local function shrinkage (r, n)
  local square = r * r
  local size = core.shape(r)[1]
  local off = square:sum() - size
  local noise = ((1 - square) ^ 2):sum() / (n - 1)
  return off > 0 and math.min(1, noise / off) or 1
end

-- A Gaussian with the moments of rows, as Units; its correlations are smaller where the rows are few.
local function gaussian_of (rows)
  local n, size = core.shape(rows)[1], core.shape(rows)[2]
  local mean, sd = rows:mean(1), rows:std(1)
  local scaled = (rows - mean) / sd
  local r = scaled:transpose():matmul(scaled) / (n - 1)
  local share = shrinkage(r, n)
  local factor = matrices.cholesky(r * (1 - share) + core.eye(size) * share)
  if not is_finite(factor:sum()) then return Units.new(mean, sd) end
  return Units.new(mean, factor * sd:reshape(-1, 1))
end

-- log p - log g at rows; -inf where there is no density.
local function log_ratios (density, units, rows)
  local v = units:from(rows)
  local log_g = (v * v):sum(2) * -0.5 - units.log_det - units.size / 2 * LOG_2PI
  local ratios = density:values(rows) - log_g
  return functions.where(ratios:lt(math.huge), ratios, -math.huge)
end

-- p/(s1 p + s2 z g) and g/(s1 p + s2 z g), for log ratios of p to g.
local function first_term (ratios, s1, s2, log_z) return (s1 + s2 * (log_z - ratios):exp()):reciprocal() end
local function second_term (ratios, s1, s2, log_z)
  return (s1 * ratios:exp() + s2 * math.exp(log_z)):reciprocal()
end

--- The fixed point for log ratios of p to g at draws of p, which count as n1, and at draws of g, which count as n2;
-- with the terms of both means.
function bridge.solve (posterior, n1, guide, n2)
  local s1, s2, log_z = n1 / (n1 + n2), n2 / (n1 + n2), 0
  for _ = 1, MOST_ROUNDS do
    local before = log_z
    log_z = math.log(first_term(guide, s1, s2, log_z):mean()) - math.log(second_term(posterior, s1, s2, log_z):mean())
    if not is_finite(log_z) or math.abs(log_z - before) < CLOSE then break end
  end
  return log_z, first_term(guide, s1, s2, log_z), second_term(posterior, s1, s2, log_z)
end

-- The variance of the logarithm of the mean of terms, of which so many are independent.
local function variance_of (terms, count) return terms:var() / terms:mean() ^ 2 / count end

local function at_most (ess, n) return ess == ess and math.min(ess, n) or n end

-- The log evidence of draws (chains, n, size) and its variance, with a Gaussian of the moments of other rows. Its own
-- draws are cheap: more are made where they are what is missing.
local function estimate (density, others, draws, rng)
  local chains, n, size = table.unpack(core.shape(draws))
  local units, count = gaussian_of(others), chains * n
  local posterior = log_ratios(density, units, draws:reshape(count, size))
  local centre = posterior:median()
  posterior = posterior - centre
  local n1 = at_most(diagnostics.ess_mean(posterior:reshape(chains, n)), count)
  local parts = {}
  while true do
    parts[#parts + 1] = log_ratios(density, units, units:to(modes.noise(SHARE * count, size, rng))) - centre
    local n2 = #parts * SHARE * count
    local log_z, above, below = bridge.solve(posterior, n1, tensor.cat(parts), n2)
    local of_guide = variance_of(above, n2)
    local of_posterior = variance_of(below, at_most(diagnostics.ess_mean(below:reshape(chains, n)), count))
    local is_missing = of_guide > of_posterior / 2 and of_guide + of_posterior > ENOUGH ^ 2   -- not with NaN
    if not is_missing or #parts == MOST_PARTS then return log_z + centre, of_guide + of_posterior end
  end
end

--- The log evidence and its standard error, from draws that are rows of u, one chain after another.
function bridge.log_evidence (density, u, chains, rng)
  local n, size = core.shape(u)[1] // chains, density.size
  local half = n // 2
  local draws = u:reshape(chains, n, size)
  local parts = { draws:narrow(2, 1, half):contiguous(), draws:narrow(2, n - half + 1, half):contiguous() }
  local rows = { parts[1]:reshape(chains * half, size), parts[2]:reshape(chains * half, size) }
  local a, variance_a = estimate(density, rows[2], parts[1], rng)
  local b, variance_b = estimate(density, rows[1], parts[2], rng)
  return (a + b) / 2, math.max(math.sqrt(variance_a + variance_b) / 2, math.abs(a - b) / 2)
end

return bridge
