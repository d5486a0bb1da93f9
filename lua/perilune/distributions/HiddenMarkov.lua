--- HiddenMarkov(initial, transition, emission, length): a sequence whose parts depend on a chain of hidden states.
--
-- The kernels of src/kernel/hiddenmarkov.c work on a table of the log densities of each part in each state: any
-- distribution with a log_prob can be the emission.
local Distribution = require "perilune.distribution"
local Categorical  = require "perilune.distributions.Categorical"
local attempt      = require "perilune.attempt"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local construct    = require "perilune.construct"
local core         = require "perilune.core"
local errors       = require "perilune.errors"
local events       = require "perilune.events"
local functions    = require "perilune.functions"
local show         = require "perilune.show"

local raise = errors.raise

local GIVEN = { "initial", "transition", "table" }

local function kernel (name) return core.bind("hiddenmarkov", name, "HiddenMarkov:" .. name, GIVEN, GIVEN) end

local log_prob, posterior, viterbi, marginals =
  kernel "log_prob", kernel "posterior", kernel "viterbi", kernel "marginals"

-- Hidden states, drawn.
local draw_states = core.bind("hiddenmarkov", "states", "HiddenMarkov:sample", { "self", "shape", "rng" },
                              { "self.initial", "self.transition", "self.frame" })


-- Construction -------------------------------------------------------------------

local function fail (c, ...) raise("%s: %s", class.name(c), string.format(...)) end

local function is_distribution (x)
  local c = class.of(x)
  return c ~= nil and class.descends(c, Distribution)
end

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

local function joined (a, ...)
  local whole = { table.unpack(a) }
  for _, n in ipairs { ... } do whole[#whole + 1] = n end
  return whole
end

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
  local support = emission.support
  if not support then return nil end
  local low, high = support.low, support.high
  if #emission.event_shape == 0 and (core.is_tensor(low) or core.is_tensor(high)) then
    local function over (x) return core.is_tensor(x) and x:expand(emission.batch_shape) or x end
    low, high = over(low), over(high)
    support = getmetatable(support).new(core.is_tensor(low) and low:min(-1) or low,
                                        core.is_tensor(high) and high:max(-1) or high)
  end
  return constraints.independent(support, 1)
end

local function assemble (c, parts, batch)
  local self = setmetatable({}, c)
  for name, value in pairs(parts) do self[name] = value end
  self.initial = core.expand(parts.initial, joined(batch, last(parts.initial.shape)))
  self.batch_shape = batch
  self.event_shape = joined({ parts.length }, table.unpack(parts.emission.event_shape))
  return self
end

local function make (c, ...)
  local initial, transition, emission, length =
    construct.arguments(c, { "initial", "transition", "emission", "length" }, ...)
  initial, transition = probs_of(c, "initial", initial), probs_of(c, "transition", transition)
  if core.rank(transition) < 2 then
    fail(c, "transition must be a matrix, got shape %s", show.shape(transition.shape))
  end
  if not is_distribution(emission) then fail(c, "emission must be a distribution, got %s", show.value(emission)) end
  local k = check_states(c, initial, transition, emission)
  length = length_of(c, emission, length)
  return assemble(c, {
    initial = initial, transition = transition, emission = emission, length = length, states = k,
    frame = core.zeros(length), support = support_of(emission),
  }, batch_of(c, initial, transition, emission))
end

local HiddenMarkov = Distribution:extend("HiddenMarkov", {
  construct = make,
  help = {
    summary = "a sequence whose parts depend on a chain of hidden states",
    params  = { initial = "probabilities of the first state, or a Categorical",
                transition = "a matrix: row i has the probabilities of going from state i, or a Categorical of rows",
                emission = "the law of a part in each state, the last dimension of its batch; before it there may be "
                           .. "one for the time",
                length = "of the sequence, unless emission has a dimension for the time" },
    formula = "p(x) = sum over states z of p(z[1]) product over t of p(z[t+1] | z[t]) p(x[t] | z[t])",
    example = { "HiddenMarkov({ 0.5, 0.5 }, { { 0.9, 0.1 }, { 0.2, 0.8 } }, peri.Normal({ 0, 3 }, 1), 3)"
                .. ":log_prob({ 0, 0.5, 3 })", -5.8422611850848 },
  },
})

function HiddenMarkov:with_batch (shape)
  shape = core.to_shape(shape, "HiddenMarkov:with_batch")
  return assemble(class.of(self), self, shape)
end

function HiddenMarkov:__tostring ()
  return string.format("%s(initial=%s, transition=%s, emission=%s, length=%d)", class.name(class.of(self)),
                       show.parameter(self.initial), show.parameter(self.transition), tostring(self.emission),
                       self.length)
end


-- Methods ------------------------------------------------------------------------

-- Log densities of the parts of x in each state, { ..., length, states }. Each state has its copy of x, so that loops
-- run along x and not along the few states.
local function table_of (self, name, x)
  x = events.argument(self, name, x)
  local shape, order = core.shape(x), {}
  for d = 1, #shape do order[d] = d + 1 end
  table.insert(order, #shape - #self.emission.event_shape + 1, 1)
  return self.emission:log_prob(x:expand(self.states, table.unpack(shape)):contiguous():permute(table.unpack(order)))
end

local function given (self, name, x) return self.initial, self.transition, table_of(self, name, x) end

--- By the forward algorithm.
function HiddenMarkov:log_prob (x) return log_prob(given(self, "log_prob", x)) end

--- The probabilities of each state at each time, given a sequence: { ..., length, states }. They have no derivative.
function HiddenMarkov:posterior (x) return posterior(given(self, "posterior", x)) end

--- The likeliest states, given a sequence: { ..., length }.
function HiddenMarkov:viterbi (x) return viterbi(given(self, "viterbi", x)) end

-- E g of each part, where g gives what it is in each state: { ..., length, states, event... }.
local function expected (self, values)
  local weights = marginals(self.initial, self.transition, self.frame)
  for _ = 1, #self.emission.event_shape do weights = weights:unsqueeze(-1) end
  return (weights * values):sum(-1 - #self.emission.event_shape)
end

function HiddenMarkov:mean () return expected(self, self.emission:mean()) end

--- The law of total variance: within states, and between their means.
function HiddenMarkov:variance ()
  local means = self.emission:mean()
  local mean = expected(self, means):unsqueeze(-1 - #self.emission.event_shape)
  return expected(self, self.emission:variance() + functions.square(means - mean))
end

-- All states' parts are drawn, and one of each kept.
local function drawn (self, shape, rng)
  local states, last_dims = draw_states(self, shape, rng), #self.emission.event_shape
  local emission = self.emission:expand(joined(self.batch_shape, self.length, self.states))
  local parts = emission:sample(shape, rng)
  for _ = 1, last_dims do states = states:unsqueeze(-1) end
  local x = parts:select(-1 - last_dims, 1)
  for k = 2, self.states do x = functions.where(states:eq(k), parts:select(-1 - last_dims, k), x) end
  return x
end

--- All states are drawn before the parts.
function HiddenMarkov:sample (shape, rng) return drawn(self, shape, rng) end

return HiddenMarkov
