--- sample, 1e6 draws from one distribution: what does a vectorised generator win?
local peri = require "perilune"

local N = 1000000

local function draws (d)
  return function ()
    local g = peri.rng(1)
    return function () return d:sample(N, g) end
  end
end

local normal      = draws(peri.Normal(0.3, 1.2))
local uniform     = draws(peri.Uniform(0.3, 1.2))
local exponential = draws(peri.Exponential(1.2))

return {
  { "Normal",      normal,      threads = 1, torch = 6.5, torch32 = 1.4, hand = 1.25 },
  { "Uniform",     uniform,     threads = 1, torch = 4.8, torch32 = 3,   hand = 1.25 },
  { "Exponential", exponential, threads = 1, torch = 4.5, torch32 = 4.4, hand = 1.25 },
  { "Normal",      normal,      threads = 2, torch = 12,                 hand = 1.25 },
  { "Uniform",     uniform,     threads = 2, torch = 7.5,                hand = 1.25 },
  { "Exponential", exponential, threads = 2, torch = 8.5,                hand = 1.25 },
}
