require "spec.support.contract".distribution {
  name = "HalfCauchy",
  points = { { 1 }, { 0.03 }, { 2e5 }, { 1e-6 }, { 1e100 } },
  log_prob = {   -- x, scale, value (50-digit reference)
    { 0, 1, -0.4515827052894548647262 },
    { 1.7, 0.6, -2.141063325397091647501 },
    { 1e200, 1, -921.4856199029077284114 },
    { 1e200, 1e-200, -1382.002638501716865233 },
    { 1e-200, 1e200, -460.9686013040985916381 },
    { math.huge, 1, -math.huge },
  },
  outside = { { -1, 1 }, { -1e-300, 1 }, { -math.huge, 2 } },
  invalid = { { 0 }, { -1 }, { 0 / 0 } },
}
