require "spec.support.contract".distribution {
  name = "Kumaraswamy",
  points = { { 1, 1 }, { 2, 3 }, { 5.4, 1.1 }, { 0.9, 20 }, { 31.77, 5957 }, { 2763, 1.5 } },
  log_prob = {   -- x, concentration1, concentration0, value (50-digit reference)
    { 0.25, 2, 3, 0.27638806583302203863 },
    { 1e-10, 2, 3, -21.234091460712401803 },
    { 0.9999999999999994, 0.16, 1.4, -16.280086875523617854 },
    { 0.999, 2763, 1.123, 5.2686882541271761098 },
    { 1e-200, 0.5, 0.5, 228.87221493828467779 },
    { 0.01, 200, 1e300, -220.35502174686843616 },
    { 0, 0.5, 0.5, math.huge },
    { 1, 0.5, 0.5, math.huge },
    { 1, 2, 1, 0.69314718055994530942 },
  },
  outside = { { -1, 2, 3 }, { 1.5, 2, 3 }, { math.huge, 0.5, 0.5 } },
  invalid = { { 0, 1 }, { 1, 0 }, { -1, 1 }, { 1, -1 }, { 0 / 0, 1 }, { 1, 0 / 0 }, { 1, { 1, 0 } } },
}

it("Kumaraswamy has slopes where it ends", function ()
  local peri = require "perilune"
  local function slopes (x, a, b)
    local found = {}
    for k, at in ipairs { x, a, b } do
      found[k] = peri.grad(function (t)
        local v = { x, a, b }
        v[k] = t
        return peri.Kumaraswamy(v[2], v[3]):log_prob(v[1])
      end)(at)
    end
    return found
  end
  assert.same({ -3, -math.huge, 0.25 }, slopes(0, 1, 4))   -- b (1 - x)^(b - 1)
  assert.same({ 2, 1 / 3, -math.huge }, slopes(1, 3, 1))   -- a x^(a - 1)
  assert.same({ 0, 0, 0 }, slopes(-1, 3, 1))
end)
