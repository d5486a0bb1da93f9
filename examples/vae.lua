--- An amortised guide, and a divergence of one's own that it is fitted with.
--
-- Each picture, a row of pixels, shows a bump at a hidden place. A small network looks at a picture and says where the
-- bump is and how sure that is: one set of weights for all pictures, fitted on some of them at a time. The law of the
-- places is a class of our own; the fit uses the divergence that we register for it.
local peri   = require "perilune"
local guided = require "perilune.inference.guided"
local Normal, LogNormal, constraints = peri.Normal, peri.LogNormal, peri.constraints

local N, BATCH, PIXELS, HIDDEN, NOISE = 48, 16, 12, 16, 0.3
local rng = peri.rng(2026)

-- A normal law by its precision. (inherit_kl = false: nothing is known of its divergences yet.)
local Precise = Normal:extend("Precise", {
  params = { { "loc", constraints.real }, { "precision", constraints.positive } },
  operands = { "loc", "scale" },   -- of the kernels that it inherits
  init = function (self) self.scale = 1 / peri.sqrt(self.precision) end,
  inherit_kl = false,
})

-- Pictures.
local grid = peri.linspace(-3, 3, PIXELS)
local function bump (place, width) return peri.exp(-0.5 * peri.square((grid - place:reshape(-1, 1)) / width)) end
local truth = Normal(0, 1):sample({ N }, rng)
local pictures = bump(truth, 0.8) + NOISE * Normal(0, 1):sample({ N, PIXELS }, rng)

local model = peri.model(function (m)
  m.width = LogNormal(0, 0.5)
  m:plate("pictures", N, BATCH, function (i)
    m.place    = Precise(0, 1):expand(#i)
    m.pictures = Normal(bump(m.place, m.width), NOISE)
  end)
end)

local function guide (g, d)
  local w1, b1 = g:param("w1", Normal(0, 0.3):expand { PIXELS, HIDDEN }), g:param("b1", peri.zeros(HIDDEN))
  local w2, b2 = g:param("w2", Normal(0, 0.3):expand { HIDDEN, 2 }), g:param("b2", { 0, 5 })
  g.width = LogNormal(g:param("log_width", 0), g:param("spread", 0.1, constraints.positive))
  g:plate("pictures", N, BATCH, function ()
    local out = (d.pictures:matmul(w1) + b1):tanh():matmul(w2) + b2
    g.place = Precise(out:select(2, 1), out:select(2, 2):exp())
  end)
end

local posed = model { pictures = pictures }

-- How much the gradient by b2, the last biases, varies when the fit begins, with a guide that is narrow as yet.
local function noise_at_first ()
  local objective, rows = guided.objective(posed, guide, { rng = peri.rng(1), samples = 1 }), {}
  local draws = peri.rng(2)
  for i = 1, 2000 do
    objective.params[4].grad = nil
    objective:estimate(draws)
    rows[i] = objective.params[4].grad:clone()
  end
  return objective.terms.place, peri.stack(rows):var(1):sum()
end

local before, noise_before = noise_at_first()
peri.register_kl(Precise, Precise, function (p, q)
  local ratio = q.precision / p.precision
  return 0.5 * (ratio - 1 - peri.log(ratio) + q.precision * peri.square(p.loc - q.loc))
end)
local after, noise_after = noise_at_first()
print(string.format("variance of the gradient: %.0f by %q, and %.0f by %q\n", noise_before, before, noise_after, after))

local post = posed:vi { guide = guide, rng = rng, lr = 0.02, tolerance = 0.1 }
print(post)

-- Some pictures, the places found in them with intervals of 90 %, and where they are in truth.
print()
print(peri.plot(pictures:narrow(1, 1, 6), { xlabel = "pixel", ylabel = "picture" }):text { height = 6 })
print "\npicture   found   from    to    true"
local interval = post:interval(0.9).place
for n = 1, 6 do
  print(string.format("%7d   %5.2f  %5.2f %5.2f  %6.2f", n, post.mean.place[n], interval[1][n], interval[2][n],
                      truth[n]))
end
