--- What Wishart and InverseWishart are checked by: matrices and points, integrals over
-- 2 by 2 matrices, Bartlett's triangle taken back from draws.
local peri       = require "perilune"
local core       = require "perilune.core"
local matrices   = require "perilune.matrices"
local slopes     = require "spec.support.slopes"
local statistics = require "spec.support.statistics"

local law = {
  scale = { { { 4 } }, { { 2, 1 }, { 1, 2 } }, { { 4, -1, 0.5 }, { -1, 3, 0.25 }, { 0.5, 0.25, 1 } } },
}

local POINT = { { 1, 0.25, -0.5 }, { 0.25, 2, 0.75 }, { -0.5, 0.75, 1.5 } }

--- a times the scale of side d, plus b times a fixed matrix.
function law.point (d, a, b)
  local x = {}
  for i = 1, d do
    x[i] = {}
    for j = 1, d do x[i][j] = a * law.scale[d][i][j] + b * POINT[i][j] end
  end
  return x
end

function law.close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or expected ~= expected and got ~= got
         or math.abs(expected - got) <= (tolerance or 1e-13) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

function law.all_close (expected, got, tolerance)
  if type(expected) == "number" then return law.close(expected, got, tolerance) end
  assert(#expected == #got)
  for i = 1, #expected do law.all_close(expected[i], got[i], tolerance) end
end

--- Of a matrix of side 1, every statistic is that of a gamma variable.
function law.same_as_scalar (d, scalar, x)
  law.close(scalar:log_prob(x), peri.item(d:log_prob({ { x } })), 1e-13)
  law.close(scalar:entropy(), peri.item(d:entropy()), 2e-14)
  for _, name in ipairs { "mean", "variance", "stddev" } do
    law.close(scalar[name](scalar), peri.item(d[name](d)), 1e-14)
  end
end

-- A 2 by 2 matrix (or a batch of them) from its elements.
local function matrix (a, b, c) return peri.stack({ peri.stack({ a, b }, -1), peri.stack({ b, c }, -1) }, -1) end

--- Integrals of the density over 2 by 2 matrices x: of 1, x, x^2 and -log p. With the scale
-- l l^T and z = t t^T, x = l z l^T, or l z^-1 l^T if `inverse`; t runs over a grid in
-- log t_11, log t_22 and t_21, where the rule of trapezoids converges geometrically.
function law.integrals (d, inverse)
  local h, g, l = 0.12, 0.4, d.scale_tril
  local log_t = peri.arange(-6, 2.6, h)
  local u, v, w = log_t:reshape(-1, 1, 1), log_t:reshape(1, -1, 1), peri.arange(-8.4, 8.5, g):reshape(1, 1, -1)
  local shape = { #log_t, #log_t, w:numel() }
  local a = peri.exp(2 * u):expand(shape)
  local b = (peri.exp(u) * w):expand(shape)
  local c = w * w + peri.exp(2 * v) + 0 * u
  local volume = 4 * peri.exp(3 * u + 2 * v) * h * h * g * (l[1][1] * l[2][2]) ^ 3
  if inverse then
    local det = a * c - b * b
    a, b, c = c / det, -b / det, a / det
    volume = volume * det ^ -3
  end
  local x = l:matmul(matrix(a, b, c)):matmul(l:transpose(1, 2))
  x = 0.5 * (x + x:transpose(-1, -2))
  local log_p = d:log_prob(x)
  local mass = peri.exp(log_p) * volume
  local function of (f) return peri.item((f * mass):sum()) end
  local first, second = {}, {}
  for i = 1, 2 do
    first[i], second[i] = {}, {}
    for j = 1, 2 do
      local element = x:select(-1, j):select(-1, i)
      first[i][j], second[i][j] = of(element), of(element * element)
    end
  end
  return peri.item(mass:sum()), first, second, -of(log_p)
end

--- Bartlett's triangles of draws.
function law.triangles (x, l, inverse)
  local c = x:cholesky()
  if inverse then return matrices.triangular_inverse(c):matmul(l) end
  return matrices.triangular_inverse(l):matmul(c)
end

--- Do draws have independent normals and roots of chi-squares in their triangles, and the mean
-- log det? Each statistic gives a false alarm with probability below 1e-6.
function law.check_draws (d, count, inverse)
  local side, df, mean, variance = d.event_shape[1], d.df, 0, 0
  local t = law.triangles(d:sample(count, peri.rng(11)), d.scale_tril, inverse)
  local total = peri.zeros(count)
  for i = 1, side do
    local k = inverse and side - i or i - 1
    local column = t:select(-1, i)
    local chi = peri.Chi2(df - k)
    local square = column:select(-1, i) ^ 2
    assert(statistics.ks(square, function (v) return chi:cdf(v) end), "diagonal " .. i)
    for j = i + 1, side do
      local normal = peri.Normal(0, 1)
      assert(statistics.ks(column:select(-1, j), function (v) return normal:cdf(v) end), "below " .. i)
    end
    total = total + peri.log(square)
    mean, variance = mean + peri.digamma((df - k) / 2) + math.log(2), variance + peri.trigamma((df - k) / 2)
  end
  assert(statistics.mean(total, mean, variance), "log det")
  -- no element depends on another: products have the mean that independence gives
  local diagonal, below = t:select(-1, 1):select(-1, 1), t:select(-1, 1):select(-1, side)
  if side > 1 then assert(statistics.mean(diagonal * below, 0, peri.item((diagonal * diagonal):mean())), "product") end
end

--- Are draws positive definite, their density and slopes finite, however little df exceeds d - 1?
function law.check_small_df (class, file)
  local names = { "x", "df", "l" }
  local adjoint = core.bind_adjoint(file, "rsample", "rsample", names, names)
  for side = 1, 3 do
    for _, excess in ipairs { 1e-12, 1e-4, 0.05 } do
      local d = class(side - 1 + excess, law.scale[side])
      local draws = d:sample(200, peri.rng(3))
      assert(draws:equal(draws:transpose(-1, -2)))
      assert(peri.item(peri.isnan(draws:cholesky()):sum()) == 0)
      assert(peri.item(peri.isfinite(d:log_prob(draws)):sum()) == 200)
      local _, df, l = adjoint(draws, peri.tensor(d.df), d.scale_tril, peri.ones(200, side, side))
      assert(peri.item(peri.isfinite(df):min()) == 1 and peri.item(peri.isfinite(l):min()) == 1)
    end
  end
end

-- The draw that stays at the same place of its law while df and l move.
local function moved_draw (d, x, inverse)
  local t, side = law.triangles(x, d.scale_tril, inverse), d.event_shape[1]
  local index = peri.arange(1, side + 1)
  local below = index:unsqueeze(-1):ge(index)
  return function (_, df, l)
    local moved = t:clone()
    for i = 1, side do
      local k = inverse and side - i or i - 1
      local p = peri.Chi2(d.df - k):cdf(t[i][i] ^ 2)
      moved[i][i] = math.sqrt(peri.Chi2(peri.item(df) - k):icdf(p))
    end
    local c = (l * below):matmul(inverse and matrices.triangular_inverse(moved) or moved)
    return c:matmul(c:transpose(1, 2))
  end
end

--- What is wrong with the adjoints of a law's three kernels at x, or nil.
function law.adjoint_mismatch (d, file, x, inverse)
  local l, df, names = d.scale_tril, peri.tensor(d.df), { "x", "df", "l" }
  local class = getmetatable(d)
  local function log_prob (y, n, m)
    return class { df = n, scale_tril = m, validate = false }:log_prob(0.5 * (y + y:transpose(1, 2)))
  end
  local function entropy (n, m) return class { df = n, scale_tril = m, validate = false }:entropy() end
  local above = peri.tensor { { 1, -0.5, 0.25 }, { 2, 0.75, -1 }, { 0.5, 1.5, -2 } }
  local function mismatch (value, kernel, operands, upstream, tolerance, fixed)
    local own = { table.unpack(names, 4 - #operands) }
    return slopes.adjoint_mismatch(value, core.bind_adjoint(file, kernel, kernel, own, own), operands, upstream,
                                   tolerance, fixed)
  end
  return mismatch(log_prob, "log_prob", { x, df, l }, peri.tensor(1.7), 1e-7)
      or mismatch(entropy, "entropy", { df, l }, peri.tensor(-0.6), 1e-7)
      or mismatch(moved_draw(d, x, inverse), "rsample", { x, df, l }, above, 1e-6, { true })
end

return law
