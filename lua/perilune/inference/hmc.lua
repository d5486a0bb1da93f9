--- posed:hmc {}: Hamiltonian Monte Carlo with trajectories of 1 to `steps` steps.
local Sampling = require "perilune.inference.sampling"
local options  = require "perilune.inference.options"

local ROWS = {
  { "chains", 4, "an integer from 1 to 1024", function (x) return options.is_count(x) and x <= 1024 end },
  { "draws", 1000, "a positive integer", options.is_count },
  { "warmup", 1000, "an integer that is not negative", function (x) return x == 0 or options.is_count(x) end },
  { "metric", "auto", '"auto", "diag" or "dense"', function (x) return x == "auto" or x == "diag" or x == "dense" end },
  { "target", 0.8, "between 0 and 1", function (x) return type(x) == "number" and x > 0 and x < 1 end },
  { "steps", 16, "a positive integer", options.is_count },
  { "run", true, "true or false", options.is_boolean },
}

return function (posed, given)
  local read = options.read("hmc", given, ROWS)
  read.step, read.max_depth, read.method = 1, 1, "hmc"
  local sampling = Sampling.new(posed, read)
  return read.run and sampling:finish() or sampling
end
