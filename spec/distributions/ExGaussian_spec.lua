require "spec.support.contract".distribution {
  name = "ExGaussian",
  points = { { 0, 1, 1 }, { 300, 40, 0.01 }, { -2, 0.5, 100 }, { 0, 1e-3, 1 }, { 5, 2, 1e-4 } },
  kl_points        = { { 0, 1, 1 }, { 0.5, 1.3, 2 }, { -0.4, 0.7, 0.8 } },
  extreme_points   = { { 0, 1e300, 1 }, { 0, 1e-300, 1 }, { 0, 1, 1e300 }, { 0, 1, 1e-300 }, { 1e300, 1, 1 } },
  subnormal_points = { { 0, 1, 1 }, { 3, 0.5, 20 }, { 0, 1, 0.01 } },
  log_prob = {   -- x, loc, scale, rate, value (50-digit reference)
    { 0, 0, 1, 1, -1.3410216450092635058 },
    { math.huge, 0, 1, 1, -math.huge },
    { -math.huge, 0, 1, 1, -math.huge },
  },
  outside = {},
  invalid = { { 0, 0, 1 }, { 0, 1, 0 }, { 0 / 0, 1, 1 }, { 0, 1, -1 } },
}
