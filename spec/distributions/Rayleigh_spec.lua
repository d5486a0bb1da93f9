require "spec.support.contract".distribution {
  name = "Rayleigh",
  points = { { 1 }, { 0.03 }, { 2e5 }, { 1e-6 }, { 1e100 } },
  log_prob = {   -- x, scale, value (50-digit reference)
    { 1, 1, -0.5 },
    { 0.3, 2.5, -3.043754268074246159464 },
    { 1e-300, 1e300, -2072.326583694641115696 },
    { 1e-300, 1e-300, 690.2755278982137051803 },
    { 3e8, 1e7, -462.7168982692961644127 },
    { 0, 1, -math.huge },
    { math.huge, 1, -math.huge },
  },
  outside = { { -1, 1 }, { -1e-300, 1 }, { -math.huge, 2 } },
  invalid = { { 0 }, { -1 }, { 0 / 0 } },
}
