--@ peri.Hypergeometric
-- Successes among draws without replacement.
--   population  how many there are
--   successes   how many of them count
--   draws       how many are drawn
--   formula     P(k) = C(successes, k) C(population - successes, draws - k)/C(population, draws)
-- > Hypergeometric(49, 6, 6):prob(3)
-- 0.01765040386687
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Hypergeometric = Distribution:extend("Hypergeometric", {
  kernels = "hypergeometric",
  params = {
    { "population", constraints.integer_interval(1, 2 ^ 53) },
    { "successes",  function (self) return constraints.integer_interval(0, self.population) end },
    { "draws",      function (self) return constraints.integer_interval(0, self.population) end },
  },
})

local function first (self) return functions.maximum(0, self.draws - (self.population - self.successes)) end
local function last (self) return functions.minimum(self.draws, self.successes) end

function Hypergeometric:init () self.support = constraints.integer_interval(first(self), last(self)) end

function Hypergeometric:mean () return 1.0 * self.draws * self.successes / self.population end

function Hypergeometric:variance ()
  local blank, left = self.population - self.successes, self.population - self.draws
  return self:mean() * (blank / self.population) * (left / functions.maximum(self.population - 1, 1))
end

return Hypergeometric
