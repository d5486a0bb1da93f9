require "spec.support.contract".distribution {
  name = "NoncentralChi2",
  points = { { 2, 1 }, { 5, 3 }, { 0.7, 10 }, { 40, 0.01 }, { 3, 1e4 }, { 1000, 500 } },
  kl_points        = { { 3, 1 }, { 5, 4 }, { 8, 0.5 } },
  extreme_points   = { { 1e15, 1 }, { 1, 1e15 }, { 1e-3, 1 }, { 1e300, 1 }, { 1, 1e300 }, { 3, 0 }, { 3, 1e-300 } },
  subnormal_points = { { 2, 1 }, { 5, 30 }, { 40, 2 } },
  log_prob = {   -- x, df, noncentrality, value (50-digit reference)
    { 1, 2, 1, -1.4572328220527666608 },
    { math.huge, 2, 1, -math.huge },
  },
  outside = { { -1, 2, 1 }, { -1e-300, 2, 1 }, { -math.huge, 2, 1 } },
  invalid = { { 0, 1 }, { -1, 1 }, { 0 / 0, 1 }, { 1, -1 } },
}
