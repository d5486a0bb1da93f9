--- HiddenMarkov: sums over all paths of states, written out for short sequences.
local peri       = require "perilune"
local check      = require "spec.gradient.check"
local statistics = require "spec.support.statistics"

local HiddenMarkov, Normal = peri.HiddenMarkov, peri.Normal
local INF = math.huge

local function message (...) return (select(2, pcall(HiddenMarkov, ...))) end

local function close (expected, got, tolerance, what)
  local off = math.abs(peri.item(got) - expected)
  assert(expected == peri.item(got) or off <= (tolerance or 1e-13) * math.max(1, math.abs(expected)),
         string.format("%s: expected %.17g, got %.17g", what or "value", expected, peri.item(got)))
end

local function log_add (a, b)
  local m = math.max(a, b)
  return m == -INF and m or m + math.log(math.exp(a - m) + math.exp(b - m))
end

-- Calls visit(states, log of p(states, x)) for all paths; e[t][k] is the log density of part t in state k.
local function each_path (p, a, e, visit)
  local function go (states, score)
    local t = #states + 1
    if t > #e then return visit(states, score) end
    for k = 1, #p do
      local chance = t == 1 and p[k] or a[states[t - 1]][k]
      states[t] = k
      go(states, score + math.log(chance) + e[t][k])
      states[t] = nil
    end
  end
  go({}, 0)
end

local function brute (p, a, e)
  local found = { log_prob = -INF, score = -INF, posterior = {} }
  for t = 1, #e do
    found.posterior[t] = {}
    for k = 1, #p do found.posterior[t][k] = -INF end
  end
  each_path(p, a, e, function (states, score)
    if score == -INF then return end
    found.log_prob = log_add(found.log_prob, score)
    for t, k in ipairs(states) do found.posterior[t][k] = log_add(found.posterior[t][k], score) end
    if score > found.score then found.score, found.viterbi = score, { table.unpack(states) } end
  end)
  for t = 1, #e do
    for k = 1, #p do found.posterior[t][k] = math.exp(found.posterior[t][k] - found.log_prob) end
  end
  return found
end

local CHAINS = {
  { { 0.5, 0.3, 0.2 }, { { 0.8, 0.1, 0.1 }, { 0.3, 0.4, 0.3 }, { 0.05, 0.05, 0.9 } } },
  { { 1, 0, 0 }, { { 0.7, 0.3, 0 }, { 0, 0.6, 0.4 }, { 0, 0, 1 } } },       -- from left to right
  { { 0, 0.5, 0.5 }, { { 0, 1, 0 }, { 0, 0, 1 }, { 1, 0, 0 } } },           -- around
  { { 1, 1e-300, 1e-300 }, { { 1, 1e-200, 0 }, { 0, 1, 1e-250 }, { 0, 0, 1 } } },
}
local SEQUENCES = { { 0, 1, 2, 3, 4 }, { 4, 4, -3, 0.5, 2 }, { 0, 100, -100, 100, 0 } }
local MEANS = { 0, 2, 4 }

describe("HiddenMarkov", function ()
  it("sums over all paths, whatever is possible", function ()
    for _, chain in ipairs(CHAINS) do
      for _, x in ipairs(SEQUENCES) do
        local d, e = HiddenMarkov(chain[1], chain[2], Normal(MEANS, 1), 5), {}
        for t = 1, 5 do e[t] = Normal(MEANS, 1):log_prob(x[t]):totable() end
        local found = brute(chain[1], chain[2], e)
        close(found.log_prob, d:log_prob(x))
        assert.same(found.viterbi, d:viterbi(x):totable())
        local posterior = d:posterior(x)
        for t = 1, 5 do
          for k = 1, 3 do close(found.posterior[t][k], posterior:at(t, k), 1e-12) end
        end
      end
    end
  end)

  it("loses no state to one that is far likelier for a while", function ()
    -- whoever leaves state 1 cannot come back, and the last part is possible in state 1 alone
    local far = HiddenMarkov({ 0.5, 0.5 }, { { 0.5, 0.5 }, { 0, 1 } }, peri.Uniform({ -1e300, 0 }, { 1e300, 1 }), 4)
    close(math.log(0.5 ^ 4) - 4 * math.log(2e300), far:log_prob { 0.5, 0.5, 0.5, -1 })
    assert.same({ 1, 1, 1, 1 }, far:viterbi({ 0.5, 0.5, 0.5, -1 }):totable())
    assert.same({ { 1, 0 }, { 1, 0 } }, far:posterior({ 0.5, 0.5, 0.5, -1 }):narrow(1, 1, 2):totable())
  end)

  it("is -inf for what is impossible, and NaN for NaN", function ()
    local d = HiddenMarkov({ 0.5, 0.5 }, { { 0.5, 0.5 }, { 0.5, 0.5 } }, peri.Gamma({ 1, 2 }, 1), 2)
    assert.equal(-INF, d:log_prob { 1, -1 })
    local value = d:log_prob { 1, 0 / 0 }
    assert(value ~= value)
    local states = d:viterbi { 1, -1 }
    assert(states[1] ~= states[1])
    local x = peri.param { 1, -1 }
    d:log_prob(x):backward()
    assert.same({ 0, 0 }, x.grad:totable())
  end)

  it("is exact for long sequences", function ()
    local x = Normal(0, 1):sample(20000, peri.rng(1))
    local same = HiddenMarkov({ 0.5, 0.5 }, { { 0.9, 0.1 }, { 0.2, 0.8 } }, Normal({ 0, 0 }, 1), 20000)
    close(Normal(0, 1):log_prob(x):sum(), same:log_prob(x), 1e-14)
    local one = HiddenMarkov({ 1 }, { { 1 } }, Normal({ 0 }, 1), 20000)
    close(Normal(0, 1):log_prob(x):sum(), one:log_prob(x), 1e-14)
  end)

  it("has gradients along all three, where a way is closed too", function ()
    local x = peri.tensor { 0.3, 1.7, 4, 2 }
    local function law (p, a, m, at)
      return HiddenMarkov(p, a, Normal(m, 1), 4):log_prob(at)
    end
    local operands = { peri.tensor { 0.5, 0.3, 0.2 }, peri.tensor(CHAINS[1][2]), peri.tensor(MEANS), x }
    assert.is_nil(check.mismatch(law, operands))
    -- along a probability of 0, one-sided
    local a = peri.param { { 1, 0 }, { 0.2, 0.8 } }
    local function value (m) return HiddenMarkov({ 0.5, 0.5 }, m, Normal({ 0, 3 }, 1), 4):log_prob(x) end
    value(a):backward()
    local h = 1e-7
    local slope = (peri.item(value { { 1, h }, { 0.2, 0.8 } }) - peri.item(value(a))) / h
    close(slope, a.grad:at(1, 2), 1e-4)
    local function moments (p, m, means) return HiddenMarkov(p, m, Normal(means, 1), 4):variance() end
    assert.is_nil(check.mismatch(moments, { operands[1], operands[2], operands[3] }))
  end)

  it("has batches of sequences, of chains and of emissions", function ()
    local p, a = CHAINS[1][1], CHAINS[1][2]
    local d = HiddenMarkov(p, a, Normal(MEANS, 1), 5)
    local all = d:log_prob(SEQUENCES)
    for i, x in ipairs(SEQUENCES) do assert.equal(d:log_prob(x), all[i]) end
    assert.same({ 3, 5 }, d:viterbi(SEQUENCES).shape)
    assert.same({ 3, 5, 3 }, d:posterior(SEQUENCES).shape)
    local many = HiddenMarkov({ CHAINS[1][1], CHAINS[2][1] }, { CHAINS[1][2], CHAINS[2][2] }, Normal(MEANS, 1), 5)
    assert.same({ 2 }, many.batch_shape)
    local x = SEQUENCES[1]
    assert.equal(d:log_prob(x), many:log_prob(x)[1])
    assert.equal(HiddenMarkov(CHAINS[2][1], CHAINS[2][2], Normal(MEANS, 1), 5):log_prob(x), many:log_prob(x)[2])
    local wide = d:expand { 4, 1 }
    assert.same({ { 4, 1 }, { 5 } }, { wide.batch_shape, wide.event_shape })
    assert.equal(d:log_prob(x), wide:log_prob(x):at(3, 1))
    assert.same({ 6, 4, 1, 5 }, wide:sample(6).shape)
    assert.same({ 4, 1, 5 }, wide:mean().shape)
    local scales = HiddenMarkov(p, a, Normal(MEANS, { { { 1 } }, { { 2 } } }), 5)
    assert.same({ 2 }, scales.batch_shape)
    assert.equal(d:log_prob(x), scales:log_prob(x)[1])
  end)

  it("has emissions that change with time, of vectors, and of counts", function ()
    local p, a = { 0.4, 0.6 }, { { 0.9, 0.1 }, { 0.2, 0.8 } }
    local moving = HiddenMarkov(p, a, Normal({ { 0, 3 }, { 1, 4 }, { 2, 5 } }, 1))
    assert.equal(3, moving.length)
    local e = {}
    for t = 1, 3 do e[t] = { Normal(t - 1, 1):log_prob(t), Normal(t + 2, 1):log_prob(t) } end
    close(brute(p, a, e).log_prob, moving:log_prob { 1, 2, 3 })
    local vectors = HiddenMarkov(p, a, peri.Independent(Normal({ { 0, 1 }, { 3, 4 } }, 1), 1), 2)
    assert.same({ 2, 2 }, vectors.event_shape)
    local x = { { 0.5, 1 }, { 3, 2 } }
    for t = 1, 2 do
      e[t] = { Normal(0, 1):log_prob(x[t][1]) + Normal(1, 1):log_prob(x[t][2]),
               Normal(3, 1):log_prob(x[t][1]) + Normal(4, 1):log_prob(x[t][2]) }
    end
    close(brute(p, a, { e[1], e[2] }).log_prob, vectors:log_prob(x))
    assert.same({ 7, 2, 2 }, vectors:sample(7).shape)
    assert.same({ 2, 2 }, vectors:variance().shape)
    local counts = HiddenMarkov(p, a, peri.Poisson { 1, 9 }, 3)
    local total = 0
    for i = 0, 40 do
      for j = 0, 40 do total = total + peri.item(counts:expand(41):prob(peri.stack({
        peri.full({ 41 }, i), peri.full({ 41 }, j), peri.arange(0, 41) }, -1)):sum()) end
    end
    close(1, total, 1e-12)
  end)

  it("draws from its law", function ()
    local d = HiddenMarkov({ 0.9, 0.1 }, { { 0.7, 0.3 }, { 0.4, 0.6 } }, Normal({ 0, 5 }, { 1, 2 }), 3)
    local x = d:sample(100000, peri.rng(4))
    for t = 1, 3 do assert(statistics.mean(x:select(2, t), d:mean()[t], d:variance()[t])) end
    -- the second part is that of a mixture; and two of them are those of all pairs of states
    local second = 0.9 * 0.7 + 0.1 * 0.4
    local law = peri.MixtureSameFamily(peri.Categorical { second, 1 - second }, Normal({ 0, 5 }, { 1, 2 }))
    assert(statistics.ks(x:select(2, 2), function (v) return law:cdf(v) end))
    local product = x:select(2, 1) * x:select(2, 2)
    local expected = 25 * 0.1 * 0.6
    assert(math.abs(product:mean() - expected) < 5 * peri.item(product:std()) / math.sqrt(100000))
    assert.is_true(d:sample(5, peri.rng(1)):equal(d:sample(5, peri.rng(1))))
    local left = HiddenMarkov({ 0, 1 }, { { 1, 0 }, { 1, 0 } }, peri.Delta { 1, 2 }, 3)
    assert.same({ { 2, 1, 1 }, { 2, 1, 1 } }, left:sample(2):totable())
  end)

  it("takes Categoricals, and unnormalised probabilities", function ()
    local logits = { { 0, math.log(3) }, { math.log(4), 0 } }
    local d = HiddenMarkov(peri.Categorical { 1, 3 }, peri.Categorical { logits = logits }, Normal({ 0, 1 }, 1), 2)
    local same = HiddenMarkov({ 0.25, 0.75 }, { { 0.25, 0.75 }, { 0.8, 0.2 } }, Normal({ 0, 1 }, 1), 2)
    close(same:log_prob { 1, 2 }, d:log_prob { 1, 2 }, 1e-15)
    close(same:log_prob { 1, 2 }, HiddenMarkov({ 1, 3 }, { { 1, 3 }, { 8, 2 } }, Normal({ 0, 1 }, 1), 2)
                                  :log_prob { 1, 2 }, 1e-15)
  end)

  it("can be given up while it works", function ()
    local d = HiddenMarkov({ 0.5, 0.5 }, { { 0.9, 0.1 }, { 0.2, 0.8 } }, Normal({ 0, 1 }, 1), 400000)
    local x = peri.zeros(400000)
    debug.sethook(function () error("enough", 0) end, "", 1000)
    local ok, why = pcall(d.posterior, d, x)
    debug.sethook()
    assert.is_false(ok)
    assert.equal("enough", why)
  end)

  it("refuses what does not go together", function ()
    local p, a, e = { 0.5, 0.5 }, { { 0.9, 0.1 }, { 0.2, 0.8 } }, Normal({ 0, 3 }, 1)
    assert.matches("HiddenMarkov: length is missing, and emission has the same law at all times", message(p, a, e))
    assert.matches("HiddenMarkov: transition must be 2 by 2, as initial has 2 states, got shape %(1, 2%)",
                   message(p, { { 1, 2 } }, e, 3))
    assert.matches("HiddenMarkov: transition must be a matrix, got shape %(2%)", message(p, { 1, 2 }, e, 3))
    assert.matches("HiddenMarkov: initial: probs must be non%-negative, got %-1 at %[1%]", message({ -1, 2 }, a, e, 3))
    assert.matches("HiddenMarkov: initial must be probabilities or a Categorical, got Normal", message(e, a, e, 3))
    assert.matches("HiddenMarkov: emission must have 2 in the last dimension of its batch", message(p, a, Normal(), 3))
    assert.matches("HiddenMarkov: emission must be a distribution, got 3", message(p, a, 3, 3))
    assert.matches("HiddenMarkov: length must be a positive integer, got 2.5", message(p, a, e, 2.5))
    assert.matches("HiddenMarkov: length must be 2, as emission has a batch of shape %(2, 2%), got 3",
                   message(p, a, Normal({ { 0, 3 }, { 1, 2 } }, 1), 3))
    local d = HiddenMarkov(p, a, e, 3)
    assert.matches("HiddenMarkov:viterbi: x must be an event of shape %(3%)", select(2, pcall(d.viterbi, d, { 1, 2 })))
    for _, method in ipairs { "mode", "entropy", "rsample" } do
      assert.matches("HiddenMarkov has no " .. method, select(2, pcall(d[method], d)))
    end
  end)

  it("prints", function ()
    assert.equal("HiddenMarkov(initial={0.5, 0.5}, transition=Tensor(2, 2), emission=Normal(loc={0, 3}, scale=1), "
                 .. "length=3)",
                 tostring(HiddenMarkov({ 0.5, 0.5 }, { { 0.9, 0.1 }, { 0.2, 0.8 } }, Normal({ 0, 3 }, 1), 3)))
  end)
end)

it("states of a sequence that cannot be have no probabilities", function ()
  local d = HiddenMarkov(peri.Categorical { 1, 0 }, peri.Categorical(peri.eye(2)), peri.Uniform({ 0, 2 }, { 1, 3 }), 2)
  local x = { { 0.5, 0.5 }, { 0.5, 2.5 } }
  local found = d:posterior(x)
  assert.same({ { 1, 0 }, { 1, 0 } }, found[1]:totable())
  assert.equal(4, peri.item(found[2]:isnan():sum()))
  assert.equal(-INF, d:log_prob(x)[2])
end)

it("sequences of rows have the hull of the supports of all states", function ()
  local boxes = peri.Independent(peri.Uniform({ { 0, 0 }, { 1, 1 } }, { { 2, 2 }, { 3, 3 } }), 1)
  local d = HiddenMarkov({ 0.5, 0.5 }, peri.eye(2), boxes, 3)
  assert.equal("independent(interval({0, 0}, {3, 3}), 2)", tostring(d.support))
  assert.is_true(d.support:check(d:sample(9, peri.rng(1))))
  local q = peri.Independent(peri.Uniform(peri.zeros(3, 2), 3), 2)
  assert(peri.kl_divergence(d, q, { rng = peri.rng(1) }) < INF)
  assert.equal(INF, peri.kl_divergence(d, peri.Independent(peri.Uniform(peri.zeros(3, 2), 2), 2)))
  local bits = peri.OneHotCategorical { { 1, 2 }, { 2, 1 } }
  local moved = peri.TransformedDistribution(bits, peri.transforms.Affine(0, 2))
  assert.is_true(HiddenMarkov({ 0.5, 0.5 }, peri.eye(2), moved, 3).support.is_discrete)
end)
