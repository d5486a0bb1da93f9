--- Methods of HiddenMarkov.
local class     = require "perilune.class"
local core      = require "perilune.core"
local events    = require "perilune.events"
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"
local show      = require "perilune.show"

local hidden_markov = lazy "hidden_markov"

local GIVEN = { "initial", "transition", "table" }

local function kernel (name) return core.bind("hiddenmarkov", name, "HiddenMarkov:" .. name, GIVEN, GIVEN) end

local log_prob, posterior, viterbi, marginals =
  kernel "log_prob", kernel "posterior", kernel "viterbi", kernel "marginals"

-- Hidden states, drawn.
local draw_states = core.bind("hiddenmarkov", "states", "HiddenMarkov:sample", { "self", "shape", "rng" },
                              { "self.initial", "self.transition", "self.frame" })

local HiddenMarkov = {}

function HiddenMarkov.construct (c, ...) return hidden_markov.make(c, ...) end

function HiddenMarkov:with_batch (shape)
  shape = core.to_shape(shape, "HiddenMarkov:with_batch")
  return hidden_markov.assemble(class.of(self), self, shape)
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

--@ HiddenMarkov:posterior(x) -> Tensor
-- The probabilities of each state at each time, given a sequence: (..., length, states). They have no derivative.
--   x  tensor or table: a sequence
-- > d = HiddenMarkov({ 0.5, 0.5 }, { { 0.9, 0.1 }, { 0.2, 0.8 } }, Normal({ 0, 3 }, 1), 3)
-- > d:posterior({ 0, 0.5, 3 }):argmax(-1)
-- Tensor(3)
--   1  1  2
function HiddenMarkov:posterior (x) return posterior(given(self, "posterior", x)) end

--@ HiddenMarkov:viterbi(x) -> Tensor
-- The likeliest states as a whole, given a sequence: (..., length), integers from 1.
--   x  tensor or table: a sequence
-- > d = HiddenMarkov({ 0.5, 0.5 }, { { 0.9, 0.1 }, { 0.2, 0.8 } }, Normal({ 0, 3 }, 1), 3)
-- > d:viterbi({ 0, 0.5, 3 })
-- Tensor(3)
--   1  1  2
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
  local emission = self.emission:expand(events.joined(self.batch_shape, { self.length, self.states }))
  local parts = emission:sample(shape, rng)
  for _ = 1, last_dims do states = states:unsqueeze(-1) end
  local x = parts:select(-1 - last_dims, 1)
  for k = 2, self.states do x = functions.where(states:eq(k), parts:select(-1 - last_dims, k), x) end
  return x
end

--- All states are drawn before the parts.
function HiddenMarkov:sample (shape, rng) return drawn(self, shape, rng) end

return HiddenMarkov
