--- One-sided derivatives where probs are 0 or 1.
--
-- Kernels work on logits, which are infinite there: the chain rule makes 0 times infinity of a finite
-- derivative, and passes nothing on. An instance whose probs carry a gradient and touch an end gets
-- methods that add what is missing. For each method the file of one_sided/ that `class.one_sided` names has a function
-- of the distribution, x, probs as they were passed, and the value; it gives a zero with the derivatives that
-- the chain rule loses (those that are infinite because a slope along the logit is not 0 are not lost).
--
-- In a trace, what is added follows the parameters if one touches an end when it is recorded; if none does then,
-- replays add nothing.
local class     = require "perilune.class"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local tensor    = require "perilune.tensor"

local where, eq, ge, gt, lt = functions.where, functions.eq, functions.ge, functions.gt, functions.lt
local INF = math.huge

local one_sided = {}

local kernel = core.bind("ends", "ends", "ends", { "p", "low", "high" }, { "p", "low", "high" })

--- The values of x without its gradient. In a trace they follow x, as those of core.bare would not.
one_sided.held = core.bind("ends", "held", "held", { "x" }, { "x" })
local held = one_sided.held

--- A zero with the derivative `low` along p where that is 0, and `high` where it is 1.
function one_sided.ends (p, low, high) return kernel(p, low, high or 0) end

-- sqrt has an infinite slope at 0, and infinity times 0 is no number: it is taken elsewhere.
local function stddev (self)
  local variance = self:variance()
  local none = eq(held(variance), 0)
  return where(none, 0, functions.sqrt(where(none, 1, variance)))
end

--- Is one of these probs 0 now, or, unless they are rows, 1?
function one_sided.touches_an_end (probs, is_row)
  probs = core.bare(probs)
  if core.numel(probs) == 0 then return false end
  local at = core.tensor(eq(probs, 0) + (is_row and 0 or eq(probs, 1)))
  return core.item(at:max()) > 0
end

-- The class that has a field itself.
local function owner_of (c, field)
  while rawget(c, field) == nil do c = class.parent(c) end
  return c
end

--- Completes a new instance of a class with `one_sided`, to which probs with a gradient were passed.
function one_sided.complete (self, c, param)
  local probs = rawget(self, param[1])
  if not one_sided.touches_an_end(probs, param.event) then return end
  local owner = owner_of(c, "one_sided")
  for method, missing in pairs(require("perilune.one_sided." .. c.one_sided)) do
    local plain = self[method]
    if plain == owner[method] then   -- else a subclass has its own
      if method == "stddev" then plain = stddev end
      rawset(self, method, function (d, x)
        local value = plain(d, x)
        return value + missing(d, x, probs, value)
      end)
    end
  end
end


-- Rows of probs -------------------------------------------------------------------

--- A value without its gradient beside a last dimension for the outcomes.
function one_sided.beside (x)
  x = held(x)
  return (core.is_tensor(x) and x or core.tensor(x)):unsqueeze(-1)
end

-- The sum of probs, and probs as shares of it, without a gradient.
local function sum_of (probs) return one_sided.beside(held(probs):sum(-1)) end
local function shares (probs) return held(probs) / sum_of(probs) end

--- A zero with derivatives along each of probs where it is 0, given as those along its share; in a
-- last dimension, and in one before it for each outcome where the value has such.
function one_sided.row (probs, slopes, by_outcome)
  local sum = sum_of(probs)
  if by_outcome then probs, sum = probs:unsqueeze(-2), sum:unsqueeze(-2) end
  return one_sided.ends(probs, slopes / sum):sum(-1)
end

--- dP_i/dp_k times the sum of p, for P = p/sum of p; and P as a column.
function one_sided.share_slopes (probs)
  local share = shares(probs):unsqueeze(-1)
  return tensor.eye(core.shape(probs)[core.rank(probs)]) - share, share
end


-- Successes in n trials -----------------------------------------------------------

-- value at x = place, or for from <= x < to; else 0.
local function at (x, place, value) return where(eq(x, place), value, 0) end
local function on (x, from, to, value) return where(ge(x, from), where(lt(x, to), value, 0), 0) end
one_sided.at, one_sided.on = at, on

--- `count(self)` without a gradient.
function one_sided.constant (count)
  return function (self)
    return held(count(self))
  end
end

--- What is missing for n = count(self) trials. prob is the exp of log_prob and lacks what is -inf.
function one_sided.trials (count)
  local n_of, ends = one_sided.constant(count), one_sided.ends
  local function spread (self, _, p)   -- of what has an infinite slope
    local slope = where(gt(n_of(self), 0), INF, 0)
    return ends(p, slope, -slope)
  end
  local function upper (self, x, p, sign)
    local n = n_of(self)
    return ends(p, sign * on(x, 0, 1, n), sign * on(x, n - 1, n, n))
  end
  return {
    log_prob = function (self, x, p) return ends(p, at(x, 0, -n_of(self)), at(x, n_of(self), n_of(self))) end,
    prob     = function (self, x, p) return ends(p, at(x, 1, n_of(self)), at(x, n_of(self) - 1, -n_of(self))) end,
    cdf      = function (self, x, p) return upper(self, x, p, -1) end,
    sf       = function (self, x, p) return upper(self, x, p, 1) end,
    log_cdf  = function (self, x, p) return ends(p, on(x, 0, 1, -n_of(self))) end,
    log_sf   = function (self, x, p) return ends(p, 0, on(x, n_of(self) - 1, n_of(self), n_of(self))) end,
    entropy  = spread,
    stddev   = spread,
    variance = function (self, _, p) return ends(p, n_of(self), -n_of(self)) end,
  }
end

return one_sided
