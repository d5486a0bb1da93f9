--- log_prob, 1e6 elements, every parameter a tensor: how fast are the densities?
local peri = require "perilune"

local N = 1000000

local function normal ()
  local g = peri.rng(1)
  local d, x = peri.Normal(g:normal(N), g:uniform(N) + 0.5), g:normal(N)
  return function () return d:log_prob(x) end
end

return {
  { "Normal", normal, torch = 4, torch32 = 1.35, hand = 1.25 },
}
