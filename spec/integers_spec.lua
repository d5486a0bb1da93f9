--- Parameters that are Lua integers give what floats give: their products do not wrap around.
local peri = require "perilune"

local big = 100000000000   -- its square is no 64-bit integer

local cases = {
  { "Normal", big, big }, { "LogNormal", 3, 2 }, { "HalfNormal", big }, { "Cauchy", big, big }, { "HalfCauchy", big },
  { "StudentT", 5, big, big }, { "Laplace", big, big }, { "Gumbel", big, big }, { "Logistic", big, big },
  { "Exponential", big }, { "Gamma", big, big }, { "InverseGamma", big, big }, { "Chi2", big }, { "Weibull", big, 2 },
  { "Pareto", big, 3 }, { "GeneralizedPareto", big, big, 0 }, { "Beta", big, big }, { "Kumaraswamy", 2, 3 },
  { "Uniform", -big, big }, { "VonMises", 0, big }, { "FisherSnedecor", big, big }, { "InverseGaussian", big, big },
  { "TruncatedNormal", big, big, -5 * big, 5 * big }, { "Frechet", big, 5 }, { "LogUniform", 1, big },
  { "LogitNormal", 1, 2 }, { "AsymmetricLaplace", big, big, big }, { "GeneralizedNormal", big, big, 2 },
  { "Rayleigh", big }, { "Triangular", -big, big, 1 }, { "SkewNormal", big, big, 2 }, { "Binomial", big, 0.25 },
  { "NegativeBinomial", big, 0.25 }, { "Poisson", big }, { "BetaBinomial", big, big, big },
  { "DiscreteUniform", -big, big }, { "Hypergeometric", 3 * big, big, big }, { "ZeroInflatedPoisson", 0.25, big },
  { "Geometric", 1 }, { "Delta", big },
}

local function same (a, b) return a == b or a ~= a and b ~= b end

describe("integers as parameters:", function ()
  for _, case in ipairs(cases) do
    local name = case[1]
    it(name, function ()
      local floats = {}
      for i = 2, #case do floats[i - 1] = case[i] + 0.0 end
      local d, e = peri[name](table.unpack(case, 2)), peri[name](table.unpack(floats))
      for _, method in ipairs { "mean", "variance", "stddev", "mode", "median", "entropy" } do
        assert(same(e[method](e), d[method](d)), string.format("%s: %s and %s", method, e[method](e), d[method](d)))
      end
      local x = e:median()
      for _, method in ipairs { "log_prob", "cdf", "sf" } do assert(same(e[method](e, x), d[method](d, x)), method) end
      assert.equal(tostring(e), tostring(d))
    end)
  end
end)
