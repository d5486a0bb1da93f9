require "spec.support.contract".distribution {
  name = "Exponential",
  points = { { 1 }, { 1e-8 }, { 3e5 }, { 0.7 } },
  log_prob = {   -- x, rate, value (50-digit reference)
    { 0, 1, 0 },
    { 2.5, 0.3, -1.9539728043259359 },
    { 1e-300, 1e300, 689.77552789821370521 },
  },
  outside = { { -1, 1 }, { -math.huge, 2 } },
  invalid = { { 0 }, { -1 }, { 0 / 0 } },
}
