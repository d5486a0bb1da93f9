--- Methods of LinearGaussian.
local Normal       = require "perilune.distributions.Normal"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local construction = require "perilune.construction"
local core         = require "perilune.core"
local errors       = require "perilune.errors"
local events       = require "perilune.events"
local matrices     = require "perilune.matrices"
local show         = require "perilune.show"
local tensor       = require "perilune.tensor"

local raise = errors.raise

local MATRICES = { "transition", "process_covariance", "observation", "observation_covariance", "initial_mean",
                   "initial_covariance" }
local TRIANGLES = { process_scale_tril = "process_covariance", observation_scale_tril = "observation_covariance",
                    initial_scale_tril = "initial_covariance" }
local NAMES = { "transition", "process_covariance", "observation", "observation_covariance", "initial_mean",
                "initial_covariance", "length", "process_scale_tril", "observation_scale_tril", "initial_scale_tril" }

local WITH_X, FIELDS = { "self", "x" }, { "x" }
for i, name in ipairs(MATRICES) do FIELDS[i + 1] = "self." .. name end

-- A kernel of src/kernel/lineargaussian.c as a function of the law and a series.
local function kernel (name) return core.bind("lineargaussian", name, "LinearGaussian:" .. name, WITH_X, FIELDS) end

local log_prob = kernel "log_prob"
local filter_mean, filter_covariance = kernel "filter_mean", kernel "filter_covariance"
local smooth_mean, smooth_covariance = kernel "smooth_mean", kernel "smooth_covariance"
local DRAWN = { "self", "state", "seen" }
local draw = core.bind("lineargaussian", "draw", "LinearGaussian:sample", DRAWN,
                       { "state", "seen", table.unpack(FIELDS, 2) })


-- Construction -------------------------------------------------------------------

local function fail (c, ...) raise("%s: %s", class.name(c), string.format(...)) end

local function last (shape, n) return shape[#shape + 1 - (n or 1)] end

local function transposed (m) return m:transpose(-1, -2) end

-- A matrix or, of rank 1, a vector, as it is kept.
local function checked (c, name, x, rank)
  if x == nil then fail(c, "%s is missing", name) end
  x = core.operand(x, class.name(c), name)
  if not core.is_tensor(x) or core.rank(x) < rank then
    fail(c, "%s must have at least %d dimension%s, got %s", name, rank, rank == 1 and "" or "s", show.value(x))
  end
  local bad = constraints.finite:violation(x)
  if bad then fail(c, "%s must be finite, got %s", name, show.number(bad)) end
  return x
end

-- Refuses a covariance, or a triangle, that is none.
local function check_rule (c, name, x, constraint)
  local bad = constraint:violation(x)
  if bad then fail(c, "%s must be %s, got %s", name, constraint:rule(), bad) end
end

-- A covariance, as it is or by its triangle.
local function covariance_of (c, given, triangle)
  local name = TRIANGLES[triangle]
  if given[name] ~= nil and given[triangle] ~= nil then fail(c, "%s and %s exclude each other", name, triangle) end
  if given[triangle] == nil then
    local matrix = checked(c, name, given[name], 2)
    check_rule(c, name, matrix, constraints.positive_semidefinite)
    return matrix
  end
  local l = checked(c, triangle, given[triangle], 2)
  check_rule(c, triangle, l, constraints.lower_triangular)
  return l:matmul(transposed(l))
end

local function check_shape (c, name, x, rows, columns)
  local shape = core.shape(x)
  if last(shape) == columns and (not rows or last(shape, 2) == rows) then return end
  local wanted = rows and string.format("%d by %d", rows, columns) or columns .. " long"
  fail(c, "%s must be %s, as the others are, got shape %s", name, wanted, show.shape(shape))
end

-- All of them must speak of n states and d numbers that are seen.
local function check_sizes (c, parts)
  local shape = core.shape(parts.observation)
  local d, n = last(shape, 2), last(shape)
  check_shape(c, "transition", parts.transition, n, n)
  check_shape(c, "process_covariance", parts.process_covariance, n, n)
  check_shape(c, "observation_covariance", parts.observation_covariance, d, d)
  check_shape(c, "initial_mean", parts.initial_mean, nil, n)
  check_shape(c, "initial_covariance", parts.initial_covariance, n, n)
  return d, n
end

local function cut (shape, n) return { table.unpack(shape, 1, #shape - n) } end

local function joined (a, ...)
  local whole = { table.unpack(a) }
  for _, n in ipairs { ... } do whole[#whole + 1] = n end
  return whole
end

local function batch_of (c, parts)
  local zero, list = core.tensor(0), {}
  for i, name in ipairs(MATRICES) do
    list[i] = zero:expand(cut(core.shape(parts[name]), name == "initial_mean" and 1 or 2))
  end
  local shape, why = core.broadcast_shape(table.unpack(list))
  if not shape then fail(c, "parameters of %s", why) end
  return shape
end

local function assemble (c, parts, batch)
  local self = setmetatable({}, c)
  for name, value in pairs(parts) do self[name] = value end
  self.initial_mean = core.expand(parts.initial_mean, joined(batch, parts.states))
  self.batch_shape, self.event_shape = batch, { parts.length, parts.seen }
  return self
end

local function check_length (c, length)
  local n = math.type(length) and math.tointeger(length)
  if not n or n < 1 then fail(c, "length must be a positive integer, got %s", show.value(length)) end
  return n
end

local function make (c, ...)
  local given, values = {}, table.pack(construction.arguments(c, NAMES, ...))
  for i, name in ipairs(NAMES) do given[name] = values[i] end
  local parts = {
    transition = checked(c, "transition", given.transition, 2),
    process_covariance = covariance_of(c, given, "process_scale_tril"),
    observation = checked(c, "observation", given.observation, 2),
    observation_covariance = covariance_of(c, given, "observation_scale_tril"),
    initial_mean = checked(c, "initial_mean", given.initial_mean, 1),
    initial_covariance = covariance_of(c, given, "initial_scale_tril"),
    length = check_length(c, given.length),
  }
  parts.seen, parts.states = check_sizes(c, parts)
  return assemble(c, parts, batch_of(c, parts))
end

local LinearGaussian = { construct = make }

function LinearGaussian:with_batch (shape)
  shape = core.to_shape(shape, "LinearGaussian:with_batch")
  return assemble(class.of(self), self, shape)
end

function LinearGaussian:__tostring ()
  local texts = {}
  for i, name in ipairs(MATRICES) do texts[i] = name .. "=" .. show.parameter(self[name]) end
  return string.format("%s(%s, length=%d)", class.name(class.of(self)), table.concat(texts, ", "), self.length)
end


-- Methods ------------------------------------------------------------------------

--- By the Kalman filter.
function LinearGaussian:log_prob (x) return log_prob(self, events.argument(self, "log_prob", x)) end

--@ LinearGaussian:filter(x) -> Tensor, Tensor
-- Means and covariances of the hidden states, each given what was seen up to then (Kalman): (..., length, n) and (...,
-- length, n, n). They have no derivative.
--   x  tensor or table: a series
-- > d = LinearGaussian({ { 1 } }, { { 1 } }, { { 1 } }, { { 1 } }, { 0 }, { { 1 } }, 2)
-- > d:filter({ { 2 }, { 2 } })[1][1]
-- 1.0
function LinearGaussian:filter (x)
  x = events.argument(self, "filter", x)
  return filter_mean(self, x), filter_covariance(self, x)
end

--@ LinearGaussian:smooth(x) -> Tensor, Tensor
-- The same given all of the series.
--   x  tensor or table: a series
-- > d = LinearGaussian({ { 1 } }, { { 1 } }, { { 1 } }, { { 1 } }, { 0 }, { { 1 } }, 2)
-- > d:smooth({ { 2 }, { 2 } })[1][1]
-- 1.2
function LinearGaussian:smooth (x)
  x = events.argument(self, "smooth", x)
  return smooth_mean(self, x), smooth_covariance(self, x)
end

local function column (x) return x:unsqueeze(-1) end

--- What is expected to be seen: C A^(t-1) m.
function LinearGaussian:mean ()
  local m, all = column(self.initial_mean), {}
  for t = 1, self.length do
    all[t] = self.observation:matmul(m):select(-1, 1)
    m = self.transition:matmul(m)
  end
  return tensor.stack(all, -2)
end

function LinearGaussian:mode () return self:mean() end

function LinearGaussian:variance ()
  local p, all = self.initial_covariance, {}
  local a, c = self.transition, self.observation
  for t = 1, self.length do
    local s = c:matmul(p):matmul(transposed(c)) + self.observation_covariance
    all[t] = matrices.diagonal(s):expand(joined(self.batch_shape, self.seen))
    p = a:matmul(p):matmul(transposed(a)) + self.process_covariance
  end
  return tensor.stack(all, -2)
end

--- The density at the mean is that of a normal law of so many numbers.
function LinearGaussian:entropy () return 0.5 * self.length * self.seen - self:log_prob(self:mean()) end

local function noise (self, shape, rng, n)
  return Normal(0, 1):expand(joined(self.batch_shape, self.length, n)):sample(shape, rng)
end

--- The noise of all states is drawn before that of what is seen.
function LinearGaussian:sample (shape, rng)
  local state = noise(self, shape, rng, self.states)
  return core.no_grad(draw, self, state, noise(self, shape, rng, self.seen))
end

return LinearGaussian
