--- What every divergence between families of vectors and matrices is held to.
local busted = require "busted"
local peri   = require "perilune"
local core   = require "perilune.core"
local slopes = require "spec.support.slopes"

local describe, it, assert = busted.describe, busted.it, require "luassert"

local function near (expected, got, tolerance)
  return math.abs(got - expected) <= tolerance * math.abs(expected)
end

local function item (x) return core.is_tensor(x) and peri.item(x) or x end

-- The kernel's adjoint at the operands of all pairs, one batch of them.
local function check_adjoint (case, p, q)
  local operands, names = {}, {}
  for _, d in ipairs { p, q } do
    for _, name in ipairs(d.operands) do operands[#operands + 1] = core.tensor(d[name]) end
  end
  for k = 1, #operands do names[k] = string.char(96 + k) end
  local file = "kl/" .. p.kernels
  local value = core.bind(file, case.class, case.class, names, names)
  local adjoint = core.bind_adjoint(file, case.class, case.class, names, names)
  assert.is_nil(slopes.adjoint_mismatch(value, adjoint, operands, core.tensor(1.7), 1e-6))
end

--- case.class: its name; case.make(a): a distribution from a line's parameters; case.values: lines
-- { a, b, KL(a || b) } with references of 40 digits and more; case.formula: it has no kernel of its own.
return function (case)
  describe("KL(" .. case.class .. " || " .. case.class .. ")", function ()
    local function kl (a, b) return item(peri.kl_divergence(case.make(a), case.make(b), { fallback = false })) end

    it("agrees with the references, near p = q as well", function ()
      for i, line in ipairs(case.values) do
        local got = kl(line[1], line[2])
        assert(near(line[3], got, 1e-12), string.format("line %d: expected %.17g, got %.17g", i, line[3], got))
      end
    end)

    it("is exactly 0 for p against itself", function ()
      for _, line in ipairs(case.values) do assert.equal(0.0, kl(line[1], line[1])) end
    end)

    it("broadcasts batches of unequal ranks", function ()
      local first, second = case.values[1], case.values[2]
      local wide = peri.kl_divergence(case.make(first[1]):expand { 3, 1 }, case.make(first[2]):expand { 2 })
      assert.same({ 3, 2 }, wide.shape)
      for i = 1, 3 do
        for j = 1, 2 do assert.equal(kl(first[1], first[2]), wide:at(i, j)) end
      end
      assert(second == nil or kl(second[1], second[2]) >= 0)
    end)

    if not case.formula then
      it("has the right adjoint", function ()
        check_adjoint(case, case.make(case.values[1][1]), case.make(case.values[1][2]))
      end)
    end
  end)
end
