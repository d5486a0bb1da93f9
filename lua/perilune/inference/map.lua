--- posed:map {}: the values at which the joint density is largest. A point, and no posterior: it has no sds.
local Density   = require "perilune.model.density"
local modes     = require "perilune.inference.modes"
local options   = require "perilune.inference.options"
local Posterior = require "perilune.inference.posterior"
local recipe    = require "perilune.inference.recipe"

local ROWS = {
  { "starts", 8, "a positive integer", options.is_count },
  { "jacobian", false, "true or false", options.is_boolean },
}

-- What is said of a maximum: never that it is a posterior.
local function judge (mode, list, starts)
  if not mode then
    return "bad", { "no maximum: the density grows without end, or is flat in some direction; give a proper prior, or "
                    .. "use vi" }
  end
  local reasons = { "a maximum is a point: it says nothing of the spread, and means may lie elsewhere" }
  if mode.hits == 1 and starts > 1 then
    reasons[2] = string.format("only one of %d starts ended here", starts)
  elseif #list > 1 then
    reasons[2] = string.format("there are %d maxima of comparable weight", #list)
  end
  return "doubtful", reasons
end

--@ Model:map(options) -> Posterior
-- The values at which the joint density is largest: a point, without sds, and never "ok", since it says nothing of the
-- spread.
--   options  starts = places that are climbed from (8); jacobian = true maximises the density of the free numbers
--            instead (false); rng; seed; progress; noncentred; init
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > string.format("%.6f", posed:map({ seed = 1 }).mean.mu)
-- 1.000000
return function (posed, given)
  local read = options.read("map", given, ROWS)
  local start = posed:start(read.init or nil)
  local density = Density.new(posed, {}, { is_joint = not read.jacobian })
  local ends, best = modes.ends(density, start, read.rng, { starts = read.starts })
  if not best then recipe.complain(posed, density, start) end
  local list = modes.of(density, ends, best)
  local mode = list[1]
  local verdict, reasons = judge(mode, list, #ends)
  local at = mode and mode.centre or best.x
  return Posterior.new {
    posed = posed, density = density, u = at:reshape(1, density.size), method = "map", is_point = true,
    verdict = verdict, reasons = reasons, log_density = mode and mode.value or -best.value,
    how = string.format("largest %s density found by %d starts, its logarithm %.4f",
                        read.jacobian and "free" or "joint", #ends, mode and mode.value or -best.value),
  }
end
