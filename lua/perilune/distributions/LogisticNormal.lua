--- LogisticNormal(loc, scale): shares of a whole that Normals cut off one after another.
--
-- Cut j of K takes the share z_j = sigmoid(u_j - log(K - j + 1)) of what is left, u_j
-- from Normal(loc_j, scale_j), so that x_j = z_j (1 - z_1) ... (1 - z_(j-1)); the last of
-- the K + 1 shares is what remains.
local Distribution            = require "perilune.distribution"
local LogitNormal             = require "perilune.distributions.LogitNormal"
local Normal                  = require "perilune.distributions.Normal"
local TransformedDistribution = require "perilune.distributions.TransformedDistribution"
local constraints             = require "perilune.constraints"
local construct               = require "perilune.construct"
local core                    = require "perilune.core"
local raise                   = require "perilune.errors".raise
local functions               = require "perilune.functions"
local lazy                    = require "perilune.lazy"
local tensor                  = require "perilune.tensor"
local transforms              = require "perilune.transforms"

local peaks                   = lazy "peaks"

local params = {
  { "loc",   constraints.real,     event = 1 },               -- one for each cut
  { "scale", constraints.positive, event = 1, default = 1 },
}

local function complete (self)
  local shape, why = core.broadcast_shape(self.loc, self.scale)
  if not shape then raise("LogisticNormal: parameters of %s", why) end
  return TransformedDistribution.complete(self, Normal(self.loc, self.scale), transforms.StickBreaking())
end

local from_params = core.constructor(params, construct.full)

-- A number for all cuts is a row of one.
local function row (x)
  if core.is_tensor(x) and core.rank(x) == 0 then return x:unsqueeze(-1) end
  return type(x) == "number" and { x } or x
end

-- The same arguments with rows.
local function arguments (loc, ...)
  if core.table_kind(loc) == "named" then
    local named = { loc = row(loc.loc), scale = row(loc.scale or 1) }
    for key, value in pairs(loc) do named[key] = named[key] or value end
    return named, ...
  end
  if select("#", ...) == 0 then return row(loc), { 1 } end
  return row(loc), row((...)), select(2, ...)
end

local LogisticNormal = TransformedDistribution:extend("LogisticNormal", {
  params = params,
  construct = function (c, ...) return from_params(c, arguments(...)) end,
  init = complete,
  help = {
    summary = "shares of a whole that Normals cut off one after another",
    params  = { loc = "means of the logits of the cuts", scale = "their standard deviations" },
    formula = "u = inverse stick-breaking of x,  log p(x) = log p(u) - log|det dx/du|",
    example = { "LogisticNormal({ 0, 0 }, 1):log_prob({ 0.25, 0.25, 0.5 })", 1.3054313524847 },
  },
})

LogisticNormal.__tostring, LogisticNormal.stddev = Distribution.__tostring, Distribution.stddev

function LogisticNormal:with_batch (shape) return complete(Distribution.with_batch(self, shape)) end

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

function LogisticNormal:mean ()
  local taken, left = shares(self)
  return over_cuts(taken:mean():log(), left:mean():log()):exp()
end

-- E x^2 = (E x)^2 times the product of 1 + variance/mean^2
function LogisticNormal:variance ()
  local taken, left = shares(self)
  local function excess (z) return functions.log1p(functions.square(z:stddev() / z:mean())) end
  return self:mean() ^ 2 * functions.expm1(over_cuts(excess(taken), excess(left)))
end

--- Cut by cut, the highest point of -(u - loc)^2/(2 scale^2) - log z - n log(1 - z), n the cuts from this one
-- on: there u = loc + scale^2 ((n + 1) z - 1).
function LogisticNormal:mode ()
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

function LogisticNormal:entropy ()
  local after = cuts_left(self)
  local normal = self.base_dist.base_dist
  local stretch = normal:expectation(function (x)
    local u = x - functions.log(after)
    return -functions.softplus(-u) - after * functions.softplus(u)
  end)
  return (normal:entropy() + stretch):sum(-1)
end

return LogisticNormal
