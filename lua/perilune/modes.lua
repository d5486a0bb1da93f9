--- Modes of laws as break points of integrals, each found once in a call: they are asked for again and again.
local attempt = require "perilune.attempt"
local core    = require "perilune.core"
local effort  = require "perilune.effort"
local kept    = require "perilune.kept"

local DEAR = 8   -- a density that costs more, in units of effort.lua: a search takes some thousands

local modes = {}

local found = kept.new(function (d)
  local mode = (d.kernels or effort.density(d) < DEAR) and attempt.method(d, "mode") or false
  return core.bare(mode)
end, effort.call)

--- The mode of d, without a derivative, or nil where it has none, or none that is worth a search.
function modes.of (d) return found(d) or nil end

return modes
