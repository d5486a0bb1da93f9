require "spec.support.contract".distribution {
  name = "Normal",
  points = { { 0, 1 }, { -3.5, 0.2 }, { 2, 1e5 }, { 1e3, 1e-2 } },
  log_prob = {   -- x, loc, scale, value (50-digit reference)
    { -3.5, 1.9, 7.2, -3.1742695592266824 },
    { 0, 0, 1, -0.91893853320467274 },
    { 1e200, 0, 1e170, -math.huge },
  },
  invalid = { { 0, 0 }, { 0, -1 }, { 0 / 0, 1 }, { 0, 0 / 0 }, { 0, { 1, -1 } } },
}

describe("slopes of Normal:log_prob", function ()
  local peri = require "perilune"

  -- d/dx, d/dloc and d/dscale = -z/s, z/s and (z^2 - 1)/s, the last exact for z = 1
  local cases = {
    { 2.0 ^ -1050, 2.0 ^ -1030, -2.0 ^ 1010, -math.huge },   -- 1/s is infinite
    { 2.0 ^ -1010, 2.0 ^ -1010, -2.0 ^ 1010, 0 },
    { 3 * 2.0 ^ 1021, 3 * 2.0 ^ 1021, -1 / (3 * 2.0 ^ 1021), 0 },   -- 1/s has few digits
    { 3, 3, -1 / 3, 0 },
  }

  local function slopes (x, scale)
    local p = { peri.param(x), peri.param(0), peri.param(scale) }
    local loc = p[2] + peri.zeros(#p[1])
    peri.Normal(loc, p[3]):log_prob(p[1]):sum():backward()
    return p[1].grad, p[2].grad, p[3].grad
  end

  local function close (expected, found) assert(math.abs(found / expected - 1) < 1e-15, found) end

  it("keep their digits where the inverse of the scale has none", function ()
    for _, c in ipairs(cases) do
      local dx, dloc, dscale = slopes({ c[1], c[1] }, { c[2], c[2] })   -- one scale for all
      close(c[3], dx[2])
      close(-2 * c[3], dloc)
      assert.same({ c[4], c[4] }, dscale:totable())
      dx, dloc, dscale = slopes({ c[1], 1 }, { c[2], 1 })               -- one for each
      close(c[3], dx[1])
      close(1 - c[3], dloc)
      assert.same({ c[4], 0 }, dscale:totable())
    end
  end)
end)
