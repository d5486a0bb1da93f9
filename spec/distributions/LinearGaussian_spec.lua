--- LinearGaussian: the joint MultivariateNormal of states and series, for short ones.
local peri       = require "perilune"
local check      = require "spec.gradient.check"
local statistics = require "spec.support.statistics"

local LinearGaussian, MultivariateNormal = peri.LinearGaussian, peri.MultivariateNormal
local unpack = table.unpack

local function close (expected, got, tolerance, what)
  local off = math.abs(peri.item(got) - expected)
  assert(off <= (tolerance or 1e-12) * math.max(1, math.abs(expected)),
         string.format("%s: expected %.17g, got %.17g", what or "value", expected, peri.item(got)))
end

local function all_close (expected, got, tolerance)
  assert.is_true(peri.allclose(expected, got, tolerance or 1e-11, tolerance or 1e-11))
end

-- transition, process, observation, noise, mean and covariance at the start
local MODELS = {
  { { { 0.9, 0.2 }, { -0.1, 0.7 } }, { { 0.5, 0.1 }, { 0.1, 0.3 } }, { { 1, 0 }, { 0.5, 1 }, { 0, 2 } },
    { { 1, 0.2, 0 }, { 0.2, 1.5, 0.1 }, { 0, 0.1, 0.7 } }, { 0.3, -1 }, { { 1, 0.3 }, { 0.3, 2 } } },
  -- a companion matrix, whose noise is singular, seen nearly without noise
  { { { 1.2, -0.5 }, { 1, 0 } }, { { 0.4, 0 }, { 0, 0 } }, { { 1, 0 } }, { { 1e-6 } }, { 0, 0 },
    { { 1, 0 }, { 0, 1 } } },
  -- known from the start, growing
  { { { 1.1 } }, { { 0.3 } }, { { 2 } }, { { 0.5 } }, { 1 }, { { 0 } } },
}
local T = 4

local function transposed (m) return m:transpose(-1, -2) end

-- The covariance of everything: states of all times, then what is seen; and the mean.
local function joint (model)
  local a, q, c, r, m, p = unpack(model)
  a, q, c, r, m, p = peri.tensor(a), peri.tensor(q), peri.tensor(c), peri.tensor(r), peri.tensor(m), peri.tensor(p)
  local n, d = #a, #c
  local means, variances = { m:unsqueeze(-1) }, { p }
  for t = 2, T do
    means[t] = a:matmul(means[t - 1])
    variances[t] = a:matmul(variances[t - 1]):matmul(transposed(a)) + q
  end
  local rows = {}
  for s = 1, T do
    local row = {}
    for t = 1, T do
      local block = variances[math.min(s, t)]
      for _ = math.min(s, t) + 1, math.max(s, t) do block = a:matmul(block) end
      row[t] = t > s and transposed(block) or block
    end
    rows[s] = peri.cat(row, 2)
  end
  local z = peri.cat(rows, 1)
  -- x = big z + noise
  local big, noise = peri.zeros(T * d, T * n):totable(), peri.zeros(T * d, T * d):totable()
  for t = 0, T - 1 do
    for i = 1, d do
      for j = 1, n do big[t * d + i][t * n + j] = c:at(i, j) end
      for j = 1, d do noise[t * d + i][t * d + j] = r:at(i, j) end
    end
  end
  big = peri.tensor(big)
  local mean = peri.cat(means, 1)
  return { z = z, mean = mean, cross = z:matmul(transposed(big)), seen_mean = big:matmul(mean):select(-1, 1),
           seen = big:matmul(z):matmul(transposed(big)) + noise, n = n, d = d }
end

-- Mean and covariance of all states given the first `times` parts of x.
local function conditional (all, x, times)
  local k = times * all.d
  local seen = all.seen:narrow(1, 1, k):narrow(2, 1, k)
  local cross = all.cross:narrow(2, 1, k)
  local l = peri.MultivariateNormal(peri.zeros(k), seen).precision_matrix
  local gain = cross:matmul(l)
  local off = (x:reshape(-1) - all.seen_mean):narrow(1, 1, k):unsqueeze(-1)
  return (all.mean + gain:matmul(off)):select(-1, 1), all.z - gain:matmul(transposed(cross))
end

local function make (model)
  local a, q, c, r, m, p = unpack(model)
  return LinearGaussian(a, q, c, r, m, p, T)
end

local function message (...) return (select(2, pcall(LinearGaussian, ...))) end

describe("LinearGaussian", function ()
  it("has the density, the moments and the entropy of the joint law", function ()
    for _, model in ipairs(MODELS) do
      local d, all = make(model), joint(model)
      local law = MultivariateNormal(all.seen_mean, all.seen)
      for seed = 1, 3 do
        local x = d:sample(nil, peri.rng(seed))
        close(law:log_prob(x:reshape(-1)), d:log_prob(x), 1e-9)
      end
      all_close(law:mean(), d:mean():reshape(-1))
      all_close(law:mean(), d:mode():reshape(-1))
      all_close(law:variance(), d:variance():reshape(-1))
      close(law:entropy(), d:entropy(), 1e-9)
    end
  end)

  it("filters and smooths", function ()
    for _, model in ipairs(MODELS) do
      local d, all = make(model), joint(model)
      local x = d:sample(nil, peri.rng(5))
      local means, covariances = d:filter(x)
      local smooth_means, smooth_covariances = d:smooth(x)
      local n = all.n
      local all_means, all_covariances = conditional(all, x, T)
      for t = 1, T do
        local at = (t - 1) * n + 1
        local mean, covariance = conditional(all, x, t)
        all_close(mean:narrow(1, at, n), means[t], 1e-8)
        all_close(covariance:narrow(1, at, n):narrow(2, at, n), covariances[t], 1e-8)
        all_close(all_means:narrow(1, at, n), smooth_means[t], 1e-8)
        all_close(all_covariances:narrow(1, at, n):narrow(2, at, n), smooth_covariances[t], 1e-8)
      end
    end
  end)

  it("has gradients along all of its parameters", function ()
    local function symmetric (m) return (m + transposed(m)) / 2 end
    local function law (x, a, q, c, r, m, p)
      return LinearGaussian(a, symmetric(q), c, symmetric(r), m, symmetric(p), T):log_prob(x)
    end
    for i = 1, 2 do
      local operands = { make(MODELS[1]):sample(nil, peri.rng(i)) }
      for k, value in ipairs(MODELS[1]) do operands[k + 1] = peri.tensor(value) end
      assert.is_nil(check.mismatch(law, operands))
    end
    local triangle = peri.tensor { { 0.7, 0 }, { 0.2, 0.5 } }
    local a, _, c, r, m, p = unpack(MODELS[1])
    local x = make(MODELS[1]):sample(nil, peri.rng(3))
    assert.is_nil(check.mismatch(function (l)
      local lower = l * peri.tensor { { 1, 0 }, { 1, 1 } }
      return LinearGaussian { transition = a, process_scale_tril = lower, observation = c, observation_covariance = r,
                              initial_mean = m, initial_covariance = p, length = T }:log_prob(x)
    end, { triangle }))
  end)

  it("takes triangles in place of covariances", function ()
    local a, q, c, r, m, p = unpack(MODELS[1])
    local function factor (s) return MultivariateNormal(peri.zeros(#s), s).scale_tril end
    local d = LinearGaussian { transition = a, process_scale_tril = factor(q), observation = c,
                               observation_scale_tril = factor(r), initial_mean = m, initial_scale_tril = factor(p),
                               length = T }
    local x = d:sample(nil, peri.rng(1))
    close(make(MODELS[1]):log_prob(x), d:log_prob(x))
  end)

  it("draws from its law", function ()
    for _, model in ipairs(MODELS) do
      local d, all = make(model), joint(model)
      local n = 50000
      local x = d:sample(n, peri.rng(7)):reshape(n, -1)
      for i = 1, T * all.d do
        assert(statistics.mean(x:select(2, i), all.seen_mean[i], all.seen:at(i, i)))
      end
      -- products of the first and the last, less their means
      local i, j = 1, T * all.d
      local product = (x:select(2, i) - all.seen_mean[i]) * (x:select(2, j) - all.seen_mean[j])
      local off = product:mean() - all.seen:at(i, j)
      assert(math.abs(off) < 5 * peri.item(product:std()) / math.sqrt(n))
    end
  end)

  it("has batches", function ()
    local d = make(MODELS[1])
    local x = d:sample(3, peri.rng(2))
    local values = d:log_prob(x)
    for i = 1, 3 do assert.equal(d:log_prob(x[i]), values[i]) end
    local a, q, c, r, m, p = unpack(MODELS[1])
    local two = LinearGaussian(a, peri.stack { peri.tensor(q), peri.tensor(q) * 2 }, c, r, m, p, T)
    assert.same({ { 2 }, { T, 3 } }, { two.batch_shape, two.event_shape })
    assert.equal(d:log_prob(x[1]), two:log_prob(x[1])[1])
    assert.same({ 5, 2, T, 3 }, two:sample(5).shape)
    assert.same({ 2, T, 3 }, two:mean().shape)
    assert.same({ 2, T, 3 }, two:variance().shape)
    assert.same({ 2, T, 2, 2 }, select(2, two:smooth(x[1])).shape)
    assert.equal(d:log_prob(x[1]), d:expand({ 2, 2 }):log_prob(x[1]):at(2, 1))
  end)

  it("is -inf far away, and NaN for NaN", function ()
    local d = make(MODELS[3])
    assert.equal(-math.huge, d:log_prob { { 1 }, { math.huge }, { 1 }, { 2 } })
    local value = d:log_prob { { 1 }, { 0 / 0 }, { 1 }, { 2 } }
    assert(value ~= value)
  end)

  it("can be given up while it works", function ()
    local d = LinearGaussian({ { 0.9 } }, { { 1 } }, { { 1 } }, { { 1 } }, { 0 }, { { 1 } }, 200000)
    local x = peri.zeros(200000, 1)
    debug.sethook(function () error("enough", 0) end, "", 1000)
    local ok, why = pcall(d.smooth, d, x)
    debug.sethook()
    assert.is_false(ok)
    assert.equal("enough", why)
  end)

  it("refuses what does not go together", function ()
    local a, q, c, r, m, p = unpack(MODELS[1])
    assert.matches("LinearGaussian: transition is missing", message())
    assert.matches("LinearGaussian: length must be a positive integer, got nil", message(a, q, c, r, m, p))
    assert.matches("LinearGaussian: transition must be 2 by 2, as the others are, got shape %(1, 1%)",
                   message({ { 1 } }, q, c, r, m, p, 3))
    assert.matches("LinearGaussian: initial_mean must be 2 long, as the others are, got shape %(3%)",
                   message(a, q, c, r, { 1, 2, 3 }, p, 3))
    assert.matches("LinearGaussian: process_covariance must be a positive%-semidefinite matrix, got",
                   message(a, { { 1, 2 }, { 2, 1 } }, c, r, m, p, 3))
    assert.matches("LinearGaussian: observation must have at least 2 dimensions, got",
                   message(a, q, { 1, 2 }, r, m, p, 3))
    assert.matches("LinearGaussian: initial_mean must be finite, got inf", message(a, q, c, r, { math.huge, 1 }, p, 3))
    assert.matches("process_covariance and process_scale_tril exclude each other",
                   message { transition = a, process_covariance = q, process_scale_tril = q })
    local d = make(MODELS[1])
    assert.matches("LinearGaussian:filter: x must be an event of shape %(4, 3%)", select(2, pcall(d.filter, d, { 1 })))
  end)

  it("prints, and explains itself", function ()
    assert.equal("LinearGaussian(transition=Tensor(1, 1), process_covariance=Tensor(1, 1), observation=Tensor(1, 1), "
                 .. "observation_covariance=Tensor(1, 1), initial_mean={1}, initial_covariance=Tensor(1, 1), length=4)",
                 tostring(make(MODELS[3])))
    local help = LinearGaussian.help
    local code = "local peri = ...; local LinearGaussian = peri.LinearGaussian; return " .. help.example[1]
    close(help.example[2], assert(load(code))(peri), 1e-13)
  end)
end)
