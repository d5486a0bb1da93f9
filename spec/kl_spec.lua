--- Every closed form of kl_pairs.lua: integrated, compared with the reference
-- table, differentiated. Listing a pair is what tests it.
local peri       = require "perilune"
local core       = require "perilune.core"
local golden     = require "spec.support.golden"
local contract   = require "spec.support.contract"
local quadrature = require "spec.support.quadrature"
local slopes     = require "spec.support.slopes"

-- Parameters to try each class at.
local points = {
  Normal      = { { 0, 1 }, { 0.5, 1.3 }, { -3, 0.4 } },
  Uniform     = { { 0, 1 }, { -1, 3 }, { 0.25, 0.75 } },
  Exponential = { { 1 }, { 1.3 }, { 0.2 } },
}

local function each_pair_of_points (P, Q, check)
  for _, a in ipairs(points[P]) do
    for _, b in ipairs(points[Q]) do
      check(peri[P](table.unpack(a)), peri[Q](table.unpack(b)), a, b)
    end
  end
end

-- Is a function finite at a point and on both sides of it, in each coordinate?
local function finite_around (f, point)
  for k, x in ipairs(point) do
    for _, step in ipairs { -1e-3, 0, 1e-3 } do
      local moved = { table.unpack(point) }
      moved[k] = x + step
      if math.abs(f(table.unpack(moved))) == math.huge then return false end
    end
  end
  return true
end

local function name_of (p, q) return tostring(p) .. " || " .. tostring(q) end

for _, pair in ipairs(require "perilune.kl_pairs") do
  local P, Q = pair[1], pair[2]
  describe("KL(" .. P .. " || " .. Q .. ")", function ()
    it("agrees with quadrature", function ()
      each_pair_of_points(P, Q, function (p, q)
        local kl = peri.kl_divergence(p, q)
        if kl < math.huge then
          local numeric = quadrature.expectation(p, function (x) return p:log_prob(x) - q:log_prob(x) end)
          assert(math.abs(kl - numeric) <= 1e-9 * math.max(1, numeric),
                 string.format("%s is %.12g, by quadrature %.12g", name_of(p, q), kl, numeric))
        else
          local x = p:sample(1000, peri.rng(1))
          assert(q:log_prob(x):min() < -1e300, name_of(p, q) .. " is infinite for no reason")
        end
      end)
    end)

    it("passes every line of the reference table", function ()
      local lines = golden.lines("kl", function (line) return line.p == P and line.q == Q end)
      assert.equal("", golden.failures(lines, function (line)
        return peri.kl_divergence(peri[P](line.p_params), peri[Q](line.q_params))
      end, function (line) return name_of(peri[P](line.p_params), peri[Q](line.q_params)) end))
    end)

    it("has the right partials", function ()
      local file = "kl/" .. peri[P].kernels
      local kernel = { name = Q, n_in = #peri[P].params + #peri[Q].params }
      local names = { table.unpack({ "a", "b", "c", "d", "e", "f" }, 1, kernel.n_in) }
      local value = contract.kernel_value(file, kernel)
      local partials = core.bind_partials(file, Q, Q, names, names)
      local checked = 0
      each_pair_of_points(P, Q, function (_, _, a, b)
        local at = { table.unpack(a) }
        for _, v in ipairs(b) do at[#at + 1] = v end
        if finite_around(value, at) then
          checked = checked + 1
          assert.is_nil(slopes.mismatch(value, at, { partials(table.unpack(at)) }, 1e-6))
        end
      end)
      assert(checked > 0, "no point is smooth")
    end)

    it("broadcasts batches", function ()
      local a, b = points[P], points[Q]
      local p_params, q_params = {}, {}
      for k = 1, #a[1] do p_params[k] = { { a[1][k] }, { a[2][k] } } end
      for k = 1, #b[1] do q_params[k] = { b[1][k], b[2][k], b[3][k] } end
      local kl = peri.kl_divergence(peri[P](table.unpack(p_params)), peri[Q](table.unpack(q_params)))
      assert.same({ 2, 3 }, kl.shape)
      for i = 1, 2 do
        for j = 1, 3 do
          assert.equal(peri.kl_divergence(peri[P](table.unpack(a[i])), peri[Q](table.unpack(b[j]))), kl:at(i, j))
        end
      end
    end)

    if P == Q then
      it("is exactly 0 for p against itself", function ()
        for _, a in ipairs(points[P]) do
          assert.equal(0.0, peri.kl_divergence(peri[P](table.unpack(a)), peri[P](table.unpack(a))))
        end
      end)
    end
  end)
end
