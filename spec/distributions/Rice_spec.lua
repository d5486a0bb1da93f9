require "spec.support.contract".distribution {
  name = "Rice",
  points = { { 1, 1 }, { 0.3, 2 }, { 40, 3 }, { 1e-3, 1e-2 }, { 1e6, 1e3 } },
  kl_points        = { { 1, 1 }, { 2, 1.3 }, { 0.5, 0.7 } },
  extreme_points   = { { 1e300, 1 }, { 1, 1e300 }, { 1, 1e-300 }, { 0, 1 }, { 1e8, 1 } },
  subnormal_points = { { 1, 1 }, { 5, 0.5 }, { 30, 1 } },
  log_prob = {   -- x, nu, sigma, value (50-digit reference)
    { 1, 1, 1, -0.76408564149282135131 },
    { 0, 1, 1, -math.huge },
    { math.huge, 1, 1, -math.huge },
  },
  outside = { { -1, 1, 1 }, { -1e-300, 1, 1 }, { -math.huge, 2, 1 } },
  invalid = { { -1, 1 }, { 1, 0 }, { 0 / 0, 1 }, { 1, -1 } },
}
