require "spec.support.contract".distribution {
  name = "Gompertz",
  points = { { 1, 1 }, { 0.02, 3 }, { 1e-6, 0.1 }, { 40, 1e-3 }, { 1e4, 1e5 } },
  kl_points        = { { 1, 1 }, { 0.2, 1.3 }, { 2, 0.5 } },
  extreme_points   = { { 1e300, 1 }, { 1e-300, 1 }, { 1, 1e300 }, { 1, 1e-300 }, { 1e-300, 1e-300 } },
  subnormal_points = { { 1, 1 }, { 0.01, 3 }, { 100, 0.5 } },
  log_prob = {   -- x, concentration, rate, value (50-digit reference)
    { 0, 1, 1, 0 },
    { 1, 2, 3, -33.379314377147280481 },
    { math.huge, 1, 1, -math.huge },
  },
  outside = { { -1, 1, 1 }, { -1e-300, 1, 1 }, { -math.huge, 2, 1 } },
  invalid = { { 0, 1 }, { -1, 1 }, { 0 / 0, 1 }, { 1, 0 }, { 1, 0 / 0 } },
}
