--- Threads: any number of them, the same bits.
local peri  = require "perilune"
local model = require "spec.support.reference_tensor"

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

-- The smallest loops that are shared out have 2 * 16384 elements, and rows
-- are shared out by their work: sizes on both sides of such thresholds.
local sizes = { 16383, 16384, 32767, 32768, 32769, 49153, 65536, 100003 }


describe("with two, three and five threads", function ()
  after_each(function () peri.set_threads(1) end)

  local function data (n) return peri.rng(n):normal(n) end

  local work = {
    log_prob      = function (n) return peri.Normal(data(n), 2):log_prob(data(n):cumsum()) end,
    kl_divergence = function (n)
      return peri.kl_divergence(peri.Normal(data(n), data(n):exp()), peri.Normal(1, 2))
    end,
    sample        = function (n) return peri.Normal(data(n), 3):sample(nil, peri.rng(1)) end,
    ["sample of a broadcast"] = function (n) return peri.Normal({ 1, 2, 3 }, 3):sample(n, peri.rng(1)) end,
    exp           = function (n) return data(n):exp() end,
    ["a strided sum of two"] = function (n)
      return data(2 * n):reshape(n, 2):transpose() + data(2 * n):reshape(2, n)
    end,
    sum           = function (n) return data(n):sum() end,
    var           = function (n) return data(n):var() end,
    argmax        = function (n) return data(n):argmax() end,
    logsumexp     = function (n) return data(n):logsumexp() end,
    ["sum of short lines"] = function (n) return data(3 * n):reshape(n, 3):sum(2) end,
    ["sum of long lines"]  = function (n) return data(3 * n):reshape(3, n):sum(2) end,
    ["sum of columns"]     = function (n) return data(3 * n):reshape(n, 3):sum(1) end,
    softmax       = function (n) return data(4 * n):reshape(n, 4):softmax() end,
    ["softmax of long rows"] = function (n) return data(3 * n):reshape(3, n):softmax() end,
    cumsum        = function (n) return data(2 * n):reshape(n, 2):cumsum(1) end,
    matmul        = function (n) return data(4 * n):reshape(n, 2, 2):matmul { { 1, 2 }, { 3, 4 } } end,
    ["matmul of large matrices"] = function (n)
      local m = math.floor(math.sqrt(n))
      return data(2 * m * m):reshape(2, m, m):narrow(3, 1, 40):matmul(data(40 * 30):reshape(40, 30))
    end,
    where         = function (n) return peri.where(data(n):gt(0), data(n), -1) end,
  }
  for name, fn in pairs(work) do
    it(name .. " gives the bits of one thread", function ()
      for _, n in ipairs(sizes) do
        peri.set_threads(1)
        local alone = fn(n)
        for _, threads in ipairs { 2, 3, 5 } do
          peri.set_threads(threads)
          local together = fn(n)
          assert.same(alone.shape, together.shape)
          assert.equal(0, together:ne(alone):sum():item(), n .. " elements, " .. threads .. " threads")
        end
      end
    end)
  end

  it("parameters are checked as ever", function ()
    peri.set_threads(3)
    local scale = peri.ones(100000)
    scale[77777] = -2
    assert.equal("Normal: scale must be positive, got -2 at [77777]", message(peri.Normal, 0, scale))
  end)

  it("work goes on after the number is changed, often", function ()
    local t = peri.arange(100000)
    for i = 1, 40 do
      peri.set_threads(i % 4 + 1)
      assert.equal(4999950000, t:sum():item())
      assert.is_nil(model.difference((t + 1):narrow(1, 99999, 2), { shape = { 2 }, 99999, 100000 }))
    end
  end)

  it("a pool that is forgotten is joined by the collector", function ()
    peri.set_threads(3)
    peri.set_threads(2)
    collectgarbage()
    collectgarbage()
    assert.equal(100000, peri.ones(100000):sum():item())
  end)

  it("an error on the way leaves the threads usable", function ()
    peri.set_threads(2)
    for _ = 1, 5 do
      assert.is_false(pcall(peri.add, peri.ones(100000), peri.ones(99999)))
      assert.equal(200000, (peri.ones(100000) + 1):sum():item())
    end
  end)
end)


describe("set_threads", function ()
  local range, kind = "an integer from 1 to 256", "an integer"
  local refused = {
    { range, "0", 0 }, { range, "-1", -1 }, { range, "257", 257 },
    { range, tostring(math.maxinteger), math.maxinteger },
    { kind, "1.5", 1.5 }, { kind, "inf", math.huge }, { kind, "the string \"2\"", "2" }, { kind, "true", true },
    { kind, "nil", nil }, { kind, "a table", {} },
  }
  for _, case in ipairs(refused) do
    it("refuses " .. case[2], function ()
      assert.equal("set_threads: n must be " .. case[1] .. ", got " .. case[2],
                   message(peri.set_threads, case[3]))
    end)
  end
end)
