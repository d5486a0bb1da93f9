-- Every distribution at the points of its spec: gradients of its methods with respect to every parameter, through
-- the public API, against slopes.
local peri  = require "perilune"
local core  = require "perilune.core"
local check = require "spec.gradient.check"

local unpack = table.unpack

-- Parameters that are integers: there is nothing to differentiate, and they say so.
local refused = {
  DiscreteUniform = { log_prob = true, cdf = true, entropy = true },
  Hypergeometric  = { log_prob = true, cdf = true, entropy = true },
}

-- A sampler that draws by itself moves along its quantiles; any other along its noise.
local function is_implicit (class)
  for _, kernel in ipairs(core.kernels()[class.kernels] or {}) do
    if kernel.name == "rsample" then return kernel.noise == nil end
  end
  return false
end

-- The method as a function of the parameters, and what to compare its slope with.
local function functions_of (class, method, d)
  if method == "rsample" then
    local function draw (...) return class(...):rsample(nil, peri.rng(7)) end
    local x = d:rsample(nil, peri.rng(7))
    local u, upper = d:cdf(x), d:cdf(x) > 0.5 and d:sf(x)
    local function quantile (...) return upper and class(...):isf(upper) or class(...):icdf(u) end
    return draw, is_implicit(class) and quantile or draw
  end
  local x = d:icdf(0.4)
  local function value (...)
    local dist = class(...)
    return dist[method](dist, x)
  end
  return value, value
end

-- Gradients with respect to all parameters.
local function gradients_of (f, point)
  local named = {}
  for k, x in ipairs(point) do named["p" .. k] = x end
  local grads = peri.grad(function (p)
    local arguments = {}
    for k = 1, #point do arguments[k] = p["p" .. k] end
    return f(unpack(arguments))
  end)(named)
  local list = {}
  for k = 1, #point do list[k] = grads["p" .. k] end
  return list
end

local function verify (name, class, method, point)
  local d = class(unpack(point))
  local f, compared = functions_of(class, method, d)
  local value = f(unpack(point))
  if value ~= value or math.abs(value) == math.huge then return end
  local grads = gradients_of(f, point)
  for _, g in ipairs(grads) do assert(math.abs(g) < math.huge, method) end
  local why = check.slope_mismatch(compared, point, grads, 1e-6)
  if why and why:find("+- inf", 1, true) then why = nil end   -- no step stays within the domain
  assert(not why, why and string.format("%s(%s):%s: %s", name, table.concat(point, ", "), method, why))
end

-- Small steps may leave the domain of a parameter.
setup(function () peri.validate(false) end)
teardown(function () peri.validate(true) end)

for _, name in ipairs(core.classes()) do
  local class, points = peri[name], check.points(name)
  for _, method in ipairs(points and { "log_prob", "cdf", "entropy", "mean", "variance", "rsample" } or {}) do
    if refused[name] and refused[name][method] then
      it(name .. ":" .. method .. " of integers has no derivative", function ()
        local ok, message = pcall(gradients_of, (functions_of(class, method, class(unpack(points[1])))), points[1])
        assert.is_false(ok)
        assert.matches(name .. ":" .. method .. ": has no derivative", message, 1, true)
      end)
    elseif method ~= "rsample" or class.has_rsample then
      it(name .. ":" .. method, function ()
        for _, point in ipairs(points) do verify(name, class, method, point) end
      end)
    end
  end
end


-- Families of rows: how they are made of tensors, and what is looked at.
local function draws (seed, ...) return 0.5 * peri.Normal(0, 1):sample({ ... }, peri.rng(seed)) end
local tril = peri.tensor { { 1.5, 0, 0 }, { 0.3, 0.8, 0 }, { -0.4, 0.2, 1.1 } }
local below = peri.tensor { { 1, 0, 0 }, { 1, 1, 0 }, { 1, 1, 1 } }
local spd = tril:matmul(tril:transpose())
local function covariance (a) return (a + a:transpose()) / 2 end

local families = {
  Categorical = { function (l) return peri.Categorical { logits = l } end, { draws(1, 2, 4) },
                  log_prob = 2, entropy = true },
  OneHotCategorical = { function (l) return peri.OneHotCategorical { logits = l } end, { draws(2, 4) },
                        log_prob = { 0, 1, 0, 0 }, entropy = true, mean = true, variance = true },
  Multinomial = { function (l) return peri.Multinomial { total_count = 5, logits = l } end, { draws(3, 3) },
                  log_prob = { 1, 3, 1 }, mean = true, variance = true },
  RelaxedOneHotCategorical = { function (t, l) return peri.RelaxedOneHotCategorical { temperature = t, logits = l } end,
                               { peri.tensor(0.7), draws(4, 3) }, log_prob = { 0.2, 0.5, 0.3 }, rsample = true },
  Dirichlet = { function (a) return peri.Dirichlet(a:exp()) end, { draws(5, 2, 3) },
                log_prob = { 0.2, 0.5, 0.3 }, entropy = true, mean = true, variance = true },
  DirichletMultinomial = {
    function (a) return peri.DirichletMultinomial { total_count = 5, concentration = a:exp() } end, { draws(6, 3) },
    log_prob = { 1, 3, 1 }, mean = true, variance = true },
  MultivariateNormal = { function (m, l) return peri.MultivariateNormal { loc = m, scale_tril = l * below } end,
                         { draws(7, 2, 3), tril }, log_prob = { 1, 2, 3 }, entropy = true, mean = true,
                         variance = true, rsample = true },
  ["MultivariateNormal of a covariance"] = {
    function (m, a) return peri.MultivariateNormal { loc = m, covariance_matrix = covariance(a) } end,
    { draws(7, 3), spd }, log_prob = { 1, 2, 3 }, entropy = true, variance = true, rsample = true },
  LowRankMultivariateNormal = {
    function (m, w, d) return peri.LowRankMultivariateNormal { loc = m, cov_factor = w, cov_diag = d:exp() } end,
    { draws(8, 3), draws(9, 3, 2), draws(10, 3) }, log_prob = { 1, 2, 3 }, entropy = true, variance = true },
  MultivariateStudentT = {
    function (v, m, l) return peri.MultivariateStudentT { df = v, loc = m, scale_tril = l * below } end,
    { peri.tensor(4.5), draws(11, 3), tril }, log_prob = { 1, 2, 3 }, entropy = true, variance = true },
  Wishart = { function (v, l) return peri.Wishart { df = v, scale_tril = l * below } end, { peri.tensor(5.5), tril },
              log_prob = spd:totable(), entropy = true, mean = true, variance = true },
  VonMisesFisher = { function (m, k) return peri.VonMisesFisher(m / (m * m):sum():sqrt(), k) end,
                     { peri.tensor { 0.3, 0.5, -0.4 }, peri.tensor(3) }, log_prob = { 0.6, 0, 0.8 }, entropy = true,
                     mean = true },
  LKJCholesky = { function (c) return peri.LKJCholesky(3, c) end, { peri.tensor(1.7) },
                  log_prob = { { 1, 0, 0 }, { 0.6, 0.8, 0 }, { 0, 0.6, 0.8 } }, entropy = true },
  MixtureSameFamily = {
    function (l, m) return peri.MixtureSameFamily(peri.Categorical { logits = l }, peri.Normal(m, 1)) end,
    { draws(12, 3), draws(13, 3) }, log_prob = 0.4, cdf = 0.4, mean = true, variance = true },
  Independent = { function (m, r) return peri.Independent(peri.Normal(m, r:exp()), 1) end,
                  { draws(14, 2, 3), draws(15, 3) }, log_prob = { 1, 2, 3 }, entropy = true, rsample = true },
  Truncated = { function (m) return peri.Truncated(peri.Normal(m, 1), -1, 2) end, { peri.tensor(0.3) },
                log_prob = 0.4, cdf = 0.4, icdf = 0.4, mean = true, variance = true, entropy = true },
}

for title, family in pairs(families) do
  local make, operands = family[1], family[2]
  for method, argument in pairs(family) do
    if type(method) == "string" then
      it(title .. ":" .. method, function ()
        local why = check.mismatch(function (...)
          local d = make(...)
          if method == "rsample" then return d:rsample(2, peri.rng(5)) end
          return d[method](d, argument ~= true and argument or nil)
        end, operands)
        assert(not why, why)
      end)
    end
  end
end
