require "spec.support.contract".distribution {
  name = "Maxwell",
  points = { { 1 }, { 0.03 }, { 2e5 }, { 1e-6 }, { 1e100 } },
  kl_points        = { { 1 }, { 1.3 }, { 0.3 } },
  extreme_points   = { { 1e300 }, { 1e-300 } },
  subnormal_points = { { 1 } },
  log_prob = {   -- x, scale, value (50-digit reference)
    { 1, 1, -0.7257913526447274323631 },
    { 0.3, 2.5, -5.389809156919064686641 },
    { 1e-300, 1e300, -3454.103430843713253567 },
    { 1e-300, 1e-300, 690.049736545568977748 },
    { 3e8, 1e7, -459.5414922402787364697 },
    { 0, 1, -math.huge },
    { math.huge, 1, -math.huge },
  },
  outside = { { -1, 1 }, { -1e-300, 1 }, { -math.huge, 2 } },
  invalid = { { 0 }, { -1 }, { 0 / 0 } },
}
