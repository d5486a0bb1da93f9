--- What searches cost, by counts of what they ask laws for: no clock decides what is computed.
--
-- A unit is about a microsecond. A round of a search costs ROUND, for all the small steps from one tensor to the next,
-- and each of its points what a tail of the law does.
local class     = require "perilune.class"
local core      = require "perilune.core"
local functions = require "perilune.functions"

local effort = {}

local ROUND, POINT = 60, 0.4
local rounds, points = 0, 0   -- counted so far; differences of them mean something

local function bare (x) return core.is_tensor(x) and core.bare(x) or x end

-- All elements are asked for alike.
local function mean_price (each)
  if not core.is_tensor(each) then return each end
  return core.numel(each) > 0 and core.item(each:mean()) or POINT
end

-- Tails of BetaBinomials are sums over outcomes, up to some thousand; of the most outcomes, few of them at the ends,
-- they are integrals.
local function sum_price (d)
  local a, b, n = bare(d.concentration1), bare(d.concentration0), bare(d.total_count)
  local is_integral = functions.gt(n, 2 ^ 30 * (1 + a + b) ^ 1.5) * functions.gt(functions.minimum(a, b), 0.1)
  return mean_price(POINT + functions.where(is_integral, 1, 0.035 * functions.minimum(n, 1200)))
end

-- Of moderate noncentrality they are sums, else integrals, as they are where df2 is next to nothing.
local function quotient_price (d)
  local a = bare(d.noncentrality)
  local each = functions.where(functions.le(a, 2e4), 3 + 0.2 * functions.minimum(a, 2e4) ^ 0.5, 60)
  return mean_price(functions.where(functions.gt(bare(d.df2), 2e-20), each, 40))
end

-- Integrals are over steps where the noncentrality is large, and over a vast range where df is next to nothing.
local function score_price (d)
  local steps = functions.where(functions.gt(functions.abs(bare(d.noncentrality)), 1e4), 50, 20)
  return mean_price(functions.where(functions.gt(bare(d.df), 1e-8), steps, 400))
end

local PRICES = {
  BetaBinomial   = sum_price,
  ExGaussian     = function () return 3 end,
  Hypergeometric = function () return 5 end,
  NoncentralChi2 = function () return 1.5 end,
  NoncentralF    = quotient_price,
  NoncentralT    = score_price,
  NormalInverseGaussian = function () return 10 end,
  Rice           = function () return 1.5 end,
  Skellam        = function () return 1.5 end,
}
local known = setmetatable({}, { __mode = "k" })

local function price (d)
  if d.component_distribution then return d.mixture_distribution.support.high * price(d.component_distribution) end
  if d.list then
    local sum = 0
    for _, part in ipairs(d.list) do sum = sum + price(part) end
    return sum / #d.list
  end
  local inner = d.below or d.base or d.base_dist
  if type(inner) == "table" then return price(inner) end
  local own = PRICES[class.name(class.of(d))]
  if not own then return POINT end
  known[d] = known[d] or own(d)
  return known[d]
end

--- What a tail of the law d costs.
effort.price = price

local CHEAP, SEARCHES = 2, 3   -- quantiles of what is left of a dear law take some of its tails
local PANELS = 96              -- of a cheap law: some 9000 quantiles, which may take 4 us each

local TAILS = { NoncentralT = 1.5 }   -- what a quantile costs, in tails

-- As many tails does a quantile of d take.
local function tails_of (d)
  local inner = d.component_distribution or d.below or d.base or d.base_dist
  return type(inner) == "table" and tails_of(inner) or TAILS[class.name(class.of(d))] or 1
end

--- What a quantile of the law d costs.
function effort.quantile (d)
  local each = price(d)
  return effort.is_dear(d) and d.base and SEARCHES * each or tails_of(d) * each
end

--- How many panels of either half of d are cut: fewer of a law whose quantiles are dear, or where the density of a dear
-- law is looked at `beside` them.
function effort.panels (d, beside)
  local each = effort.quantile(d) + (beside and price(beside) or 0)
  return math.ceil(PANELS * math.min(1, CHEAP / each))
end

--- Do tails and densities of d cost so much that they count?
function effort.is_dear (d) return price(d) > CHEAP end

--- How many points of d are not worth more than a round.
function effort.few (d) return ROUND / price(d) end

--- A round of a search asks the law d for tails at x, `times` over.
function effort.count (d, x, times)
  rounds = rounds + 1
  points = points + (times or 1) * price(d) * (core.is_tensor(x) and core.numel(x) or 1)
end

--- As many elements as a law of single numbers counts for: those that it is made of.
function effort.elements (d)
  local inner = d.component_distribution
  if inner then return d.mixture_distribution.support.high * effort.elements(inner) end
  local most = 1
  for _, part in ipairs(d.list or { d.base or d.base_dist }) do
    if type(part) == "table" then most = math.max(most, effort.elements(part)) end
  end
  return most
end

local Purse = {}
Purse.__index = Purse

--- Something that may be spent from now on.
function effort.purse (limit)
  return setmetatable({ limit = limit + ROUND * rounds + points, rounds = rounds, points = points, size = 1 }, Purse)
end

--- Whatever is spent from here on is a lap of this size, in units of the caller's.
function Purse:lap (size) self.rounds, self.points, self.size = rounds, points, size end

--- Is there enough for another lap, of this size? It has as many rounds as the last, with more or fewer points.
function Purse:affords (size)
  local lap = ROUND * (rounds - self.rounds) + size / self.size * (points - self.points)
  return ROUND * rounds + points + lap <= self.limit
end

return effort
