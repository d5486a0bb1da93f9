--- The law of a direction as a law of numbers: a single turn, beyond which there is nothing.
local constraints  = require "perilune.constraints"
local class        = require "perilune.class"
local core         = require "perilune.core"
local functions    = require "perilune.functions"
local line_moments = require "perilune.line_moments"

local INF = math.huge

local turns = setmetatable({}, { __mode = "k" })   -- [class] = that of its turns

-- Between the outermost quantiles.
local function set_support (self) self.support = constraints.interval(self:icdf(0), self:icdf(1)) end

local function of_class (c)
  local turn = c:extend(class.name(c), { inherit_kl = false, is_circular = false, init = set_support })

  function turn:log_prob (x)
    x = core.operand(x, class.name(c) .. ":log_prob", "x")
    local outside = functions.maximum(functions.lt(x, self.support.low), functions.gt(x, self.support.high))
    return functions.where(outside, -INF, c.log_prob(self, x))
  end

  function turn:prob (x) return functions.exp(self:log_prob(x)) end
  function turn:variance () return line_moments.spread(self) end
  function turn:stddev () return functions.sqrt(self:variance()) end

  return turn
end

--- d, or if its class says `is_circular` one turn of it.
return function (d)
  if not d.is_circular then return d end
  local c, self = class.of(d), {}
  turns[c] = turns[c] or of_class(c)
  for key, value in pairs(d) do self[key] = value end
  set_support(setmetatable(self, turns[c]))
  return self
end
