--- The law of a direction as a law of numbers: a single turn, beyond which there is nothing.
--
-- Laws of directions say `is_circular`: their densities go on beyond the turn that tails and quantiles know. They are
-- VonMises, mixtures of nothing else, and what is turned by a transform. Cut, censored or transformed otherwise they
-- are laws of numbers.
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

local one_turn

-- The same mixture of one turn of each component.
local function of_mixture (d)
  local component, batch = d.component_distribution, d.batch_shape
  if component.list then
    local list = {}
    for k, part in ipairs(component.list) do list[k] = one_turn(part) end
    component = require "perilune.side_by_side".of(list, batch)
  else
    component = one_turn(component)
  end
  return require "perilune.mixture".assemble(class.of(d), d.mixture_distribution, component, batch)
end

-- The transforms of one turn of the base.
local function of_transformed (d)
  local law = class.of(d)(one_turn(d.base_dist), d.transforms)
  return rawget(d, "batch_shape") and law:expand(d.batch_shape) or law
end

--- d, or if it is a law of directions one turn of it.
function one_turn (d)
  if not d.is_circular then return d end
  if d.component_distribution then return of_mixture(d) end
  if d.base_dist then return of_transformed(d) end
  local c, self = class.of(d), {}
  turns[c] = turns[c] or of_class(c)
  for key, value in pairs(d) do self[key] = value end
  set_support(setmetatable(self, turns[c]))
  return self
end

return one_turn
