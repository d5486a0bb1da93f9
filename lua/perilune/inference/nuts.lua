--- posed:nuts {}: draws by the No-U-Turn sampler (src/sampler), four chains unless told.
local Sampling = require "perilune.inference.sampling"
local options  = require "perilune.inference.options"

return Sampling.way("nuts", { steps = 0 }, {
  "max_depth", 10, "an integer from 1 to 20", function (x) return options.is_count(x) and x <= 20 end,
})
