--- Construction of a HiddenMarkov.
local Categorical  = require "perilune.distributions.Categorical"
local Distribution = require "perilune.distribution"
local attempt      = require "perilune.attempt"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local construction = require "perilune.construction"
local core         = require "perilune.core"
local events       = require "perilune.events"
local hulls        = require "perilune.hulls"
local show         = require "perilune.show"

local hidden_markov = {}

local fail = construction.fail

local function is_distribution (x) return class.is_instance(x, Distribution) end

-- Probabilities, of a Categorical or as they are, that sum to 1.
local function probs_of (c, name, x)
  if x == nil then fail(c, "%s is missing", name) end
  if is_distribution(x) then
    if not x:is_a(Categorical) then fail(c, "%s must be probabilities or a Categorical, got %s", name, tostring(x)) end
    return x.probs
  end
  local ok, found = attempt.call("Categorical: ", nil, Categorical, core.operand(x, class.name(c), name))
  if not ok then fail(c, "%s: %s", name, (found:gsub("^.*Categorical: ", ""))) end
  return found.probs
end

local function last (shape, n) return shape[#shape + 1 - (n or 1)] end

-- The number of states, in which initial, transition and emission must agree.
local function check_states (c, initial, transition, emission)
  local k = last(initial.shape)
  if last(transition.shape) ~= k or last(transition.shape, 2) ~= k then
    fail(c, "transition must be %d by %d, as initial has %d states, got shape %s", k, k, k,
         show.shape(transition.shape))
  elseif last(emission.batch_shape) ~= k then
    fail(c, "emission must have %d in the last dimension of its batch, one for each state, got a batch of shape %s", k,
         show.shape(emission.batch_shape))
  end
  return k
end

-- The length of sequences: as given, or as many as the emission has before the states.
local function length_of (c, emission, length)
  local own = last(emission.batch_shape, 2)
  if length == nil then
    if own == nil then fail(c, "length is missing, and emission has the same law at all times") end
    return own
  end
  local n = math.type(length) and math.tointeger(length)
  if not n or n < 1 then fail(c, "length must be a positive integer, got %s", show.value(length)) end
  if own ~= nil and own ~= n and own ~= 1 then
    fail(c, "length must be %d, as emission has a batch of shape %s, got %d", own, show.shape(emission.batch_shape), n)
  end
  return n
end

local function cut (shape, n) return { table.unpack(shape, 1, math.max(0, #shape - n)) } end

-- The shape of all batches together.
local function batch_of (c, initial, transition, emission)
  local zero = core.tensor(0)
  local shape, why = core.broadcast_shape(zero:expand(cut(initial.shape, 1)), zero:expand(cut(transition.shape, 2)),
                                          zero:expand(cut(emission.batch_shape, 2)))
  if not shape then fail(c, "initial, transition and emission of %s", why) end
  return shape
end

-- Parts of a sequence may be whatever they may be in one of the states.
local function support_of (emission)
  local support = hulls.along(emission.support, emission.batch_shape, emission.event_shape)
  return support and constraints.independent(support, 1)
end

--- A law of this class, its parts not checked.
function hidden_markov.assemble (c, parts, batch)
  local self = setmetatable({}, c)
  for name, value in pairs(parts) do self[name] = value end
  self.initial = core.expand(parts.initial, events.joined(batch, { last(parts.initial.shape) }))
  self.batch_shape = batch
  self.event_shape = events.joined({ parts.length }, parts.emission.event_shape)
  return self
end

--- A law of this class, for `construct`.
function hidden_markov.make (c, ...)
  local initial, transition, emission, length =
    construction.arguments(c, { "initial", "transition", "emission", "length" }, ...)
  initial, transition = probs_of(c, "initial", initial), probs_of(c, "transition", transition)
  if core.rank(transition) < 2 then
    fail(c, "transition must be a matrix, got shape %s", show.shape(transition.shape))
  end
  if not is_distribution(emission) then fail(c, "emission must be a distribution, got %s", show.value(emission)) end
  local k = check_states(c, initial, transition, emission)
  length = length_of(c, emission, length)
  return hidden_markov.assemble(c, {
    initial = initial, transition = transition, emission = emission, length = length, states = k,
    frame = core.tensor(0):expand(length), support = support_of(emission),
  }, batch_of(c, initial, transition, emission))
end

return hidden_markov
