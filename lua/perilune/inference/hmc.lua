--- posed:hmc {}: Hamiltonian Monte Carlo with trajectories of 1 to `steps` steps.
local Sampling = require "perilune.inference.sampling"
local options  = require "perilune.inference.options"

--@ Model:hmc(options) -> Posterior or Sampling
-- Draws by Hamiltonian Monte Carlo, with trajectories of 1 to so many steps.
--   options  chains = how many, at most 1024 (4); draws = of each chain (1000); warmup = draws before them, in which
--            step and metric are found (1000); metric = "diag", "dense", or "auto": dense up to 30 free numbers
--            ("auto"); target = mean acceptance that the step is tuned for (0.8); steps = most steps of a trajectory
--            (16); comm = world of perilune.mpi: its ranks share the chains, at least one for each; save = name of a
--            file for checkpoints; save_every = iterations between them; resume = true goes on from the last one; run;
--            rng; seed; progress; noncentred; init
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > posed:hmc({ seed = 1 }).verdict
-- ok
return Sampling.way("hmc", { max_depth = 1 }, { "steps", 16, "a positive integer", options.is_count })
