--- Every registered pair: integrated, compared with the reference table, broadcast; kernels are
-- differentiated. Listing a pair is what tests it.
local peri       = require "perilune"
local core       = require "perilune.core"
local kl_pairs   = require "perilune.kl_pairs"
local golden     = require "spec.support.golden"
local contract   = require "spec.support.contract"
local slopes     = require "spec.support.slopes"

-- Parameters to try each class at: the third kind is far from the others.
local points = {
  AsymmetricLaplace   = { { 0, 1, 1 }, { 0.5, 1.3, 0.6 }, { -3, 0.4, 1.7 } },
  Beta                = { { 2, 3 }, { 2.5, 1.2 }, { 0.7, 0.8 } },
  Cauchy              = { { 0, 1 }, { 0.5, 1.3 }, { -3, 0.4 } },
  ContinuousBernoulli = { { 0.3 }, { 0.5 }, { 0.9 } },
  Exponential         = { { 1 }, { 1.3 }, { 0.2 } },
  FisherSnedecor      = { { 5, 7 }, { 3, 4.5 }, { 12, 2.5 } },
  Frechet             = { { 1, 3 }, { 1.4, 2.6 }, { 0.5, 0.8 } },
  Gamma               = { { 2, 1 }, { 2.6, 1.4 }, { 0.6, 0.3 } },
  GeneralizedNormal   = { { 0, 1, 2 }, { 0.5, 1.3, 1.2 }, { -3, 0.4, 4 } },
  GeneralizedPareto   = { { 0, 1, 0.1 }, { 0.5, 1.3, 0.3 }, { 0, 0.4, -0.5 } },
  Gumbel              = { { 0, 1 }, { 0.5, 1.3 }, { -3, 0.4 } },
  HalfCauchy          = { { 1 }, { 1.3 }, { 0.2 } },
  HalfNormal          = { { 1 }, { 1.3 }, { 0.2 } },
  InverseGamma        = { { 3, 2 }, { 2.4, 1.5 }, { 1.7, 0.4 } },
  InverseGaussian     = { { 1, 1 }, { 1.4, 2 }, { 0.4, 0.7 } },
  Kumaraswamy         = { { 2, 3 }, { 2.5, 1.2 }, { 0.7, 0.8 } },
  Laplace             = { { 0, 1 }, { 0.5, 1.3 }, { -3, 0.4 } },
  LogNormal           = { { 0, 1 }, { 0.5, 0.8 }, { -2, 0.4 } },
  LogUniform          = { { 0.2, 0.9 }, { 0.1, 3 }, { 1, 10 } },
  Logistic            = { { 0, 1 }, { 0.5, 1.3 }, { -3, 0.4 } },
  LogitNormal         = { { 0, 1 }, { 0.5, 0.8 }, { -2, 0.4 } },
  Normal              = { { 0, 1 }, { 0.5, 1.3 }, { -3, 0.4 } },
  Pareto              = { { 1, 3 }, { 0.6, 2.5 }, { 2, 4 } },
  Rayleigh            = { { 1 }, { 1.3 }, { 0.3 } },
  RelaxedBernoulli    = { { 1.5, 0.3 }, { 0.8, 0.6 }, { 2, 0.9 } },
  SkewNormal          = { { 0, 1, 2 }, { 0.5, 1.3, -1 }, { -3, 0.4, 0 } },
  StudentT            = { { 5, 0, 1 }, { 3.5, 0.5, 1.3 }, { 2.2, -3, 0.4 } },
  Triangular          = { { 0.1, 0.9, 0.4 }, { 0, 1, 0.5 }, { 1, 3, 1.5 } },
  TruncatedNormal     = { { 0, 1, -1, 2 }, { 0.5, 1.3, -3, 4 }, { -3, 0.4, -4, -1 } },
  VonMises            = { { 0, 1 }, { 0.5, 3 }, { -2, 0.4 } },
  Uniform             = { { 0, 1 }, { -1, 3 }, { 0.25, 0.75 } },
  Weibull             = { { 1, 2 }, { 1.3, 1.6 }, { 0.4, 0.7 } },
}

-- Those of other families come from their specs.
for _, name in ipairs(peri.distributions()) do
  points[name] = points[name] or contract.of(name).kl_points
end

local function each_pair_of_points (P, Q, check)
  for i, j in ("11 12 22 31 13"):gmatch("(%d)(%d)") do
    check(peri[P](table.unpack(points[P][tonumber(i)])), peri[Q](table.unpack(points[Q][tonumber(j)])))
  end
end

-- Pairs that are numeric for some parameters: the integral's nodes depend on the whole batch.
local is_numeric = {}
for _, pair in ipairs(kl_pairs.conditional) do is_numeric[pair[1] .. pair[2]] = true end
is_numeric.RelaxedBernoulliRelaxedBernoulli, is_numeric.LogitNormalRelaxedBernoulli = true, true

local function name_of (p, q) return tostring(p) .. " || " .. tostring(q) end

-- Pairs by their P, for which there are points.
local by_first = {}
for _, pair in ipairs(peri.kl_pairs()) do
  local P, Q = pair[1], pair[2]
  if points[P] and points[Q] then
    by_first[P] = by_first[P] or {}
    table.insert(by_first[P], Q)
  end
end

-- Either q has no density somewhere, or the integral grows beyond all bounds.
local function assert_infinite (p, q)
  local x = p:sample(1000, peri.rng(1))
  if q:log_prob(x):min() == -math.huge then return end
  local numeric = p:expectation(function (v) return p:log_prob(v) - q:log_prob(v) end)
  assert(numeric ~= numeric or numeric >= 1e6, name_of(p, q) .. " is infinite for no reason")
end

local function assert_integral (p, q, kl)
  local numeric, error = p:expectation(function (x) return p:log_prob(x) - q:log_prob(x) end, { points = { q:mode() } })
  assert(math.abs(kl - numeric) <= 1e-10 * math.max(1, numeric) + 10 * error,
         string.format("%s is %.12g, by quadrature %.12g", name_of(p, q), kl, numeric))
  assert(error < 1e-5 * math.max(1, numeric), string.format("%s, by quadrature +- %g", name_of(p, q), error))
end

for P, list in pairs(by_first) do
  describe("KL(" .. P .. " || ...)", function ()
    it("agrees with quadrature", function ()
      for _, Q in ipairs(list) do
        each_pair_of_points(P, Q, function (p, q)
          local kl = peri.kl_divergence(p, q)
          if kl == math.huge then assert_infinite(p, q)
          else assert_integral(p, q, kl) end
        end)
      end
    end)

    it("broadcasts batches", function ()
      for _, Q in ipairs(list) do
        local a, b = points[P], points[Q]
        local p_params, q_params = {}, {}
        for k = 1, #a[1] do p_params[k] = { { a[1][k] }, { a[2][k] } } end
        for k = 1, #b[1] do q_params[k] = { b[1][k], b[2][k], b[3][k] } end
        local kl = peri.kl_divergence(peri[P](table.unpack(p_params)), peri[Q](table.unpack(q_params)))
        assert.same({ 2, 3 }, kl.shape)
        for i = 1, 2 do
          for j = 1, 3 do
            local p, q = peri[P](table.unpack(a[i])), peri[Q](table.unpack(b[j]))
            local alone, among = peri.kl_divergence(p, q), kl:at(i, j)
            local rounding = is_numeric[P .. Q] and 1e-12 * math.abs(alone) or 0
            assert(alone == among or math.abs(alone - among) <= rounding, name_of(p, q))
          end
        end
      end
    end)
  end)
end

it("lists no pair of families of single numbers without points", function ()
  for _, pair in ipairs(peri.kl_pairs()) do
    local ok = points[pair[1]] and points[pair[2]] or not (points[pair[1]] or points[pair[2]])
    assert(ok, pair[1] .. " || " .. pair[2])
  end
end)

for _, name in ipairs { "kl", "kl_more" } do
  it("passes every line of the reference table " .. name, function ()
    assert.equal("", golden.failures(golden.lines(name), function (line)
      return peri.item(peri.kl_divergence(golden.p(line), golden.q(line)))
    end, function (line) return name_of(golden.p(line), golden.q(line)) end))
  end)
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

-- Has KL(P || Q) a kernel?
local function has_kernel (P, Q)
  for _, kernel in ipairs(core.kernels("kl/" .. P:lower()) or {}) do
    if kernel.name == Q then return true end
  end
  return false
end

for _, pair in ipairs(peri.kl_pairs()) do
  local P, Q = pair[1], pair[2]
  if points[P] and has_kernel(P, Q) then
    it("KL(" .. P .. " || " .. Q .. ") has the right partials", function ()
      local file = "kl/" .. peri[P].kernels
      local kernel = { name = Q, n_in = #peri[P].operands + #peri[Q].operands }
      local names = { table.unpack({ "a", "b", "c", "d", "e", "f", "g", "h" }, 1, kernel.n_in) }
      local value = contract.kernel_value(file, kernel)
      local partials = core.bind_partials(file, Q, Q, names, names)
      local checked = 0
      each_pair_of_points(P, Q, function (p, q)
        local at = {}
        for _, name in ipairs(p.operands) do at[#at + 1] = p[name] end
        for _, name in ipairs(q.operands) do at[#at + 1] = q[name] end
        if finite_around(value, at) then
          checked = checked + 1
          assert.is_nil(slopes.mismatch(value, at, { partials(table.unpack(at)) }, 1e-6))
        end
      end)
      assert(checked > 0, "no point is smooth")
    end)
  end
  if P == Q and points[P] and has_kernel(P, Q) then
    it("KL(" .. P .. " || " .. P .. ") is exactly 0 for p against itself", function ()
      for _, a in ipairs(points[P]) do
        assert.equal(0.0, peri.kl_divergence(peri[P](table.unpack(a)), peri[P](table.unpack(a))))
      end
    end)
  end
end
