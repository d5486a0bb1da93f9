--- posed:hmc {}: Hamiltonian Monte Carlo with trajectories of 1 to `steps` steps.
local Sampling = require "perilune.inference.sampling"
local options  = require "perilune.inference.options"

return Sampling.way("hmc", { max_depth = 1 }, { "steps", 16, "a positive integer", options.is_count })
