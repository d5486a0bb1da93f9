--- Every elementwise function that has partials: compared with slopes. A new
-- kernel in src/kernel/op is checked unasked, at these points or its own.
local peri     = require "perilune"
local core     = require "perilune.core"
local contract = require "spec.support.contract"
local slopes   = require "spec.support.slopes"

local usual = {
  { { -7.3 }, { -1.2 }, { -0.03 }, { 0.4 }, { 1.9 }, { 30.5 } },
  { { 0.4, 1.7 }, { 2.5, 0.3 }, { 11.2, 7.9 } },
  { { 0.4, 1.7, 0.6 }, { 2.5, 0.3, 0.9 } },
}

local positive = { { 1e-5 }, { 0.03 }, { 0.4 }, { 1.9 }, { 30.5 }, { 4e6 } }
local unit     = { { 1e-5 }, { 0.03 }, { 0.4 }, { 0.7 }, { 0.999 } }

local own = {   -- where the usual points lie outside the domain, or miss a regime
  log = positive, sqrt = positive, e1e = positive, logit = unit, ndtri = unit,
  log1p = { { -0.9 }, { -1e-6 }, { 0.5 }, { 1e5 } },
  log1mexp = { { -40 }, { -1.5 }, { -0.3 }, { -1e-4 } },
  erfinv = { { -0.99 }, { -1e-3 }, { 0.3 }, { 0.9 } },
  erfcinv = { { 1e-9 }, { 0.3 }, { 1.2 }, { 1.99 } },
  erfcx = { { -2 }, { 0.3 }, { 19 }, { 21 }, { 500 } },
  log_ndtr = { { -200 }, { -3 }, { 0.1 }, { 5 } },
  ndtr = { { -20 }, { -3 }, { 0.1 }, { 5 } },
  i0e = { { -30 }, { -0.2 }, { 0.7 }, { 12 }, { 700 } },
  k0e = { { 1e-5 }, { 0.7 }, { 1.3 }, { 12 }, { 700 } },
  k1e = { { 1e-5 }, { 0.7 }, { 1.3 }, { 12 }, { 700 } },
  i1e = { { -30 }, { -0.2 }, { 0.7 }, { 12 }, { 700 } },
  bessel_i1_over_i0 = { { -30 }, { -0.2 }, { 0.7 }, { 190 }, { 300 } },
  gammainc = { { 0.3, 0.1 }, { 2.5, 3.1 }, { 60, 55 } },
  gammaincc = { { 0.3, 0.1 }, { 2.5, 3.1 }, { 60, 70 } },
  gammaincinv = { { 0.3, 0.1 }, { 2.5, 0.7 }, { 60, 0.4 } },
  gammainccinv = { { 0.3, 0.1 }, { 2.5, 0.7 }, { 60, 0.4 } },
  betainc = { { 0.4, 1.7, 0.6 }, { 2.5, 0.3, 0.9 }, { 70, 50, 0.55 } },
  betaincinv = { { 0.4, 1.7, 0.6 }, { 2.5, 0.3, 0.2 }, { 70, 50, 0.4 } },
  zeta = { { 1.5, 0.7 }, { 3.2, 2.5 }, { 9, 1 } },
  log_poch = { { 0.3, 0.2 }, { 2.5, -2.2 }, { 0.02, 7 }, { 60, 0.5 }, { 4e6, -3 }, { -1.3, 0.6 } },
  mod = { { 7.3, 2.1 }, { -7.3, 2.1 }, { 5, -0.8 } },
  pow = { { 0.4, 1.7 }, { 2.5, -3.1 }, { 9, 0.5 } },
  where = { { 1, 2, 3 }, { 0, 2, 3 } },
}

-- Operands that are integers: there is nothing to differentiate.
local integer_operands = { polygamma = 1, where = 1 }
own.polygamma = { { 2, 0.7 }, { 1, 3.5 }, { 5, 11 } }

for _, file in ipairs(core.kernel_files()) do
  local kernels = core.kernels(file)
  if file:find("^op/") then
    describe("partials of " .. file, function ()
      for _, kernel in ipairs(kernels) do
        if kernel.has_partials then
          it(kernel.name, function ()
            local names = { table.unpack({ "a", "b", "c", "d" }, 1, kernel.n_in) }
            local partials = core.bind_partials(file, kernel.name, kernel.name, names, names)
            local value = contract.kernel_value(file, kernel)
            local fixed = integer_operands[kernel.name]
            for _, point in ipairs(own[kernel.name] or usual[kernel.n_in]) do
              local d, f, at = { partials(table.unpack(point)) }, value, point
              if fixed then
                table.remove(d, fixed)
                at = { table.unpack(point, fixed + 1) }
                f = function (...) return value(point[fixed], ...) end
              end
              assert.is_nil(slopes.mismatch(f, at, d, 1e-7))
            end
          end)
        end
      end
    end)
  end
end

it("hypot neither overflows nor underflows on the way, and has slopes there", function ()
  local x = peri.param { 3, 0, 3e300, 3e-310, -3 }
  local h = peri.hypot(x, peri.tensor { 4, 0, 4e300, 4e-310, 0 })
  local values = h:detach():totable()
  for i, value in ipairs { 5, 0, 5e300, 5e-310, 3 } do
    assert(math.abs(values[i] - value) <= 2 ^ -52 * value + 5e-324, i)
  end
  h:sum():backward()
  for i, slope in ipairs { 0.6, 0, 0.6, 0.6, -1 } do assert(math.abs(x.grad:at(i) - slope) < 1e-12, i) end
end)

it("log_poch has all digits however small k is beside a", function ()
  for _, row in ipairs {   -- a, k, value (60-digit reference)
    { 0.3, 0.2, -0.52343305189337547 }, { 2.5, -2.2, 0.81111512434515698 }, { 1e-8, 3e-9, -0.26236426619913798 },
    { 1e-300, 2e-300, -1.0986122886681097 }, { 4664, 2.471, 20.874480202000992 },
    { 1e10, 1e-5, 0.00023025850929890459 }, { 1e15, -0.3, -10.361632918473205 }, { 3, 1e-12, 9.2278433509866459e-13 },
    { 1, 1e-9, -5.7721566407906586e-10 }, { 0.02, 7, 2.7159330603232225 }, { 0.001, -0.0004, 0.51105598396695214 },
    { -1.3, 0.6, 0.24999715236669671 },
  } do
    local a, k, value = table.unpack(row)
    local got = peri.log_poch(a, k)
    assert(math.abs(got - value) <= 2e-15 * math.abs(value), string.format("(%g, %g) gives %.17g", a, k, got))
  end
  assert.equal(0.0, peri.log_poch(7.3, 0))
  assert.equal(math.huge, peri.log_poch(2, -2))
end)

describe("the check of partials", function ()
  it("notices one that is wrong by a millionth", function ()
    local right, wrong = { 2 * 1.5 }, { 2 * 1.5 * (1 + 1e-6) }
    assert.is_nil(slopes.mismatch(peri.square, { 1.5 }, right, 1e-7))
    assert.is_string(slopes.mismatch(peri.square, { 1.5 }, wrong, 1e-7))
  end)
end)


describe("partials of incomplete functions at the ends are", function ()
  local inf = math.huge
  local cases = {   -- function, point, partials
    { "gammainc", { 0.5, 0 }, { 0, inf } }, { "gammainc", { 1, 0 }, { 0, 1 } }, { "gammainc", { 2, 0 }, { 0, 0 } },
    { "gammaincc", { 0.5, 0 }, { 0, -inf } }, { "gammainc", { 2, inf }, { 0, 0 } },
    { "gammaincc", { 2, inf }, { 0, 0 } },
    { "gammaincinv", { 1e-6, 0.8 }, { 0, 0 } }, { "gammainccinv", { 1e-6, 0.2 }, { 0, 0 } },   -- too small for a double
    { "betainc", { 0.5, 2, 0 }, { 0, 0, inf } }, { "betainc", { 1, 3, 0 }, { 0, 0, 3 } },
    { "betainc", { 2, 0.5, 1 }, { 0, 0, inf } }, { "betainc", { 3, 1, 1 }, { 0, 0, 3 } },
    { "betainc", { 2, 2, 0 }, { 0, 0, 0 } },
    { "betaincinv", { 1e-6, 2, 0.3 }, { 0, 0, 0 } }, { "betaincinv", { 2, 1e-6, 0.7 }, { 0, 0, 0 } },
  }
  for _, case in ipairs(cases) do
    local name, point, partials = table.unpack(case)
    it(string.format("those of %s(%s)", name, table.concat(point, ", ")), function ()
      local params = {}
      for k, x in ipairs(point) do params[k] = peri.param(x) end
      peri[name](table.unpack(params)):backward()
      for k, expected in ipairs(partials) do assert.equal(expected, params[k].grad) end
    end)
  end
end)

describe("powers", function ()
  local INF = math.huge
  local x = peri.tensor { 1.7, -2.3, 0.0, -0.0, INF, -INF, 1e-200, 3e200, 0 / 0, 5e-324 }

  local function same (a, b)
    a, b = a:totable(), b:totable()
    for i = 1, #a do
      assert(a[i] == b[i] and 1 / a[i] == 1 / b[i] or a[i] ~= a[i] and b[i] ~= b[i], i .. ": " .. a[i] .. ", " .. b[i])
    end
  end

  it("of constant exponents are products, quotients and roots", function ()
    same(x * x, x ^ 2)
    same(1 / x, x ^ -1)
    same(x, x ^ 1)
    local roots = { math.sqrt(1.7), 0 / 0, 0, 0, INF, INF, 1e-100, math.sqrt(3e200), 0 / 0, 2.2227587494850775e-162 }
    same(peri.tensor(roots), x ^ 0.5)
  end)

  it("of small integers are exactly rounded", function ()
    for _, case in ipairs {   -- x, exponent, value (from exact fractions)
      { 0.7374101693382116, 3, 0.40098429885298453 },
      { 1.450721935564376, 3, 3.0531808761292396 },
      { 1.7711613933941797, 3, 5.556155751972216 },
      { 2.654701702662302, 3, 18.70885396753692 },
      { 1.4393914484395847, 4, 4.292553065371674 },
      { 2.533949979992502, 4, 41.22798892868362 },
      { -2.825968630298312, 4, 63.777772437039395 },
      { -0.20626407373136768, 4, 0.0018100658026895197 },
      { 2.660140301989882, -2, 0.14131586270105662 },
      { 0.8938473188215452, -2, 1.2516223695550088 },
      { 2.4054029505037366, -2, 0.17283206594424602 },
      { -2.3207642120811336, -2, 0.18566838619489992 },
      { -0.18558571330701756, -3, -156.44668983667307 },
      { -1.520563004281018, -3, -0.2844374265330845 },
      { 0.26256515541558256, -3, 55.24445922940311 },
      { 0.4436471275686049, -3, 11.452148688706288 },
    } do
      assert.equal(case[3], (peri.tensor { case[1] } ^ case[2])[1])
    end
    for _, exponent in ipairs { 3, 4, -2, -3 } do
      local ends = { 0.0, -0.0, INF, -INF, 0 / 0, 1e300, -1e300, 5e-324, -5e-324, 1, -1 }
      local powers = {}
      for i, y in ipairs(ends) do powers[i] = y ^ exponent end
      same(peri.tensor(powers), peri.tensor(ends) ^ exponent)
    end
  end)

  it("are the same where exponents differ", function ()
    for _, exponent in ipairs { 2, -1, 1, 0.5, 3, 4, -2, -3 } do
      local exponents = peri.full(10, exponent)
      same(x ^ exponent, x ^ exponents)
      for i = 1, 10 do
        exponents[i] = 1.5
        local mixed = x ^ exponents
        exponents[i] = exponent
        for j = 1, 10 do if j ~= i then same((x ^ exponent):narrow(1, j, 1), mixed:narrow(1, j, 1)) end end
      end
    end
  end)

  it("have slopes at 0", function ()
    for exponent, slope in pairs { [0] = 0, [1] = 1, [2] = 0, [3] = 0 } do
      assert.equal(slope, peri.grad(function (t) return t ^ exponent end)(0.0), exponent)
    end
  end)
end)
