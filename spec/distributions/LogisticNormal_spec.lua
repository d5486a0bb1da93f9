local peri        = require "perilune"
local core        = require "perilune.core"
local constraints = peri.constraints

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or math.abs(expected - got) <= (tolerance or 1e-14) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

local function message (f, ...)
  local ok, text = pcall(f, ...)
  assert.is_false(ok)
  return (text:gsub("^[^ ]+:%d+: ", ""))
end

-- loc, scale, x, log density, means, variances, entropy: by quadrature with 30 digits, rounded
local cases = {
  { { 0.5, -1 }, { 0.75, 2 }, { 0.25, 0.125, 0.625 }, 0.91719981460998812814,
    { 0.45720478381346581478, 0.19121240395715144726, 0.35158281222938273796 },
    { 0.027593243771392702078, 0.031676038475917673226, 0.039828541735365579218 }, -1.2352142011018583706 },
  { { 3, -2.5, 0.25 }, { 0.125, 1, 4 }, { 0.875, 0.0625, 0.03125, 0.03125 }, 2.6104439993039655221,
    { 0.86939568785041154252, 0.0076508613687906634657, 0.064278058401998396689, 0.058675392378799397321 },
    { 0.00020158734612892287434, 0.000062385655218551664244, 0.0024990881844214080428, 0.0024881358452336296279 },
    -9.5874141132272289108 },
}

describe("LogisticNormal", function ()
  for _, case in ipairs(cases) do
    local loc, scale, x, log_prob, means, variances, entropy = table.unpack(case)
    local d = peri.LogisticNormal(loc, scale)
    describe("of " .. tostring(d), function ()
      it("has its density, moments and entropy", function ()
        close(log_prob, peri.item(d:log_prob(x)))
        close(entropy, peri.item(d:entropy()), 1e-12)
        for j = 1, #x do
          close(means[j], d:mean()[j], 1e-13)
          close(variances[j], d:variance()[j], 1e-12)
          close(math.sqrt(variances[j]), d:stddev()[j], 1e-12)
        end
      end)

      it("draws shares with these moments and this entropy", function ()   -- false alarm 1e-6 each
        local n = 20000
        local draws = d:sample(n, peri.rng(3))
        assert.is_true(constraints.simplex:check(draws))
        for j = 1, #x do
          local centred = draws:select(2, j) - means[j]
          local square = centred ^ 2
          assert(math.abs(peri.item(centred:mean())) <= 5 * math.sqrt(variances[j] / n))
          assert(math.abs(peri.item(square:mean()) - variances[j]) <= 5 * peri.item(square:std()) / math.sqrt(n))
        end
        local surprise = -d:log_prob(draws)
        assert(math.abs(peri.item(surprise:mean()) - entropy) <= 5 * peri.item(surprise:std()) / math.sqrt(n))
      end)
    end)
  end

  it("keeps the digits of tiny shares", function ()
    -- x_1 = z with logit far out: E x_1 = exp(loc + scale^2/2)/(K + ...) to first order
    local d = peri.LogisticNormal({ -60, 40 }, 1)
    close(math.exp(-60 + 0.5) / 2, d:mean()[1], 1e-13)
    close(math.exp(-120 + 2) / 4 - math.exp(-119) / 4, d:variance()[1], 1e-12)
    close(math.exp(-40 + 0.5), d:mean()[3], 1e-13)
    local draws = d:sample(100, peri.rng(2))
    assert.is_true(d:log_prob(draws):isfinite():all() == 1)
  end)

  it("has no density outside the simplex", function ()
    local d = peri.LogisticNormal({ 0, 0 }, 1)
    for _, x in ipairs { { 0.5, 0.6, 0.1 }, { -0.1, 0.6, 0.5 }, { 0, 0.5, 0.5 }, { 0.5, 0.5, 0 } } do
      assert.equal(-math.huge, peri.item(d:log_prob(x)))
    end
    local nan = peri.item(d:log_prob({ 0.5, 0 / 0, 0.5 }))
    assert(nan ~= nan)
  end)

  it("has batches: the last dimension holds the cuts", function ()
    local d = peri.LogisticNormal({ { 0, 1 }, { 2, 3 }, { -1, 0.5 } }, { 0.5, 2 })
    assert.same({ 3 }, d.batch_shape)
    assert.same({ 3 }, d.event_shape)
    assert.equal(constraints.simplex, d.support)
    assert.is_true(d.has_rsample)
    local x = { 0.25, 0.25, 0.5 }
    for i = 1, 3 do
      local single = peri.LogisticNormal(d.loc[i], { 0.5, 2 })
      close(peri.item(single:log_prob(x)), d:log_prob(x)[i])
      close(peri.item(single:entropy()), d:entropy()[i], 1e-12)
      assert.is_true(single:mean():allclose(d:mean()[i], 1e-13))
      assert.is_true(single:variance():allclose(d:variance()[i], 1e-12))
    end
    assert.same({ 5, 3 }, d:log_prob(peri.full({ 5, 1, 3 }, 1 / 3)).shape)
    assert.same({ 4, 3, 3 }, d:rsample(4).shape)
    local e = d:expand { 2, 3 }
    assert.same({ 2, 3 }, e.batch_shape)
    assert.same({ 2, 3, 3 }, e:mean().shape)
    assert.same({ 2, 3, 2 }, core.shape(e.loc))
    assert.is_true(e:is_a(peri.TransformedDistribution))
    close(d:log_prob(x)[2], e:log_prob(x):at(2, 2))
  end)

  it("refuses what is no row, and prints one", function ()
    for _, case in ipairs {
      { "scale must be positive, got 0 at [2]", { 0, 0 }, { 1, 0 } },
      { "scale must be positive, got -1 at [1]", { 0, 0 }, -1 },
      { "loc must be a real number, got nan at [1]", { 0 / 0, 0 }, 1 },
      { "parameters of shapes (2) and (3) do not broadcast", { 0, 0 }, { 1, 2, 3 } },
      { "there is no parameter scal; did you mean scale? There are loc, scale, validate",
        { loc = { 0, 0 }, scal = 1 } },
      { "takes 2 parameters, got 3", { 0 }, 1, 2 },
    } do
      assert.equal("LogisticNormal: " .. case[1], message(peri.LogisticNormal, table.unpack(case, 2)))
    end
    assert.equal("LogisticNormal(loc={1, 2.5}, scale={2})",
                 tostring(peri.LogisticNormal { loc = { 1, 2.5 }, scale = 2 }))
    assert.equal("LogisticNormal(loc={1}, scale={1})", tostring(peri.LogisticNormal { 1 }))
  end)

  it("has its mode: no point near or far is higher", function ()
    local rng = peri.rng(5)
    for _, case in ipairs { { { 0, 0.3 }, { 1, 0.5 } }, { { 0, 1 }, { 3, 3 } }, { { -2, 0, 2 }, { 0.1, 1, 1.5 } } } do
      local d = peri.LogisticNormal(case[1], case[2])
      local mode = d:mode()
      local n = #mode
      local near = (mode:log() + peri.Normal(0, 1e-3):sample({ 500, n }, rng)):softmax()
      local far = (mode:log() + peri.Normal(0, 3):sample({ 500, n }, rng)):softmax()
      assert(peri.item(d:log_prob(peri.cat { near, far }):max()) <= peri.item(d:log_prob(mode)) + 1e-11)
    end
    for _, scale in ipairs { 0.3, 1.3, 4 } do
      local expected, got = peri.LogitNormal(0.4, scale):mode(), peri.LogisticNormal({ 0.4 }, { scale }):mode()[1]
      assert(math.abs(expected - got) <= 1e-13 * expected)
    end
    assert.same({ 4, 3 }, peri.LogisticNormal({ 0, 1 }, 1):expand(4):mode().shape)
  end)

  it("explains itself, with an example that is right", function ()
    local help = peri.LogisticNormal.help
    close(help.example[2], load("local LogisticNormal = ...; return " .. help.example[1])(peri.LogisticNormal), 1e-12)
  end)
end)

describe("LogisticNormal of single numbers", function ()
  it("has one cut, or as many as the other parameter", function ()
    local one = peri.LogisticNormal(0.5, 2)
    assert.same({ 2 }, one.event_shape)
    assert.same({}, { table.unpack(one.batch_shape) })
    local known = peri.LogisticNormal({ 0.5 }, { 2 })
    for _, method in ipairs { "mean", "variance", "mode" } do
      assert.same(known[method](known):totable(), one[method](one):totable())
    end
    assert.equal(peri.item(known:log_prob { 0.3, 0.7 }), peri.item(one:log_prob { 0.3, 0.7 }))
    assert.equal(peri.item(known:entropy()), peri.item(one:entropy()))
    assert.same({ 3 }, peri.LogisticNormal(0, { 1, 2 }).event_shape)
    assert.same({ 3 }, peri.LogisticNormal { loc = 0, scale = { 1, 2 } }.event_shape)
    assert.same({ 2 }, peri.LogisticNormal { loc = 0 }.event_shape)
  end)

  it("takes tensors of rank 0, with their gradients", function ()
    local loc = peri.param(0.5)
    peri.LogisticNormal(loc, peri.tensor(2)):log_prob({ 0.3, 0.7 }):backward()
    local row = peri.param { 0.5 }
    peri.LogisticNormal(row, { 2 }):log_prob({ 0.3, 0.7 }):backward()
    assert.equal(row.grad[1], peri.item(loc.grad))
  end)

  it("has no density on the border", function ()
    local d = peri.LogisticNormal({ 1000, 0 }, 1)
    assert.equal(-math.huge, d:log_prob(d:sample(nil, peri.rng(1))))   -- all of the whole, as a double
    local border = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 0.5, 0, 0.5 }, { 0, 0.5, 0.5 } }
    local values = peri.LogisticNormal({ 0, 0 }, 1):log_prob(border)
    for i = 1, #border do assert.equal(-math.huge, values[i]) end
  end)
end)
