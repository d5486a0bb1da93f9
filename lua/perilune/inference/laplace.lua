--- posed:laplace {}: the Gaussian with the curvature of the mode, judged as every guide is.
local core    = require "perilune.core"
local judge   = require "perilune.inference.judge"
local modes   = require "perilune.inference.modes"
local options = require "perilune.inference.options"
local recipe  = require "perilune.inference.recipe"

local ROWS = { { "starts", 8, "a positive integer", options.is_count } }

return function (posed, given)
  local read = options.read("laplace", given, ROWS)
  local density, start, degrees = recipe.density(posed, read)
  local ends, best = modes.ends(density, start, read.rng, { starts = read.starts })
  if not best then recipe.complain(posed, density, start) end
  local list = modes.of(density, ends, best)
  local has_mode = #list > 0
  if not has_mode then list[1] = recipe.units_of_end(best) end
  for _, units in ipairs(list) do units.elbo = units.evidence or 0 end
  local guides = recipe.shares(list)
  local seen = judge.look(posed, density, guides, read.rng)
  return judge.posterior(posed, density, seen, recipe.findings(posed, density, has_mode and list or {}, best), {
    method = "laplace", guides = guides, modes = list, centring = degrees,
    how = string.format("Laplace approximation, k-hat %.2f, %.0f %% of %d draws count; if no mode was missed by %d "
                        .. "starts", seen.khat, 100 * seen.r, core.numel(seen.w), #ends),
  })
end
