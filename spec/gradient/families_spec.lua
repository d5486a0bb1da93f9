-- Families of rows and laws made of others: gradients of their methods, of their draws, of the density of a draw and of
-- divergences within the family, with respect to every argument, through the public API.
local peri  = require "perilune"
local core  = require "perilune.core"
local check = require "spec.gradient.check"
local paths = require "spec.gradient.paths"

local transforms = peri.transforms

local function draws (seed, ...) return 0.5 * peri.Normal(0, 1):sample({ ... }, peri.rng(seed)) end
local tril = peri.tensor { { 1.5, 0, 0 }, { 0.3, 0.8, 0 }, { -0.4, 0.2, 1.1 } }
local below = peri.tensor { { 1, 0, 0 }, { 1, 1, 0 }, { 1, 1, 1 } }
local spd = tril:matmul(tril:transpose())
local two, below_two = peri.tensor { { 1.2, 0 }, { -0.5, 0.7 } }, peri.tensor { { 1, 0 }, { 1, 1 } }
local function symmetric (a) return (a + a:transpose()) / 2 end
local function mixture (l, m) return peri.MixtureSameFamily(peri.Categorical { logits = l }, peri.Normal(m, 1)) end
local function various (l, m, a)
  return peri.MixtureDistribution(peri.Categorical { logits = l }, { peri.Normal(m, 1), peri.Gamma(a:exp(), 2) })
end
local function gammas (a) return peri.Independent(peri.Gamma(a:exp(), 2), 1) end

-- How they are made of tensors; the tensors; then what is looked at: the argument of a method, or true where there is
-- none. `rsample` is true where draws follow their noise, else the path they take.
local families = {
  Categorical = { function (l) return peri.Categorical { logits = l } end, { draws(1, 2, 4) },
                  log_prob = 2, entropy = true },
  OneHotCategorical = { function (l) return peri.OneHotCategorical { logits = l } end, { draws(2, 4) },
                        log_prob = { 0, 1, 0, 0 }, entropy = true, mean = true, variance = true },
  OneHotCategoricalStraightThrough = {
    function (l) return peri.OneHotCategoricalStraightThrough { logits = l } end, { draws(2, 2, 4) },
    log_prob = { 0, 1, 0, 0 }, rsample = paths.straight_through, discrete = true },
  Multinomial = { function (l) return peri.Multinomial { total_count = 5, logits = l } end, { draws(3, 3) },
                  log_prob = { 1, 3, 1 }, mean = true, variance = true },
  RelaxedOneHotCategorical = { function (t, l) return peri.RelaxedOneHotCategorical { temperature = t, logits = l } end,
                               { peri.tensor { 0.7, 1.3 }, draws(4, 3) }, log_prob = { 0.2, 0.5, 0.3 },
                               rsample = true },
  Dirichlet = { function (a) return peri.Dirichlet(a:exp()) end, { draws(5, 2, 3) },
                log_prob = { 0.2, 0.5, 0.3 }, entropy = true, mean = true, variance = true,
                rsample = paths.dirichlet },
  ["Dirichlet within"] = { function (a) return peri.Dirichlet(a:exp()) end,
                           { peri.tensor { { 1.2, 0.4, 0.9 }, { 0.7, -0.5, 0.3 }, { -1, 0.5, -0.2 } } }, mode = true },
  DirichletMultinomial = {
    function (a) return peri.DirichletMultinomial { total_count = 5, concentration = a:exp() } end, { draws(6, 3) },
    log_prob = { 1, 3, 1 }, mean = true, variance = true },
  MultivariateNormal = { function (m, l) return peri.MultivariateNormal { loc = m, scale_tril = l * below } end,
                         { draws(7, 2, 3), tril }, log_prob = { 1, 2, 3 }, entropy = true, mean = true,
                         variance = true, rsample = true },
  ["MultivariateNormal of a covariance"] = {
    function (m, a) return peri.MultivariateNormal { loc = m, covariance_matrix = symmetric(a) } end,
    { draws(7, 3), spd }, log_prob = { 1, 2, 3 }, entropy = true, variance = true, rsample = true },
  ["MultivariateNormal of a precision"] = {
    function (m, a) return peri.MultivariateNormal { loc = m, precision_matrix = symmetric(a) } end,
    { draws(7, 2, 3), spd }, log_prob = { 1, 2, 3 }, entropy = true, variance = true, rsample = true },
  LowRankMultivariateNormal = {
    function (m, w, d) return peri.LowRankMultivariateNormal { loc = m, cov_factor = w, cov_diag = d:exp() } end,
    { draws(8, 2, 3), draws(9, 3, 2), draws(10, 3) }, log_prob = { 1, 2, 3 }, entropy = true, variance = true,
    rsample = paths.low_rank },
  MultivariateStudentT = {
    function (v, m, l) return peri.MultivariateStudentT { df = v, loc = m, scale_tril = l * below } end,
    { peri.tensor { 4.5, 2.5 }, draws(11, 3), tril }, log_prob = { 1, 2, 3 }, entropy = true, variance = true,
    rsample = paths.student(below) },
  MatrixNormal = {
    function (m, r, c)
      return peri.MatrixNormal { loc = m, row_scale_tril = r * below, column_scale_tril = c * below_two }
    end,
    { draws(16, 2, 3, 2), tril, two }, log_prob = { { 1, 2 }, { 0, -1 }, { 0.5, 2 } }, entropy = true, mean = true,
    variance = true, rsample = true },
  ["MatrixNormal of covariances"] = {
    function (m, r, c)
      return peri.MatrixNormal { loc = m, row_covariance = symmetric(r), column_covariance = symmetric(c) }
    end,
    { draws(17, 3, 2), spd, two:matmul(two:transpose()) }, log_prob = { { 1, 2 }, { 0, -1 }, { 0.5, 2 } },
    entropy = true, variance = true, rsample = true },
  Wishart = { function (v, l) return peri.Wishart { df = v, scale_tril = l * below } end,
              { peri.tensor(5.5), tril }, log_prob = spd:totable(), entropy = true, mean = true, variance = true,
              rsample = paths.wishart(below, false) },
  ["Wishart of a precision"] = {
    function (v, a) return peri.Wishart { df = v, precision_matrix = symmetric(a) } end, { peri.tensor(5.5), spd },
    log_prob = spd:totable(), entropy = true, mean = true },
  InverseWishart = { function (v, l) return peri.InverseWishart { df = v, scale_tril = l * below } end,
                     { peri.tensor(8.5), tril }, log_prob = spd:totable(), entropy = true, mean = true,
                     variance = true, mode = true, rsample = paths.wishart(below, true) },
  ["InverseWishart of a matrix"] = {
    function (v, a) return peri.InverseWishart { df = v, scale_matrix = symmetric(a) } end,
    { peri.tensor { 7.5, 9 }, spd }, log_prob = spd:totable(), entropy = true, mean = true, variance = true },
  VonMisesFisher = { function (m, k) return peri.VonMisesFisher(m / peri.sqrt((m * m):sum()), k) end,
                     { peri.tensor { 0.3, 0.5, -0.4 }, peri.tensor(3) }, log_prob = { 0.6, 0, 0.8 }, entropy = true,
                     mean = true, variance = true, rsample = paths.mises_fisher },
  LKJCholesky = { function (c) return peri.LKJCholesky(3, c) end, { peri.tensor { 1.7 } },
                  log_prob = { { 1, 0, 0 }, { 0.6, 0.8, 0 }, { 0, 0.6, 0.8 } }, entropy = true, mean = true,
                  variance = true, rsample = paths.lkj },
  LKJ = { function (c) return peri.LKJ(3, c) end, { peri.tensor { 1.7 } },
          log_prob = { { 1, 0.5, 0 }, { 0.5, 1, -0.25 }, { 0, -0.25, 1 } }, entropy = true, mean = true,
          variance = true, rsample = paths.lkj_matrix },
  LogisticNormal = { function (m, s) return peri.LogisticNormal(m, s:exp()) end, { draws(18, 2, 2), draws(19, 2) },
                     log_prob = { 0.2, 0.5, 0.3 }, entropy = true, mean = true, variance = true, mode = true,
                     rsample = true },
  MixtureSameFamily = { mixture, { draws(12, 3), draws(13, 3) }, log_prob = 0.4, cdf = 0.4, mean = true,
                        variance = true, rsample = paths.quantile(mixture) },
  MixtureDistribution = {
    various, { draws(12, 2), draws(13, 2), peri.tensor(0.3) }, log_prob = 0.4, cdf = 0.4, mean = true, variance = true,
    rsample = paths.quantile(various) },
  Independent = { function (m, r) return peri.Independent(peri.Normal(m, r:exp()), 1) end,
                  { draws(14, 2, 3), draws(15, 3) }, log_prob = { 1, 2, 3 }, entropy = true, mean = true,
                  variance = true, rsample = true },
  ["Independent gammas"] = {
    gammas, { draws(15, 3) }, log_prob = { 1, 2, 3 }, entropy = true, mean = true,
    rsample = paths.quantile(function (a) return peri.Gamma(a:exp(), 2) end) },
  Masked = { function (m, r) return peri.Masked(peri.Normal(m, r:exp()), { true, false, true }) end,
             { draws(20, 2, 3), draws(21, 3) }, log_prob = { 1, 2, 3 }, cdf = { 1, 0, 1 }, entropy = true, mean = true,
             variance = true, rsample = true },
  Truncated = { function (m, s) return peri.Truncated(peri.Normal(m, s:exp()), -1, 2) end,
                { peri.tensor { 0.3, -0.6 }, peri.tensor(0.1) }, log_prob = 0.4, cdf = 0.4, icdf = 0.4, mean = true,
                variance = true, entropy = true, rsample = true },
  ["Truncated at moving ends"] = {
    function (a, low, high) return peri.Truncated(peri.Gamma(a:exp(), 1), low, high) end,
    { peri.tensor(0.6), peri.tensor { 0.5, 0.7 }, peri.tensor(3) }, log_prob = 1.4, cdf = 1.4, icdf = 0.4, mean = true,
    entropy = true, rsample = true, slack = 1e-13 },   -- integrals are others where ends stand still
  TransformedDistribution = {
    function (m, s, scale)
      return peri.TransformedDistribution(peri.Normal(m, s:exp()), { transforms.Exp(), transforms.Affine(1, scale) })
    end,
    { peri.tensor { 0.3, -0.2 }, peri.tensor(-0.4), peri.tensor(1.5) }, log_prob = 2.4, cdf = 2.4, icdf = 0.4,
    mean = true, variance = true, entropy = true, rsample = true },
  ["TransformedDistribution of rows"] = {
    function (m, s) return peri.TransformedDistribution(peri.Normal(m, s:exp()), transforms.StickBreaking()) end,
    { draws(22, 2, 2), draws(23, 2) }, log_prob = { 0.2, 0.5, 0.3 }, rsample = true },
}

local function draw (d) return d:rsample(2, peri.rng(5)) end

-- f of the operands and the function whose slopes it has.
local function along (make, operands, path, f)
  local function drawn (...)
    local d = make(...)
    return f(d, draw(d))
  end
  if path == true then return drawn, drawn end
  local at = path(draw(make(table.unpack(operands))), table.unpack(operands))
  return drawn, function (...) return f(make(...), at(...)) end
end

local function the_draw (_, x) return x end
local function its_density (d, x) return d:log_prob(x) end

-- The closed divergence of two of a kind as a function of the operands of both, and points apart from each other; nil
-- where there is none.
local function divergence (make, operands)
  local n, both = #operands, { table.unpack(operands) }
  for k, t in ipairs(operands) do both[n + k] = 1.1 * t end
  local function kl (...)
    local parameters = { ... }
    return peri.kl_divergence(make(table.unpack(parameters, 1, n)), make(table.unpack(parameters, n + 1)),
                              { fallback = false })
  end
  local ok = pcall(kl, table.unpack(both))
  return ok and kl, both
end

local OTHERS = { rsample = true, discrete = true, slack = true }   -- keys that are no methods to look at

local divergences = 0
for title, family in pairs(families) do
  local make, operands, path = family[1], family[2], family.rsample
  local function verify (name, functions, at)
    it(title .. ":" .. name, function ()
      local f, compared = functions()
      local why = check.mismatch(f, at or operands, nil, nil, compared, family.slack)
      assert(not why, why)
    end)
  end
  for method, argument in pairs(family) do
    if type(method) == "string" and not OTHERS[method] then
      verify(method, function ()
        return function (...)
          local d = make(...)
          return d[method](d, argument ~= true and argument or nil)
        end
      end)
    end
  end
  if path then
    verify("rsample", function () return along(make, operands, path, the_draw) end)
    it(title .. ":sample is the same draw, without gradient", function ()
      local d, w = make(table.unpack(operands)), {}
      for k, t in ipairs(operands) do w[k] = peri.param(t) end
      assert(draw(d):equal(d:sample(2, peri.rng(5))))
      assert(draw(d):equal(draw(make(table.unpack(w))):detach()))
      assert.is_false(core.tracked(make(table.unpack(w)):sample(2, peri.rng(5))))
    end)
    if not family.discrete then
      verify("log_prob of a draw", function () return along(make, operands, path, its_density) end)
    end
  end
  local kl, both = divergence(make, operands)
  if kl then
    divergences = divergences + 1
    verify("kl_divergence", function () return kl end, both)
  end
end

it("divergences of all families that have them are among these", function () assert(divergences >= 22, divergences) end)

it("most of these were replayed as well", function () assert(check.replays >= 90, check.replays) end)
