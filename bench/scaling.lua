--- KL of n elements each, from one to ten million: from where on do size and threads pay?
local peri = require "perilune"

-- Least ratios to torch, for 1e0 ... 1e7. Demanded are those of 1e3, 1e5, 1e6 and 1e7 (Normal) and of 1e6 (Gamma);
-- a size between two takes the lower one, a size beyond them the nearest.
local families = {
  { "Normal", peri.Normal, { 7.5, 7.5, 7.5, 7.5, 2.5, 2.5, 3.5, 4.2 } },
  { "Gamma",  peri.Gamma,  { 4.5, 4.5, 4.5, 4.5, 4.5, 4.5, 4.5, 4.5 } },
}

local function kl (class, n)
  return function ()
    local g = peri.rng(1)
    local function law () return class(g:uniform(n) + 0.5, g:uniform(n) + 0.5) end
    local p, q = law(), law()
    return function () return peri.kl_divergence(p, q) end
  end
end

local rows = {}
for _, family in ipairs(families) do
  local name, class, least = table.unpack(family)
  for power = 0, 7 do
    for threads = 1, 2 do
      rows[#rows + 1] = { string.format("%s, n = 1e%d", name, power), kl(class, math.tointeger(10 ^ power)),
                          threads = threads, torch = least[power + 1] }
    end
  end
end
return rows
