--- Verdicts: whether a posterior is to be believed, and why not, in sentences.
--
-- The rule for fitted Gaussians is that of docs/inference.md, found by experiment: of some 340 fits called ok none was
-- more than 0.25 sd off, but for a far narrow mode that no start reached.
local verdict = {}

local NOT_FINITE = "draws of %s are not finite: give it a tighter prior"

local HEAVY = 0.8   -- tail shape of what second moments add up; from 1 on there is no standard deviation

local function format (...) return string.format(...) end

-- Of n draws with that tail shape a variance is off by some n^(shape - 1): a fifth where there are 4000 of them.
local function heavy_text (name, shape)
  return format("the sd of %s rests on a few draws (tail shape %.2f): report quantiles, or use a tighter prior or "
                .. "another parameterisation", name, shape)
end

-- What speaks against a fit, the worst first: { is it so?, sentence }.
local function findings (f)
  local list = {}
  local function say (...) list[#list + 1] = format(...) end
  if not f.has_mode then
    if f.unused then
      say("no maximum: the density does not depend on %s; leave it out, or give it a proper prior", f.unused)
    else
      say("no maximum: a scale runs to 0, or a parameter is unidentified; write the hierarchy centred, or give a "
          .. "proper prior")
    end
  end
  if f.drift == math.huge then say("not converged: too few steps to tell whether the guide still moves")
  elseif f.drift then
    say("not converged: within the last quarter of its steps the guide moved by %.2g sd; more steps, or a larger lr",
        f.drift)
  end
  if f.unfitted then
    say("no Gaussian could be fitted, since the density is 0 or not finite at some draws of each, as where the "
        .. "support has an edge of which no constraint tells; check with random_walk or smc")
  end
  if f.points then say("the guide makes points of %s: nothing is said of their spread", f.points) end
  if f.kept > 1 and f.single then
    say("%d optima of comparable weight, of which the guide covers one: order the labels, or give init", f.kept)
  elseif f.kept > 1 and f.lonely then
    say("%d optima of comparable weight, one of them found once: order the labels, add starts, or give init", f.kept)
  end
  if f.gap >= 0.5 then
    say("not converged: fresh draws see an ELBO %.2f lower than the fit's own; more fixed draws", f.gap)
  end
  if f.kf >= HEAVY then list[#list + 1] = heavy_text(f.kf_name, f.kf)
  elseif f.sesd >= 0.1 then
    say("the sd of %s is known to %s only", f.sesd_name,
        f.sesd < 10 and format("%.0f %%", 100 * f.sesd) or "its order of magnitude")
  end
  local is_light = f.khat < (f.khat_most or 0.7) or f.khat < 1 and f.r >= 0.85 and f.kf < 0.5
  if not is_light then say("importance weights have a heavy tail (k-hat %.2f)", f.khat) end
  if f.r0 < 0.3 then
    say("the guide was far from the posterior: %.0f %% of its draws counted at first; check with nuts", 100 * f.r0)
  elseif not (f.small and f.r >= 1 / 3 or f.medium and f.r >= 0.6) then
    say("the posterior is not near %s: the correction moved %s by %.2f sd and its sd by a factor of %.2f (%.0f %% of "
        .. "the draws count); check with nuts", f.near or "a Gaussian in these coordinates", f.moved, f.shift, f.ratio,
        100 * f.r)
  end
  return list
end

--- The verdict on a fit, and its reasons. `f` has: has_mode, unused, kept (modes), lonely, single (the guide is of one
-- mode), drift (of a fit that has not converged), unfitted (the guide is the curvature alone), gap, kf, sesd, khat, r,
-- r0, small, medium, moved, shift, ratio, near (what the guide is like), points (sites that do not vary); khat_most
-- where there were more draws than usual (Vehtari and others 2024).
function verdict.of_fit (f)
  local reasons = findings(f)
  local holds = f.r >= 0.05 and f.gap < math.huge   -- neither is NaN, either
  local is_far = f.gap >= 5 or f.khat >= 1 or f.kf >= 1.2
  if not holds or is_far and f.r < 0.5 then return "bad", reasons end
  return #reasons == 0 and "ok" or "doubtful", reasons
end


local RHAT, ESS, SHARE, E_BFMI = 1.01, 100, 0.005, 0.2   -- ESS for each chain; SHARE of draws

--- R-hat as text: those of chains that stand still are huge.
function verdict.rhat_text (rhat) return format(rhat < 1000 and "%.3f" or "%.3g", rhat) end

-- What speaks against draws of chains.
local function chain_findings (w)
  local list = {}
  local function say (...) list[#list + 1] = format(...) end
  if w.interrupted then say("interrupted: %d draws were made", w.draws) end
  if w.chains == 1 then say("one chain: whether others would agree is not known") end
  if w.stuck then say("no chain moves: the density has no place to go to, or steps are far too large") end
  if w.infinite then say(NOT_FINITE, w.infinite) end
  if w.rhat >= RHAT then
    say("the chains do not agree: R-hat of %s is %s; draw more, or give other starts", w.rhat_name,
        verdict.rhat_text(w.rhat))
  end
  if w.ess_bulk < ESS * w.chains then
    say("few independent draws: %.0f of %d for %s; draw more", w.ess_bulk, w.draws, w.ess_name)
  elseif w.ess_tail < ESS * w.chains then
    say("few independent draws in the tails of %s: %.0f; draw more", w.tail_name, w.ess_tail)
  elseif w.kf >= HEAVY and not w.infinite then list[#list + 1] = heavy_text(w.kf_name, w.kf)
  end
  if w.divergences > SHARE * w.draws then
    say("%d of %d trajectories diverged: some corner is too narrow for the step; raise target, or write the model in "
        .. "other coordinates", w.divergences, w.draws)
  end
  if w.saturated > 0.01 * w.draws then
    say("%d trajectories reached max_depth: raise it, or use metric = \"dense\"", w.saturated)
  end
  if w.e_bfmi < E_BFMI then say("energies hardly move (E-BFMI %.2f): the tails are not explored", w.e_bfmi) end
  return list
end

--- The verdict on chains. `w` has chains, draws, rhat, rhat_name, ess_bulk, ess_name, ess_tail, tail_name, divergences,
-- saturated, e_bfmi, kf, kf_name (the tail shape of what second moments add up), interrupted, stuck (some free number
-- never changes), infinite (the name of an element that is not always finite).
function verdict.of_chains (w)
  local reasons = chain_findings(w)
  local is_bad = w.stuck or w.rhat >= 1.1 or w.divergences > 0.1 * w.draws or w.ess_bulk < 10 * w.chains
  if is_bad then return "bad", reasons end
  return #reasons == 0 and "ok" or "doubtful", reasons
end

local FAMILIES, ERROR, FORGOTTEN = 50, 0.2, 0.3   -- first ancestors; nats; correlation over a stage
local SD_ERROR = 0.2                              -- of a standard deviation, relative
local FACTOR   = 1.25                             -- between standard deviations that agree

-- No with NaN.
local function is_below (x, limit) return x < limit end

-- What speaks against particles.
local function particle_findings (f)
  local list = {}
  local function say (...) list[#list + 1] = format(...) end
  if f.infinite then say(NOT_FINITE, f.infinite) end
  if f.families < FAMILIES then
    say("all particles descend from %d of the first: use more of them, or ess nearer 1", f.families)
  end
  if not is_below(4 * ESS, f.ess) then
    say("few independent draws: %.0f of %d for %s; use more particles", f.ess, f.draws, f.ess_name)
  end
  if not is_below(f.sd_error, SD_ERROR) then
    say("the standard deviation of %s hangs on a few far draws, and is known to %.0f %% only: look at quantiles, or "
        .. "use more particles", f.sd_name, 100 * f.sd_error)
  elseif f.kf >= HEAVY then list[#list + 1] = heavy_text(f.kf_name, f.kf)
  end
  if f.wide and f.wide > FACTOR then
    say("weighted draws from wide laws say that the sd of %s is off by a factor of at least %.2f: the particles may "
        .. "have missed a tail; check with nuts, or use start = \"prior\"", f.wide_name, f.wide)
  end
  if not is_below(f.correlation, FORGOTTEN) then
    say("the particles of some stage hardly moved (correlation %.2f), so the log evidence may be too low: start "
        .. "nearer, or write the model in other coordinates", f.correlation)
  end
  if f.drift then
    say("the particles still spread when they were to end (the log evidence by %.2f): more moves, or start = \"prior\"",
        f.drift)
  end
  if f.accept < 0.3 then say("only %.0f %% of the moves are accepted: some corner is too narrow", 100 * f.accept) end
  if not is_below(f.log_evidence_error, ERROR) then
    say("the log evidence is known to %.2f only (bridge sampling says %.2f): use more particles, or start nearer",
        f.log_evidence_error, f.bridged)
  end
  return list
end

--- The verdict on particles. `f` has draws, ess, ess_name, families, correlation, accept, log_evidence_error, sd_error
-- (the largest of a standard deviation, relative), sd_name, kf, kf_name, infinite (as of chains), wide, wide_name (the
-- factor by which weighted draws say that an sd is off, if they tell), bridged (the log evidence by bridge sampling),
-- drift (of particles that have not settled).
function verdict.of_particles (f)
  local reasons = particle_findings(f)
  local holds = f.ess >= 40 and f.log_evidence_error < 2   -- neither is NaN, either
  if not holds or f.families < 20 or f.accept < 0.05 then return "bad", reasons end
  return #reasons == 0 and "ok" or "doubtful", reasons
end

return verdict
