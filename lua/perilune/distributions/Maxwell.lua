--@ peri.Maxwell
-- The length of a vector of three Normals, as the speed of a molecule in a gas.
--   scale    standard deviation of the coordinates
--   formula  log p(x) = log(2/pi)/2 + 2 log(x) - 3 log(scale) - (x/scale)^2/2 for x >= 0
-- > Maxwell(1):sf(2)
-- 0.2614641299491106
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local f            = require "perilune.functions"

local ROOT2, ROOT_2_PI, EULER = math.sqrt(2), 0.79788456080286535588, 0.57721566490153286061
local HALF_LOG_PI_2           = 0.22579135264472743236

local Maxwell = Distribution:extend("Maxwell", {
  kernels = "maxwell",
  params = { { "scale", constraints.positive, default = 1 } },
  support = constraints.nonnegative,
  -- with T from Gamma(3/2, 1), x = scale sqrt(2 T)
  kl_statistics = {
    log          = function (p) return f.log(p.scale) + (1 - 0.5 * EULER - 0.5 * math.log(2)) end,
    log_variance = function () return math.pi ^ 2 / 8 - 1 end,
    power        = function (p, k, s)
      local moment = f.exp(f.log_poch(1.5, 0.5 * k) + k * f.log(ROOT2 * p.scale / (s or 1)))
      return f.where(f.gt(k, -3), moment, math.huge)
    end,
    put          = function (p, m)
      local z = f.maximum(m, 0) / p.scale
      return p.scale * (z * f.erf(z / ROOT2) + 2 * ROOT_2_PI * f.expm1(-0.5 * f.square(z)))
    end,
  },
  kl_form = { "log square", function (q, E)
    return 3 * f.log(q.scale), HALF_LOG_PI_2, -2 * E.log(), 0.5 * E.square(0, q.scale)
  end },
})

-- sqrt(8/pi), sqrt(3 - 8/pi) and the root of F(z) = 1/2
local MEAN, DEVIATION, MEDIAN = 1.5957691216057307118, 0.67343961164285148374, 1.5381722544550523344

function Maxwell:mean () return MEAN * self.scale end
function Maxwell:mode () return ROOT2 * self.scale end
function Maxwell:median () return MEDIAN * self.scale end
function Maxwell:stddev () return DEVIATION * self.scale end

function Maxwell:variance ()
  local deviation = DEVIATION * self.scale
  return deviation * deviation
end

return Maxwell
