--- The kernels of gamma-like laws against 60-digit values: near equality, at the ends of the range, and
-- partials in every regime.
local peri     = require "perilune"
local core     = require "perilune.core"
local contract = require "spec.support.contract"
local slopes   = require "spec.support.slopes"

-- Operands of p, those of q, and the divergence.
local references = {
  Gamma = {
    { 2.5, 1.3, 0.7, 0.4, 0.33615559589010664 },
    { 2.5, 1.3, 2.500000001, 1.3, 2.4517891858313442e-19 },
    { 2.5, 1.3, 2.5, 1.300000001, 7.3964476396355857e-19 },
    { 0.3, 2, 0.3000001, 1.9999999, 6.6601810329641242e-14 },
    { 0.001, 2, 0.001001, 2.001, 4.9929282104024858e-7 },
    { 1e-100, 1, 1.5e-100, 3, 0.094534891891835618 },
    { 1e-9, 1, 4, 3, 3999999977.9829069 },
    { 40, 2, 1e-5, 7, 151.93420510274267 },
    { 1000000, 3, 1000001, 3.000003, 2.4999991666670837e-13 },
    { 1e10, 1, 10000100000, 1, 0.49999833336666645 },
    { 1e15, 1e15, 1000000000100000, 1000000000100000, 2.4999999998333342e-21 },
    { 3, 1e-200, 3.1, 1.01e-200, 0.0011034435592493691 },
    { 3, 1e-200, 3.1, 1e200, math.huge },
    { 1e-200, 1, 2, 1e150, 2e200 },
    { 1e120, 1, 1.0000001e120, 1, 4.9999998306537412e105 },
  },
  Weibull = {
    { 1.4, 2.3, 0.8, 1.2, 0.4393115939559094 },
    { 1, 100, 1.0001, 100.01, 4.9427103008597341e-5 },
    { 2, 0.7, 2.000000001, 0.7, 6.1250010097925016e-20 },
    { 2, 0.7, 2, 0.7000000007, 9.1184048106670404e-19 },
    { 1e-200, 3, 1.1e-200, 3.2, 0.038208521525527005 },
    { 1, 4, 0.9, 0.03, 4.3156833185591263 },
    { 1, 0.5, 5, 3, 10.68263259258191 },
    { 1, 5e-324, 1, 1, math.huge },
  },
  Gumbel = {
    { 1e10, 0.3, 1e10 + 1, 0.7, 1.7862501530810155 },
    { -1.5, 2, -1.500000002, 2.000000001, 9.3935226982579906e-19 },
    { 0, 2, 0, 2.00001, 2.2795811771869128e-11 },
    { 3, 0.5, -40, 9, 6.1311706994176222 },
    { 0, 1, 2, 0.3, 7269.1399619248296 },
  },
  InverseGaussian = {
    { 1.3, 2.1, 0.8, 0.9, 0.27315099063316224 },
    { 1.3, 2.1, 1.300000001, 2.1, 4.7792430853242837e-19 },
    { 1.3, 2.1, 1.3, 2.100000001, 5.6689351766626324e-20 },
    { 1e-150, 3, 1e150, 2, 9.9999999999999999e149 },
    { 1e100, 0.001, 2e100, 1e-200, 226.3046316599135 },
  },
  GeneralizedNormal = {   -- scale, shape
    { 1, 2, 1.3, 1.2, 0.21374086636051807 },
    { 1, 2, 1.000000001, 2.000000003, 2.7580462538775387e-19 },
    { 0.4, 10000, 0.4000000001, 10001, 4.0157670717068342e-13 },
    { 3, 0.01, 3.001, 0.010001, 1.5554063681298015e-5 },
    { 1, 0.5, 4, 3, 77.329955538819603 },
    { 2, 30, 2.5, 0.4, 2.0579621432966156 },
  },
  Logistic = {
    { 0, 1, 0.5, 1, 0.041494082536798284 },
    { 2, 3, 2.000000001, 3, 1.851852158297683e-20 },
    { 0, 2, 0.7, 2, 0.020375103846117574 },
    { 0, 2, 7, 2, 1.7179636148045985 },
    { 0, 0.1, 30, 0.1, 298 },
    { 5, 0.001, -5, 0.001, 9998 },
  },
}

local smooth = {   -- where to compare partials with slopes
  Gamma = {
    { 0.01, 1, 0.02, 2 }, { 1e-3, 1, 3, 2 }, { 50, 2, 30, 1 }, { 1e4, 100, 1.01e4, 101 }, { 0.5, 1, 20, 1e-3 },
  },
  Weibull = { { 1, 0.3, 2, 0.5 }, { 3, 5, 2.9, 4.5 }, { 1, 1, 1, 1.1 } },
  Gumbel = { { 1, 0.3, 2, 0.5 }, { 3, 5, 2.9, 4.5 }, { -1, 1, 1, 0.8 } },
  InverseGaussian = { { 1, 0.3, 2, 0.5 }, { 3, 5, 2.9, 4.5 } },
  GeneralizedNormal = { { 1, 2, 1.3, 1.2 }, { 1, 0.7, 1, 0.9 }, { 0.4, 4, 2, 2 }, { 2, 20, 2.1, 15 } },
}

local names = { "a", "b", "c", "d" }

-- Kernels for some parameters only have names of their own.
local special = { Logistic = "same_scale", GeneralizedNormal = "same_loc" }

local function bound (name)
  local file = "kl/" .. name:lower()
  name = special[name] or name
  return contract.kernel_value(file, { name = name, n_in = 4 }), core.bind_partials(file, name, name, names, names)
end

local function assert_near (expected, got, point)
  local ok = got == expected or math.abs(got - expected) <= 1e-14 * math.abs(expected)
  assert(ok, string.format("at (%s): expected %.17g, got %.17g", table.concat(point, ", ", 1, 4), expected, got))
end

for name, rows in pairs(references) do
  describe("the kernel of KL(" .. name .. " || " .. name .. ")", function ()
    local value, partials = bound(name)

    it("has all digits", function ()
      for _, row in ipairs(rows) do assert_near(row[5], value(table.unpack(row, 1, 4)), row) end
    end)

    it("is exactly 0 for p against itself", function ()
      for _, row in ipairs(rows) do assert.equal(0.0, value(row[1], row[2], row[1], row[2])) end
    end)

    it("has the right partials", function ()
      for _, point in ipairs(smooth[name] or {}) do
        assert.is_nil(slopes.mismatch(value, point, { partials(table.unpack(point)) }, 1e-6))
      end
    end)

    it("has no partial that is not a number where the divergence overflows", function ()
      for _, point in ipairs { { 90, 40, 1, 1e-3 }, { 2, 1e-4, 3, 25 } } do
        for _, slope in ipairs { partials(table.unpack(point)) } do assert(slope == slope) end
      end
    end)
  end)
end

-- The kernel does not look at scale1, the divergence does.
it("KL(Logistic || Logistic) at equal scales has the partials of the divergence with unequal ones", function ()
  local _, partials = bound "Logistic"
  local function divergence (a, b, c, d) return (peri.kl_divergence(peri.Logistic(a, b), peri.Logistic(c, d))) end
  for _, point in ipairs { { 0, 1, 0.5, 1 }, { 2, 0.5, -1, 0.5 }, { 0, 2, 30, 2 } } do
    assert.is_nil(slopes.mismatch(divergence, point, { partials(table.unpack(point)) }, 1e-6))
  end
end)
