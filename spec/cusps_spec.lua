-- With random parameters, so from Lua 5.3 on (spec/fuzz).
local peri = require "perilune"

local Truncated = peri.Truncated

-- A class whose density has a cusp says so (`has_cusp`): slivers around it would be wrong.
describe("A narrow interval around the mode", function ()
  local random = require "spec.fuzz.random".new(3)
  local params = require "spec.fuzz.params"

  -- A random law of a class and its mode, if it has a density on the line with a mode inside.
  local function law_of (class)
    local given = not class.construct and params.batch(random, class, 1)
    local ok, law = pcall(class, given and params.first(given))
    if not (given and ok) or #law.event_shape > 0 or law.is_circular or law.support.is_discrete then return nil end
    local has_mode, mode = pcall(law.mode, law)
    return law, has_mode and math.abs(mode) < math.huge and mode or nil
  end

  local function check (law, mode)
    local width = 1e-5 * (law:icdf(0.75) - law:icdf(0.25))
    local low, high = mode - width, mode + 2 * width
    if not (law:cdf(low) > 0 and law:sf(high) > 0) or width < 1e-7 * math.abs(mode) then return end
    local d = Truncated(law, low, high)
    for _, part in ipairs { 0.3, 1, 1.1, 2.2 } do
      local x = low + part * width
      local expected = (law:cdf(x) - law:cdf(low)) / (law:cdf(high) - law:cdf(low))
      if law:cdf(low) > 0.5 then expected = (law:sf(low) - law:sf(x)) / (law:sf(low) - law:sf(high)) end
      assert.near(expected, d:cdf(x), 1e-8, tostring(law))
      if d:cdf(x) < 0.999 then assert.near(x, d:icdf(d:cdf(x)), 1e-8 * width + 1e-15 * math.abs(x)) end
    end
  end

  for _, name in ipairs(peri.distributions()) do
    it("has the mass of " .. name, function ()
      for _ = 1, 12 do
        local law, mode = law_of(peri[name])
        if mode then check(law, mode) end
      end
    end)
  end
end)
