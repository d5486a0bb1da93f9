--- Judges a fit: draws from its guide, weighs them, and says whether to believe the answer.
--
-- A guide is { units, weight }: a Gaussian and its share of the proposal (proposal.lua).
local core      = require "perilune.core"
local functions = require "perilune.functions"
local matrices  = require "perilune.matrices"
local Posterior = require "perilune.inference.posterior"
local proposal  = require "perilune.inference.proposal"
local psis      = require "perilune.inference.psis"
local Units     = require "perilune.inference.units"
local verdict   = require "perilune.inference.verdict"
local weighted  = require "perilune.inference.weighted"

local DRAWS  = 4000
local LEAST  = 500       -- of many free numbers,
local MOST   = 2e7       -- so that there are not more of them than this, all draws together
local REFITS = 2
local UNSURE = 0.6       -- tail shape from which on there are more draws,
local MORE   = 4         -- so many times
local EVEN   = 1e-3      -- nats between log ratios that are as good as equal

local ROUNDING = 1e-14   -- of numbers that a support fixes, relative

local judge = { DRAWS = DRAWS }

--- How many draws are looked at.
function judge.draws_of (size) return math.max(LEAST, math.min(DRAWS, math.floor(MOST / size))) end

local function is_finite (x) return x - x == 0 end

-- Do as many draws as a tail has share the largest ratio, but for rounding? Then there is none: draws are discrete, or
-- the guide is the posterior.
local function has_no_tail (ratios)
  return ratios:ge(ratios:max() - EVEN):sum() >= psis.tail_length(core.numel(ratios), 1)
end

--- Importance draws: rows u of which log_q is the log density they were drawn with, `plain` of the first ones from the
-- guide itself.
function judge.weigh (density, u, log_q, plain)
  local ratios = density:values(u) - log_q
  -- Where it is NaN there is no density; infinite it is at ends of supports that are reached by rounding only.
  ratios = functions.where(ratios:lt(math.huge), ratios, -math.huge)
  local log_weights, khat = psis.smooth(ratios)
  local w = log_weights:exp()
  local n = core.numel(w)
  if has_no_tail(ratios) then khat = -math.huge end
  return { u = u, log_weights = log_weights, w = w, khat = khat, plain = plain, r = weighted.ess(w) / n,
           log_evidence = ratios:logsumexp() - math.log(n), elbo = ratios:mean(),
           elbo_error = ratios:std() / math.sqrt(n) }
end

-- Draws of guides, which `again` draws anew, n times as many.
local function look (density, guides, count, defence, rng)
  local function draw (n) return judge.weigh(density, proposal.draw(guides, n * count, defence, rng)) end
  local seen = draw(1)
  if MORE * count * density.size <= MOST then seen.again = draw end
  return seen
end

-- Draws from what the weights say, three quarters of them, and from the guide; if more of them count.
local function refitted (density, seen, guides, draws, defence, rng)
  local mean = (seen.w:reshape(-1, 1) * seen.u):sum(1)
  local factor = matrices.cholesky(weighted.covariance(seen.u, seen.w))
  if not is_finite(factor:sum()) then return seen end
  local better = look(density, { { units = Units.new(mean, factor), weight = 0.75 },
                                 { units = guides[1].units, weight = 0.25 } }, draws, defence, rng)
  return better.r > seen.r and better or seen
end

--- The share of draws that defends a guide of so many free numbers.
function judge.defence (size) return size <= 30 and 0.25 or 0.1 end

--- Draws of guides (as many as draws_of says, unless told), with second thoughts where few of them count. `r0` is the
-- share that counted at first, `guide` the means and sds of the guides themselves.
function judge.look (posed, density, guides, rng, draws)
  local size = density.size
  draws = draws or judge.draws_of(size)
  local defence = guides[1].units.is_diagonal and 0 or judge.defence(size)
  local seen = look(density, guides, draws, defence, rng)
  local r0, guide = seen.r, judge.guide_moments(posed, density, seen)
  for _ = 1, REFITS do
    local is_poor = seen.khat >= 0.5 or seen.r <= 0.5
    if defence > 0 and #guides == 1 and is_poor and seen.r * core.numel(seen.w) > 5 * size then
      seen = refitted(density, seen, guides, draws, defence, rng)
    end
  end
  seen.r0, seen.guide = r0, guide
  return seen
end

-- Rows that count, of the first n draws: all, or their numbers. Where there is no density values may be infinite, and
-- 0 times that is NaN.
local function counting (w, n)
  w = w:narrow(1, 1, n)
  local order = w:gt(0):argsort()
  local zeros = n - w:gt(0):sum()
  if zeros == 0 or zeros > n - 2 then return nil end
  return order:narrow(1, zeros + 1, n - zeros)
end

--- Means and sds of the draws that come from the guide itself, over all elements of unobserved sites.
function judge.guide_moments (posed, density, seen)
  local u, rows = seen.u:narrow(1, 1, seen.plain), counting(seen.w, seen.plain)
  local x = Posterior.columns(posed, density:report(rows and u[rows] or u))
  return { mean = x:mean(1), sd = x:std(1) }
end

-- Those columns that are not the same in every draw but for rounding, and their names; of the guide's moments likewise.
-- Nil if there is none.
local function varying (x, names, guide)
  local index, kept = {}, {}
  local spread, most = x:max(1) - x:min(1), x:abs():max(1)
  for j, name in ipairs(names) do
    local is_fixed = spread[j] <= ROUNDING * most[j]
    if not is_fixed then index[#index + 1], kept[#kept + 1] = j, name end
  end
  if #index == 0 then return nil end
  if #index == #names then return x, names, guide end
  index = core.tensor(index)
  return x:index_select(2, index), kept, { mean = guide.mean[index], sd = guide.sd[index] }
end

-- What the weighted draws say of the guide.
local function compare (posed, seen, values)
  local all, all_names = Posterior.columns(posed, values)
  local x, names, guide = varying(all, all_names, seen.guide)
  if not x then
    return { kf = -math.huge, sesd = 0, shift = 0, ratio = 1, small = true, medium = true, r = seen.r, r0 = seen.r0,
             khat = seen.khat }
  end
  local mean, sd = weighted.moments(x, seen.w)
  local kf, kf_at = weighted.worst_tail(x, seen.w, mean)
  local sesd, sesd_at = weighted.worst_sd_error(x, seen.w, mean, sd)
  local shift = ((guide.mean - mean) / sd):abs()
  local ratio = sd / guide.sd
  local at = functions.maximum(ratio:log():abs() / math.log(1.25), shift / 0.25):argmax()
  local function within (most, far) return ratio:max() <= most and ratio:min() >= 1 / most and shift:max() <= far end
  return { kf = kf, kf_name = names[kf_at], sesd = sesd == sesd and sesd or math.huge, sesd_name = names[sesd_at],
           shift = shift[at], ratio = ratio[at], moved = names[at], small = within(1.25, 0.25),
           medium = within(1.5, 0.5), r = seen.r, r0 = seen.r0, khat = seen.khat }
end

-- The values of draws that count, and what they say of the guide.
local function examine (posed, density, seen)
  local rows = counting(seen.w, core.numel(seen.w))
  if rows then seen.u, seen.w, seen.log_weights = seen.u[rows], seen.w[rows], seen.log_weights[rows] end
  local values = density:report(seen.u)
  return values, compare(posed, seen, values)
end

--- The posterior of weighted draws. `findings` has what else the verdict looks at (verdict.lua), `fields` what else the
-- posterior holds.
function judge.posterior (posed, density, seen, findings, fields)
  local values, found = examine(posed, density, seen)
  if seen.again and found.kf >= UNSURE and found.kf < 1 then
    -- More draws tell whether a second moment is finite. The limits of k-hat and of the share that counts are meant for
    -- the usual number.
    local more = seen.again(MORE)
    findings.khat_most = 1 - 1 / math.log(core.numel(more.w), 10)
    more.r0, more.r, more.khat, more.guide, seen = seen.r0, seen.r, seen.khat, seen.guide, more
    values, found = examine(posed, density, seen)
  end
  for name, value in pairs(found) do findings[name] = value end
  fields.verdict, fields.reasons = verdict.of_fit(findings)
  fields.posed, fields.density, fields.findings = posed, density, findings
  fields.u, fields.log_weights, fields.values = seen.u, seen.log_weights, values
  fields.khat, fields.log_evidence = seen.khat, seen.log_evidence
  return Posterior.new(fields)
end

return judge
