--- Generators: published answers, reproducible streams, and the right laws.
local peri = require "perilune"
local core = require "perilune.core"

local Normal = peri.Normal

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end


describe("Philox4x32-10", function ()
  -- known answers of Random123: counter, key, block
  local ones = 0xffffffff
  local cases = {
    { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
    { { ones, ones, ones, ones }, { ones, ones }, { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
    { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, { 0xa4093822, 0x299f31d0 },
      { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
  }
  for i, case in ipairs(cases) do
    it("gives known answer " .. i, function ()
      local c, k = case[1], case[2]
      assert.same(case[3], { core.philox(c[1], c[2], c[3], c[4], k[1], k[2]) })
    end)
  end

  it("makes uniform numbers of the top 52 bits of its words, eight of four blocks", function ()
    local drawn = peri.rng(0x299f31d0a4093822):uniform(24)
    for block = 0, 11 do
      local w = { core.philox(block, 0, 0, 0, 0xa4093822, 0x299f31d0) }
      local first = math.floor(block / 4) * 8 + block % 4 + 1   -- four first words, then four second words
      assert.equal((w[2] * 2^20 + math.floor(w[1] / 2^12) + 0.5) * 2.0 ^ -52, drawn[first])
      assert.equal((w[4] * 2^20 + math.floor(w[3] / 2^12) + 0.5) * 2.0 ^ -52, drawn[first + 4])
    end
  end)
end)


describe("a generator", function ()
  it("gives the same draws for the same seed, others for another", function ()
    assert.same(peri.rng(7):normal(50):totable(), peri.rng(7):normal(50):totable())
    assert.is_false(peri.rng(7):normal(50) == peri.rng(8):normal(50))
    assert.is_false(peri.rng(1):uniform() == peri.rng(0x100000000):uniform())
    assert.is_true(peri.rng(-1):uniform() == peri.rng(-1):uniform())
  end)

  it("saves and restores its state in the middle of a stream", function ()
    local rng = peri.rng(3)
    rng:uniform(7)
    local state = rng:state()
    local first = rng:normal(20)
    assert.is_true(rng:restore(state))
    assert.is_true(rng:normal(20) == first)
    local other = peri.rng(99)
    assert.is_true(other:restore(state))
    assert.is_true(other:normal(20) == first)
    assert.equal(rng:state(), other:state())
  end)

  local good = peri.rng(3):state()
  local garbage = {
    { "nothing", nil }, { "a number", 5 }, { "an empty string", "" }, { "text", "hello" },
    { "a state cut short", good:sub(1, -2) }, { "a state with a tail", good .. "0" },
    { "capital digits", (good:gsub("%x+$", "000000000000000A")) },
    { "another letter", (good:gsub("0$", "g")) },
    { "a zero byte", good:sub(1, -2) .. "\0" },
    { "another generator", (good:gsub("philox", "mersen")) },
    { "another separator", (good:gsub(" (%x+)$", "_%1")) },
  }
  for _, case in ipairs(garbage) do
    it("refuses to restore " .. case[1] .. ", and goes on as before", function ()
      local rng = peri.rng(3)
      rng:uniform(2)
      local state = rng:state()
      assert.is_false(case[2] == good)
      local ok, why = rng:restore(case[2])
      assert.is_nil(ok)
      assert.matches("^rng:restore: ", why)
      assert.equal(state, rng:state())
    end)
  end

  it("restores any position without harm", function ()
    local rng = peri.rng(0)
    assert.is_true(rng:restore((good:gsub("%x+$", "ffffffffffffffff"))))
    local t = rng:normal(10)
    assert.equal(10, peri.item(t:isfinite():sum()))
  end)

  -- The position of a block takes a second word from 2^32 on. A block makes two elements of noise, or is
  -- an element's own where it is drawn again after a rejection.
  for _, power in ipairs { 32, 33 } do
    local before = 100
    local state = good:gsub("%x+$", string.format("%016x", math.tointeger(2^power) - before))
    for _, d in ipairs { peri.Uniform(0, 1), Normal(0, 1), peri.Gamma(2.5), peri.Gamma(0.5), peri.Poisson(4),
                         peri.Poisson(40) } do
      it("draws from " .. tostring(d) .. " across element 2^" .. power .. " at once as one by one", function ()
        local rng, alone = peri.rng(0), {}
        rng:restore(state)
        local together = d:sample(3 * before, rng):totable()
        rng:restore(state)
        for i = 1, 3 * before do alone[i] = d:sample(nil, rng) end
        for i = 1, 3 * before do assert.equal(alone[i], together[i]) end
      end)
    end
  end

  it("splits into children that differ from one another and from it", function ()
    local parent = peri.rng(5)
    local seen, streams = {}, parent:split(8)
    streams[9], streams[10], streams[11] = parent:split(), parent:split(), parent
    for _, rng in ipairs(streams) do
      local state, draw = rng:state(), rng:uniform()
      assert.is_nil(seen[state])
      assert.is_nil(seen[draw])
      seen[state], seen[draw] = true, true
    end
  end)

  it("splits reproducibly", function ()
    local a, b = peri.rng(5):split(3), peri.rng(5):split(3)
    for i = 1, 3 do assert.equal(a[i]:state(), b[i]:state()) end
    assert.equal(a[1]:split():state(), b[1]:split():state())
    assert.equal(peri.rng(5):split(3)[2]:state(), peri.rng(5):split(7)[2]:state())
    assert.equal(1, #peri.rng(5):split(1))
  end)

  it("is not correlated with its children", function ()
    local parent = peri.rng(5)
    local children, n = parent:split(3), 10000
    children[4] = parent
    for i = 1, 4 do children[i] = children[i]:normal(n) end
    for i = 1, 3 do
      for j = i + 1, 4 do   -- the mean of n products is Normal(0, 1/sqrt(n)); 5.5 sigma is 4e-8
        local r = peri.item((children[i] * children[j]):mean()) * math.sqrt(n)
        assert.is_true(math.abs(r) < 5.5)
      end
    end
  end)

  local refused = {
    { "a seed that is no integer", function () peri.rng(1.5) end, "rng: seed must be an integer, got 1.5" },
    { "a string as seed", function () peri.rng "1" end, "rng: seed must be an integer, got the string \"1\"" },
    { "no seed", function () peri.rng() end, "rng: seed is missing" },
    { "no default seed", function () peri.seed() end, "seed: seed is missing" },
    { "to split into none", function () peri.rng(1):split(0) end,
      "rng:split: n must be an integer from 1 to 2^20, got 0" },
    { "to split into too many", function () peri.rng(1):split(0x200000) end,
      "rng:split: n must be an integer from 1 to 2^20, got 2097152" },
    { "a negative count", function () peri.rng(1):normal(-1) end,
      "rng:normal: a dimension must be a non-negative integer, got -1" },
    { "another self", function () peri.rng(1).uniform(5) end,
      "rng:uniform: self must be a generator (peri.rng), got 5" },
    { "a tensor as self", function () peri.rng(1).state(peri.zeros(9)) end,
      "rng:state: self must be a generator (peri.rng), got a tensor of shape (9)" },
  }
  for _, case in ipairs(refused) do
    it("refuses " .. case[1], function () assert.equal(case[3], message(case[2])) end)
  end

  it("is not moved by a request that failed", function ()
    local rng = peri.rng(1)
    local state = rng:state()
    pcall(rng.normal, rng, -1)
    pcall(rng.normal, rng, 0x80000000, 0x80000000)
    pcall(rng.normal, rng, 0x200000000000)
    pcall(rng.split, rng, 0)
    pcall(Normal(0, 1).sample, Normal(0, 1), { 0x80000000, 0x80000000 }, rng)
    assert.equal(state, rng:state())
  end)

  it("has a name", function ()
    assert.equal("rng(key=0000000000000005, position=3)", (function ()
      local rng = peri.rng(5)
      rng:uniform(3)
      return tostring(rng)
    end)())
  end)
end)


describe("draws do not depend on how a request is cut:", function ()
  local draws = {
    uniform     = function (rng, n) return rng:uniform(n) end,
    normal      = function (rng, n) return rng:normal(n) end,
    exponential = function (rng, n) return rng:exponential(n) end,
    ["Normal:sample"]  = function (rng, n) return Normal(1, 2):sample(n, rng) end,
    ["Normal:rsample"] = function (rng, n) return Normal(1, 2):rsample({ n }, rng) end,
    ["a batch of one"] = function (rng, n) return Normal({ 1 }, 2):sample(n, rng):reshape(-1) end,
  }
  local numbers = {
    uniform     = function (rng) return rng:uniform() end,
    normal      = function (rng) return rng:normal() end,
    exponential = function (rng) return rng:exponential() end,
    ["Normal:sample"] = function (rng) return Normal(1, 2):sample(nil, rng) end,
  }
  local cuts = { { 1 }, { 2 }, { 3 }, { 1, 2 }, { 7, 1, 8 }, { 255, 1, 256 }, { 513, 3 }, { 0, 5 } }
  local total = 1543

  for name, draw in pairs(draws) do
    for _, cut in ipairs(cuts) do
      it(name .. " in pieces of " .. table.concat(cut, ", "), function ()
        local whole = draw(peri.rng(42), total):totable()
        local rng, at, i = peri.rng(42), 0, 0
        while at < total do
          local n = math.min(cut[i % #cut + 1], total - at)
          for j, x in ipairs(draw(rng, n):totable()) do assert.equal(whole[at + j], x) end
          at, i = at + n, i + 1
        end
      end)
    end
  end
  for name, draw in pairs(numbers) do
    it(name .. " one number at a time", function ()
      local whole, rng = draws[name](peri.rng(42), 301):totable(), peri.rng(42)
      for i = 1, 301 do assert.equal(whole[i], draw(rng)) end
    end)
  end

  it("the shape only arranges them", function ()
    local flat = peri.rng(9):normal(24)
    assert.is_true(peri.rng(9):normal(2, 3, 4) == flat:reshape(2, 3, 4))
    assert.is_true(peri.rng(9):normal { 4, 6 } == flat:reshape(4, 6))
    assert.is_true(Normal(0, 1):sample({ 2, 3, 4 }, peri.rng(9)) == flat:reshape(2, 3, 4))
    assert.is_true(Normal(peri.zeros(3, 4), 1):sample(2, peri.rng(9)) == flat:reshape(2, 3, 4))
    assert.is_true(Normal(peri.zeros(4, 3):transpose(), 1):sample(2, peri.rng(9)) == flat:reshape(2, 3, 4))
  end)
end)


describe("the default generator", function ()
  after_each(function () peri.seed(0) end)

  it("starts from the seed 0", function ()
    local script = [[local peri = require "perilune" io.write(string.format("%.17g", peri.Normal(0, 1):sample()))]]
    local first = 0
    while arg[first - 1] do first = first - 1 end   -- the interpreter
    local pipe = io.popen(string.format("LUA_PATH='%s' LUA_CPATH='%s' '%s' -e '%s'",
                                        package.path, package.cpath, arg[first], script))
    local drawn = pipe:read "a"
    pipe:close()
    assert.equal(string.format("%.17g", peri.rng(0):normal()), drawn)
  end)

  it("is seeded by peri.seed and used where none is given", function ()
    peri.seed(11)
    local a = Normal(0, 1):sample(5)
    peri.seed(11)
    assert.is_true(a == Normal(0, 1):sample(5))
    assert.is_true(a == Normal(0, 1):sample(5, peri.rng(11)))
    assert.is_false(a == Normal(0, 1):sample(5))
  end)

  it("leaves math.random alone, and is left alone by it", function ()
    math.randomseed(5)
    local first = { math.random(), math.random() }
    math.randomseed(5)
    peri.seed(1)
    local a = Normal(0, 1):sample(10)
    peri.rng(3):split(3)
    assert.same(first, { math.random(), math.random() })
    peri.seed(1)
    math.randomseed(77)
    assert.is_true(a == Normal(0, 1):sample(10))
  end)
end)


describe("the law of", function ()
  -- Kolmogorov and Smirnov: sqrt(n) times the largest gap exceeds 2.70 with
  -- probability 2 exp(-2 * 2.70^2) < 1e-6, the false-alarm rate of each check.
  local n, bound = 100000, 2.70

  local function gap (draws, cdf)
    local u = cdf(draws):totable()
    table.sort(u)
    local largest = 0
    for i, p in ipairs(u) do largest = math.max(largest, i / n - p, p - (i - 1) / n) end
    return largest * math.sqrt(n)
  end

  local laws = {
    { "uniform", function (rng) return rng:uniform(n) end, function (x) return x end },
    { "normal", function (rng) return rng:normal(n) end, peri.special.ndtr },
    { "exponential", function (rng) return rng:exponential(n) end, function (x) return -peri.expm1(-x) end },
    { "Normal(3, 0.1)", function (rng) return Normal(3, 0.1):sample(n, rng) end,
      function (x) return Normal(3, 0.1):cdf(x) end },
    { "Normal(-1e9, 1)", function (rng) return Normal(-1e9, 1):sample(n, rng) end,
      function (x) return Normal(-1e9, 1):cdf(x) end },
    { "the even draws alone", function (rng) return rng:normal(n, 2):select(2, 2) end, peri.special.ndtr },
    { "a child", function (rng) return rng:split(5)[4]:uniform(n) end, function (x) return x end },
  }
  for _, law in ipairs(laws) do
    for _, seed in ipairs { 1, 2 } do
      it(law[1] .. ", seed " .. seed, function ()
        local distance = gap(law[2](peri.rng(seed)), law[3])
        assert.is_true(distance < bound, "distance " .. distance)
        assert.is_true(distance > 0.2, "too even: " .. distance)
      end)
    end
  end

  it("uniform stays inside (0, 1), exponential above 0", function ()
    local u = peri.rng(8):uniform(1000000)
    assert.is_true(peri.item(u:min()) > 0)
    assert.is_true(peri.item(u:max()) < 1)
    assert.is_true(peri.item(peri.rng(8):exponential(1000000):min()) > 0)
  end)

  it("pairs of neighbours: no correlation", function ()
    for _, kind in ipairs { "uniform", "normal", "exponential" } do
      local rng = peri.rng(21)
      local t = rng[kind](rng, n)
      t = (t - t:mean()) / t:std()
      for lag = 1, 4 do   -- 5.5 sigma: 4e-8 each
        local r = peri.item((t:narrow(1, 1, n - lag) * t:narrow(1, 1 + lag, n - lag)):mean())
        assert.is_true(math.abs(r * math.sqrt(n)) < 5.5)
      end
    end
  end)
end)
