--- The Gaussian fit that `posed:vi {}` makes unless told otherwise: modes, whitened units, fixed draws
-- (docs/inference.md).
local centring = require "perilune.inference.centring"
local core     = require "perilune.core"
local errors   = require "perilune.errors"
local gaussian = require "perilune.inference.gaussian"
local judge    = require "perilune.inference.judge"
local modes    = require "perilune.inference.modes"
local posterior = require "perilune.inference.posterior"
local show     = require "perilune.show"
local Units    = require "perilune.inference.units"

local LEAST_WEIGHT = 0.05   -- of a mode in the proposal
local HEAVY        = 0.5    -- k-hat from which on the heaviest draws are followed,
local FOLLOWED     = 5      -- so many
local LEFT         = 2      -- units of a mode that its guide may move, where there are others

local recipe = {
  FULL_MOST  = 150,   -- free numbers of a guide of full rank
  WHITE_MOST = modes.MATRIX_MOST,   -- of one that is diagonal in the units of a mode
}

--- The density of a posed model and where it starts, and how far sites are centred; options as options.lua reads them,
-- settings as those of Density and centring.lua.
function recipe.density (posed, options, settings)
  return centring.density(posed, options.noncentred, posed:start(options.init or nil), options.rng, settings)
end

-- The name of a site by which the gradient is not finite, and that.
local function steep (posed, gradient)
  for _, site in ipairs(posed.latents) do
    local total = gradient:narrow(1, site.at, site.size):sum()
    if total - total ~= 0 then return site.name, total end
  end
end

--- Raises because the density or its gradient is not finite, and names a site that makes it so: at `start` and near by,
-- or else at draws around it.
function recipe.complain (posed, density, start)
  local what = "log density of "
  local name, value = posed:culprit(start)
  if not name then
    local _, gradient = density:at(start)
    what, name, value = "gradient of the log density by ", steep(posed, gradient)
  end
  if not name then
    errors.raise("model: the log density is finite at %s, but not at draws of any Gaussian around it, as where the "
                 .. "support has an edge of which no constraint tells; try random_walk or smc",
                 posed:describe(density, start))
  end
  errors.raise("model: the %s%s is %s where the fit starts, and not finite near by: at %s; check the data, or give "
               .. "init", what, name, show.number(value), posed:describe(density, start))
end

-- Names an element that the density does not depend on, if there is one.
local function unused (posed, density, u)
  local _, g = density:at(u)
  local _, h = density:at(u + 0.5)
  for _, site in ipairs(posed.latents) do
    local both = g:narrow(1, site.at, site.size):abs() + h:narrow(1, site.at, site.size):abs()
    for j = 1, site.size do
      if both[j] == 0 then return posterior.element_name(site.name, site.free_shape, j) end
    end
  end
  return nil
end

--- Units around the best end, where nothing is a mode.
function recipe.units_of_end (best)
  local sd = modes.sd_of_end(best)
  return Units.new(best.x, core.eye(core.numel(best.x)) * sd:reshape(-1, 1))
end

local function is_finite (x) return x - x == 0 end

-- No with NaN.
local function is_below (x, limit) return x < limit end

--- Units with their shares of the proposal: by their ELBOs, none below LEAST_WEIGHT. An ELBO that is not finite, as
-- where draws reach an end of a support by rounding, says nothing.
function recipe.shares (list)
  local best, total, rest, guides = -math.huge, 0, 0, {}
  for _, units in ipairs(list) do
    if is_finite(units.elbo) then best = math.max(best, units.elbo) end
  end
  for i, units in ipairs(list) do
    guides[i] = { units = units, weight = is_finite(units.elbo) and math.exp(units.elbo - best) or 0 }
    total = total + guides[i].weight
  end
  for _, guide in ipairs(guides) do
    guide.weight = math.max(total > 0 and guide.weight / total or 0, LEAST_WEIGHT)
    rest = rest + guide.weight
  end
  for _, guide in ipairs(guides) do guide.weight = guide.weight / rest end
  return guides
end

local function is_lonely (list)
  for _, mode in ipairs(list) do
    if #list > 1 and mode.hits == 1 then return true end
  end
  return false
end

--- Looks for modes: { ends =, best =, list =, looked = }. Where it did not look, since there are more than WHITE_MOST
-- free numbers and no guide of full rank is asked for, the list is empty. No mode is asked of more than FULL_MOST.
function recipe.search (posed, density, start, options)
  local is_asked = options.guide == "fullrank"
  local looked = is_asked or density.size <= recipe.FULL_MOST
  local ends, best = modes.ends(density, start, options.rng, { starts = options.starts, once = not looked })
  if not best then recipe.complain(posed, density, start) end
  local looks = is_asked or density.size <= recipe.WHITE_MOST
  return { ends = ends, best = best, list = looks and modes.of(density, ends, best) or {}, looked = looked }
end

--- What the search found that a verdict looks at.
function recipe.findings (posed, density, found)
  local list = found.list
  local has_mode = #list > 0 or not found.looked
  return { has_mode = has_mode, kept = #list, lonely = is_lonely(list), gap = 0,
           unused = not has_mode and unused(posed, density, found.best.x) or nil }
end

-- Has a fit gone over to another mode?
local function has_left (units, start)
  return start:from(units.centre:reshape(1, units.size)):abs():max() > LEFT
end

-- Guides in the units of modes, one for each: of full rank, or diagonal in these units.
local function fit_modes (density, list, is_full, rng)
  local fitted = {}
  for _, mode in ipairs(list) do
    local start = gaussian.scaled(density, mode, rng)
    local units = start and gaussian.fit(density, start, rng, { diagonal = not is_full })
    if units and #list > 1 and has_left(units, mode) then
      units, start.gap = start, 0
      start.elbo, start.elbo_error = gaussian.elbo(density, start, 200, rng)
    end
    fitted[#fitted + 1] = units or nil
  end
  return fitted
end

-- The units of modes, or around the best end, as they are: where no Gaussian has an ELBO, as next to an edge of the
-- support of which no constraint tells, weighted draws may still be right.
local function unfitted (density, list, best, is_mean_field, rng)
  local found = #list > 0 and list or { recipe.units_of_end(best) }
  if is_mean_field then found = { Units.new(best.x, modes.diagonal_sd(density, best, rng)) } end
  for _, units in ipairs(found) do units.elbo, units.elbo_error, units.gap = -math.huge, core.nan, 0 end
  return found
end

-- Where weights are heavy, some draw lies where the guide sees little: do paths from there end at modes that nobody
-- saw?
local function found_more (density, list, seen, best)
  local before = #list
  local n = core.numel(seen.w)
  local heaviest = seen.w:argsort():narrow(1, n - FOLLOWED + 1, FOLLOWED)
  modes.add(list, density, modes.ends_from(density, seen.u[heaviest]), best)
  return #list > before
end

-- One guide with a diagonal scale, around the best end.
local function fit_diagonal (density, best, rng)
  local sd = modes.diagonal_sd(density, best, rng)
  local fitted = gaussian.fit(density, Units.new(best.x, sd), rng, { rounds = 5 })
  return fitted and { fitted } or {}
end

local function text_of (kind, seen, elbo, starts)
  return string.format("%s Gaussian, k-hat %.2f, %.0f %% of %d draws count, ELBO %.2f; if no mode was missed by %d "
                       .. "starts", kind, seen.khat, 100 * seen.r, core.numel(seen.w), elbo, starts)
end

-- What kind of guide is fitted: "full-rank", "whitened" (diagonal in the units of a mode) or "mean-field".
local function kind_of (guide, size)
  if guide then return guide == "fullrank" and "full-rank" or "mean-field" end
  return size <= recipe.FULL_MOST and "full-rank" or size <= recipe.WHITE_MOST and "whitened" or "mean-field"
end

--- Fits and judges. `options.guide` is "fullrank" or "meanfield"; by default full rank up to FULL_MOST free numbers.
function recipe.fit (posed, options)
  local rng, report = options.rng, options.report
  report "finding how far to centre"
  local density, start, degrees = recipe.density(posed, options)
  local kind = kind_of(options.guide, density.size)
  local is_full = kind == "full-rank"
  report "looking for modes"
  local found = recipe.search(posed, density, start, options)
  local list, best = found.list, found.best
  if kind == "whitened" and #list == 0 then kind = "mean-field" end
  report "fitting"
  local fitted
  if kind == "mean-field" then fitted = fit_diagonal(density, best, rng)
  else fitted = fit_modes(density, #list > 0 and list or { recipe.units_of_end(best) }, is_full, rng) end
  local is_fitted, is_mean_field = #fitted > 0, kind == "mean-field"
  if not is_fitted then fitted = unfitted(density, list, best, is_mean_field, rng) end
  report "weighing draws"
  local guides = recipe.shares(fitted)
  local seen = judge.look(posed, density, guides, rng)
  if is_fitted and not is_mean_field and #list > 0 and seen.khat >= HEAVY
     and found_more(density, list, seen, best) then
    fitted = fit_modes(density, list, is_full, rng)
    guides = recipe.shares(fitted)
    seen = judge.look(posed, density, guides, rng)
  end
  local findings = recipe.findings(posed, density, found)
  findings.single, findings.unfitted = is_mean_field, not is_fitted
  for _, units in ipairs(fitted) do   -- a NaN among them stays
    if findings.gap == findings.gap and not is_below(units.gap, findings.gap) then findings.gap = units.gap end
  end
  return judge.posterior(posed, density, seen, findings, {
    method = "vi", how = text_of(kind, seen, fitted[1].elbo, #found.ends),
    elbo_mean = fitted[1].elbo, elbo_error = fitted[1].elbo_error, guides = guides, modes = list, centring = degrees,
  })
end

return recipe
