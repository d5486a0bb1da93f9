--- Methods of LogisticNormal.
local Distribution            = require "perilune.distribution"
local LogisticNormal          = require "perilune.distributions.LogisticNormal"
local Normal                  = require "perilune.distributions.Normal"
local TransformedDistribution = require "perilune.distributions.TransformedDistribution"
local construct               = require "perilune.construct"
local core                    = require "perilune.core"
local raise                   = require "perilune.errors".raise
local lazy                    = require "perilune.lazy"

local cuts, transforms = lazy "cuts", lazy "transforms"

local from_params = construct.by_params(LogisticNormal.params)

local methods = {}

-- A number for all cuts is a row of one.
local function row (x)
  if core.is_tensor(x) and core.rank(x) == 0 then return x:unsqueeze(-1) end
  return type(x) == "number" and { x } or x
end

-- The same arguments with rows.
local function arguments (loc, ...)
  if core.table_kind(loc) == "named" then
    local named = { loc = row(loc.loc), scale = row(loc.scale or 1) }
    for key, value in next, loc do named[key] = named[key] or value end
    return named, ...
  end
  if select("#", ...) == 0 then return row(loc), { 1 } end
  return row(loc), row((...)), select(2, ...)
end

function methods.construct (c, ...) return from_params(c, arguments(...)) end

function methods:init ()
  local shape, why = core.broadcast_shape(self.loc, self.scale)
  if not shape then raise("LogisticNormal: parameters of %s", why) end
  local base = Normal { loc = self.loc, scale = self.scale, validate = false }   -- they have been looked at
  return TransformedDistribution.complete(self, base, transforms.StickBreaking())
end

function methods:with_batch (shape) return methods.init(Distribution.with_batch(self, shape)) end

function methods:mean () return cuts.mean(self) end
function methods:variance () return cuts.variance(self) end
function methods:mode () return cuts.mode(self) end
function methods:entropy () return cuts.entropy(self) end

return methods
