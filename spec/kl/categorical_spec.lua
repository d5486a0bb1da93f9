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
  local value = kl(peri.tensor { 0, 0 / 0 }, peri.tensor { 1, 2 }):item()
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
  local one = peri.kl_divergence(peri.Categorical(p), peri.Categorical(q)):item()
  assert.equal(one, peri.kl_divergence(peri.OneHotCategorical(p), peri.OneHotCategorical(q)):item())
  local counts = peri.kl_divergence(peri.Multinomial({ 7, 0, 7 }, p), peri.Multinomial({ 7, 0, 8 }, q))
  assert.equal(7 * one, counts:at(1))
  assert.equal(0.0, counts:at(2))
  assert.equal(INF, counts:at(3))
end)
