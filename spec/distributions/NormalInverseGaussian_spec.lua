require "spec.support.contract".distribution {
  name = "NormalInverseGaussian",
  points = { { 1, 0, 0, 1 }, { 1.5, 0.5, 1, 2 }, { 0.1, -0.05, 0, 1 }, { 30, -20, -1, 0.5 }, { 5, 4.5, 0, 3 } },
  kl_points        = { { 2, 0.5, 0, 1 }, { 3, -1, 1, 1.5 }, { 5, 0, -0.5, 0.7 } },
  extreme_points   = { { 1e-8, 0, 0, 1 }, { 1, 0, 0, 1e300 }, { 1, 0, 0, 1e-300 }, { 1e8, 0, 0, 1 },
                       { 1, 0, 1e300, 1 } },
  subnormal_points = { { 1, 0, 0, 1 }, { 5, 1, 0, 0.5 }, { 0.5, 0.25, 0, 1 } },
  log_prob = {   -- x, tail, skew, loc, scale, value (50-digit reference)
    { 0, 1, 0, 0, 1, -0.65238183406015251 },
    { math.huge, 1, 0, 0, 1, -math.huge },
    { -math.huge, 1, 0, 0, 1, -math.huge },
  },
  invalid = { { 0, 0, 0, 1 }, { 1, 2, 0, 1 }, { 1, 0, 0, 0 }, { 0 / 0, 0, 0, 1 }, { 1, 0, 0, -1 } },
}
