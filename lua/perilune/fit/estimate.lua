--- One family fitted to data by maximum likelihood: parameters, standard errors, and whether that is a maximum.
local attempt    = require "perilune.attempt"
local class      = require "perilune.class"
local core       = require "perilune.core"
local errors     = require "perilune.errors"
local families   = require "perilune.fit.families"
local functions  = require "perilune.functions"
local Likelihood = require "perilune.fit.likelihood"
local show       = require "perilune.show"
local units      = require "perilune.fit.units"

local raise = errors.raise

local FAR      = 8      -- free numbers beyond this may be on their way to an end
local LOST     = 12     -- and have standard errors like this
local LEFT     = 1e-6   -- nats that may be left to gain
local POINT    = 20     -- free numbers beyond this make a point of a law, of data that are all the same
local NEARBY   = 0.01   -- a change of free numbers that is none to speak of
local KINKS    = 200    -- data that are tried as the place of a kink
local PASSES   = 20     -- of such trials

local function is_finite (x) return x - x == 0 end

-- Errors -----------------------------------------------------------------------------------------

local function fail (c, ...) raise("fit: %s: %s", class.name(c), string.format(...)) end

local function plain (x) return core.is_tensor(x) and core.rank(x) == 0 and core.item(x) or x end

-- "scale goes to 0", of a free number that runs off.
local function way_of (site, i, is_up)
  local name = site.name
  if site.size > 1 then name = string.format("an element of %s", site.reported) end
  local c = type(site.constraint) == "function" and {} or site.constraint
  local goal = is_up and "infinity" or c.low == 0 and "0" or "its lower end"
  if c.low == nil or c.low == -math.huge then goal = is_up and "infinity" or "-infinity" end
  if c.high and c.high < math.huge and is_up then goal = string.format("%s", show.number(c.high)) end
  if site.name == "logits" and site.reported == "probs" then name, goal = "probs", is_up and "1" or "0" end
  return string.format("%s goes to %s", name, goal), i
end

-- The free numbers that are far out, with what that means: { site, place in u, sentence }.
local function runaways (likelihood, u)
  local list = {}
  for _, site in ipairs(likelihood.sites) do
    for i = site.at, site.at + site.size - 1 do
      local value = u[i]
      local is_line = type(site.constraint) == "table" and site.constraint.low == -math.huge
      local far = is_line and site.name ~= "logits" and 100 or FAR
      if math.abs(value) > far then list[#list + 1] = { site = site, at = i, way = way_of(site, i, value > 0) } end
    end
  end
  return list
end

-- Is the log density of some of the data this value? And of which?
local function has_value (d, x, value)
  local found = functions.eq(d:log_prob(x), value)
  if found:max() == 1 then return math.tointeger(found:argmax()) end
  return nil
end

-- Raises if one of the data has an infinite density under one of the distributions.
local function refuse_infinite (c, list, x, original)
  for _, d in ipairs(list) do
    local at = has_value(d, x, math.huge)
    if at then
      fail(c, "the likelihood is unbounded: there are parameters with an infinite density at x[%d] = %s", at,
           show.parameter(original[at]))
    end
  end
end

-- The same, or if one of them has density 0.
local function refuse_data (c, d, x, original)
  refuse_infinite(c, { d }, x, original)
  local at = has_value(d, x, -math.huge)
  if at then
    fail(c, "no parameters were found that give x[%d] = %s a density above 0", at, show.parameter(original[at]))
  end
end

-- Are all events the same?
local function is_constant (x) return core.tensor(x:max(1) - x:min(1)):max() == 0 end

local function refuse_unbounded (c, x, ways)
  local what = ""
  if is_constant(x) then
    what = core.shape(x)[1] == 1 and "there is one value only: "
           or string.format("all values are %s: ", show.parameter(x[1]))
  end
  fail(c, "%sthe likelihood grows without bound as %s; fix a parameter (fixed = { ... }), or choose another family",
       what, ways)
end


-- Closed forms and kinks ---------------------------------------------------------------------------

-- Values that are no parameters, such as a scale of 0, are where the likelihood has no bound.
local function check_values (c, x, values, all)
  for _, param in ipairs(c.params) do
    local name = param[1]
    local value = plain(values[name])
    if value ~= nil then
      local constraint = type(param[2]) == "function" and param[2](all) or param[2]
      if param.event == 2 then
        local l = value:cholesky()
        if not is_finite(l:sum()) then
          refuse_unbounded(c, x, name .. " becomes singular: there are too few data, or they lie in a plane")
        end
      end
      local is_bad = constraint:violation(value) ~= nil
                     or type(value) == "number" and not (is_finite(value) or param.infinite)
      if is_bad then
        refuse_unbounded(c, x, type(param[2]) == "function" and "the ends of the law meet"
                               or string.format("%s goes to %s", name, show.parameter(value)))
      end
    end
  end
end

local function copy (t, more)
  local all = {}
  for k, v in pairs(t) do all[k] = v end
  for k, v in pairs(more or {}) do all[k] = v end
  return all
end

local function plain_values (likelihood, u)
  local values = likelihood:values(u)
  for name, value in pairs(values) do values[name] = plain(value) end
  return values
end

-- Of places `first` to `last` the one with the largest value, tried at KINKS of them and then between the neighbours
-- of the best.
local function best_between (value_at, first, last)
  local step = math.max((last - first) // KINKS, 1)
  local best, best_value = first, -math.huge
  for i = first, last, step do
    local value = value_at(i)
    if value > best_value then best, best_value = i, value end
  end
  if step == 1 then return best end
  return best_between(value_at, math.max(best - step, first), math.min(best + step, last))
end

-- The parameter of a kink at the one of the data that is best, others being fixed.
local function best_place (likelihood, values, name)
  local c, x, w = likelihood.class, likelihood.x, likelihood.w
  local sorted, trial = x:sort(), { validate = false }
  for key, value in pairs(values) do trial[key] = value end
  local at = best_between(function (i)
    trial[name] = sorted[i]
    local terms = c(trial):log_prob(x)
    return (w and w * terms or terms):sum()
  end, 1, core.numel(x))
  return sorted[at]
end

-- The best maximum with one parameter at a kink, looked for among the data, or `found` without one; the likelihood it
-- belongs to; and an end that is higher and no maximum, if one was met.
local function kinked (likelihood, found, higher, name, starts, rules)
  local best, own, place = found, likelihood, nil
  for _ = 1, PASSES do
    local values = best and plain_values(own, best.u)
    local try = values and best_place(likelihood, values, name) or likelihood.x:median()
    if try == place then break end
    place = try
    local other = Likelihood.new(likelihood.class, likelihood.x, likelihood.w,
                                 copy(likelihood.known, { [name] = place }), rules)
    local again, beyond = other:maximise { values or starts[1], starts[1] }
    if beyond and (not higher or beyond.value > higher.value) then higher = beyond end
    if not again or best and not Likelihood.is_better(again, best) then
      if again and again.value > best.value + 1e-6 then higher = again end
      break
    end
    best, own = again, other
  end
  if higher and best and higher.value <= best.value then higher = nil end
  return best, own, higher
end


-- The fit --------------------------------------------------------------------------------------------

-- What speaks against a maximum that was found: sentences, and whether it is one. Raises where there is none.
local function judge (likelihood, found, original)
  local reasons, c = {}, likelihood.class
  if likelihood.size == 0 then return reasons, {}, true end
  local far = runaways(likelihood, found.u)
  local is_discrete = likelihood:distribution(found.u).support.is_discrete   -- then it is at most 1
  local se, free_se = nil, nil
  if found.is_peak and found.gain <= LEFT then se, free_se = likelihood:errors(found.u) end
  local held = {}
  for _, one in ipairs(far) do
    local is_lost = not free_se or free_se[one.at] > LOST
    local is_point = math.abs(found.u[one.at]) > POINT and is_constant(original)
    if not is_discrete and (is_point or is_lost and math.abs(found.gradient[one.at]) > Likelihood.RISING) then
      refuse_unbounded(c, original, one.way)
    elseif is_lost then
      held[one.at] = true
      reasons[#reasons + 1] = string.format("at an end: the likelihood still rises as %s, and is all but flat there",
                                            one.way)
    end
  end
  if #far == 0 and not found.is_peak then
    local above, below = likelihood:distribution(found.u + NEARBY), likelihood:distribution(found.u - NEARBY)
    refuse_infinite(c, { above, below }, likelihood.x, original)
    if has_value(above, likelihood.x, -math.huge) or has_value(below, likelihood.x, -math.huge) then
      reasons[1] = "at an end: the likelihood rises up to where the support of the law ends at the data"
    end
  end
  if #reasons == 0 and not se then
    if found.gain > LEFT then
      reasons[1] = string.format("not converged: %s is left to gain; give start = { ... }, or more data",
                                 found.gain < 1e9 and string.format("%.2g in log likelihood", found.gain) or "more")
    else
      reasons[1] = "not converged: the likelihood is flat in some direction; the data cannot tell the parameters"
    end
  end
  if next(held) then
    se = likelihood:errors(found.u, held) or {}
    for _, one in ipairs(far) do
      if held[one.at] then se[one.site.reported] = nil end
    end
  end
  return reasons, (#reasons == 0 or next(held)) and se or {}, #reasons == 0
end

-- Is some parameter of a group among these?
local function has_any (values, group)
  for _, param in ipairs(group) do
    if values[param[1]] ~= nil then return true end
  end
  return false
end

-- The closed form, if there is one for what is fixed: all parameters.
local function closed_form (family, x, w, fixed, outcomes)
  if not family.closed then return nil end
  local count = 0
  for name in pairs(fixed) do count = count + 1 if name ~= family.closed_with then return nil end end
  if family.closed_with and count == 0 then return nil end
  return family.closed(x, w, fixed, outcomes)
end

-- Standard errors at values that a closed form gave, by curvature; none at the end of a constraint.
local function closed_errors (likelihood, values, n, family)
  if family.errors then return family.errors(values, n), {} end
  local u = likelihood:free(values)
  if not is_finite((u * u):sum()) then return {}, { "at an end: a parameter is at the end of its range, and has no "
                                                    .. "standard error" } end
  local se = likelihood:errors(u)
  return se or {}, se and {} or { "the curvature gives no standard errors" }
end

-- Counts must not be larger than what is known allows, such as a number of trials.
local function check_counts (c, d, x)
  if type(c.support) == "table" or not d.support.is_discrete then return end
  local bad, i, j, k = d.support:violation(x)
  if bad == nil then return end
  fail(c, "x must be %s, got %s at [%s]", d.support:rule(), type(bad) == "number" and show.number(bad) or bad,
       table.concat({ i, j, k }, ", "))
end

-- { values, se, reasons, converged, size = number of parameters estimated } in the units of x.
local function estimate_within (c, family, unit, original, w, fixed, options)
  local x, n = unit.x(original), families.total(w, original)
  local shape = core.shape(x)
  local rules = family.constraints and family.constraints(shape[#shape])
  local known = copy(fixed)
  for name, value in pairs(family.data and family.data(x) or {}) do known[name] = known[name] or value end
  local closed = closed_form(family, x, w, known, options.outcomes)
  if closed then
    local likelihood = Likelihood.new(c, x, w, known, rules, family.length)
    if next(known) then check_counts(c, likelihood:distribution(core.zeros(likelihood.size)), x) end
    check_values(c, original, closed, copy(known, closed))
    local se, reasons = closed_errors(likelihood, closed, n, family)
    return { values = copy(known, closed), exact = {}, se = se, reasons = reasons, converged = true,
             size = closed.probs and core.is_tensor(closed.probs) and core.numel(closed.probs) - 1 or likelihood.size }
  end
  local exact, at_kinks = {}, 0   -- as they are in the data: nothing must be lost at an end
  for name, value in pairs(family.kinks and family.kinks(original, w, fixed) or {}) do
    if known[name] == nil then
      known[name], exact[name] = unit.inward and unit.inward(name, value) or value, value
      at_kinks = at_kinks + (family.smooth_kinks and core.numel(value) - 1 or 1)
    end
  end
  if next(exact) then check_values(c, original, known, known) end
  local likelihood = Likelihood.new(c, x, w, known, rules, family.length)
  if next(known) then check_counts(c, likelihood:distribution(core.zeros(likelihood.size)), x) end
  local starts = { options.start or family.start and family.start(x, w) }
  local found, higher = likelihood:maximise(starts)
  local own = likelihood
  if family.kink and known[family.kink] == nil then
    found, own, higher = kinked(likelihood, found, higher, family.kink, starts, rules)
  end
  if not found then refuse_data(c, likelihood:distribution(core.zeros(likelihood.size)), x, original) end
  if not is_finite(found.value) then refuse_data(c, own:distribution(found.u), x, original) end
  local reasons, se, converged = judge(own, found, original)
  if converged and higher then
    reasons[1] = "a local maximum: the likelihood is larger elsewhere, where it has no maximum"
  end
  return { values = plain_values(own, found.u), exact = exact, se = se, reasons = reasons, converged = converged,
           size = likelihood.size + at_kinks }
end

-- The units in which to work.
local function units_of (c, family, x, w, fixed)
  if family.measure then return next(fixed) == nil and units.own(family, x, w) or units.none end
  local is_plain = not family.no_units and core.rank(x) == 1
  for _, value in pairs(fixed) do is_plain = is_plain and value ~= nil end
  for _, param in ipairs(c.params) do
    local constraint = param[2]
    if param.event or param.gives or type(constraint) == "table" and constraint.is_discrete then is_plain = false end
  end
  if not is_plain or #c.params == 0 then return units.none end
  local rules = family.constraints and family.constraints(1)
  return units.of(c, Likelihood.new(c, x, nil, {}, rules), x)
end

-- What is reported of each parameter: the first of those that stand for each other.
local function reported (c, values, unit)
  values.validate = false
  local d, list = c(values), {}
  values.validate = nil
  for i, group in ipairs(Likelihood.groups(c)) do
    local name = group[1][1]
    list[i] = { name = name, value = unit.outward(name, plain(d[name])) }
  end
  return list
end

-- The distribution of parameters, which may be out of the range of doubles.
local function made (c, params)
  local ok, d = attempt.call(" must be ", nil, c, copy(params))
  if ok then return d end
  fail(c, "the maximum cannot be reached: %s; measure x in other units", (d:gsub("^.-:%d+: [^:]*: ", "")))
end

--- Fits class c to checked data: names, params and se by name, converged, reasons, distribution, size (how many numbers
-- were estimated).
return function (c, x, w, fixed, options)
  local family = families[class.name(c)] or {}
  if family.no_fit then raise("fit: %s has no fit: %s", class.name(c), family.no_fit) end
  for name, why in pairs(family.needs or {}) do
    if fixed[name] == nil then fail(c, "%s must be given, as in fixed = { %s = 0 }: %s", name, name, why) end
  end
  local unit = units_of(c, family, x, w, fixed)
  local inner = {}
  for name, value in pairs(fixed) do inner[name] = unit.inward and unit.inward(name, value) or value end
  local start
  if options.start then
    start = {}
    for name, value in pairs(options.start) do start[name] = unit.inward and unit.inward(name, value) or value end
  end
  local found = estimate_within(c, family, unit, x, w, inner, { start = start, outcomes = options.outcomes })
  local result = { names = {}, params = {}, se = {}, fixed = {}, reasons = found.reasons, converged = found.converged,
                   size = found.size }
  local groups = Likelihood.groups(c)
  for i, one in ipairs(reported(c, found.values, unit)) do
    local is_fixed = has_any(fixed, groups[i])
    local se = found.se[one.name]
    result.names[i], result.params[one.name] = one.name, one.value
    result.fixed[one.name] = is_fixed or nil
    if se ~= nil then result.se[one.name] = unit.error(one.name, se)
    elseif not is_fixed then result.se[one.name] = math.abs(0 / 0) end
  end
  for name, value in pairs(copy(found.exact, fixed)) do
    if result.params[name] ~= nil then result.params[name] = value end
  end
  result.distribution = made(c, result.params)
  refuse_data(c, result.distribution, x, x)
  return result
end
