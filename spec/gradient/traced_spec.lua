-- Every distribution within a trace: recorded at some parameters, replayed at others, in other regimes of the law too,
-- its density has the bits that it has when it is computed anew without a trace; and so have its gradients.
local peri     = require "perilune"
local core     = require "perilune.core"
local contract = require "spec.support.contract"

local unpack     = table.unpack
local transforms = peri.transforms

local function total (y) return core.is_tensor(y) and core.rank(y) > 0 and y:sum() or y end

local function same (expected, got, what)
  local a, b = peri.item(expected), peri.item(got)
  assert(a == b or a ~= a and b ~= b, string.format("%s: anew %.17g, in a replay %.17g", what, a, b))
end

local function same_elements (expected, got, what)
  expected, got = peri.tensor(expected):reshape(-1), peri.tensor(got):reshape(-1)
  for i = 1, #expected do same(expected[i], got[i], what .. ", element " .. i) end
end

-- Gradients of the parameters, which they then lose; zeros where there are none.
local function taken (params)
  local grads = {}
  for k, p in ipairs(params) do
    grads[k] = p.grad or peri.zeros(p.shape)
    p.grad = nil
  end
  return grads
end

-- Records log_prob of make(...) at places[1], and replays it at all of them. A place is { x, parameters... };
-- `tracked[k]` says which have a gradient, and move; the others are data, which stay. `skips(place)`: gradients are not
-- compared there.
local function check (make, places, tracked, what, skips)
  local operands, params = {}, {}
  for k, value in ipairs(places[1]) do
    operands[k] = tracked[k] and peri.param(value) or peri.tensor(value)
    if tracked[k] then params[#params + 1] = operands[k] end
  end
  local function loss () return total(make(unpack(operands, 2)):log_prob(operands[1])) end
  local trace = peri.trace(loss)
  for i, place in ipairs(places) do
    local text, values = string.format("%s at place %d", what, i), {}
    for k, value in ipairs(place) do
      if tracked[k] then operands[k]:copy(value) end
      values[k] = peri.tensor(operands[k])
    end
    local ok, law = pcall(make, unpack(values, 2))
    if not ok then assert.matches("must be", law)   -- what moves does not go together with what stays
    else
      local untracked = total(law:log_prob(values[1]))
      same(untracked, trace(), text)
      same(untracked, trace:backward(), text)
      local replayed, anew = taken(params), loss()
      if core.tracked(anew) and math.abs(peri.item(anew)) < math.huge and not (skips and skips(place)) then
        anew:backward()
        local fresh = taken(params)
        for k = 1, #params do same_elements(fresh[k], replayed[k], text .. ", gradient " .. k) end
      end
    end
  end
end

-- With all of them tracked that can be, and with each alone.
local function check_all (make, places, can_be, what, skips)
  check(make, places, can_be, what, skips)
  for k in pairs(can_be) do check(make, places, { [k] = true }, what .. ", operand " .. k .. " tracked", skips) end
end


-- Families of single numbers, at the points of their specs -------------------------------------------------------

-- Their integers have no derivative, and refuse to be tracked, in a trace or not.
local COUNTS = { DiscreteUniform = true, Hypergeometric = true }

-- Slopes at the ends of probs are added only where a trace was recorded at one (one_sided.lua).
local function at_an_end (class)
  return class.one_sided and function (place)
    for k, param in ipairs(class.params) do
      if param[1] == "probs" and (place[k + 1] == 0 or place[k + 1] == 1) then return true end
    end
  end
end

for _, name in ipairs(core.classes()) do
  local class, points = peri[name], contract.of(name).points
  if COUNTS[name] then
    it(name .. " refuses", function ()
      local params = {}
      for k, value in ipairs(points[1]) do params[k] = peri.param(value) end
      local ok, message = pcall(peri.trace, function () return class(unpack(params)):log_prob(1) end)
      assert.is_false(ok)
      assert.matches(name .. ":log_prob: has no derivative", message, 1, true)
    end)
  elseif points then
    it(name, function ()
      local places, can_be = {}, {}
      for i, point in ipairs(points) do places[i] = { class(unpack(point)):icdf(0.4), unpack(point) } end
      for _, level in ipairs { 0.1, 0.9 } do
        places[#places + 1] = { class(unpack(points[1])):icdf(level), unpack(points[1]) }
      end
      if not class(unpack(points[1])).support.is_discrete then can_be[1] = true end
      for k = 1, #points[1] do can_be[k + 1] = true end
      check_all(class, places, can_be, name, at_an_end(class))
      table.insert(places, 1, table.remove(places, 2) or places[1])   -- recorded elsewhere
      check_all(class, places, can_be, name, at_an_end(class))
    end)
  end
end


-- Families of rows, and laws made of others ------------------------------------------------------------------------

local function logits (l) return peri.Categorical { logits = l } end
local function mixture (l, m) return peri.MixtureSameFamily(logits(l), peri.Normal(m, 1)) end
local function below (n) return peri.arange(1, n + 1):unsqueeze(-1):ge(peri.arange(1, n + 1)) end
local function square (l) return l:matmul(l:transpose(-1, -2)) end

local TRIL  = { { 1.5, 0, 0 }, { 0.3, 0.8, 0 }, { -0.4, 0.2, 1.1 } }
local OTHER = { { 0.7, 0, 0 }, { 2, 0.1, 0 }, { 0.4, -3, 5 } }
local SPD   = { { 2, 0.3, 0 }, { 0.3, 1, 0.2 }, { 0, 0.2, 3 } }
local ROW   = { 1, 2, 3 }
local SQUARE = { { 0.5, 0.5 }, { 0.2, 0.8 } }
local INF   = math.huge

-- name = { make, places, data = the operands without a derivative }
local families = {
  Categorical = { logits, { { 2, { 0.1, 0.2, -0.3 } }, { 3, { 5, -40, 0 } }, { 1, { -INF, 1, 2 } } }, data = { 1 } },
  ["Categorical of probs"] = { peri.Categorical, { { 2, { 0.1, 0.2, 0.7 } }, { 3, { 0.5, 0.3, 0.2 } } }, data = { 1 } },
  OneHotCategorical = { peri.OneHotCategorical,
    { { { 0, 1, 0 }, { 0.1, 0.2, 0.7 } }, { { 1, 0, 0 }, { 0.5, 0.3, 0.2 } } }, data = { 1 } },
  OneHotCategoricalStraightThrough = { peri.OneHotCategoricalStraightThrough,
    { { { 0, 1, 0 }, { 0.1, 0.2, 0.7 } }, { { 1, 0, 0 }, { 0.5, 0.3, 0.2 } } }, data = { 1 } },
  Multinomial = { peri.Multinomial,
    { { { 1, 3, 1 }, 5, { 0.1, 0.2, 0.7 } }, { { 2, 0, 2 }, 4, { 0.5, 0.3, 0.2 } } }, data = { 1, 2 } },
  DirichletMultinomial = { function (n, a) return peri.DirichletMultinomial { total_count = n, concentration = a } end,
    { { { 1, 3, 1 }, 5, { 0.1, 0.2, 0.7 } }, { { 2, 0, 2 }, 4, { 50, 3, 2 } } }, data = { 1, 2 } },
  RelaxedOneHotCategorical = { peri.RelaxedOneHotCategorical,
    { { { 0.1, 0.3, 0.6 }, 0.7, { 0.1, 0.2, 0.7 } }, { { 0.5, 0.25, 0.25 }, 4, { 0.5, 0.3, 0.2 } } } },
  Dirichlet = { peri.Dirichlet, { { { 0.1, 0.3, 0.6 }, { 0.1, 0.2, 0.7 } }, { { 0.5, 0.25, 0.25 }, { 1, 30, 2 } } } },
  MultivariateNormal = { function (m, l) return peri.MultivariateNormal { loc = m, scale_tril = l * below(3) } end,
    { { ROW, { 0, 1, 0 }, TRIL }, { { 0, 9, 1 }, { 3, 2, 1 }, OTHER } } },
  ["MultivariateNormal of a covariance"] = { function (m, l) return peri.MultivariateNormal(m, square(l)) end,
    { { ROW, { 0, 1, 0 }, TRIL }, { { 0, 9, 1 }, { 3, 2, 1 }, OTHER } } },
  ["MultivariateNormal of a precision"] = {
    function (m, l) return peri.MultivariateNormal { loc = m, precision_matrix = square(l) } end,
    { { ROW, { 0, 1, 0 }, TRIL }, { { 0, 9, 1 }, { 3, 2, 1 }, OTHER } } },
  LowRankMultivariateNormal = { peri.LowRankMultivariateNormal,
    { { ROW, { 0, 1, 0 }, { { 1 }, { 2 }, { 3 } }, { 1, 1, 2 } },
      { { 0, 9, 1 }, { 3, 2, 1 }, { { 0 }, { -2 }, { 0.1 } }, { 5, 0.1, 2 } } } },
  MultivariateStudentT = {
    function (v, m, l) return peri.MultivariateStudentT { df = v, loc = m, scale_tril = l * below(3) } end,
    { { ROW, 3, { 0, 1, 0 }, TRIL }, { { 0, 9, 1 }, 0.5, { 3, 2, 1 }, OTHER } } },
  MatrixNormal = { function (m, r, c)
      return peri.MatrixNormal { loc = m, row_covariance = square(r), column_scale_tril = c * below(2) }
    end,
    { { { { 1, 2 }, { 0, -1 }, { 0.5, 2 } }, { { 0, 2 }, { 0, 1 }, { 3, 2 } }, TRIL, { { 1, 0 }, { 2, 3 } } },
      { { { 7, 2 }, { 0, -1 }, { 1, 2 } }, { { 0, 1 }, { 1, 1 }, { 0, 2 } }, OTHER, { { 3, 0 }, { -2, 1 } } } } },
  Wishart = { function (v, l) return peri.Wishart { df = v, scale_tril = l * below(3) } end,
    { { SPD, 4, TRIL }, { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, 70.5, OTHER } } },
  ["Wishart of a precision"] = { function (v, l) return peri.Wishart { df = v, precision_matrix = square(l) } end,
    { { SPD, 4, TRIL }, { SPD, 70.5, OTHER } } },
  InverseWishart = { function (v, l) return peri.InverseWishart { df = v, scale_matrix = square(l) } end,
    { { SPD, 4, TRIL }, { SPD, 70.5, OTHER } } },
  VonMisesFisher = { function (m, k) return peri.VonMisesFisher(m / peri.sqrt((m * m):sum()), k) end,
    { { { 0.6, 0, 0.8 }, { 0.3, 0.5, -0.4 }, 3 }, { { 0, 0.6, 0.8 }, { 3, 0.5, 4 }, 300 } } },
  LKJCholesky = { function (c) return peri.LKJCholesky(3, c) end,
    { { { { 1, 0, 0 }, { 0.6, 0.8, 0 }, { 0, 0.6, 0.8 } }, 1.7 },
      { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0.8, 0.6 } }, 0.4 } } },
  LKJ = { function (c) return peri.LKJ(3, c) end,
    { { { { 1, 0.5, 0 }, { 0.5, 1, -0.25 }, { 0, -0.25, 1 } }, 1.7 },
      { { { 1, 0, 0 }, { 0, 1, 0.5 }, { 0, 0.5, 1 } }, 0.4 } } },
  LogisticNormal = { function (m, s) return peri.LogisticNormal(m, s:exp()) end,
    { { { 0.2, 0.5, 0.3 }, { 0, 1 }, { 0.1, 0.2 } }, { { 0.1, 0.1, 0.8 }, { -4, 1 }, { 2, -2 } } } },
  Censored = { function (m, s) return peri.Censored(peri.Normal(m, s), -1, 2) end,
    { { 0.5, 0, 1 }, { -1, 0.3, 2 }, { 2, 1, 0.7 } } },
  OrderedLogistic = { function (x, c) return peri.OrderedLogistic(x, c:cumsum()) end,
    { { 1, 0.3, { -1, 2, 0.5 } }, { 2, -0.4, { 0.1, 1, 3 } }, { 4, 2, { 0, 1, 1 } } } },
  Delta = { peri.Delta, { { 2, 2 }, { 2, 3 }, { 3, 3 } } },
  Independent = { function (m, s) return peri.Independent(peri.Normal(m, s), 1) end,
    { { ROW, { 0, 1, 2 }, 2 }, { { 0, 0, 1 }, ROW, 0.1 } } },
  Masked = { function (m, s) return peri.Masked(peri.Gamma(m, s), { 1, 0, 1 }) end,
    { { ROW, { 1, 1, 2 }, 2 }, { { 1, -1, 1 }, ROW, 0.1 } } },
  ["Masked by what is tracked"] = {
    function (m) return peri.Masked(peri.Normal(m, 1), m:gt(1)) end, { { ROW, { 1, 1, 2 } }, { { 1, -1, 1 }, ROW } } },
  Flat = { function (low, high) return peri.Flat(peri.constraints.interval(low, high), 2) end,
    { { { 0.1, 0.2 }, 0, 1 }, { { 4, 6 }, 3, 7 }, { { 4, 6 }, 5, 7 } } },

  HiddenMarkov = { function (p, a, m) return peri.HiddenMarkov(p:exp(), a:exp(), peri.Normal(m, 1), 3) end,
    { { ROW, { 0, 1 }, { { 0, 1 }, { 2, 0 } }, { 0, 3 } },
      { { 50, 1, -9 }, { 9, 1 }, { { 0, -1 }, { -20, 0 } }, { 0, 9 } } } },
  ["HiddenMarkov with closed ways"] = {
    function (p, a, m) return peri.HiddenMarkov(p, a, peri.Gamma(m, 1), 3) end,
    { { ROW, { 0.5, 0.5 }, SQUARE, { 1, 3 } },
      { { 9, 1, 2 }, { 0, 1 }, { { 1, 0 }, { 0.3, 0.7 } }, { 4, 9 } }, { { 9, 1, -2 }, { 1, 0 }, SQUARE, { 4, 9 } } } },

  LinearGaussian = { function (a, q, c, r, m)
      return peri.LinearGaussian(a, square(q), c, square(r), m, square(q), 3)
    end,
    { { { { 1 }, { 2 }, { 3 } }, SQUARE, { { 1, 0 }, { 2, 3 } }, { { 1, 2 } }, { { 0.5 } }, { 0, 1 } },
      { { { 7 }, { 0 }, { -3 } }, { { 0, 1 }, { -1, 0 } }, { { 3, 1 }, { 0, 1 } }, { { 0, 2 } }, { { 4 } },
        { 9, 1 } } } },

  MixtureSameFamily = { mixture,
    { { 0.4, ROW, { -1, 0, 1 } }, { 9, { 0, 50, 1 }, { 3, 2, 1 } }, { 0, { -INF, 0, 1 }, ROW } } },
  ["MixtureSameFamily of probs"] = {
    function (p, m) return peri.MixtureSameFamily(peri.Categorical(p), peri.Normal(m, 1)) end,
    { { 0.4, { 0.2, 0.3, 0.5 }, { -1, 0, 1 } }, { 9, { 0.9, 0.05, 0.05 }, { 3, 2, 1 } } } },
  ["MixtureSameFamily of probs that may be 0"] = {
    function (p, m) return peri.MixtureSameFamily(peri.Categorical(p), peri.Normal(m, 1)) end,
    { { 0.4, { 0.2, 0, 0.8 }, { -1, 0, 1 } }, { 9, { 0, 0.4, 0.6 }, { 3, 2, 1 } } } },
  ["MixtureSameFamily of bounded laws"] = {
    function (l, m) return peri.MixtureSameFamily(logits(l), peri.Uniform(m, m + 2)) end,
    { { 0.4, ROW, { -1, 0, 1 } }, { 9, ROW, { 8, 10, 1 } }, { 9, ROW, ROW } } },
  ["MixtureSameFamily of rows"] = {
    function (l, m) return peri.MixtureSameFamily(logits(l), peri.Independent(peri.Normal(m, 1), 1)) end,
    { { { 0.4, 1 }, { 1, 2 }, { { -1, 0 }, { 1, 2 } } }, { { 4, 7 }, { -9, 9 }, { { 5, 0 }, { 1, 6 } } } } },
  MixtureDistribution = { function (l, m, a)
      local cut = peri.Truncated(peri.Normal(m, a), 0, 9)
      return peri.MixtureDistribution(logits(l), { peri.Normal(m, 1), peri.Gamma(a, 2), cut })
    end,
    { { 0.4, ROW, 1, 2 }, { 8.9, { 0, 50, 1 }, -7, 0.1 }, { -1, ROW, 0, 20 } } },

  Truncated = { function (m, s, low, high) return peri.Truncated(peri.Normal(m, s), low, high) end,
    { { 0.4, 0, 1, -1, 2 }, { 30.1, 0, 1, 30, 31 }, { -29, 2, 1, -INF, -28 },
      { 1.00001, 0, 1, 1, 1.0001 },   -- narrow: the mass is that of a sliver
      { 3, 0, 1, 5, 6 } } },
  ["Truncated beside its support"] = {
    function (a, b, low, high) return peri.Truncated(peri.Uniform(a, b), low, high) end,
    { { 0.4, 0, 1, -1, 2 }, { 0.5, 0, 1, 0.25, 2 }, { 0.5, -2, 1, 0.25, 0.75 } } },
  ["Truncated counts"] = { function (r) return peri.Truncated(peri.Poisson(r), 2, 9.5) end,
    { { 3, 4 }, { 9, 0.1 }, { 10, 400 } }, data = { 1 } },
  ["Truncated mixture"] = { function (l, m, high) return peri.Truncated(mixture(l, m), -1, high) end,
    { { 0.4, ROW, { -1, 0, 1 }, 3 }, { 9, ROW, { 30, 2, 1 }, 10 }, { -0.99, ROW, { 30, 20, 1 }, -0.9 } } },
  ["Mixture of Truncated"] = { function (l, m, low, high)
      return peri.MixtureSameFamily(logits(l), peri.Truncated(peri.Normal(m, 1), low, high))
    end,
    { { 0.4, ROW, { -1, 0, 1 }, -1, 3 }, { 9, ROW, { 30, 2, 1 }, 8, 10 }, { 0.5, ROW, ROW, 0.4999, 0.5001 } } },
  ["Mixture of truncated counts"] = {
    function (l, r) return peri.MixtureSameFamily(logits(l), peri.Truncated(peri.Poisson(r), 1, 9)) end,
    { { 3, ROW, { 1, 2, 9 } }, { 1, { 9, 1, 1 }, { 0.1, 20, 300 } } }, data = { 1 } },
  ["Truncated transform"] = { function (m, s, high)
      local base = peri.TransformedDistribution(peri.Normal(m, 1), { transforms.Exp(), transforms.Affine(0, s) })
      return peri.Truncated(base, -9, high)
    end,
    { { 2, 0.3, 2, 4 }, { 5, 2, 0.1, 20 } } },
  ["TransformedDistribution of Truncated"] = { function (m, s, high)
      return peri.TransformedDistribution(peri.Truncated(peri.Normal(m, s), -1, high), transforms.Exp())
    end,
    { { 2, 0.3, 2, 4 }, { 5, 2, 0.1, 20 }, { 5, 2, 0.1, 1 } } },

  TransformedDistribution = { function (m, s, loc, scale)
      return peri.TransformedDistribution(peri.Normal(m, s), { transforms.Exp(), transforms.Affine(loc, scale) })
    end,
    { { 2, 0.3, 2, 1, 0.5 }, { -7, 2, 0.1, 3, -4 }, { 9, 2, 0.1, 3, -4 } } },
  ["TransformedDistribution that turns"] = { function (low, scale)
      local chain = { transforms.Affine(1, scale), transforms.Exp(), transforms.Power(scale) }
      return peri.TransformedDistribution(peri.Uniform(low, low + 1), chain)
    end,
    { { 400, 0.5, 2 }, { 0.9, 0.25, -1 }, { 5, 0.25, 1.5 }, { -1, 0.25, 1.5 }, { 0.9, 3, -1 } } },
  ["TransformedDistribution of counts"] = {
    function (r, scale) return peri.TransformedDistribution(peri.Poisson(r), transforms.Affine(1, scale)) end,
    { { 5, 3, 2 }, { -5, 1, -3 }, { -4, 1, -3 } }, data = { 1 } },
  ["TransformedDistribution folded"] = {
    function (m) return peri.TransformedDistribution(peri.Normal(m, 1), transforms.Abs()) end,
    { { 2, 0.3 }, { 0.1, -30 }, { -1, 0.3 } } },
  ["TransformedDistribution of rows"] = {
    function (m, s) return peri.TransformedDistribution(peri.Normal(m, s), transforms.StickBreaking()) end,
    { { { 0.2, 0.5, 0.3 }, { 0, 1 }, 2 }, { { 0.1, 0.1, 0.8 }, { -4, 1 }, 0.5 } } },
  ["TransformedDistribution of a mixture"] = {
    function (l, m) return peri.TransformedDistribution(mixture(l, m), transforms.Sigmoid()) end,
    { { 0.4, ROW, { -1, 0, 1 } }, { 0.9, { 0, 50, 1 }, { 3, 2, 1 } } } },
  ["TransformedDistribution by a quantile"] = { function (m, s)
      local quantile = transforms.CumulativeDistribution(peri.Normal(m, s)):inv()
      return peri.TransformedDistribution(peri.Beta(2, 3), quantile)
    end,
    { { 0.4, 1, 2 }, { 3, -1, 4 } } },
}

for name, family in pairs(families) do
  it(name, function ()
    local make, places, can_be = family[1], family[2], {}
    for k = 1, #places[1] do can_be[k] = true end
    for _, k in ipairs(family.data or {}) do can_be[k] = nil end
    for _ = 1, #places do
      check_all(make, places, can_be, name)
      table.insert(places, table.remove(places, 1))   -- recorded elsewhere
    end
  end)
end

it("there is every class among them", function ()
  local words = {}
  for name in pairs(families) do words[name:match "^%w+"] = true end
  for _, name in ipairs(core.classes()) do assert(words[name] or contract.of(name).points, name) end
end)

it("slopes at an end of probs follow a trace that was recorded at one", function ()
  local function bernoulli (p) return peri.Bernoulli(p) end
  check(bernoulli, { { { 1, 0, 1 }, { 1, 0, 0.4 } }, { { 1, 0, 0 }, { 1, 0.3, 0 } } }, { [2] = true }, "Bernoulli")
  check(peri.Categorical, { { 2, { 0.5, 0.5, 0 } }, { 1, { 0.5, 0, 0.5 } } }, { [2] = true }, "Categorical")
  check(function (p) return peri.Multinomial(3, p) end,
        { { { 2, 1, 0 }, { 0.5, 0.5, 0 } }, { { 2, 0, 1 }, { 0.4, 0, 0.6 } } }, { [2] = true }, "Multinomial")
end)
