--- Moments, mode and entropy of a LogisticNormal: shares that are cut off one after another.
local LogitNormal = require "perilune.distributions.LogitNormal"
local core        = require "perilune.core"
local functions   = require "perilune.functions"
local lazy        = require "perilune.lazy"
local tensor      = require "perilune.tensor"

local peaks = lazy "peaks"

local cuts = {}

-- K, K - 1, ..., 1: the cuts from each one on.
local function cuts_left (self)
  local k = self.event_shape[1] - 1
  return core.arange(k, 0, -1)
end

-- Rows of K numbers with one more, 0, at the front or at the back.
local function padded (x, at_front)
  local shape = core.shape(x)
  shape[#shape] = 1
  local zero = core.zeros(shape)
  return tensor.cat(at_front and { zero, x } or { x, zero }, -1)
end

-- log of a product over the cuts of a share: `taken` at its own, `left` at all before.
local function over_cuts (taken, left) return padded(taken) + padded(left:cumsum(-1), true) end

-- The shares z of the cuts and 1 - z.
local function shares (self)
  local loc = self.base_dist.base_dist.loc - functions.log(cuts_left(self))
  local scale = self.base_dist.base_dist.scale
  return LogitNormal(loc, scale), LogitNormal(-loc, scale)
end

function cuts.mean (self)
  local taken, left = shares(self)
  return over_cuts(taken:mean():log(), left:mean():log()):exp()
end

-- E x^2 = (E x)^2 times the product of 1 + variance/mean^2
function cuts.variance (self)
  local taken, left = shares(self)
  local function excess (z) return functions.log1p(functions.square(z:stddev() / z:mean())) end
  return self:mean() ^ 2 * functions.expm1(over_cuts(excess(taken), excess(left)))
end

--- Cut by cut, the highest point of -(u - loc)^2/(2 scale^2) - log z - n log(1 - z), n the cuts from this one
-- on: there u = loc + scale^2 ((n + 1) z - 1).
function cuts.mode (self)
  local normal, after = self.base_dist.base_dist, cuts_left(self)
  local loc, spread = core.expand(normal.loc, normal.batch_shape), functions.square(normal.scale)
  local function share (u) return functions.sigmoid(u - functions.log(after)) end
  local u = peaks.search(function (x)
    local v = x - functions.log(after)
    return functions.softplus(-v) + after * functions.softplus(v) - 0.5 * functions.square(x - loc) / spread
  end, loc + 0.5 * (after - 1) * spread, 0.5 * (after + 1) * spread)
  for _ = 1, 3 do
    local z = share(u)
    local slope, bend = loc + spread * ((after + 1) * z - 1) - u, 1 - spread * (after + 1) * z * (1 - z)
    u = functions.where(functions.gt(bend, 0), u + slope / bend, u)
  end
  return self.transform:forward(u)
end

function cuts.entropy (self)
  local after = cuts_left(self)
  local normal = self.base_dist.base_dist
  local stretch = normal:expectation(function (x)
    local u = x - functions.log(after)
    return -functions.softplus(-u) - after * functions.softplus(u)
  end)
  return (normal:entropy() + stretch):sum(-1)
end

return cuts
