local peri       = require "perilune"
local core       = require "perilune.core"
local refusal    = require "spec.support.refusal"
local slopes     = require "spec.support.slopes"
local statistics = require "spec.support.statistics"

local VonMisesFisher = peri.VonMisesFisher

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or math.abs(expected - got) <= (tolerance or 4e-15) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

-- a row of d coordinates, 0 but for those given
local function row (d, some)
  local x = {}
  for i = 1, d do x[i] = some[i] or 0 end
  return x
end

-- d, concentration; log density at a cosine of 0.6, entropy, mean and variance along the mean
-- direction: 90 digits, rounded
local cases = {
  { 2, 1e-300, -1.8378770664093454836, 1.8378770664093454836, 5.0000000000000001253e-301, 0.5 },
  { 2, 3, -1.6231846882227663991, 0.99322880635325281787, 0.80998529395650452706, 0.073928725588693441843 },
  { 2, 50, -18.965452568281150068, -0.53199580064373756191, 0.98994896737849775259, 0.00020206263867603742304 },
  { 3, 0.1, -2.4726903584328712503, 2.5293592452074722923, 0.033311132253989611992, 0.3326677233881650101 },
  { 3, 12, -4.1529704165835938279, 0.35297041567756153723, 0.91666666674216935756, 0.0069444442934390626619 },
  { 3, 1e15, -399999999999967.2991, -31.700899328501339777, 0.999999999999999, 1e-30 },
  { 4, 39.5, -13.032747995010955392, -1.2769943754959524536, 0.9622719587470103252, 0.00094873117524190760777 },
  { 5, 1, -2.7689013133786362765, 3.1743732639133111629, 0.19452804946532511362, 0.18404664010991557132 },
  { 5, 700, -270.5721638699222872, -7.4292667452422335395, 0.99714490087880645821, 4.0757892306351215417e-6 },
  { 10, 25, -3.4646815613870692668, -2.3614223895383716483, 0.83304415803701763661, 0.0061415338670700349856 },
  { 81, 39, 76.265728454107581328, -68.62964852269426514, 0.40420307868170984133, 0.0074853508114893471313 },
  { 84, 41, 80.767845151421333879, -72.90224112512051785, 0.40815599935851668222, 0.0071416570960191973821 },
  { 1000, 1e-3, 2032.0583602559738603, -2032.0577602569738603, 9.9999999999900201682e-7, 0.00099999999999700598802 },
  { 1000, 2000, 2140.5794205740374962, -2502.419186806533947, 0.78091988311624822541, 9.4654537139221228103e-5 },
  { 5000, 1e6, -370058.78258754720743, -27444.839911075289058, 0.99750362249862249649, 2.4932550093825034906e-9 },
}

local function bound (kernel, ...)
  local names = { ... }
  return core.bind_value("vonmisesfisher", kernel, kernel, names, names),
         core.bind_adjoint("vonmisesfisher", kernel, kernel, names, names)
end

-- The law of the angle t from the mean direction, by Simpson's rule and nothing else: a table of
-- F at `steps` even steps from 0 to pi.
local function angle_table (d, k, steps)
  local h = math.pi / steps
  local function f (t) return math.exp(k * (math.cos(t) - 1)) * math.abs(math.sin(t)) ^ (d - 2) end
  local F, last = { [0] = 0 }, f(0)
  for i = 1, steps do
    local next = f(i * h)
    F[i] = F[i - 1] + h / 6 * (last + 4 * f((i - 0.5) * h) + next)
    last = next
  end
  for i = 0, steps do F[i] = F[i] / F[steps] end
  return F
end

-- The cdf of angles, for statistics.ks.
local function angle_cdf (d, k)
  local steps = 1000
  local F = angle_table(d, k, steps)
  return function (list)
    local values = {}
    for i, t in ipairs(list) do
      local at = math.min(t / math.pi, 1 - 1e-12) * steps
      local j = math.floor(at)
      values[i] = F[j] + (at - j) * (F[j + 1] - F[j])
    end
    return peri.tensor(values)
  end
end

-- Angles between rows of x and m, a tensor: 2 atan(|x - m|/|x + m|)
local function angles (x, m)
  local near, far = ((x - m) ^ 2):sum(-1):sqrt(), ((x + m) ^ 2):sum(-1):sqrt()
  return 2 * (near / far):atan()
end

describe("VonMisesFisher", function ()
  for _, case in ipairs(cases) do
    local dim, k, log_prob, entropy, mean, along = table.unpack(case)
    it("has its density, entropy and moments for d = " .. dim .. ", k = " .. k, function ()
      local m = row(dim, { 0.6, [dim] = 0.8 })
      local d = VonMisesFisher(m, k)
      close(log_prob, peri.item(d:log_prob(row(dim, { 1 }))))
      close(entropy, peri.item(d:entropy()), 1e-14)
      local got, variance, across = d:mean(), d:variance(), mean / k
      close(0.6 * mean, got[1])
      close(0.8 * mean, got[dim])
      close(0.36 * along + 0.64 * across, variance[1], 1e-14)
      close(0.64 * along + 0.36 * across, variance[dim], 1e-14)
      if dim > 2 then close(across, variance[2]) end
      close(along, VonMisesFisher(row(dim, { 0, 1 }), k):variance()[2], 1e-13)
      close(math.sqrt(variance[1]), d:stddev()[1])
    end)
  end

  it("is VonMises on the circle", function ()
    for _, k in ipairs { 1e-6, 0.3, 4, 39, 41, 1e6 } do
      local circle, d = peri.VonMises(0.7, k), VonMisesFisher({ math.cos(0.7), math.sin(0.7) }, k)
      for _, angle in ipairs { -2, 0.5, 0.71, 3 } do
        close(circle:log_prob(angle), peri.item(d:log_prob({ math.cos(angle), math.sin(angle) })), 1e-13)
      end
      close(circle:entropy(), peri.item(d:entropy()), 1e-13)
    end
  end)

  it("has hyperbolic functions in space", function ()
    for _, k in ipairs { 0.5, 3, 20 } do
      local d = VonMisesFisher({ 0, 0, 1 }, k)
      local sinh, cosh = (math.exp(k) - math.exp(-k)) / 2, (math.exp(k) + math.exp(-k)) / 2
      close(math.log(k / (4 * math.pi * sinh)) - 0.28 * k, peri.item(d:log_prob({ 0.96, 0, -0.28 })), 1e-13)
      close(cosh / sinh - 1 / k, d:mean()[3], 1e-13)
    end
    close(-math.log(4 * math.pi), peri.item(VonMisesFisher({ 0, 0, 1 }, 0):log_prob({ 0.96, 0, -0.28 })))
    close(math.log(4 * math.pi), peri.item(VonMisesFisher({ 0, 0, 1 }, 0):entropy()))
    assert.same({ 0.0, 0.0, 0.0 }, VonMisesFisher({ 0, 0, 1 }, 0):mean():totable())
    close(1 / 3, VonMisesFisher({ 0, 0, 1 }, 0):variance()[1])
  end)

  it("has a density that integrates to 1", function ()
    -- p at angle t times the area 2 pi^(n/2)/Gamma(n/2) sin(t)^(n-1) of its circle, n = d - 1
    for _, case in ipairs { { 2, 3 }, { 3, 10 }, { 4, 0.5 }, { 7, 12 }, { 30, 45 } } do
      local dim, k = table.unpack(case)
      local n, steps, points, weights = dim - 1, 400, {}, {}
      local area = math.log(2) + n / 2 * math.log(math.pi) - peri.special.lgamma(n / 2)
      for i = 0, steps do
        local t = i * math.pi / steps
        points[i + 1] = row(dim, { math.cos(t), math.sin(t) })
        weights[i + 1] = math.pi / steps / 3 * ((i == 0 or i == steps) and 1 or i % 2 == 1 and 4 or 2)
                         * math.abs(math.sin(t)) ^ (n - 1) * math.exp(area)
      end
      close(1, peri.item((VonMisesFisher(row(dim, { 1 }), k):prob(points) * weights):sum()), 1e-7)
    end
  end)

  for _, case in ipairs {
    { 0.6, 0.8 }, { 1, 0 }, { -1, 0 }, { 1, 1e-9 }, { -0.6, 0, 0.8 }, { 1, 0, 1e-160 }, { 0, 0.6, 0, -0.8 },
    { 0.5, -0.5, 0, 0.5, 0.5, 0, 0, 0, 0, 0 },
  } do
    it("draws directions about {" .. table.concat(case, ", ") .. "}", function ()   -- false alarm 1e-6 each
      local n, dim, m = 1500, #case, peri.tensor(case)
      local across = row(dim, { case[2], -case[1] })   -- a direction across m
      if case[1] == 0 then across = row(dim, { 1 }) end
      local length = math.sqrt(across[1] ^ 2 + across[2] ^ 2)
      for _, k in ipairs { 0, 1e-300, 0.7, 8, 300 } do
        local d = VonMisesFisher(case, k)
        local draws = d:sample(n, peri.rng(6))
        assert(peri.allclose((draws ^ 2):sum(-1), peri.ones(n), 0, 1e-14))
        local t = angles(draws, m)
        local ok, gap = statistics.ks(t, angle_cdf(dim, k))
        assert(ok, string.format("angles for k = %g are off by %g", k, gap))
        local turned = (draws * across):sum(-1) / length / t:sin()
        if dim == 2 then assert(math.abs(peri.item(turned:sum())) <= 5 * math.sqrt(n))
        else
          local c = (dim - 2) / 2
          ok, gap = statistics.ks(0.5 + 0.5 * turned, function (x) return peri.Beta(c, c):cdf(peri.tensor(x)) end)
          assert(ok, string.format("turns for k = %g are off by %g", k, gap))
        end
        local rng = peri.rng(6)
        local pieces = peri.cat { d:sample(3, rng), d:rsample({ 2, 2 }, rng):reshape(4, dim) }
        assert.is_true(pieces:equal(draws:narrow(1, 1, 7)))
      end
    end)
  end

  it("draws cosines with their moments", function ()   -- false alarm 1e-6 each
    for _, case in ipairs { { 2, 0.7 }, { 2, 6 }, { 3, 2 }, { 5, 3 }, { 12, 9 } } do
      local dim, k = table.unpack(case)
      local d = VonMisesFisher(row(dim, { 1 }), k)
      local cosine, mean, variance = d:sample(100000, peri.rng(3)):select(-1, 1), d:mean()[1], d:variance()[1]
      assert(statistics.mean(cosine, mean, variance))
      local square = (cosine - mean) ^ 2
      assert(math.abs(peri.item(square:mean()) - variance) <= 5 * peri.item(square:std()) / math.sqrt(100000))
    end
  end)

  it("draws directions however concentrated", function ()   -- false alarm 1e-6 each
    -- k |x - m|^2 is Chi2(d - 1) for huge k
    for _, dim in ipairs { 2, 3, 6 } do
      for _, k in ipairs { 1e10, 1e15 } do
        local m = row(dim, { [dim - 1] = 0.6, [dim] = 0.8 })
        local squares = ((VonMisesFisher(m, k):sample(3000, peri.rng(5)) - peri.tensor(m)) ^ 2):sum(-1) * k
        -- rounding of x is seen in steps of 1e-16 sqrt(k), a hundredth of a standard deviation
        assert(statistics.ks(squares, function (x) return peri.Chi2(dim - 1):cdf(peri.tensor(x)) end))
      end
    end
  end)

  it("has no density off the sphere, and NaN for NaN", function ()
    local d = VonMisesFisher({ 0.6, 0.8 }, 2)
    for _, x in ipairs { { 0.6, 0.81 }, { 0, 0 }, { math.huge, 0 }, { 1, 1 } } do
      assert.equal(-math.huge, peri.item(d:log_prob(x)))
    end
    local nan = peri.item(d:log_prob({ 0 / 0, 1 }))
    assert(nan ~= nan)
    assert(peri.item(d:log_prob({ 0.6, 0.8 + 1e-8 })) > -1)   -- rounded vectors pass
    assert.has_error(function () d:log_prob({ 1, 0, 0 }) end)
  end)

  it("has the right adjoints", function ()
    local m, x = peri.tensor { 0.48, 0.6, 0.64 }, peri.tensor { 0, -0.6, 0.8 }
    for _, c in ipairs { 0.05, 1.5, 30, 41, 3000 } do
      local k = peri.tensor(c)
      local value, adjoint = bound("log_prob", "x", "m", "k")
      assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { x, m, k }, peri.tensor(1.7), 1e-8, { true, true }))
      local dx, dm = adjoint(x, m, k, 1.7)
      -- x and m stay on the sphere: turned in the plane of the first and third coordinate
      local function turned (v, t)
        return { math.cos(t) * v[1] - math.sin(t) * v[3], v[2], math.sin(t) * v[1] + math.cos(t) * v[3] }
      end
      local by_x, error_x = slopes.derivative(function (t) return 1.7 * value(turned(x, t), m, k) end, 0, 0.01)
      local by_m, error_m = slopes.derivative(function (t) return 1.7 * value(x, turned(m, t), k) end, 0, 0.01)
      assert(math.abs(dx[3] * x[1] - dx[1] * x[3] - by_x) <= 1e-8 * math.abs(by_x) + 4 * error_x)
      assert(math.abs(dm[3] * m[1] - dm[1] * m[3] - by_m) <= 1e-8 * math.abs(by_m) + 4 * error_m)
      for _, name in ipairs { "mean", "variance" } do
        value, adjoint = bound(name, "m", "k")
        assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { m, k }, peri.tensor { 1, -2, 0.5 }, 1e-8))
      end
      value, adjoint = bound("entropy", "m", "k")
      assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { m, k }, peri.tensor(-0.6), 1e-8, { true }))
    end
  end)

  it("has draws whose angle moves with the concentration", function ()
    local move = core.bind_adjoint("vonmisesfisher", "rsample", "rsample", { "x", "m", "k" }, { "x", "m", "k" })
    local function slope_at (dim, k, t)   -- of the angle t
      local s, c = math.sin(t), math.cos(t)
      local _, _, dk = move(row(dim, { s, [dim] = c }), row(dim, { [dim] = 1 }), k, row(dim, { c, [dim] = -s }))
      return peri.item(dk)
    end
    -- on the circle, as VonMises
    local circle = core.bind_partials("vonmises", "rsample", "rsample", { "x", "m", "k" }, { "x", "m", "k" })
    for _, k in ipairs { 0.2, 5, 900 } do
      for _, z in ipairs { 0.1, 1, 2.5 } do
        local t = z / math.sqrt(k + 1)
        local _, _, dk = circle(t, 0, k)
        close(core.is_tensor(dk) and peri.item(dk) or dk, slope_at(2, k, t), 1e-11)
      end
    end
    -- in space, where 1 - cos t = -log(1 - u (1 - e^-2k))/k at fixed u
    for _, k in ipairs { 0.01, 2, 30 } do
      for _, t in ipairs { 0.2, 1, 1.7, 2.9 } do
        local u = (1 - math.exp(-k * (1 - math.cos(t)))) / (1 - math.exp(-2 * k))
        local function angle (v) return math.acos(1 + math.log(1 - u * (1 - math.exp(-2 * v))) / v) end
        if u < 1 - 1e-6 then
          local slope, error = slopes.derivative(angle, k, 0.01 * k)
          assert(math.abs(slope_at(3, k, t) - slope) <= 1e-7 * math.abs(slope) + 4 * error)
        end
      end
    end
    -- elsewhere, -(dF/dk)/f from the table of F
    for _, case in ipairs { { 4, 3 }, { 6, 0.5 }, { 25, 60 } } do
      local dim, k = table.unpack(case)
      local steps = 300
      local near = angle_table(dim, k, 4 * steps)
      for _, j in ipairs { 50, 130 } do
        local function F (v) return angle_table(dim, v, steps)[j] end
        local by_k, error = slopes.derivative(F, k, 0.02 * k)
        local f = (8 * (near[4 * j + 1] - near[4 * j - 1]) - (near[4 * j + 2] - near[4 * j - 2]))
                  / (12 * math.pi / (4 * steps))
        if f > 1e-6 then
          local slope = slope_at(dim, k, j * math.pi / steps)
          assert(math.abs(slope * f + by_k) <= 1e-5 * math.abs(by_k) + 4 * error)
        end
      end
    end
    local dx, _, dk = move({ 0, 1 }, { 0, 1 }, 2, { 1, 1 })   -- at the very mode
    assert.same({ { 1.0, 1.0 }, 0.0 }, { dx:totable(), peri.item(dk) })
  end)

  it("has draws that turn with the mean direction", function ()   -- false alarm 1e-6 each
    -- E (a.x)^2 = A/k + (A' + A^2 - A/k) (a.m)^2, from slopes of (a.x)^2
    local move = core.bind_adjoint("vonmisesfisher", "rsample", "rsample", { "x", "m", "k" }, { "x", "m", "k" })
    local n, a, turn = 8000, peri.tensor { 0.3, 1, -0.5, 0.2 }, peri.tensor { -0.8, 0, 0, 0.6 }
    for _, k in ipairs { 0.8, 12 } do
      local m = peri.tensor { 0.6, 0, 0, 0.8 }
      local d, along = VonMisesFisher(m, k), VonMisesFisher({ 1, 0, 0, 0 }, k)
      local mean, variance = along:mean()[1], along:variance()
      local factor = variance[1] + mean ^ 2 - variance[2]
      local function cosine (v) return peri.item((a * v):sum()) end
      local x = d:rsample(n, peri.rng(9))
      local _, dm, dk = move(x, m, k, 2 * (x * a):sum(-1):unsqueeze(-1) * a)
      local slope = (dm * turn):sum(-1)
      assert(math.abs(peri.item(slope:mean()) - 2 * factor * cosine(m) * cosine(turn))
             <= 5 * peri.item(slope:std()) / math.sqrt(n))
      assert(peri.allclose((dm * m):sum(-1), peri.zeros(n), 0, 1e-14))   -- along m nothing moves
      local exact = slopes.derivative(function (v)
        local law = VonMisesFisher({ 1, 0, 0, 0 }, v)
        local var = law:variance()
        return var[2] * peri.item((a ^ 2):sum()) + (var[1] + law:mean()[1] ^ 2 - var[2]) * cosine(m) ^ 2
      end, k, 0.01)
      assert(math.abs(peri.item(dk:mean()) - exact) <= 5 * peri.item(dk:std()) / math.sqrt(n))
    end
  end)

  it("has batches, of directions and of concentrations", function ()
    local d = VonMisesFisher({ { 1, 0, 0 }, { 0, 0.6, 0.8 } }, { 2, 50 })
    assert.same({ 2 }, d.batch_shape)
    assert.same({ 3 }, d.event_shape)
    local x = { 0, 0, 1 }
    for i, v in ipairs(d:log_prob(x):totable()) do
      local single = VonMisesFisher(d.mean_direction[i], d.concentration[i])
      assert.equal(peri.item(single:log_prob(x)), v)
      assert.equal(peri.item(single:entropy()), d:entropy()[i])
    end
    assert.same({ 5, 2 }, d:log_prob(peri.tensor(x):expand({ 5, 1, 3 })).shape)
    assert.same({ 5, 2, 3 }, d:sample(5).shape)
    assert.same({ 4, 2, 3 }, d:expand({ 4, 2 }):mean().shape)
    assert.same({ 4, 2 }, d:expand({ 4, 2 }):entropy().shape)
    local several = VonMisesFisher({ 0, 1 }, { 1, 2, 3 })
    assert.same({ { 0.0, 1.0 }, { 0.0, 1.0 }, { 0.0, 1.0 } }, several:mode():totable())
    assert.same({ 3, 2 }, several:variance().shape)
  end)

  it("refuses what is no direction or no concentration, and prints", function ()
    for _, case in ipairs {
      { { 1, 1 }, 1, "mean_direction must be a unit vector, got a row of length 1.4142135623731" },
      { { { 1, 0 }, { 0, 3 } }, 1, "mean_direction must be a unit vector, got a row of length 3 at [2]" },
      { { 0 / 0, 1 }, 1, "mean_direction must be a real number, got nan at [1]" },
      { { 1 }, 1, "mean_direction must have at least 2 coordinates, got 1" },
      { 1, 1, "mean_direction must have at least 1 dimension, got 1" },
      { { 1, 0 }, -1, "concentration must be non-negative, got -1" },
      { nil, 1, "mean_direction is nil (argument 1)" },
    } do
      assert.equal("VonMisesFisher: " .. case[3], refusal(VonMisesFisher, case[1], case[2]))
    end
    local _, message = pcall(function () return VonMisesFisher({ 1, 1 }) .. "" end)
    assert.truthy(message:find("VonMisesFisher_spec.lua:%d+: VonMisesFisher: "), message)
    assert.equal("VonMisesFisher(mean_direction={0, 1}, concentration=1)", tostring(VonMisesFisher { 0, 1 }))
  end)

  it("explains itself, with an example that is right", function ()
    local help = VonMisesFisher.help
    assert.is_string(help.summary)
    close(help.example[2], load("local VonMisesFisher = ...; return " .. help.example[1])(VonMisesFisher), 1e-12)
  end)
end)
