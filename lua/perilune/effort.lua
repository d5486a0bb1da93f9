--- What searches cost, by counts of what they ask laws for: no clock decides what is computed.
--
-- A unit is about a microsecond. A round of a search costs ROUND, for all the small steps from one tensor to the next,
-- and each of its points what a tail of the law does.
local class     = require "perilune.class"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local kept      = require "perilune.kept"
local lazy      = require "perilune.lazy"

local transforms = lazy "transforms"

local bare = core.bare

local effort = {}

local ROUND, POINT = 60, 0.4
local GRAIN = 2.0 ^ -10        -- counts are multiples of it, so that their sums and differences are exact
local DEAREST, MOST = 1e4, 1e12   -- what a point may cost, and what is counted at once
local rounds, points = 0, 0    -- counted so far; differences of them mean something

-- What is counted of a cost. Whatever is asked later depends on these sums: a NaN among them would never go away.
local function counted (cost) return cost < MOST and math.floor(cost / GRAIN) * GRAIN or MOST end

-- All elements are asked for alike. What is infinite or NaN, as prices of infinite moments may be, is the dearest.
local function mean_price (each)
  local price = each
  if core.is_tensor(each) then price = core.numel(each) > 0 and core.item(each:mean()) or POINT end
  return price < DEAREST and price or DEAREST
end

-- Tails of BetaBinomials are sums over outcomes, up to some thousand or, of very many, 32 for each power of 2; of the
-- most outcomes, few of them at the ends, they are integrals.
local function sum_price (d)
  local a, b, n = bare(d.concentration1), bare(d.concentration0), bare(d.total_count)
  local most = functions.maximum(1200, 46 * functions.log(functions.maximum(n, 1)))
  local is_integral = functions.gt(n, 2 ^ 30 * (1 + a + b) ^ 1.5) * functions.gt(functions.minimum(a, b), 0.1)
  return mean_price(POINT + functions.where(is_integral, 1, 0.035 * functions.minimum(n, most)))
end

-- Integrals over as narrow a peak as of a vast noncentrality take many panels, up to where they are in closed form.
local function is_vast (noncentrality) return functions.gt(noncentrality, 1e11) * functions.lt(noncentrality, 1e18) end

-- Of moderate noncentrality they are sums, else integrals, as they are where df2 is next to nothing; where tails have
-- few digits, since df2 is no normal number, searches are much longer.
local function quotient_price (d)
  local a, b = bare(d.noncentrality), bare(d.df2)
  local integral = functions.where(is_vast(a), 250, 60)
  local each = functions.where(functions.le(a, 2e4), 3 + 0.2 * functions.minimum(a, 2e4) ^ 0.5, integral)
  return mean_price(functions.where(functions.gt(b, 2e-20), each, functions.where(functions.gt(b, 1e-295), 20, 80)))
end

-- Integrals are over steps where the noncentrality is large, and over many powers of e where df is small; where that is
-- next to nothing tails are those of a normal number.
local function score_price (d)
  local df, steps = bare(d.df), functions.where(functions.gt(functions.abs(bare(d.noncentrality)), 1e4), 50, 20)
  local each = steps + functions.where(functions.gt(df, 0.05), 0, -1.2 * functions.log(df))
  return mean_price(functions.where(functions.lt(df, 1e-20), 8, each))
end

-- What a tail costs, of classes where that is more than POINT; a density, more than DENSITY; a quantile, more than
-- QUANTILE.
local TAILS = {
  BetaBinomial   = sum_price,
  ExGaussian     = function () return 3 end,
  Hypergeometric = function () return 5 end,
  NoncentralChi2 = function () return 1.5 end,
  NoncentralF    = quotient_price,
  NoncentralT    = score_price,
  NormalInverseGaussian = function () return 10 end,
  Rice           = function () return 1.5 end,
  Skellam        = function () return 1.5 end,
  Zipf           = function () return 2 end,
}

-- A sum, or of a large noncentrality an integral, of two parts where df1 is small; far from the mass, where other laws
-- may ask for it, that takes three times as long.
local function quotient_density (d)
  local a = bare(d.noncentrality)
  local integral = functions.where(functions.lt(bare(d.df1), 2), 24, 12) * functions.where(is_vast(a), 6, 1)
  return mean_price(functions.where(functions.le(a, 2e4), 0.3 + 0.05 * functions.minimum(a, 2e4) ^ 0.5, integral))
end

local DENSITY = 0.1
local DENSITIES = {
  NoncentralF = quotient_density,
  NoncentralT = function () return 3 end,
}

-- Outcomes are searched for, the longer the more there are; if few draws are not 0 these are vast.
local function outcome_price (d)
  local mean, variance = bare(d:mean()), bare(d:variance())
  local size = functions.maximum(mean, functions.where(functions.gt(mean, 0), variance / mean, 0))
  return mean_price(functions.where(functions.lt(size, 1e26), 1 + 0.4 * functions.log1p(size), 25))   -- or inf, NaN
end

-- Next to 0, where most of the mass is if df1 is next to nothing, searches are longer.
local function quotient_quantile (d)
  return mean_price(functions.where(functions.gt(bare(d.df1), 1e-6), 1.5, 4)) * quotient_price(d)
end

-- Close to exponent 1 half of the mass is at outcomes beyond counting.
local function rank_quantile (d)
  local over = bare(d.exponent) - 1
  return mean_price(functions.where(functions.gt(over, 0.05), 3, 15))
end

local QUANTILE = 1
local QUANTILES = {
  BetaBinomial    = function (d) return 2 * sum_price(d) end,
  ExGaussian      = function () return 3 end,
  InverseGaussian = function () return 3 end,
  NegativeBinomial  = outcome_price,
  NegativeBinomial2 = outcome_price,
  NoncentralChi2  = function () return 3 end,
  NoncentralF     = quotient_quantile,
  NoncentralT     = function (d) return 1.5 * score_price(d) end,
  NormalInverseGaussian = function () return 12 end,
  Rice            = function () return 2.5 end,
  Skellam         = function () return 4 end,
  VonMises        = function () return 4 end,
  Zipf            = rank_quantile,
}

-- The law that d is made of, or nil.
local function inside (d)
  local inner = d.below or d.base or d.base_dist
  return type(inner) == "table" and inner or nil
end

-- A function of laws: what own(d) says, and of laws that are made of others what these cost; cut(d) more for what is
-- left of one, and as much for each component of a mixture, or nothing.
local function priced (own, cut, are_components_counted)
  local function price (d)
    local component, inner = d.component_distribution, inside(d)
    if component then return are_components_counted and d.mixture_distribution.support.high * price(component) or 0 end
    if d.list then
      local sum = 0
      for _, part in ipairs(d.list) do sum = sum + price(part) end
      return sum / #d.list
    end
    if inner then return (d.log_mass and cut(inner) or 0) + price(inner) end
    return own(d)
  end
  return price
end

-- What such a table says of a law, or else this.
local function listed (prices, otherwise)
  local known = kept.new(function (d, own) return own(d) end)
  return function (d)
    local own = prices[class.name(class.of(d))]
    return own and known(d, own) or otherwise
  end
end

local function nothing () return 0 end

local price = priced(listed(TAILS, POINT), nothing, true)

--- What a tail of the law d costs, of what others are made of, and a density.
effort.price, effort.density = price, priced(listed(DENSITIES, DENSITY), nothing, true)

local own_quantile = listed(QUANTILES, QUANTILE)
local kernel_quantile = priced(own_quantile, nothing, true)

local CHEAP, SEARCHES = 2, 3   -- quantiles of what is left of a dear law take some of its tails
local SEARCHED = 1.5           -- and of a cheap one as many units

--- Do tails of d cost so much that they count?
function effort.is_dear (d) return price(d) > CHEAP end

--- What a quantile of the law d costs.
function effort.quantile (d)
  if not d.base then return kernel_quantile(d) end
  return effort.is_dear(d) and SEARCHES * price(d) or math.max(SEARCHED, kernel_quantile(d))
end

-- How many tails of a law one takes of what is folded, once or more.
local function folds (d)
  local inner, count = inside(d), 1
  for _, map in ipairs(d.transforms or { d.map }) do
    if getmetatable(map) == transforms.Abs then count = 2 * count end
  end
  return inner and count * folds(inner) or count
end

--- How many points of d are not worth more than a round.
function effort.few (d) return ROUND / (folds(d) * price(d)) end

-- As many rounds is a call for tails of d worth: what is left of a law takes two, and components of several classes are
-- asked one by one.
local function layers (d)
  local inner, component = inside(d), d.component_distribution
  if component and component.list then return #component.list end
  return (d.log_mass and 2 or 1) + (inner and layers(inner) - 1 or 0)
end

local CUT = 6   -- tails of a law that one of what is left of it takes, and masses of narrow stretches

--- What a tail of d costs, that of the law which d may be left of and more.
function effort.tail (d)
  local inner = inside(d)
  return inner and (d.log_mass and CUT or 1) * effort.tail(inner) or price(d)
end

local function numel (x) return core.is_tensor(x) and core.numel(x) or 1 end

--- A round asks for n points that cost so much each.
function effort.spend (each, n)
  rounds = rounds + 1
  points = points + counted(each * n)
end

--- A round of a search asks the law d for tails at x, `times` over.
function effort.count (d, x, times)
  rounds = rounds + layers(d)
  points = points + counted((times or 1) * effort.tail(d) * numel(x))
end

--- The law d is asked for densities at x.
function effort.count_densities (d, x) effort.spend(effort.density(d), numel(x)) end

-- A quantile of what is left of a law takes tails as well; those of mixtures are counted by their searches.
local asked_quantile = priced(own_quantile, function (inner) return 4 * price(inner) end, false)

--- The law d is asked for quantiles at levels p.
function effort.count_quantiles (d, p)
  rounds = rounds + layers(d)
  points = points + counted(asked_quantile(d) * numel(p))
end

local SEARCH, FOLDED = 6, 25   -- tails of the components, and of what is folded, that a search for a quantile takes

--- What a quantile of d costs, about, where it may have to be searched for.
function effort.search (d)
  if d.component_distribution then return SEARCH * price(d) end
  local inner = inside(d)
  if not inner then return asked_quantile(d) end
  local each = effort.search(inner) + (d.log_mass and 4 * price(inner) or 0)
  for _, map in ipairs(d.transforms or {}) do
    if getmetatable(map) == transforms.Abs then each = 4 * each + FOLDED * price(inner) end
  end
  return each
end

local FEW = 8   -- components that count for no more than one element

--- As many elements as a law of single numbers counts for: more than one if it is made of very many.
function effort.elements (d)
  local inner = d.component_distribution
  if inner then return math.max(1, d.mixture_distribution.support.high / FEW) * effort.elements(inner) end
  local most = 1
  for _, part in ipairs(d.list or { d.base or d.base_dist }) do
    if type(part) == "table" then most = math.max(most, effort.elements(part)) end
  end
  return most
end

local Purse = {}
Purse.__index = Purse

local calls = 0

--- A number of its own for each call that something may be spent on. What was kept in calls before has cost nothing in
-- this one, and must not be used: results would depend on what was asked for before.
function effort.call () return calls end

--- What a call that begins may spend.
function effort.begin (limit)
  calls = calls + 1
  return effort.purse(limit)
end

--- Something that may be spent from now on.
function effort.purse (limit)
  return setmetatable({ limit = limit, first_round = rounds, first_point = points, rounds = rounds, points = points,
                        size = 1 }, Purse)
end

-- What has been spent since it was made.
local function spent (purse) return ROUND * (rounds - purse.first_round) + (points - purse.first_point) end

--- What is left.
function Purse:left () return math.max(0, self.limit - spent(self)) end

--- A purse with this part of what is left.
function Purse:share (part) return effort.purse(part * self:left()) end

--- Whatever is spent from here on is a lap of this size, in units of the caller's.
function Purse:lap (size) self.rounds, self.points, self.size = rounds, points, size end

--- What a lap costs, as a function of its size, by the last: it has as many rounds, with more or fewer points.
function Purse:prices ()
  local of_rounds, of_points = ROUND * (rounds - self.rounds), (points - self.points) / self.size
  return function (size) return of_rounds + size * of_points end
end

--- Is there enough for another lap, of this size, and perhaps for one more?
function Purse:affords (size, more)
  local price_of = self:prices()
  return spent(self) + price_of(size) + (more and price_of(more) or 0) <= self.limit
end

return effort
