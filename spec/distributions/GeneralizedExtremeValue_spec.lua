require "spec.support.contract".distribution {
  name = "GeneralizedExtremeValue",
  points = {
    { 0, 1, 0 }, { 2, 0.5, 0.2 }, { -3.5, 2, -0.4 }, { 1, 1e-2, -1 }, { 0, 1, -1.5 }, { 1, 3, 1e-9 }, { 0, 2, 1.2 },
  },
  kl_points        = { { 0, 1, 0.1 }, { 0.5, 1.5, -0.2 }, { -1, 0.7, 0.2 } },
  extreme_points   = { { 0, 1, 1e300 }, { 0, 1, -1e300 }, { 0, 1e-300, 1e-300 }, { 0, 1e300, -1e-300 }, { 0, 1, 100 } },
  subnormal_points = { { 0, 1, 0 }, { 0, 1, 0.5 }, { 0, 1, -0.5 }, { 2, 1, 1e-3 } },
  log_prob = {   -- x, loc, scale, concentration, value (50-digit reference)
    { 0, 0, 1, 0, -1 },
    { 1, 0, 1, 0.5, -1.6608397687689375904 },
    { 2, 0, 1, -0.5, -math.huge },
    { -2, 0, 1, 0.5, -math.huge },
    { 1, 0, 1, -1, 0 },
  },
  outside = { { -5, 0, 1, 0.3 }, { 5, 0, 1, -0.5 }, { math.huge, 0, 1, -2 }, { -math.huge, 0, 1, 2 } },
  invalid = { { 0, 0, 1 }, { 0, -1, 1 }, { 0 / 0, 1, 1 }, { 0, 0 / 0, 1 }, { 0, 1, 0 / 0 } },
}
