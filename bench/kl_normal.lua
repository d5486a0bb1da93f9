--- KL(Normal || Normal), n elements each: what does one fused pass win over nine?
local peri = require "perilune"

local function kl (n)
  return function ()
    local g = peri.rng(1)
    local p = peri.Normal(g:normal(n), g:uniform(n) + 0.5)
    local q = peri.Normal(g:normal(n), g:uniform(n) + 0.5)
    return function () return peri.kl_divergence(p, q) end
  end
end

return {
  { "n = 1e3", kl(1000),     threads = 1, torch = 7.5, torch32 = 7,   hand = 1.4 },
  { "n = 1e5", kl(100000),   threads = 1, torch = 2.5, torch32 = 1.1, hand = 1.2 },
  { "n = 1e5", kl(100000),   threads = 2, torch = 2.8, torch32 = 1.3, hand = 1.3 },
  { "n = 1e6", kl(1000000),  threads = 1, torch = 3.5, torch32 = 1.5, hand = 1.2 },
  { "n = 1e6", kl(1000000),  threads = 2, torch = 3.5, torch32 = 1.3, hand = 1.3 },
  { "n = 1e7", kl(10000000), threads = 1, torch = 4.2, torch32 = 2,   hand = 1.2 },
  { "n = 1e7", kl(10000000), threads = 1, malloc = "default" },
}
