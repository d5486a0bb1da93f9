require "spec.support.contract".distribution {
  name = "Gumbel",
  points = { { 0, 1 }, { -3.5, 0.2 }, { 2, 1e5 }, { 1e3, 5 } },
  log_prob = {   -- x, loc, scale, value (50-digit reference)
    { 0, 0, 1, -1 },
    { -6, 0, 1, -397.42879349273512261 },
    { 2.5, -1.25, 0.5, -6.8074059038102025242 },
    { 800, 0, 1, -800 },
    { -800, 0, 1, -math.huge },
    { -math.huge, 0, 1, -math.huge },
    { 3e-150, 1e-150, 1e-150, 343.25242866587023979 },
  },
  invalid = { { 0, 0 }, { 0, -1 }, { 0 / 0, 1 }, { 0, 0 / 0 }, { 0, { 1, -1 } } },
}
