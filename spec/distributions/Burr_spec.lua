require "spec.support.contract".distribution {
  name = "Burr",
  points = { { 1, 1, 1 }, { 3, 2, 0.5 }, { 0.5, 7, 100 }, { 20, 0.3, 1e-6 }, { 2, 1e4, 1 }, { 300, 40, 3 } },
  kl_points        = { { 3, 2, 1 }, { 4, 1.5, 1.3 }, { 2.5, 3, 0.7 } },
  extreme_points   = { { 1e300, 1, 1 }, { 1, 1e300, 1 }, { 1e-300, 1, 1 }, { 1, 1e-300, 1 }, { 2, 3, 1e300 },
                       { 2, 3, 1e-300 }, { 1e-5, 1e-5, 1 }, { 1e300, 1e300, 1 } },
  subnormal_points = { { 2, 3, 1 }, { 5, 0.5, 2 }, { 1, 1, 1 } },
  log_prob = {   -- x, concentration1, concentration0, scale, value (50-digit reference)
    { 2, 3, 2, 1, -3.4136199016607125287 },
    { 0, 1, 1, 1, 0 },
    { math.huge, 1, 1, 1, -math.huge },
  },
  outside = { { -1, 3, 2, 1 }, { -1e-300, 3, 2, 1 }, { -math.huge, 2, 3, 1 } },
  invalid = { { 0, 1, 1 }, { -1, 1, 1 }, { 0 / 0, 1, 1 }, { 1, 0, 1 }, { 1, 1, 0 } },
}
