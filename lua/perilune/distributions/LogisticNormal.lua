--- LogisticNormal(loc, scale): shares of a whole that Normals cut off one after another.
--
-- Cut j of K takes the share z_j = sigmoid(u_j - log(K - j + 1)) of what is left, u_j
-- from Normal(loc_j, scale_j), so that x_j = z_j (1 - z_1) ... (1 - z_(j-1)); the last of
-- the K + 1 shares is what remains.
local Distribution            = require "perilune.distribution"
local Normal                  = require "perilune.distributions.Normal"
local TransformedDistribution = require "perilune.distributions.TransformedDistribution"
local constraints             = require "perilune.constraints"
local construct               = require "perilune.construct"
local core                    = require "perilune.core"
local raise                   = require "perilune.errors".raise
local lazy                    = require "perilune.lazy"

local cuts, transforms = lazy "cuts", lazy "transforms"

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

function LogisticNormal:mean () return cuts.mean(self) end
function LogisticNormal:variance () return cuts.variance(self) end
function LogisticNormal:mode () return cuts.mode(self) end
function LogisticNormal:entropy () return cuts.entropy(self) end

return LogisticNormal
