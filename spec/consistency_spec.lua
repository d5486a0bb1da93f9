--- At random parameters: quantiles invert tails, densities are their slopes, logarithms are logarithms, and
-- moments are integrals. Parameters come from the constraints of a class, so that no class is left out.
local peri       = require "perilune"
local quadrature = require "perilune.quadrature"

local DRAWS = 8
local U = { 1e-3, 0.21, 0.52, 0.8, 0.997 }

-- A random value that satisfies the constraint: a Normal number, bent to it.
local function value (constraint, rng)
  local z = peri.Normal(0, 1):sample(nil, rng)
  local low, high = constraint.low, constraint.high
  if constraint.is_discrete then
    low = math.max(low, -20)
    return math.floor(low + (math.min(high, low + 60) - low) * peri.sigmoid(z))
  end
  if low == -math.huge then return high == math.huge and 2 * z or high - math.exp(z) end
  return high == math.huge and low + math.exp(z) or low + (high - low) * peri.sigmoid(z)
end

local function random (class, rng)
  local values, done = {}, {}
  for _, param in ipairs(class.params) do
    local constraint = param[2]
    if type(constraint) == "function" then constraint = constraint(values) end
    if not done[param[1]] then values[param[1]] = value(constraint, rng) end
    for other in pairs(param.gives or {}) do done[other] = true end   -- of alternatives, the first
  end
  return class(values)
end

local function is_univariate (class)
  local has_params = #class.params > 0
  for _, param in ipairs(class.params) do has_params = has_params and not param.event end
  return has_params
end

local function near (expected, got, tolerance, d, what)
  assert(expected == got or math.abs(expected - got) <= tolerance,
         string.format("%s %s: expected %.17g, got %.17g", tostring(d), what, expected, got))
end

-- Logarithms and complements agree where none is small.
local function check_tails (d, x)
  near(1, d:cdf(x) + d:sf(x), 1e-14, d, "cdf + sf at " .. x)
  near(math.log(d:cdf(x)), d:log_cdf(x), 1e-12 * (1 + math.abs(d:log_cdf(x))), d, "log_cdf at " .. x)
  near(math.log(d:sf(x)), d:log_sf(x), 1e-12 * (1 + math.abs(d:log_sf(x))), d, "log_sf at " .. x)
  near(math.exp(d:log_prob(x)), d:prob(x), 1e-13 * d:prob(x), d, "prob at " .. x)
end

-- Differences of the tail that is small, of fourth order over h.
local function slope (d, x, h)
  local function at (k) return d:cdf(x) < 0.5 and d:cdf(x + k * h) or -d:sf(x + k * h) end
  return (at(-2) - at(2) + 8 * (at(1) - at(-1))) / (12 * h)
end

local function check_continuous (d)
  for _, u in ipairs(U) do
    local x, y = d:icdf(u), d:isf(u)
    near(u, d:cdf(x), 1e-11 * u + 2 ^ -50 * math.abs(x) * d:prob(x), d, "cdf of icdf")
    near(u, d:sf(y), 1e-11 * u + 2 ^ -50 * math.abs(y) * d:prob(y), d, "sf of isf")
    check_tails(d, x)
    local h = 1e-3 * math.min(u, 1 - u) / d:prob(x)
    if math.abs(x) * 1e-10 < h then near(d:prob(x), slope(d, x, h), 1e-5 * d:prob(x), d, "slope of cdf at " .. x) end
  end
  local a, b = d:icdf(0.01), d:icdf(0.99)
  local points, decade = { d:icdf(0.1), d:mode() }, 10 * a
  while a > 0 and b > 1e40 * a and decade < b do
    points[#points + 1], decade = decade, 10 * decade   -- too many of them for any rule
  end
  local mass = quadrature.integrate(function (x) return d:prob(x) end, a, b, { points = points })
  local rounding = 2 ^ -52 * (math.abs(a) * d:prob(a) + math.abs(b) * d:prob(b))   -- of the ends, at poles
  near(0.98, type(mass) == "number" and mass or peri.item(mass), 1e-8 + rounding, d, "mass")
end

local function check_discrete (d)
  for _, u in ipairs(U) do
    local k = d:icdf(u)
    assert(d:cdf(k) >= u * (1 - 1e-14) and d:cdf(k - 1) < u, tostring(d) .. " icdf of " .. u)
    near(d:prob(k), d:cdf(k) - d:cdf(k - 1), 1e-13, d, "step of cdf at " .. k)
    if d:sf(k) > 0 then check_tails(d, k) end
  end
end

-- Moments where they exist, within what the integral says of its error, and what rounding of x hides of a pole
-- that is not at 0. Those of angles are others.
local function check_moments (d, name)
  local function check (expected, f, what)
    local got, error = d:expectation(f)
    near(expected, got, 2 * error + 1e-6 * (1 + math.abs(expected)), d, what)
  end
  check(-d:entropy(), function (x) return d:log_prob(x) end, "entropy")
  local mean, variance = d:mean(), d:variance()
  local is_moderate = variance < 1e6   -- and no NaN
  if name == "VonMises" or not is_moderate then return end
  check(mean, function (x) return x end, "mean")
  check(variance, function (x) return (x - mean) ^ 2 end, "variance")
  near(variance, d:stddev() ^ 2, 1e-12 * variance, d, "stddev")
end

-- A seed for each name, so that a new class changes no other's parameters.
local function seed_of (name)
  local seed = 7000
  for i = 1, #name do seed = seed + i * name:byte(i) end
  return seed
end

describe("at random parameters", function ()
  for _, name in ipairs(peri.distributions()) do
    if is_univariate(peri[name]) and not (name == "Delta" or name == "LKJ" or name == "LKJCholesky") then
      it(name, function ()
        local rng = peri.rng(seed_of(name))
        for _ = 1, DRAWS do
          local d = random(peri[name], rng)
          if d.support.is_discrete then check_discrete(d) else check_continuous(d) end
          check_moments(d, name)
        end
      end)
    end
  end
end)
