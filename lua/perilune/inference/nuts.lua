--- posed:nuts {}: draws by the No-U-Turn sampler (src/sampler), four chains unless told.
local Sampling = require "perilune.inference.sampling"
local options  = require "perilune.inference.options"

--@ Model:nuts(options) -> Posterior or Sampling
-- Draws by the No-U-Turn sampler. With peri.set_threads(n) chains run on n threads, and draw the same bits.
--   options  chains = how many, at most 1024 (4); draws = of each chain (1000); warmup = draws before them, in which
--            step and metric are found (1000); metric = "diag", "dense", or "auto": dense up to 30 free numbers
--            ("auto"); target = mean acceptance that the step is tuned for (0.8); max_depth = trajectories of at most
--            2^max_depth steps (10); comm = world of perilune.mpi: its ranks share the chains, at least one for each;
--            save = name of a file for checkpoints; save_every = iterations between them; resume = true goes on from
--            the last one; run; rng; seed; progress; noncentred; init
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > post = posed:nuts { seed = 1, draws = 500 }
-- > post.verdict, #post:draws().mu
-- ok  2000
return Sampling.way("nuts", { steps = 0 }, {
  "max_depth", 10, "an integer from 1 to 20", function (x) return options.is_count(x) and x <= 20 end,
})
