--- Draws from guides that importance weights can be trusted on (step 5 of docs/inference.md).
--
-- Each Gaussian is defended: a share t of its draws comes from wider laws around it, half of them from the multivariate
-- t with 5 degrees of freedom, half "along": one coordinate at random, in its units, from 1.5 times a t with 2, the
-- others normal. So a tail that the Gaussian has missed in some direction is seen.
local core     = require "perilune.core"
local Chi2     = require "perilune.distributions.Chi2"
local modes    = require "perilune.inference.modes"
local StudentT = require "perilune.distributions.StudentT"
local Uniform  = require "perilune.distributions.Uniform"
local functions = require "perilune.functions"
local tensor   = require "perilune.tensor"

local DF, WIDE = 5, 1.5
local LOG_2PI = math.log(2 * math.pi)

local proposal = {}

-- Draws in the units of a Gaussian: of itself, of the t, along. All are symmetric, and come in pairs of opposite sign:
-- the mean of a guide that is the posterior has no error.
local function paired (draw)
  return function (n, size, rng)
    local half = draw(math.floor((n + 1) / 2), size, rng)
    return tensor.cat({ half, -half }, 1):narrow(1, 1, n)
  end
end

local normal_draws = paired(modes.noise)

local t_draws = paired(function (n, size, rng)
  local chi2 = Chi2(DF):sample({ n, 1 }, rng)
  return modes.noise(n, size, rng) / (chi2 / DF):sqrt()
end)

local along_draws = paired(function (n, size, rng)
  local z = modes.noise(n, size, rng)
  local far = StudentT(2, 0, WIDE):sample({ n, 1 }, rng)
  local which = (Uniform(0, size):sample({ n, 1 }, rng)):floor() + 1
  local chosen = functions.eq(core.arange(1, size + 1), which)
  return z * (1 - chosen) + far * chosen
end)

-- Log densities in those units.
local function log_normal (z) return (z * z):sum(2) * -0.5 - core.shape(z)[2] / 2 * LOG_2PI end

local function log_t (z)
  local size = core.shape(z)[2]
  local const = functions.lgamma((DF + size) / 2) - functions.lgamma(DF / 2) - size / 2 * math.log(DF * math.pi)
  return const - (DF + size) / 2 * ((z * z):sum(2) / DF):log1p()
end

local function log_along (z)
  local ratio = StudentT(2, 0, WIDE):log_prob(z) + z * z * 0.5 + 0.5 * LOG_2PI
  return log_normal(z) + ratio:logsumexp(2) - math.log(core.shape(z)[2])
end

local LAWS = { { draw = normal_draws, log = log_normal }, { draw = t_draws, log = log_t },
               { draw = along_draws, log = log_along } }

--- n draws of a mixture of Gaussians, { units, weight }, each defended by a share t. Returns the draws, rows of u;
-- their log densities; and how many of the first ones come from the Gaussians themselves.
function proposal.draw (guides, n, t, rng)
  local parts, plain = {}, 0
  for law, share in ipairs { 1 - t, t / 2, t / 2 } do
    for _, guide in ipairs(guides) do
      local count = math.floor(n * share * guide.weight + 0.5)
      if count > 0 then
        local z = LAWS[law].draw(count, guide.units.size, rng)
        parts[#parts + 1] = { guide = guide, law = law, count = count, u = guide.units:to(z) }
        if law == 1 then plain = plain + count end
      end
    end
  end
  local rows, total = {}, 0
  for i, part in ipairs(parts) do rows[i], total = part.u, total + part.count end
  local u = tensor.cat(rows, 1)
  return u, proposal.log_density(parts, u, total), plain
end

--- n draws of the laws that defend a Gaussian, for a guide that is none: rows of u.
function proposal.around (units, n, rng)
  local half = math.floor(n / 2)
  return tensor.cat({ units:to(t_draws(half, units.size, rng)), units:to(along_draws(n - half, units.size, rng)) }, 1)
end

--- Their log density, at each row of u.
function proposal.log_around (units, u)
  local z = units:from(u)
  return functions.logaddexp(log_t(z), log_along(z)) - math.log(2) - units.log_det
end

--- The log density of a mixture whose parts, { guide, law, count }, have `total` draws, at each row of u.
function proposal.log_density (parts, u, total)
  local z, terms = {}, {}
  for i, part in ipairs(parts) do
    local units = part.guide.units
    z[units] = z[units] or units:from(u)
    terms[i] = LAWS[part.law].log(z[units]) - units.log_det + math.log(part.count / total)
  end
  return tensor.stack(terms):logsumexp(1)
end

return proposal
