--- KL(Normal || Normal), 1e6 results: what does broadcasting cost?
local peri = require "perilune"

local g = peri.rng(1)

local function normal (shape, view)
  view = view or function (t) return t end
  return peri.Normal(view(g:normal(shape)), view(g:uniform(shape) + 0.5))
end

local function kl (p_shape, q_shape, view)
  return function ()
    local p, q = normal(p_shape, view), normal(q_shape, view)
    return function () return peri.kl_divergence(p, q) end
  end
end

local function scalar ()
  local p, q = normal { 1000000 }, peri.Normal(0.3, 1.2)
  return function () return peri.kl_divergence(p, q) end
end

local function transposed (t) return t:transpose(1, 2) end

local square = { 1000, 1000 }

-- (Hand-written loops take the division by a constant scale out of the loop, which
-- no driver of general kernels does: their share is shown, and nothing demanded.)

return {
  { "q scalar",            scalar,                             torch = 3.5, torch32 = 1.4 },
  { "q a row of 1000",     kl(square, { 1000 }),               torch = 3.4, torch32 = 1.3 },
  { "q a column of 1000",  kl(square, { 1000, 1 }),            torch = 3.0, torch32 = 1.2 },
  { "all four transposed", kl(square, square, transposed),     torch = 3.8, torch32 = 1.5 },
  { "q a row of 10",       kl({ 100000, 10 }, { 10 }),         torch = 1.3 },
}
