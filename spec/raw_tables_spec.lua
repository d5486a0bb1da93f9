--- Lists and tables that users pass are read raw: a metatable that answers for ever keeps no function from returning,
-- and changes nothing.
local peri = require "perilune"

local constraints, transforms, optim = peri.constraints, peri.transforms, peri.optim

-- A table that has, unless it is read raw, a vast length and keys without end; a list has an element for every integer.
local function endless (t)
  local some = select(2, next(t))
  return setmetatable(t, {
    __len = function () return 2^40 end,
    __index = t[1] and function (_, i) return math.type(i) == "integer" and some or nil end,
    __pairs = function ()
      local i = 0
      return function ()
        i = i + 1
        return "key" .. i, some
      end
    end,
  })
end

local function same (x) return x end

-- What f gives, as text; it is given up when it takes too long.
local function result_of (f, wrap)
  local given_up = {}
  debug.sethook(function () error(given_up) end, "", 3000000)
  local ok, found = pcall(f, wrap)
  debug.sethook()
  assert(ok, found == given_up and "it goes on for ever" or found)
  return tostring(found)
end

local line = peri.model(function (m)
  m.a = peri.Normal(0, 1)
  m.b = peri.Normal(0, peri.exp(m.a))
  m.y = peri.Normal(m.b, 1)
end)

local posed = line { y = 1 }

local function parameter ()
  local p = peri.param { 1, 2 }
  p:sum():backward()
  return p
end

-- Each passes one table through `_`.
local calls = {
  ["MixtureDistribution"] = function (_)
    return peri.MixtureDistribution(peri.Categorical { .5, .5 }, _ { peri.Normal(0, 1), peri.Normal(1, 2) }):mean()
  end,
  ["TransformedDistribution"] = function (_)
    return peri.TransformedDistribution(peri.Normal(0, 1), _ { transforms.Exp(), transforms.Affine(1, 2) })
  end,
  ["transforms.Compose"] = function (_) return transforms.Compose(_ { transforms.Exp(), transforms.Abs() }) end,
  ["transforms.Stack"] = function (_) return transforms.Stack(_ { transforms.Exp(), transforms.Abs() }) { 1, -2 } end,
  ["transforms.Cat"] = function (_) return transforms.Cat(_ { transforms.Exp(), transforms.Abs() }) { 1, -2 } end,
  ["constraints.stack"] = function (_) return constraints.stack(_ { constraints.positive, constraints.real }) end,
  ["constraints.cat"] = function (_) return constraints.cat(_ { constraints.positive, constraints.real }) end,
  ["cat"] = function (_) return peri.cat(_ { peri.ones(2), peri.zeros(1) }) end,
  ["stack"] = function (_) return peri.stack(_ { peri.ones(2), peri.zeros(2) }) end,
  ["fit, families"] = function (_) return peri.fit(_ { peri.Normal, peri.Gumbel }, { 1, 2, 3, 5 }) end,
  ["fit, fixed"] = function (_) return peri.fit(peri.Normal, { 1, 2, 3, 5 }, { fixed = _ { scale = 1 } }) end,
  ["fit, options"] = function (_) return peri.fit(peri.Normal, { 1, 2, 3, 5 }, _ { weights = { 1, 2, 3, 4 } }) end,
  ["preload"] = function (_) return peri.preload(_ { "Normal", "exp" }) end,
  ["extend, params"] = function (_)
    local params = _ { { "a", constraints.real }, { "b", constraints.real } }
    return peri.Distribution:extend("Own", { params = params })(1, 2)
  end,
  ["extend"] = function (_) return peri.Normal:extend("Own", _ { support = constraints.real }) (1, 2) end,
  ["parameters by name"] = function (_) return peri.Normal(_ { scale = 2 }) end,
  ["LogisticNormal"] = function (_) return peri.LogisticNormal(_ { loc = { 1, 2 } }) end,
  ["Masked"] = function (_) return peri.Masked(peri.Normal(0, 1), _ { true, false }):log_prob { 1, 2 } end,
  ["scan"] = function (_) return (peri.scan(function (s, x) return s + x end, 0, _ { 1, 2 })) end,
  ["scan, states"] = function (_)
    return peri.scan(function (s, x) return _ { a = s.a + x } end, _ { a = 1 }, { 1, 2 }).a
  end,
  ["grad"] = function (_) return peri.grad(function (p) return p.a * p.a end)(_ { a = 3 }).a end,
  ["optim"] = function (_)
    local w = parameter()
    optim.Adam(_ { w }, { lr = 0.1 }):step()
    return w
  end,
  ["optim, names"] = function (_) return optim.clip_grad_norm(_ { w = parameter() }, 1) end,
  ["data"] = function (_) return line(_ { y = 2 }):log_joint { a = 0, b = 1 } end,
  ["values"] = function (_) return posed:log_joint(_ { a = 0, b = 1 }) end,
  ["init"] = function (_) return posed:map { seed = 1, init = _ { a = 0.5, b = 1 } }.mean.a end,
  ["noncentred"] = function (_) return posed:laplace { seed = 1, noncentred = _ { "b" } }.mean.b end,
  ["vi"] = function (_)
    local function log_joint (p) return -p.x * p.x end
    return peri.vi.fit { log_joint = log_joint, params = _ { x = _ { shape = 1 } }, seed = 1 }.mean.x
  end,
  ["compare"] = function (_) return peri.compare(_ { one = posed:laplace { seed = 1 } }) end,
  ["read_csv, names"] = function (_)
    return peri.read_csv({ text = "1,2\n3,4" }, { header = false, names = _ { "u", "v" } })
  end,
  ["describe"] = function (_) return peri.describe(_ { "u", "v", "u" }) end,
  ["columns"] = function (_) return peri.describe(_ { u = _ { "v", "w" } }) end,
  ["Rows:columns"] = function (_) return peri.rows({ { 1, 2 }, { 3, 4 } }):columns(_ { 2, 1 })[1] end,
  ["plot, names"] = function (_) return peri.plot({ 1, 2, 3 }, { names = _ { "u" } }) end,
  ["hist, bins"] = function (_) return peri.hist({ 1, 2, 3 }, { bins = _ { 0, 2, 4 } }) end,
}

describe("tables are read raw by", function ()
  for name, call in pairs(calls) do
    it(name, function () assert.equal(result_of(call, same), result_of(call, endless)) end)
  end
end)

describe("lists without metatables", function ()
  it("are those that are kept", function ()
    local list = { transforms.Exp(), transforms.Abs() }
    local made = transforms.Stack(list)
    list[1] = nil
    assert.equal(2, #made.list)
  end)

  it("have no holes and no other keys", function ()
    local function refusal (f, ...) return (select(2, pcall(f, ...))) end
    local why = refusal(peri.fit, { peri.Normal, n = 1 }, { 1, 2 })
    assert.matches("fit: families must be a list without other keys", why)
    assert.matches("describe: texts must be strings, got true at %[2%]", refusal(peri.describe, { "u", true }))
    assert.matches("preload: names must be a list", refusal(peri.preload, { "Normal", x = 1 }))
  end)
end)
