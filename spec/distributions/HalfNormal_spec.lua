require "spec.support.contract".distribution {
  name = "HalfNormal",
  points = { { 1 }, { 0.03 }, { 2e5 }, { 1e-6 }, { 1e100 } },
  log_prob = {   -- x, scale, value (50-digit reference)
    { 0, 1, -0.2257913526447274323631 },
    { 1.7, 0.6, -3.728854617767625688418 },
    { 1e-200, 1e-190, 437.2653763162239525122 },
    { 1e200, 1e199, -508.4402248584598059018 },
    { 1e200, 1e20, -math.huge },
  },
  outside = { { -1, 1 }, { -1e-300, 1 }, { -math.huge, 2 } },
  invalid = { { 0 }, { -1 }, { 0 / 0 } },
}
