--@ peri.Burr
-- Burr's law of type XII (Singh-Maddala): incomes, floods; log-logistic for concentration0 = 1.
--   concentration1  c: the law begins as x^c
--   concentration0  k: it ends as x^-(c k)
--   scale           scale
--   formula         F(x) = 1 - (1 + (x/scale)^c)^-k for x >= 0,  c = concentration1, k = concentration0
-- > Burr(2, 3):sf(2)
-- 0.008
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local f            = require "perilune.functions"

local where, gt = f.where, f.gt
local INF, EULER, BASEL = math.huge, 0.57721566490153286061, math.pi ^ 2 / 6

local Burr = Distribution:extend("Burr", {
  kernels = "burr",
  params = {
    { "concentration1", constraints.positive },
    { "concentration0", constraints.positive },
    { "scale",          constraints.positive, default = 1 },
  },
  support = constraints.nonnegative,
  affine = function (d, loc, scale)
    if loc == 0 and type(scale) == "number" and scale > 0 then
      return d.concentration1, d.concentration0, scale * d.scale
    end
  end,
  kl_statistics = {
    log          = function (p) return f.log(p.scale) - (EULER + f.digamma(p.concentration0)) / p.concentration1 end,
    log_variance = function (p) return (BASEL + f.trigamma(p.concentration0)) / f.square(p.concentration1) end,
    power        = function (p, r, s)
      local c, k = p.concentration1, p.concentration0
      local is_there = gt(c * k, r) * gt(c, -r)
      local j = where(is_there, r / c, 0)
      local moment = f.log(k) + f.betaln(k - j, 1 + j) + r * f.log(p.scale / (s or 1))
      return where(is_there, f.exp(moment), INF)
    end,
  },
})

function Burr:variance () return f.square(self:stddev()) end

function Burr:mode ()
  local c, k = self.concentration1, self.concentration0
  local above = f.maximum(c - 1, 0)
  return self.scale * where(gt(above, 0), f.exp(f.log(where(gt(above, 0), above, 1) / (c * k + 1)) / c), 0)
end

function Burr:moments_below () return self.concentration1 * self.concentration0 end

return Burr
