--- Verdicts: whether a posterior is to be believed, and why not, in sentences.
--
-- The rule for fitted Gaussians is that of docs/inference.md, found by experiment: of some 340 fits called ok none was
-- more than 0.25 sd off, but for a far narrow mode that no start reached.
local verdict = {}

local function format (...) return string.format(...) end

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
  if f.kept > 1 and f.lonely then
    say("%d optima of comparable weight, one of them found once: order the labels, add starts, or give init", f.kept)
  end
  if f.gap >= 0.5 then
    say("not converged: fresh draws see an ELBO %.2f lower than the fit's own; more fixed draws", f.gap)
  end
  if f.kf >= 0.8 then
    say("the sd of %s rests on a few draws (tail shape %.2f): report quantiles, or use a tighter prior or another "
        .. "parameterisation", f.kf_name, f.kf)
  elseif f.sesd >= 0.1 then
    say("the sd of %s is known to %s only", f.sesd_name,
        f.sesd < 10 and format("%.0f %%", 100 * f.sesd) or "its order of magnitude")
  end
  local is_light = f.khat < (f.khat_most or 0.7) or f.khat < 1 and f.r >= 0.85 and f.kf < 0.5
  if not is_light then say("importance weights have a heavy tail (k-hat %.2f)", f.khat) end
  if f.r0 < 0.3 then
    say("the guide was far from the posterior: %.0f %% of its draws counted at first; check with nuts", 100 * f.r0)
  elseif not (f.small and f.r >= 1 / 3 or f.medium and f.r >= 0.6) then
    say("the posterior is not near a Gaussian in these coordinates: the correction moved %s by %.2f sd and its sd by a "
        .. "factor of %.2f (%.0f %% of the draws count); check with nuts", f.moved, f.shift, f.ratio, 100 * f.r)
  end
  return list
end

--- The verdict on a fit, and its reasons. `f` has: has_mode, unused, kept (modes), lonely, gap, kf, sesd, khat, r,
-- r0, small, medium, moved, shift, ratio; khat_most where there were more draws than usual (Vehtari and others 2024).
function verdict.of_fit (f)
  local reasons = findings(f)
  local holds = f.r >= 0.05 and f.gap < math.huge   -- neither is NaN, either
  local is_far = f.gap >= 5 or f.khat >= 1 or f.kf >= 1.2
  if not holds or is_far and f.r < 0.5 then return "bad", reasons end
  return #reasons == 0 and "ok" or "doubtful", reasons
end

return verdict
