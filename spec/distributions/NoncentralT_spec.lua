require "spec.support.contract".distribution {
  name = "NoncentralT",
  points = { { 3, 1, 0, 1 }, { 5, -2.5, 1, 2 }, { 0.7, 1, 0, 1 }, { 5, 40, 0, 1 }, { 10, 0, 0, 1 } },
  kl_points        = { { 5, 1, 0, 1 }, { 8, -0.5, 1, 2 }, { 12, 2, 0, 1 } },
  extreme_points   = { { 1e15, 1 }, { 1, 1e15 }, { 1e-3, 1 }, { 1e300, 1 }, { 1, 1e300 }, { 1e-300, 1 },
                       { 1e300, -1e300 }, { 3, 1e-300 }, { 3, -40 }, { 2, 1, 0, 1e-300 } },
  subnormal_points = { { 2, 1 }, { 5, -30 }, { 40, 2 } },
  log_prob = {   -- x, df, noncentrality, loc, scale, value (50-digit reference)
    { 2, 3, 1, 0, 1, -1.6318911394051193 },
    { math.huge, 2, 1, 0, 1, -math.huge },
  },
  invalid = { { 0, 1 }, { -1, 1 }, { 0 / 0, 1 }, { 1, 0 / 0 }, { 1, 1, 0, 0 } },
}
