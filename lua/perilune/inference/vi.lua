--- posed:vi {}: a Gaussian guide, fitted and judged (docs/inference.md).
local centring  = require "perilune.inference.centring"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local gaussian  = require "perilune.inference.gaussian"
local matrices  = require "perilune.matrices"
local model     = require "perilune.model"
local modes     = require "perilune.inference.modes"
local Posterior = require "perilune.inference.posterior"
local proposal  = require "perilune.inference.proposal"
local psis      = require "perilune.inference.psis"
local tensor    = require "perilune.tensor"
local Units     = require "perilune.inference.units"
local verdict   = require "perilune.inference.verdict"
local weighted  = require "perilune.inference.weighted"

local DRAWS     = 4000
local FULL_MOST = 150     -- free numbers of a guide of full rank
local LEAST_WEIGHT = 0.05 -- of a mode in the proposal

local function is_finite (x) return x - x == 0 end

-- Importance draws from guides { units, weight }, defended by a share t.
local function look (density, guides, t, rng)
  local u, log_q, plain = proposal.draw(guides, DRAWS, t, rng)
  local log_p = density:values(u)
  local r = log_p - log_q
  r = functions.where(r:eq(r), r, -math.huge)   -- NaN: no density
  local log_weights, khat = psis.smooth(r)
  local w = log_weights:exp()
  return { u = u, log_weights = log_weights, w = w, khat = khat, plain = plain, r = weighted.ess(w) / core.numel(w),
           log_evidence = r:logsumexp() - math.log(core.numel(r)) }
end

-- Proposals from what the weights say: three quarters weighted moments, one quarter the guide.
local function refitted (density, seen, guides, t, rng)
  local mean = (seen.w:reshape(-1, 1) * seen.u):sum(1)
  local factor = matrices.cholesky(weighted.covariance(seen.u, seen.w))
  if not is_finite(factor:sum()) then return seen end
  local better = look(density, { { units = Units.new(mean, factor), weight = 0.75 },
                                 { units = guides[1].units, weight = 0.25 } }, t, rng)
  return better.r > seen.r and better or seen
end

-- Weights of guides: by their ELBOs, none below LEAST_WEIGHT.
local function weigh (list)
  local best, total = -math.huge, 0
  for _, units in ipairs(list) do best = math.max(best, units.elbo) end
  local guides = {}
  for i, units in ipairs(list) do
    guides[i] = { units = units, weight = math.exp(units.elbo - best) }
    total = total + guides[i].weight
  end
  local rest = 0
  for _, guide in ipairs(guides) do
    guide.weight = math.max(guide.weight / total, LEAST_WEIGHT)
    rest = rest + guide.weight
  end
  for _, guide in ipairs(guides) do guide.weight = guide.weight / rest end
  return guides
end

-- Columns of unobserved sites' elements, and names.
local function columns_of (posed, values)
  local names, columns = {}, {}
  for _, site in ipairs(posed.latents) do
    local x = values[site.name]:reshape(core.shape(values[site.name])[1], -1)
    columns[#columns + 1] = x
    for j = 1, core.shape(x)[2] do names[#names + 1] = Posterior.element_name(site.name, site.shape, j) end
  end
  return tensor.cat(columns, 2), names
end

-- What the draws say of the guide, for the verdict.
local function compare (posed, seen, values, first)
  local x, names = columns_of(posed, values)
  local mean, sd = weighted.moments(x, seen.w)
  local kf, kf_at = weighted.worst_tail(x, seen.w, mean)
  local sesd, sesd_at = weighted.worst_sd_error(x, seen.w, mean, sd)
  local guide_mean, guide_sd = first.mean, first.sd
  local shift = ((guide_mean - mean) / sd):abs()
  local ratio = guide_sd / sd
  local off = (ratio:log():abs() / math.log(1.25)):maximum(shift / 0.25)
  local at = off:argmax()
  local function within (low, high, most)
    return ratio:min() >= low and ratio:max() <= high and shift:max() <= most
  end
  return { kf = kf, kf_name = names[kf_at], sesd = sesd == sesd and sesd or math.huge, sesd_name = names[sesd_at],
           shift = shift[at], ratio = 1 / ratio[at], moved = names[at], small = within(0.8, 1.25, 0.25),
           medium = within(2 / 3, 1.5, 0.5), r = seen.r, khat = seen.khat }
end

-- Means and sds of the guide itself: of the draws that come from it.
local function guide_moments (posed, density, seen)
  local values = density:report(seen.u:narrow(1, 1, seen.plain))
  local x = columns_of(posed, values)
  return { mean = x:mean(1), sd = x:std(1) }
end

-- Names a parameter that the density does not depend on, if there is one.
local function unused (posed, density, u)
  local _, g = density:at(u)
  local _, h = density:at(u + 0.5)
  for _, site in ipairs(posed.latents) do
    local both = g:narrow(1, site.at, site.size):abs() + h:narrow(1, site.at, site.size):abs()
    for j = 1, site.size do
      if both[j] == 0 then return Posterior.element_name(site.name, site.free_shape, j) end
    end
  end
  return nil
end

-- Where nothing is a mode: the narrow guide around the best end.
local function fallback_units (density, best)
  local h = matrices.diagonal(require "perilune.inference.lbfgs".inverse_hessian(best)):abs():sqrt()
  local units = Units.new(best.x, core.eye(density.size) * h:reshape(-1, 1))
  return { units }
end

local function fit_full (density, found, rng)
  local list = {}
  for _, units in ipairs(found) do
    local start = gaussian.scaled(density, units, rng)
    local fitted = start and gaussian.fit(density, start, rng, {})
    if fitted then list[#list + 1] = fitted end
  end
  return list
end

return function (posed, options)
  local rng = options.rng
  local found = posed.found or model.discover(posed)
  local start = tensor.cat(found.start)
  local density, degrees = centring.density(posed, options.noncentred, start, rng)
  local ends, best = modes.ends(density, start, rng)
  if not best then error("vi: the log density is not finite anywhere that was tried") end
  local list = modes.of(density, ends, best)
  local has_mode = #list > 0
  local lonely = false
  for _, mode in ipairs(list) do lonely = lonely or mode.hits == 1 end
  local fitted = fit_full(density, has_mode and list or fallback_units(density, best), rng)
  if #fitted == 0 then error("vi: no fit") end
  local guides, gap = weigh(fitted), -math.huge
  for _, units in ipairs(fitted) do gap = math.max(gap, units.gap) end
  local t = posed.size <= 30 and 0.25 or 0.1
  local seen = look(density, guides, t, rng)
  local r0 = seen.r
  local first = guide_moments(posed, density, seen)
  for _ = 1, 2 do
    if (seen.khat >= 0.5 or seen.r <= 0.5) and #fitted == 1 and seen.r * DRAWS > 5 * posed.size then
      seen = refitted(density, seen, guides, t, rng)
    end
  end
  local values = density:report(seen.u)
  local f = compare(posed, seen, values, first)
  f.has_mode, f.kept, f.lonely, f.many, f.gap, f.r0 = has_mode, #list, #list > 1 and lonely, false, gap, r0
  f.unused = not has_mode and unused(posed, density, best.x) or nil
  local word, reasons = verdict.of_fit(f)
  return Posterior.new {
    posed = posed, density = density, u = seen.u, log_weights = seen.log_weights, values = values, method = "vi",
    verdict = word, reasons = reasons, khat = seen.khat, findings = f, centring = degrees, modes = list,
    elbo_mean = fitted[1].elbo, elbo_error = fitted[1].elbo_error, log_evidence = seen.log_evidence,
    how = string.format("full-rank Gaussian, k-hat %.2f, %.0f %% of %d draws count, ELBO %.2f, if no mode was missed by %d starts",
                        seen.khat, 100 * seen.r, DRAWS, fitted[1].elbo, #ends),
  }
end
