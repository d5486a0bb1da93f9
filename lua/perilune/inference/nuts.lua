--- posed:nuts {}: draws by the No-U-Turn sampler (src/sampler), four chains unless told.
local Sampling = require "perilune.inference.sampling"
local options  = require "perilune.inference.options"

local ROWS = {
  { "chains", 4, "an integer from 1 to 1024", function (x) return options.is_count(x) and x <= 1024 end },
  { "draws", 1000, "a positive integer", options.is_count },
  { "warmup", 1000, "an integer that is not negative", function (x) return x == 0 or options.is_count(x) end },
  { "metric", "auto", '"auto", "diag" or "dense"', function (x) return x == "auto" or x == "diag" or x == "dense" end },
  { "target", 0.8, "between 0 and 1", function (x) return type(x) == "number" and x > 0 and x < 1 end },
  { "max_depth", 10, "an integer from 1 to 20", function (x) return options.is_count(x) and x <= 20 end },
  { "run", true, "true or false", options.is_boolean },
}

return function (posed, given)
  local read = options.read("nuts", given, ROWS)
  read.step, read.steps, read.method = 1, 0, "nuts"
  local sampling = Sampling.new(posed, read)
  return read.run and sampling:finish() or sampling
end
