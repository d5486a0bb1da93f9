local peri    = require "perilune"
local refusal = require "spec.support.refusal"

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or math.abs(expected - got) <= (tolerance or 2e-15) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

require "spec.support.contract".distribution {
  name = "RelaxedBernoulli",
  points = { { 1, 0.5 }, { 2.5, 0.3 }, { 0.8, 0.1 }, { 1.25, 0.02 }, { 10, 0.9 }, { 0.6, 1e-3 }, { 1000, 0.5 } },
  log_prob = {   -- x, temperature, probs, value (50-digit reference)
    { 0.5, 1, 0.5, 0 },
    { 0.25, 2, 0.5, -0.04082199452025512955458 },
    { 0.3, 0.7, 0.25, -0.2455362594844971086216 },
    { 1e-200, 3, 0.75, -921.034037197618273643 },
    { 0, 2, 0.3, -math.huge }, { 1, 2, 0.3, -math.huge },   -- limits at the ends
    { 0, 0.5, 0.3, math.huge }, { 1, 0.5, 0.3, math.huge },
    { 0, 1, 0.25, math.log(3) }, { 1, 1, 0.25, -math.log(3) },
    { 0, 2, 0, math.huge }, { 0.5, 2, 0, -math.huge }, { 1, 2, 1, math.huge },
  },
  outside = { { -0.1, 1, 0.3 }, { 1.5, 0.5, 0.3 }, { math.huge, 2, 0.5 }, { -math.huge, 2, 0.5 } },
  invalid = { { 0, 0.5 }, { -1, 0.5 }, { 1, 1.1 }, { 1, -0.1 }, { 0 / 0, 0.5 }, { 1, 0 / 0 } },
}

describe("RelaxedBernoulli", function ()
  it("keeps its digits for steep logits and all temperatures", function ()
    -- temperature, logits, x, log_prob, cdf, sf, log_cdf, log_sf: 50 digits, rounded
    for _, row in ipairs {
      { 1, -690.5, 1e-300, 689.3703143624732975352, 0.4315505106704262726124, 0.5684494893295737273876,
        -0.8403707169770564127322, -0.5648428187633512323939 },
      { 1e-3, -700, 0.25, -705.2326802331217973752, 1, 9.870514457815753368302e-305, -9.870514457815753368302e-305,
        -699.9989013877113318903 },
      { 1000, 40, 0.5078125, -0.4534803898963112021429, 0.0001588396511143874101397, 0.9998411603488856125899,
        -8.747615348163045014542, -0.000158852267467772945804 },
      { 1e-3, 1, 0.75, -6.859794770199863334927, 0.2691574764784708068358, 0.7308425235215291931642,
        -1.312458656250364870124, -0.3135572685390329798387 },
    } do
      local d, x = peri.RelaxedBernoulli { temperature = row[1], logits = row[2] }, row[3]
      for i, method in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf" } do close(row[3 + i], d[method](d, x)) end
    end
    local function quarter (t, l) return peri.RelaxedBernoulli { temperature = t, logits = l }:icdf(0.25) end
    close(1.49014038052116000388e-43, quarter(1e-3, 1))
    close(4.390752841781841659963e-301, quarter(1, -690.5))
    close(0.5097241206515547153402, quarter(1000, 40))
  end)

  it("has small moments with all their digits", function ()
    -- For temperature 1: mean e^l (e^l - 1 - l)/(e^l - 1)^2. For low temperatures and l far below 0
    -- the mean is that of its first residue, e^l (pi T)/sin(pi T).
    local function of (t, l) return peri.RelaxedBernoulli { temperature = t, logits = l } end
    close(699 * math.exp(-700), of(1, -700):mean(), 1e-13)
    close(0.5 * math.pi * math.exp(-600), of(0.5, -600):mean(), 1e-13)
    close(0.5 * math.pi * math.exp(-150), of(2, -300):mean(), 1e-13)
    close(1 / 12, of(1, 0):variance(), 1e-14)
    -- temperature, logits, mean, variance, entropy, mode: 30 digits, rounded
    for _, row in ipairs {
      { 0.1, -26, 5.194108042335872046200e-12, 4.674697238078096336562e-12,
        -255.6974149071098220994, 0 },
      { 1.25, -3.9, 0.084087570766500949932, 0.0143840141645968217054,
        -1.549040181217426252154, 0.007981907488075081401157 },
      { 1000, -700, 0.3318123505087890989002, 1.617185280792380731730e-7,
        -6.414128106158892123515, 0.3318120786741359833828 },
      { 0.001, -1.3, 0.2141651752182031057113, 0.1681301545822009241562,
        -1773.10970606641566003, 0 },
      { 1.000000001, -0.5, 0.4173549620202239236088, 0.08060850975141350680379,
        -0.04149408247472871950078, 7.707471451647028932388e-10 },
      { 3, -600, 1.673407093574024532308e-87, 1.831353228403558470809e-174,
        -199.0986122886681096914, 1.098399401178517323380e-87 },
    } do
      local d = of(row[1], row[2])
      close(row[3], d:mean(), 1e-14)
      close(row[4], d:variance(), 1e-14)
      close(1 - row[5], 1 - d:entropy(), 1e-14)   -- it is never positive
      close(row[6], d:mode(), 1e-14)
      local mirrored = of(row[1], -row[2])
      close(1 - d:mean(), mirrored:mean())
      close(1 - d:mode(), mirrored:mode())
      close(d:variance(), mirrored:variance())
      close(d:entropy(), mirrored:entropy())
    end
  end)

  it("is a coin in the limit", function ()
    local d = peri.RelaxedBernoulli(1e-12, 0.3)
    close(0.3, d:mean())
    close(0.21, d:variance(), 1e-11)
    local draws = d:sample(20000, peri.rng(4))   -- false alarm 1e-6
    assert.is_true((draws * (1 - draws)):equal(peri.zeros(20000)))
    assert(math.abs(peri.item(draws:mean()) - 0.3) <= 5 * math.sqrt(0.21 / 20000))
  end)

  it("takes probabilities of 0 and 1", function ()
    for _, p in ipairs { 0, 1 } do
      for _, t in ipairs { 0.5, 1, 3 } do
        local d = peri.RelaxedBernoulli(t, p)
        assert.same({ p, 0, p, p, p }, { d:mean(), d:variance(), d:mode(), d:median(), d:sample() })
        assert.same({ 1, 0, -math.huge }, { d:cdf(p), d:sf(p), d:entropy() })
        assert.same({ 1 - p, p }, { d:cdf(0.5), d:sf(0.5) })
        assert.equal(0.0, d:cdf(-1))
      end
    end
  end)

  it("takes logits instead of probs, and refuses both and neither", function ()
    assert.equal("RelaxedBernoulli(temperature=2, logits=-1)",
                 tostring(peri.RelaxedBernoulli { temperature = 2, logits = -1 }))
    assert.equal(0.5, peri.RelaxedBernoulli { temperature = 2, logits = 0 }.probs)
    for _, case in ipairs {
      { { temperature = 1 }, "RelaxedBernoulli: probs or logits is missing" },
      { { temperature = 1, probs = 0.5, logits = 0 }, "RelaxedBernoulli: probs and logits exclude each other" },
      { { temperature = 0, probs = 0.5 }, "RelaxedBernoulli: temperature must be positive, got 0" },
      { { temperature = 1, probs = 2 }, "RelaxedBernoulli: probs must be in the interval [0, 1], got 2" },
    } do
      assert.equal(case[2], refusal(peri.RelaxedBernoulli, case[1]))
    end
  end)
end)
