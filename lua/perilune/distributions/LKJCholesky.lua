--@ peri.LKJCholesky
-- The Cholesky factor L of a correlation matrix with density proportional to det^(concentration - 1).
--   dim            rows and columns
--   concentration  above 1 for weak correlations, 1 for all alike
--   formula        log p(L) = sum over rows i > 1 of (dim - i + 2 concentration - 2) log L[i][i] - constant, over
--                  the elements below the diagonal
-- > LKJCholesky(2, 3):log_prob({ { 1, 0 }, { 0.6, 0.8 } })
-- -0.9571127263944103
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local raise        = require "perilune.errors".raise
local functions    = require "perilune.functions"
local show         = require "perilune.show"

local LKJCholesky = Distribution:extend("LKJCholesky", {
  kernels = "lkjcholesky",
  params = {
    { "dim",           constraints.integer_interval(2, math.huge), single = true },   -- one for the whole batch
    { "concentration", constraints.positive, default = 1 },
  },
  operands = { "concentration", "frame" },   -- frame: a row of dim numbers, which says how many
  support = constraints.corr_cholesky,
  init = function (self)
    local dim = math.tointeger(self.dim)
    if not dim then
      raise("%s: dim must be a single integer, got %s", class.name(class.of(self)), show.value(self.dim))
    end
    self.dim, self.event_shape, self.frame = dim, { dim, dim }, core.zeros(dim)
  end,
})

--- dim and its frame have no batch.
function LKJCholesky:expand (shape)
  local bare = {}
  for key, value in pairs(self) do bare[key] = value end
  bare.dim, bare.frame = nil, nil
  local wide = Distribution.expand(setmetatable(bare, class.of(self)), shape)
  wide.dim, wide.frame = self.dim, self.frame
  return wide
end

--- The unit matrix for concentration > 1; else the density has no single maximum: NaN.
function LKJCholesky:mode ()
  local single = functions.gt(self.concentration, 1)
  if core.is_tensor(single) then single = single:unsqueeze(-1):unsqueeze(-1) end
  return functions.where(single, core.eye(self.dim), 0 / 0)
end

return LKJCholesky
