--- One KL(Normal || Normal) of single numbers: what does a call cost?
local peri = require "perilune"

local Normal, kl_divergence = peri.Normal, peri.kl_divergence

local function kl ()
  local p, q = Normal(0.1, 1.1), Normal(0.3, 1.2)
  return function () return kl_divergence(p, q) end
end

local function construct_and_kl ()   -- parameters are checked
  return function () return kl_divergence(Normal(0.1, 1.1), Normal(0.3, 1.2)) end
end

return {
  { "kl",                   kl,               torch = 70, torch32 = 70, hand = 2, limit = 0.25e-6 },
  { "construct p, q and kl", construct_and_kl, torch = 80, torch32 = 80, hand = 2, limit = 0.75e-6 },
}
