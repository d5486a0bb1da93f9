--- A Gaussian fitted to a density by fixed draws (steps 3 and 4 of docs/inference.md).
--
-- In units v the guide is v = m + C e. Its ELBO is estimated with the same draws e in every step, so that it is a plain
-- function of m and C, which L-BFGS maximises. The draws have mean 0 and covariance 1 exactly: then the fit of a
-- Gaussian density is exact.
--
--   fullrank     C lower triangular, its diagonal exp(w)
--   meanfield    C = diag(exp(w))
local core     = require "perilune.core"
local lbfgs    = require "perilune.inference.lbfgs"
local matrices = require "perilune.matrices"
local modes    = require "perilune.inference.modes"
local tensor   = require "perilune.tensor"
local Units    = require "perilune.inference.units"

local FRESH  = 200      -- draws that a fit has not seen
local GAP    = 0.15     -- nats between those and its own that are not worth a larger fit
local ROUNDS = 3

local gaussian = {}

local function is_finite (x) return x - x == 0 end

--- Fixed draws: n of them, in pairs of opposite sign, with covariance 1, or only unit second moments on the diagonal.
function gaussian.draws (n, size, is_full, rng)
  local half = modes.noise(math.floor(n / 2), size, rng)
  if is_full then
    local factor = matrices.cholesky(half:transpose():matmul(half) / math.floor(n / 2))
    half = half:matmul(matrices.triangular_inverse(factor):transpose())
  else
    half = half / (half * half):mean(1):sqrt()
  end
  return tensor.cat({ half, -half }, 1)
end

-- Lower triangle without the diagonal, as zeros and ones.
local function below_of (size)
  local below = core.zeros(size, size)
  for i = 2, size do below[i]:narrow(1, 1, i - 1):copy(1) end
  return below
end

-- Parameters as one vector: m, w and for a full rank the matrix whose lower triangle counts.
local function unpack_guide (x, size, below)
  local m, w = x:narrow(1, 1, size), x:narrow(1, size + 1, size)
  if not below then return m, w, w:exp() end
  return m, w, x:narrow(1, 2 * size + 1, size * size):reshape(size, size) * below + core.eye(size) * w:exp()
end

-- Minus the ELBO of the guide x, but for its entropy's constant, and the gradient.
local function objective (density, units, draws, below)
  local size, n = density.size, core.shape(draws)[1]
  return function (x)
    local m, w, factor = unpack_guide(x, size, below)
    local v = m + (below and draws:matmul(factor:transpose()) or draws * factor)
    local values, gradients = density:gradients(units:to(v))
    local total = values:sum() / n
    if not is_finite(total) then return math.huge, x end
    local g = units:pull(gradients) / n
    local parts = { g:sum(1) }
    if below then
      local full = g:transpose():matmul(draws)
      parts[2], parts[3] = matrices.diagonal(full) * w:exp() + 1, (full * below):reshape(-1)
    else
      parts[2] = (g * draws):sum(1) * w:exp() + 1
    end
    return -(total + w:sum()), -tensor.cat(parts)
  end
end

-- What the ELBO has beside the mean of the density and sum(w).
local function constant (units) return units.log_det + units.size / 2 * (1 + math.log(2 * math.pi)) end

--- The ELBO of the Gaussian that `units` describe, from n fresh draws, and its standard error.
function gaussian.elbo (density, units, n, rng)
  local e = modes.noise(n, units.size, rng)
  local terms = density:values(units:to(e)) + (e * e):sum(2) / 2
  local mean = terms:mean()
  local sd = n > 1 and (terms - mean):pow(2):sum() / (n - 1) or 0
  return mean + units.log_det + units.size / 2 * math.log(2 * math.pi), math.sqrt(sd / n)
end

-- L-BFGS with these draws, from the standard normal of `units`. Units of the guide, and the ELBO of the draws.
local function fit_draws (density, units, draws, below, iterations)
  local size = units.size
  local start = core.zeros(2 * size + (below and size * size or 0))
  local found = lbfgs.minimise(objective(density, units, draws, below), start,
                               { memory = 10, iterations = iterations, gain = 0.5e-4 })
  if not is_finite(found.value) then return nil end
  local m, _, factor = unpack_guide(found.x, size, below)
  local fitted = units:compose(m, factor)
  return fitted, -found.value + constant(units), found.iterations
end

--- Fits a Gaussian, from that of `units` on; with `options.diagonal` one whose axes stay theirs. Returns its units with
-- `elbo`, `elbo_error`, `gap` (how much better its own draws speak of it than fresh ones); nil if the density is not
-- finite there.
function gaussian.fit (density, units, rng, options)
  local is_full = not units.is_diagonal and not options.diagonal
  local below = is_full and below_of(units.size) or nil
  local n = options.draws or is_full and math.max(64, 4 * units.size) or 64
  local rounds, iterations = options.rounds or ROUNDS, options.iterations or 60
  local total = 0
  for round = 1, rounds do
    local draws = gaussian.draws(n, units.size, is_full, rng)
    local fitted, own, steps = fit_draws(density, units, draws, below, round == 1 and iterations or 30)
    if not fitted then return nil end
    total = total + steps
    local fresh, se = gaussian.elbo(density, fitted, FRESH, rng)
    units = fitted
    units.elbo, units.elbo_error, units.gap, units.iterations = fresh, se, own - fresh, total
    if units.gap <= GAP or units.gap <= 2 * se then break end   -- se may be NaN
    n = 2 * n
  end
  return units
end

--- Of the Gaussians of `units` and narrower ones that with the best ELBO.
function gaussian.scaled (density, units, rng)
  local best, best_elbo
  for _, factor in ipairs { 1, 0.5, 0.25 } do
    local scaled = Units.new(units.centre, units.scale * factor)
    local elbo = gaussian.elbo(density, scaled, 50, rng)
    if is_finite(elbo) and (not best or elbo > best_elbo) then best, best_elbo = scaled, elbo end
  end
  return best
end

return gaussian
