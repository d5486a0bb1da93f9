--- One family fitted to data by maximum likelihood: parameters, standard errors, and whether that is a maximum.
local attempt    = require "perilune.attempt"
local class      = require "perilune.class"
local core       = require "perilune.core"
local families   = require "perilune.fit.families"
local functions  = require "perilune.functions"
local judge      = require "perilune.fit.judge"
local kinked     = require "perilune.fit.kinks"
local Likelihood = require "perilune.fit.likelihood"
local maximum    = require "perilune.fit.maximum"
local raise      = require "perilune.errors".raise
local refusals   = require "perilune.fit.refusals"
local show       = require "perilune.show"
local spikes     = require "perilune.fit.spikes"
local units      = require "perilune.fit.units"

local fail = refusals.fail

local function is_finite (x) return x - x == 0 end

local function plain (x) return core.is_tensor(x) and core.rank(x) == 0 and core.item(x) or x end

local function copy (t, more)
  local all = {}
  for k, v in pairs(t) do all[k] = v end
  for k, v in pairs(more or {}) do all[k] = v end
  return all
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
          refusals.unbounded(c, x, name .. " becomes singular: there are too few data, or they lie in a plane")
        end
      end
      local is_bad = constraint:violation(value) ~= nil
                     or type(value) == "number" and not (is_finite(value) or param.infinite)
      if is_bad then
        refusals.unbounded(c, x, type(param[2]) == "function" and "the ends of the law meet"
                                 or string.format("%s goes to %s", name, show.parameter(value)))
      end
    end
  end
end


-- The fit --------------------------------------------------------------------------------------------

-- The closed form, if there is one for what is fixed: all parameters.
local function closed_form (family, x, w, fixed, outcomes)
  local count = 0
  for name in pairs(fixed) do
    if name ~= family.closed_with then return nil end
    count = count + 1
  end
  if family.closed_with and count == 0 then return nil end
  return family.closed(x, w, fixed, outcomes)
end

-- Standard errors at values that a closed form gave, by curvature; none at the end of a constraint. And reasons, and
-- the names of parameters at such an end.
local function closed_errors (likelihood, values, n, family)
  if family.errors then return family.errors(values, n), {}, {} end
  local u = likelihood:free(values)
  if not is_finite((u * u):sum()) then
    local held = {}
    for _, site in ipairs(likelihood.sites) do held[site.reported] = true end
    return {}, { "at an end: a parameter is at the end of its range" }, held
  end
  local se = likelihood:errors(u)
  return se or {}, se and {} or { "the curvature gives no standard errors" }, {}
end

-- Counts must not be larger than what is known allows, such as a number of trials.
local function check_counts (likelihood)
  local c = likelihood.class
  if type(c.support) == "table" or next(likelihood.known) == nil then return end
  local support = likelihood:distribution(core.zeros(likelihood.size)).support
  if support and support.is_discrete then refusals.violation(c, support, likelihood.x) end
end

-- The closed form with its standard errors, or nil.
local function by_formula (likelihood, family, original, n, outcomes)
  local known = likelihood.known
  local closed = closed_form(family, likelihood.x, likelihood.w, known, outcomes)
  if not closed then return nil end
  check_counts(likelihood)
  check_values(likelihood.class, original, closed, copy(known, closed))
  local se, reasons, held = closed_errors(likelihood, closed, n, family)
  local is_row = core.is_tensor(closed.probs)   -- of shares, whose sum is known
  return { values = copy(known, closed), exact = {}, held = held, se = se, reasons = reasons, converged = true,
           size = is_row and core.numel(closed.probs) - 1 or likelihood.size }
end

-- Parameters that the data give whatever the others are, in the user's units; and how many numbers these are.
local function at_data (family, x, w, known, fixed)
  local exact, count = {}, 0
  for name, value in pairs(family.kinks and family.kinks(x, w, fixed) or {}) do
    if known[name] == nil then
      exact[name] = value
      count = count + (family.smooth_kinks and core.numel(value) - 1 or 1)
    end
  end
  return exact, count
end

-- Parameters to start from: a list.
local function starts_of (family, x, w)
  local list = { family.start and family.start(x, w) }
  for _, more in ipairs(family.starts and family.starts(x, w) or {}) do list[#list + 1] = more end
  return list
end

-- The maximum by search.
local function by_search (likelihood, family, original, unit, start)
  local c, x = likelihood.class, likelihood.x
  local starts = start and { start } or starts_of(family, x, likelihood.w)
  local spike = spikes.of(likelihood, unit)
  if spike then likelihood:avoiding(function (values) return spikes.has(spike, values) end) end
  local found, higher = maximum.of(likelihood, starts)
  local own = likelihood
  if family.kink and likelihood.known[family.kink] == nil then
    found, own, higher = kinked(likelihood, found, higher, family.kink, starts)
  end
  if not found or not is_finite(found.value) then
    refusals.impossible(c, own:distribution(found and found.u or core.zeros(own.size)), x, original)
    fail(c, "no parameters were found at which the likelihood is a number")
  end
  local values = own:plain_values(found.u)
  if spike and spikes.has(spike, values) then refusals.unbounded(c, original, spike.way) end
  local reasons, se, held = judge(own, found, original)
  local some = spike and likelihood:part()
  if spike and spike.height > some:at(some:free(values)) then
    table.insert(reasons, 1, string.format("no maximum: the likelihood grows without bound as %s%s", spike.way,
                                           #reasons == 0 and "; this is a local one" or ""))
  elseif #reasons == 0 and higher then
    reasons[1] = "a local maximum: elsewhere the likelihood is larger, and rises on"
  end
  return { values = values, se = se, reasons = reasons, held = held, converged = #reasons == 0 }
end

-- { values, se, reasons, held = names of parameters at an end, converged, exact = values in the user's units,
-- size = how many numbers were estimated }; all else in the units in which it works.
local function estimate (c, family, unit, original, w, fixed, options)
  local x, n = unit.x(original), families.total(w, original)
  local shape = core.shape(x)
  local rules = family.constraints and family.constraints(shape[#shape])
  local known = copy(family.data and family.data(x) or {}, fixed)
  local function likelihood_with (more)
    return Likelihood.new(c, x, w, copy(known, more), rules, family.length)
  end
  local closed = family.closed and by_formula(likelihood_with(), family, original, n, options.outcomes)
  if closed then return closed end
  local exact, count = at_data(family, original, w, known, fixed)
  local inner = {}
  for name, value in pairs(exact) do inner[name] = unit.inward(name, value) end
  if next(inner) then check_values(c, original, inner, copy(known, inner)) end
  local likelihood = likelihood_with(inner)
  check_counts(likelihood)
  local found = by_search(likelihood, family, original, unit, options.start)
  found.exact, found.size = exact, likelihood.size + count
  for name, se in pairs(family.kink_errors and family.kink_errors(exact, found.values, x, w) or {}) do
    found.se[name] = se
  end
  return found
end

-- The units in which to work.
local function units_of (c, family, x, w)
  if family.measure then return units.own(family, x, w) end
  local is_plain = not family.no_units and core.rank(x) == 1
  for _, param in ipairs(c.params) do
    local constraint = param[2]
    if param.event or param.gives or type(constraint) == "table" and constraint.is_discrete then is_plain = false end
  end
  if not is_plain or #c.params == 0 then return units.none end
  local rules = family.constraints and family.constraints(1)
  return units.of(c, Likelihood.new(c, x, nil, {}, rules), x)
end

-- Is some parameter of a group among these?
local function has_any (values, group)
  for _, param in ipairs(group) do
    if values[param[1]] ~= nil then return true end
  end
  return false
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

-- The one of the data that a value is but for rounding, or the value: beside a kink an ulp is much.
local function at_one_of (x, value)
  local nearest = x[math.tointeger((x - value):abs():argmin())]
  local rounding = 1e-15 * (math.abs(value) + x:abs():quantile(0.75))
  return math.abs(nearest - value) <= rounding and nearest or value
end

-- The distribution of parameters, which may be out of the range of doubles.
local function made (c, params)
  local ok, d = attempt.call(" must be ", nil, c, copy(params))
  if ok then return d end
  fail(c, "the maximum cannot be reached: %s; measure x in other units", (d:gsub("^.-:%d+: [^:]*: ", "")))
end

local function is_nan (x)
  if not core.is_tensor(x) then return x ~= x end
  return functions.isnan(x):max() == 1
end

local WHY = {
  kink = "the likelihood has a kink or an end there, and no curvature",
  held = "at an end of its range, and what others have is as if that were known",
  none = "the likelihood has not the curvature of a maximum there",
}

-- Why parameters have no standard error: a list of sentences. The likelihood has a kink at what was found exactly, and
-- at the parameter `kink`, if that is at one of the data.
local function notes_of (result, x, found, kink)
  local names, notes = { kink = {}, held = {}, none = {} }, {}
  for _, name in ipairs(result.names) do
    if is_nan(result.se[name] or 0) then
      local is_kink = found.exact[name] ~= nil or name == kink and x:eq(result.params[name]):max() == 1
      table.insert(names[is_kink and "kink" or found.held[name] and "held" or "none"], name)
    end
  end
  for _, kind in ipairs { "kink", "held", "none" } do
    if #names[kind] > 0 then
      notes[#notes + 1] = string.format("no standard error of %s: %s", table.concat(names[kind], ", "), WHY[kind])
    end
  end
  return notes
end

--- Fits class c to checked data: names, params and se by name, converged, reasons, notes, distribution, size (how many
-- numbers were estimated).
return function (c, x, w, fixed, options)
  local family = families.of(c)
  if family.no_fit then raise("fit: %s has no fit: %s", class.name(c), family.no_fit) end
  for name, why in pairs(family.needs or {}) do
    if fixed[name] == nil then fail(c, "%s must be given, as in fixed = { %s = 0 }: %s", name, name, why) end
  end
  local unit = units_of(c, family, x, w)
  local inner = {}
  for name, value in pairs(fixed) do inner[name] = unit.inward(name, value) end
  local start
  if options.start then
    start = {}
    for name, value in pairs(options.start) do start[name] = unit.inward(name, value) end
  end
  local given = copy(family.data and family.data(x) or {}, fixed)   -- what is not estimated
  local found = estimate(c, family, unit, x, w, inner, { start = start, outcomes = options.outcomes })
  local result = { names = {}, params = {}, se = {}, fixed = {}, reasons = found.reasons, converged = found.converged,
                   size = found.size }
  local groups = Likelihood.groups(c)
  for i, one in ipairs(reported(c, found.values, unit)) do
    local is_fixed = has_any(given, groups[i])
    local se = found.se[one.name]
    result.names[i], result.params[one.name] = one.name, one.value
    result.fixed[one.name] = is_fixed or nil
    if se ~= nil then result.se[one.name] = unit.error(one.name, se)
    elseif not is_fixed then result.se[one.name] = math.abs(0 / 0) end
  end
  for name, value in pairs(copy(found.exact, fixed)) do
    if result.params[name] ~= nil then result.params[name] = value end
  end
  local kink = family.kink
  if kink and not result.fixed[kink] then result.params[kink] = at_one_of(x, result.params[kink]) end
  result.notes = notes_of(result, x, found, kink)
  result.distribution = made(c, result.params)
  refusals.impossible(c, result.distribution, x, x)
  return result
end
