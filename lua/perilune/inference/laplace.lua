--- posed:laplace {}: the Gaussian with the curvature of the mode, judged as every guide is.
local core    = require "perilune.core"
local judge   = require "perilune.inference.judge"
local options = require "perilune.inference.options"
local recipe  = require "perilune.inference.recipe"

local ROWS = { { "starts", 8, "a positive integer", options.is_count } }

--@ Model:laplace(options) -> Posterior
-- The Gaussian with the curvature of the mode, its draws weighted by the density: a quick look.
--   options  starts = places that are climbed from (8); rng; seed; progress; noncentred; init
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > string.format("%.3f", posed:laplace({ seed = 1 }).mean.mu)
-- 1.000
return function (posed, given)
  local read = options.read("laplace", given, ROWS)
  local density, start, degrees = recipe.density(posed, read)
  read.guide = "fullrank"
  local found = recipe.search(posed, density, start, read)
  local list = #found.list > 0 and found.list or { recipe.units_of_end(found.best) }
  for _, units in ipairs(list) do units.elbo = units.evidence or 0 end
  local guides = recipe.shares(list)
  local seen = judge.look(posed, density, guides, read.rng)
  return judge.posterior(posed, density, seen, recipe.findings(posed, density, found), {
    method = "laplace", guides = guides, modes = found.list, centring = degrees,
    how = string.format("Laplace approximation, k-hat %.2f, %.0f %% of %d draws count; if no mode was missed by %d "
                        .. "starts", seen.khat, 100 * seen.r, core.numel(seen.w), #found.ends),
  })
end
