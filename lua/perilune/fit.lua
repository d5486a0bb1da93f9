--- peri.fit(family, x): maximum likelihood for the families of distributions, and for several of them side by side.
local class    = require "perilune.class"
local core     = require "perilune.core"
local errors   = require "perilune.errors"
local families = require "perilune.fit.families"
local lazy     = require "perilune.lazy"
local result   = require "perilune.fit.result"
local show     = require "perilune.show"
local statistics = require "perilune.statistics"

local check, constraints, refusals = lazy "fit.check", lazy "constraints", lazy "fit.refusals"

local raise = errors.raise

local MOST_OUTCOMES = 2 ^ 24   -- of a Categorical
local OPTIONS = { "weights", "fixed", "start", "missing", "outcomes" }

-- Data -----------------------------------------------------------------------------------------

-- Dimensions of an event of a class.
local function event_rank (c)
  return families.of(c).event or type(c.support) == "table" and c.support.event_dim or 0
end

local function as_data (x)
  if core.table_kind(x) == "named" then
    raise("fit: x must be a list or a tensor of numbers, got a table with names; choose a column of it, as in d.name")
  end
  local t = core.operand(x, "fit", "x")
  t = core.is_tensor(t) and t:detach() or core.tensor { t }
  if core.rank(t) == 0 then t = t:reshape(1) end
  if core.numel(t) == 0 then raise "fit: x is empty" end
  if t:max() - t:min() == math.huge and t:max() < math.huge and t:min() > -math.huge then
    raise "fit: differences between values of x are not below 1.8e308; divide them by something"
  end
  return t
end

local function as_weights (w, n)
  if w == nil then return nil end
  w = core.operand(w, "fit", "weights")
  if not core.is_tensor(w) or core.rank(w) ~= 1 or core.numel(w) ~= n then
    raise("fit: weights must be a list of %d numbers, one for each value of x, got %s", n, show.value(w))
  end
  w = w:detach()
  local bad = (w:ge(0) * w:lt(math.huge)):argmin()
  if not (w[bad] >= 0 and w[bad] < math.huge) then
    raise("fit: weights must be finite and not negative, got %s at [%d]", show.number(w[bad]), bad)
  end
  if w:sum() == 0 then raise "fit: all weights are 0" end
  return w
end

-- 1 for events without NaN.
local function present (x)
  local n = core.shape(x)[1]
  return x:eq(x):reshape(n, -1):min(2)
end

-- Data and weights without what is missing or has no weight; and how many were missing.
local function cleaned (x, w, missing)
  if missing ~= nil and missing ~= "drop" then
    raise('fit: missing must be "drop", got %s', show.value(missing))
  end
  local mask = present(x)
  local lost = core.shape(x)[1] - math.tointeger(mask:sum())
  if lost > 0 and not missing then
    raise('fit: x[%d] is NaN, a missing value (%d of %d are); missing = "drop" leaves them out',
          math.tointeger(mask:argmin()), lost, core.shape(x)[1])
  end
  if w then mask = mask * w:gt(0) end
  if mask:sum() == 0 then raise "fit: there are no values left" end
  return statistics.kept(x, mask), w and statistics.kept(w, mask), lost
end

-- Refuses data that cannot come from a class.
local function check_data (c, x)
  local name, rank = class.name(c), event_rank(c)
  if core.rank(x) ~= rank + 1 then
    raise("fit: %s: x must be %s, got shape %s", name,
          rank == 0 and "a list of numbers" or string.format("a list of events, each of %d dimension%s", rank,
                                                             rank == 1 and "" or "s"), show.shape(core.shape(x)))
  end
  local support = families.of(c).takes_outcomes and constraints.integer_interval(1, MOST_OUTCOMES) or c.support
  if type(support) == "table" then refusals.violation(c, support, x) end
  refusals.violation(c, constraints.finite, x)
end

-- Refuses a parameter that its constraint, or the number n of data, does not allow.
local function check_param (c, option, param, value, n)
  local who = string.format("fit: %s: %s.%s", class.name(c), option, param[1])
  local constraint = param[2]
  local bad = type(constraint) == "table" and constraint:violation(value)
  if bad then
    raise("%s must be %s, got %s", who, constraint:rule(), type(bad) == "number" and show.number(bad) or bad)
  end
  local shape = core.is_tensor(value) and core.shape(value) or {}
  local own = #shape - (param.event or 0)
  if own > 1 or own == 1 and shape[1] ~= n and shape[1] ~= 1 then
    raise("%s must be one value, or one for each of the %d data, got shape %s", who, n, show.shape(shape))
  end
end

-- Parameters by name, as they are kept; n is the number of data.
local function as_params (c, option, given, n)
  local values, names = {}, {}
  for i, param in ipairs(c.params) do names[i] = param[1] end
  if given == nil then return values end
  if type(given) ~= "table" or core.table_kind(given) == "object" or core.is_tensor(given) then
    raise("fit: %s must be a table of parameters by name, got %s", option, show.value(given))
  end
  for name, value in next, given do
    local param
    for _, own in ipairs(c.params) do param = own[1] == name and own or param end
    if not param then errors.unknown("fit: " .. class.name(c), "parameter", name, names) end
    values[name] = core.operand(value, "fit", option .. "." .. name)
    check_param(c, option, param, values[name], n)
  end
  return values
end

local function is_family (c) return class.is_class(c) and type(c.params) == "table" and c.log_prob ~= nil end

-- One family on data that were read: an Estimate.
local function fit_one (c, x, w, missing, options)
  check_data(c, x)
  local fixed = as_params(c, "fixed", options.fixed, core.shape(x)[1])
  local start = options.start and as_params(c, "start", options.start, 1)
  local outcomes = options.outcomes
  if outcomes ~= nil and not families.of(c).takes_outcomes then
    raise("fit: %s takes no outcomes: a Categorical does", class.name(c))
  elseif outcomes ~= nil and (math.type(outcomes) ~= "integer" or outcomes < x:max()) then
    raise("fit: outcomes must be an integer of at least %s, the largest of x, got %s", show.number(x:max()),
          show.value(outcomes))
  end
  local found = require "perilune.fit.estimate"(c, x, w, fixed, { start = start, outcomes = options.outcomes })
  local terms = found.distribution:log_prob(x)
  found.log_lik = core.item(core.tensor((w and w * terms or terms):sum()))
  found.n, found.missing = families.total(w, x), missing
  found.aic = 2 * found.size - 2 * found.log_lik
  return result.fit(found)
end

-- Several families on the same data.
local function compare (list, x, w, missing, options)
  local rows = {}
  for i, c in ipairs(list) do
    if not is_family(c) then raise("fit: [%d] must be a class of distributions, got %s", i, show.value(c)) end
    local ok, found = pcall(fit_one, c, x, w, missing, options)
    local is_refusal = not ok and type(found) == "string" and found:find("fit: ", 1, true)
    if not ok and not is_refusal then error(found, 0) end
    rows[i] = { name = class.name(c), fit = ok and found or nil, problem = not ok and found:match("fit: (.*)") or nil }
    if ok then rows[i].ks = check.distance(found.distribution, x, w) end
  end
  return result.comparison(rows)
end

--@ peri.fit(family, x, options) -> Estimate, or Comparison
-- The parameters of a family of distributions that make data most likely, with standard errors from the curvature of
-- the likelihood. It has distribution, params, se, log_lik, aic, n, converged, verdict, a sentence, and notes, a list
-- of sentences on standard errors that are NaN, and prints as a table. Of a list of families all are fitted, and
-- compared by AIC and the Kolmogorov-Smirnov distance.
--   family    a class, such as Gamma, or a list of classes
--   x         tensor or list of numbers; of families of rows or matrices a tensor with observations in front
--   weights   how often each value counts
--   fixed     parameters that are known: { df = 3 }, or a value for each observation: { total_count = {10, 12} }
--   start     parameters to start from
--   missing   "drop" leaves NaN out, which are an error otherwise
--   outcomes  number of outcomes of a Categorical; the largest in x unless told
-- > fit(Exponential, {1, 2, 3}).params.rate
-- 0.5
local function fit (family, x, options, ...)
  errors.no_more("fit(family, x, options)", ...)
  errors.check_options("fit", options, OPTIONS)
  options = options or {}
  local is_list = core.table_kind(family) == "data"
  if not is_list and not is_family(family) then
    raise("fit: family must be a class of distributions, such as peri.Gamma, or a list of classes, got %s",
          show.value(family))
  end
  if is_list then family = core.check_list("fit", "families", family) end
  if is_list and #family == 0 then raise "fit: the list of families is empty" end
  local data = as_data(x)
  local w = as_weights(options.weights, core.shape(data)[1])
  local lost
  data, w, lost = cleaned(data, w, options.missing)
  if is_list then return compare(family, data, w, lost, options) end
  return fit_one(family, data, w, lost, options)
end

return { fit = fit }
