--- KL(Categorical || Categorical): values to 40 digits, edges, slopes.
local peri       = require "perilune"
local divergence = require "spec.support.divergence"

local INF = math.huge

local function make (l) return peri.Categorical { logits = l } end

local values = {   -- logits of p and of q
  { { 0.1, -1, 2 }, { 1, 0.5, -0.25 }, 1.157900400013369893 },
  { { 0.5, 1.5, -2, 0 },
    { 0.5000000004656613, 1.4999999996740372, -1.9999999998137354, 4.1909515857696534e-10 }, 6.919539338524416748e-20 },
  { { 0, -1000 }, { -1000, 0 }, 1000.0 },
  { { 0, -400, 1 }, { 0.25, -50, 1.5 }, 0.005902749169648835092 },
  { { 700, 701 }, { -700, -698 }, 0.08260774489474478314 },
  { { 3 }, { 7 }, 0 },
  { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 }, { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 0.07340423794364482539 },
  { { 0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25, 3.5, 3.75, 4 },
    { 0, 0.125, 0.5, 1.125, 2, 3.125, 4.5, 6.125, 8, 10.125, 12.5, 15.125, 18, 21.125, 24.5, 28.125, 32 },
    8.007471151262014196 },
  { { 0, 0, -INF }, { 0, 0, 0.6931471805599453094 }, 0.6931471805599453094 },   -- q has more outcomes
  { { 0, 0, -INF }, { 0, -INF, 0 }, INF },
  { { 0, 1, -INF }, { 0, 2, -INF }, 0.08260774489474478314 },
}

it("KL(Categorical || Categorical) has the right values", function () divergence.values(make, values, 1e-14) end)

it("KL(Categorical || Categorical) is exactly 0 for p against itself", function ()
  divergence.zeros(make, { { 1 }, { 0.1, 2, -3 }, { 0, -INF, 4 }, { 800, 801 } })
end)

it("KL(Categorical || Categorical) is NaN where a logit is", function ()
  local core = require "perilune.core"
  local kl = core.bind("kl/categorical", "Categorical", "kl", { "a", "b" }, { "a", "b" })
  local value = peri.item(kl(peri.tensor { 0, 0 / 0 }, peri.tensor { 1, 2 }))
  assert(value ~= value)
end)

it("KL(Categorical || Categorical) has the right adjoint", function ()
  divergence.adjoints("categorical", "Categorical", {
    { { 0.1, -1, 2 }, { 1, 0.5, -0.25 } }, { { 3, 2.9 }, { 3.1, 3 } }, { { 5, -5, 0, 1 }, { -5, 5, 1, 0 } },
  })
end)

-- Rows of every length, in batches that share a row or not, against sums in plain Lua.
local function by_sum (l, m)
  local function log_total (v)
    local sum = 0
    for _, x in ipairs(v) do sum = sum + math.exp(x) end
    return math.log(sum)
  end
  local from, to, kl = log_total(l), log_total(m), 0
  for j = 1, #l do kl = kl + math.exp(l[j] - from) * ((l[j] - from) - (m[j] - to)) end
  return kl
end

it("KL(Categorical || Categorical) broadcasts rows of every length", function ()
  local rng = peri.rng(4)
  for _, k in ipairs { 2, 3, 4, 5, 9, 10, 64, 255, 256, 300 } do
    local l, m = rng:normal { 3, 1, k }, rng:normal { 2, k }
    local kl = peri.kl_divergence(make(l), make(m))
    assert.same({ 3, 2 }, kl.shape)
    for i = 1, 3 do
      for j = 1, 2 do
        local expected = by_sum(l[i][1]:totable(), m[j]:totable())
        assert(math.abs(kl:at(i, j) - expected) <= 1e-12, k)
      end
    end
  end
end)

it("KL of one-hot rows and of counts is that of their outcomes", function ()
  local p, q = { 1, 2, 5 }, { 3, 1, 1 }
  local one = peri.item(peri.kl_divergence(peri.Categorical(p), peri.Categorical(q)))
  assert.equal(one, peri.item(peri.kl_divergence(peri.OneHotCategorical(p), peri.OneHotCategorical(q))))
  local counts = peri.kl_divergence(peri.Multinomial({ 7, 0, 7 }, p), peri.Multinomial({ 7, 0, 8 }, q))
  assert.equal(7 * one, counts:at(1))
  assert.equal(0.0, counts:at(2))
  assert.equal(INF, counts:at(3))
end)

local function gradients (l, m)
  local from, to = peri.param(peri.tensor(l)), peri.param(peri.tensor(m))
  peri.kl_divergence(make(from), make(to)):sum():backward()
  return from.grad:totable(), to.grad:totable()
end

local slopes = {   -- logits of p and of q, gradients along them (80-digit reference)
  { { 0.1, -1.3, 2.1 }, { 5.400000002, 4.000000001, 7.400000004 },   -- nearly the same
    { 1.9485903653292579e-10, 7.6607314664946557e-11, -2.7146635119787235e-10 },
    { -1.9485903640484878e-10, -7.6607314571033707e-11, 2.7146635097588249e-10 } },
  { { 0.25, -1.5, 1.0, 40.0 }, { 1.25, 0.5, -2.0, 38.0 },   -- nearly certain
    { -1.6364984528663766e-17, -3.7917438614019023e-18, 1.1548224173015786e-17, 8.6085042170498827e-18 },
    { 1.0411150548973573e-16, 5.0807614092668201e-17, -7.2998699177241975e-18, -1.4761924966467974e-16 } },
  { { -120.3, 0.5, 1.25 }, { 130.7, 0.5625, 1.5 },   -- q is certain of what p hardly knows
    { -2.7722659850850258e-51, 0.040855311330340131, -0.040855311330340131 },
    { 1.0, -0.32082130082460703, -0.67917869917539297 } },
  { { 1.0, -720.0, 0.0 }, { 0.5, -500.0, 0.0 },   -- a probability that is lost
    { 0.098305966620740926, -1.2044100933572129e-311, -0.098305966620740926 },
    { -0.10859924742815031, 2.6898173415045928e-218, 0.10859924742815031 } },
  { { 0.1, -1.0, 2.0, 0.3, -0.7 }, { 1.0, 0.5, -0.25, 0.4, 0.2 },
    { -0.2326000045691562, -0.098038097640673954, 0.61840687132029289, -0.18325485000374277, -0.10451391910671997 },
    { 0.24267547978735935, 0.1754330265074067, -0.5909183053667052, 0.063768677122435226, 0.10904112194950392 } },
}

it("gradients of KL(Categorical || Categorical) keep their digits", function ()
  for _, row in ipairs(slopes) do
    local got = { gradients(row[1], row[2]) }
    for side = 1, 2 do
      local largest = 0
      for _, expected in ipairs(row[2 + side]) do largest = math.max(largest, math.abs(expected)) end
      for j, expected in ipairs(row[2 + side]) do
        assert.near(expected, got[side][j], math.min(1e-13 * math.abs(expected) + 1e-320, 4e-15 * largest))
      end
    end
  end
end)

local function same (a, b) return a == b or a ~= a and b ~= b end

it("gradients of KL(Categorical || Categorical) are those of each row, in batches", function ()
  local rng = peri.rng(5)
  for _, k in ipairs { 2, 3, 10, 200, 300 } do
    local l, m = rng:normal { 60, k }:totable(), rng:normal { 60, k }:totable()
    l[7][1], l[30][k], m[31][1], m[32][k] = -INF, -800, 90, -INF
    local dl, dm = gradients(l, m)
    for r = 1, 60 do
      local alone = { gradients(l[r], m[r]) }
      for j = 1, k do
        assert(same(alone[1][j], dl[r][j]) and same(alone[2][j], dm[r][j]))
      end
    end
  end
end)
