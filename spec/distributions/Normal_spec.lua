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
