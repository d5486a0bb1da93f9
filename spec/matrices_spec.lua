--- Positive definite matrices as parameters: what is refused, and what is not.
local peri = require "perilune"

-- Makers of a distribution from a positive definite matrix of two or more rows.
local makers = {
  ["MultivariateNormal: covariance_matrix"] = function (a) return peri.MultivariateNormal(peri.zeros(#a), a) end,
  ["MultivariateNormal: precision_matrix"]  = function (a)
    return peri.MultivariateNormal { loc = peri.zeros(#a), precision_matrix = a }
  end,
  ["Wishart: covariance_matrix"]     = function (a) return peri.Wishart(#a + 1, a) end,
  ["Wishart: precision_matrix"]      = function (a) return peri.Wishart { df = #a + 1, precision_matrix = a } end,
  ["InverseWishart: scale_matrix"]   = function (a) return peri.InverseWishart(#a + 1, a) end,
  ["MatrixNormal: row_covariance"]   = function (a) return peri.MatrixNormal(peri.zeros(#a, 1), a, { { 1 } }) end,
  ["MatrixNormal: column_covariance"] = function (a) return peri.MatrixNormal(peri.zeros(1, #a), { { 1 } }, a) end,
}

local singular = {
  { { 3, -3 }, { -3, 3 } },
  { { 0.01, 0.03 }, { 0.03, 0.09 } },
  { { 1, 2 }, { 2, 4 } },
  { { 2, -1, -1 }, { -1, 2, -1 }, { -1, -1, 2 } },
  { { 0.1, 0.2, 0.3 }, { 0.2, 0.4, 0.6 }, { 0.3, 0.6, 0.9 } },
}

-- Random matrices of rank d - 1, of which rounding leaves half with positive pivots only.
local rng = peri.rng(1)
for d = 2, 9 do
  local thin = peri.Normal(0, 1):sample({ 20, d, d - 1 }, rng)
  local products = thin:matmul(thin:transpose(-1, -2))
  for i = 1, 20 do singular[#singular + 1] = products[i]:totable() end
end

describe("a positive definite parameter", function ()
  for name, make in pairs(makers) do
    it("must not be singular up to rounding: " .. name, function ()
      for _, a in ipairs(singular) do
        local ok, message = pcall(make, a)
        assert.is_false(ok)
        assert.matches(name .. " must be positive definite, ", message, 1, true)
      end
    end)

    it("may be nearly singular: " .. name, function ()
      for _, gap in ipairs { 1e-3, 1e-8, 1e-13 } do make { { 1, 1 }, { 1, 1 + gap } } end
    end)

    it("may be a draw of Wishart: " .. name, function ()
      for d = 2, 6 do
        local draws = peri.Wishart(d, peri.eye(d)):sample(50, peri.rng(d))
        for i = 1, #draws do make(draws[i]) end
      end
    end)
  end
end)

it("constraints.positive_definite refuses matrices that are singular", function ()
  for i = 1, 5 do assert.is_false(peri.constraints.positive_definite:check(singular[i])) end
  assert.is_true(peri.constraints.positive_definite:check { { 1, 1 }, { 1, 1 + 1e-13 } })
end)

it("Wishart has no density at a singular matrix", function ()
  local d = peri.Wishart(3, { { 1, 0 }, { 0, 1 } })
  for i = 1, 3 do assert.equal(-math.huge, peri.item(d:log_prob(singular[i]))) end
end)

-- a = {{1, 1 - 2^-30}, {1 - 2^-30, 1}}: det = 2^-29 - 2^-60 exactly, so all of the factor is known.
it("the factor of a nearly singular matrix keeps its digits", function ()
  local c = 1 - 2 ^ -30
  local d = peri.MultivariateNormal({ 0, 0 }, { { 1, c }, { c, 1 } })
  local pivot = (2.0 ^ -29 - 2.0 ^ -60) ^ 0.5
  assert.near(1, d.scale_tril:at(2, 2) / pivot, 1e-15)
  local p = peri.MultivariateNormal { loc = { 0, 0 }, precision_matrix = { { 1, c }, { c, 1 } } }
  assert.near(1, d:variance()[1], 1e-15)
  assert.near(1, p:variance()[2] * pivot ^ 2, 1e-14)
end)
