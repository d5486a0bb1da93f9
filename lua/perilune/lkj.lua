--- What LKJ and LKJCholesky have in common: parameters, and one dim for the whole batch.
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local functions    = require "perilune.functions"
local raise        = require "perilune.errors".raise
local show         = require "perilune.show"

local lkj = {}

lkj.params = {
  { "dim",           constraints.integer_interval(2, math.huge), single = true },
  { "concentration", constraints.positive, default = 1 },
}

lkj.operands = { "concentration", "frame" }   -- frame: a row of dim numbers, which says how many

function lkj.init (self)
  local dim = math.tointeger(self.dim)
  if not dim then
    raise("%s: dim must be a single integer, got %s", class.name(class.of(self)), show.value(self.dim))
  end
  self.dim, self.event_shape, self.frame = dim, { dim, dim }, core.zeros(dim)
end

--- dim and its frame have no batch.
function lkj:expand (shape)
  local bare = {}
  for key, value in pairs(self) do bare[key] = value end
  bare.dim, bare.frame = nil, nil
  local wide = Distribution.expand(setmetatable(bare, class.of(self)), shape)
  wide.dim, wide.frame = self.dim, self.frame
  return wide
end

--- The unit matrix for concentration > 1; else the density has no single maximum: NaN.
function lkj:mode ()
  local single = functions.gt(self.concentration, 1)
  if core.is_tensor(single) then single = single:unsqueeze(-1):unsqueeze(-1) end
  return functions.where(single, core.eye(self.dim), 0 / 0)
end

return lkj
