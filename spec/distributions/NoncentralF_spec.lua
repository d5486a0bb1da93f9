require "spec.support.contract".distribution {
  name = "NoncentralF",
  points = { { 3, 7, 1 }, { 0.7, 9, 2 }, { 40, 0.9, 5 }, { 1000, 50, 500 } },
  kl_points        = { { 3, 9, 1 }, { 5, 12, 4 }, { 8, 10, 0.5 } },
  extreme_points   = { { 1e15, 3, 1 }, { 3, 1e15, 1 }, { 1, 3, 1e15 }, { 1e-3, 3, 1 }, { 3, 1e-3, 1 }, { 1e300, 1, 1 },
                       { 1, 1e300, 1 }, { 1, 1, 1e300 }, { 1e-300, 1, 1 }, { 1, 1e-300, 1 }, { 3, 5, 0 }, { 3, 5, 1e-300 },
                       { 1e300, 1e300, 1e300 } },
  subnormal_points = { { 3, 7, 1 }, { 0.7, 9, 2 }, { 40, 0.9, 5 }, { 1000, 50, 500 } },
  log_prob = {   -- x, df1, df2, noncentrality, value (40-digit reference)
    { 2, 2, 5, 1, -1.863516434123999 },
    { math.huge, 2, 3, 1, -math.huge },
  },
  outside = { { -1, 2, 5, 1 }, { -1e-300, 2, 5, 1 }, { -math.huge, 2, 5, 1 } },
  invalid = { { 0, 1, 1 }, { 1, 0, 1 }, { -1, 1, 1 }, { 0 / 0, 1, 1 }, { 1, 1, -1 } },
}
