--- Units: how the parameters of a family change when its data are measured otherwise.
--
-- For families of single numbers. If X/s has parameters s^-k p for some powers k, one of -1, 0 and 1 for each, a fit
-- may be made in units of the data's own; and if loc or others move with X, from a centre of their own. Which powers
-- these are is found by trying all of them on densities at a few points.
local attempt = require "perilune.attempt"
local core    = require "perilune.core"

local MOST   = 4        -- parameters
local SCALE, SHIFT = 1.75, 0.625
local CLOSE  = 1e-9     -- relative error of densities that counts as none
local POINTS = 4
local FREE   = { 0.3, -0.2, 0.55, 0.1 }   -- free numbers where it is tried: no round values, whose powers are equal

local units = {}

-- Is log p(s x + m | moved values) = log p(x | values) - log s?
local function holds (c, names, values, x, before, powers, shifts, scale, shift)
  local moved = { validate = false }
  for i, name in ipairs(names) do
    moved[name] = values[name] * scale ^ powers[i] + (shifts[i] and shift or 0)
  end
  local after = c(moved):log_prob(x * scale + shift) + math.log(scale)
  local worst = (after - before):abs():max()
  return worst <= CLOSE * (1 + before:abs():max())
end

-- Calls try(list) for every list of n of these values, until it returns true.
local function each_list (values, n, try, list)
  list = list or {}
  if #list == n then return try(list) end
  for _, value in ipairs(values) do
    list[#list + 1] = value
    if each_list(values, n, try, list) then return true end
    list[#list] = nil
  end
  return false
end

local function found_powers (c, names, values, x)
  local before = c(values):log_prob(x)
  local none, powers, shifts = {}, nil, nil
  each_list({ 0, 1, -1 }, #names, function (list)
    if not holds(c, names, values, x, before, list, none, SCALE, 0) then return false end
    powers = { table.unpack(list) }
    return true
  end)
  if not powers then return nil end
  each_list({ true, false }, #names, function (list)
    if not holds(c, names, values, x, before, powers, list, 1, SHIFT) then return false end
    shifts = { table.unpack(list) }
    return true
  end)
  local found = { shifts = shifts and {}, powers = {} }
  for i, name in ipairs(names) do
    found.powers[name] = powers[i]
    if shifts then found.shifts[name] = shifts[i] end
  end
  return found
end

local known = setmetatable({}, { __mode = "k" })   -- by class: what was found, or false

-- Plain values of the parameters, all of single numbers.
local function trial_values (likelihood)
  local u = {}
  for i = 1, likelihood.size do u[i] = FREE[i] end
  local values = likelihood:values(core.tensor(u))
  for name, value in pairs(values) do values[name] = core.is_tensor(value) and core.item(value) or value end
  values.validate = false
  return values
end

-- Powers and shifts of a class: { powers = by name, shifts = which parameters move with x (nil if none can) }.
local function powers_of (c, likelihood)
  if known[c] ~= nil then return known[c] end
  known[c] = false
  local names = {}
  for i, param in ipairs(c.params) do
    if param.event or param.gives then return false end
    names[i] = param[1]
  end
  if #names == 0 or #names > MOST or likelihood.size ~= #names then return false end
  local values = trial_values(likelihood)
  local ok, x = attempt.call(" has no ", nil, function () return c(values):sample(POINTS, core.rng(1)) end)
  if not ok or not core.is_tensor(x) or core.rank(x) ~= 1 then return false end
  known[c] = found_powers(c, names, values, x) or false
  return known[c]
end

-- A width that can be divided by.
local function usable (width) return width > 0 and width < math.huge and width or 1 end

-- The middle of data and the width of their middle half; or 0 and the size of most.
local function measure (found, x)
  if found.shifts then
    local q = x:quantile { 0.25, 0.5, 0.75 }
    local width = q[3] - q[1]
    return q[2], usable(width > 0 and width or core.numel(x) > 1 and x:std() or 0)
  end
  local width = x:abs():quantile(0.5)
  return 0, usable(width > 0 and width or x:abs():mean())
end

--- For a family of which nothing is known.
units.none = {
  x = function (x) return x end, inward = function (_, value) return value end,
  outward = function (_, value) return value end, error = function (_, value) return value end,
}

--- The units of data x for class c: x(x) gives the data in them, inward(name, value) a parameter, outward(name, value)
-- takes it back and error(name, se) its standard error; powers by name, and shifts: which of them move with x (nil if
-- none can). `likelihood` is one of c in which all parameters are free.
function units.of (c, likelihood, x)
  local found = powers_of(c, likelihood)
  if not found then return units.none end
  local centre, width = measure(found, x)
  local function shift (name) return found.shifts and found.shifts[name] and centre or 0 end
  local function factor (name) return width ^ found.powers[name] end
  return {
    x = function (data) return (data - centre) / width end,
    inward = function (name, value) return (value - shift(name)) / factor(name) end,
    outward = function (name, value) return value * factor(name) + shift(name) end,
    error = function (name, value) return value * factor(name) end,
    powers = found.powers, shifts = found.shifts,
  }
end

--- The same for families that say by themselves how to measure x and how parameters are taken back.
function units.own (family, x, w)
  local centre, width = family.measure(x, w)
  return {
    x = function (data) return (data - centre) / width end,
    inward = function (name, value) return family.inward(name, value, centre, width) end,
    outward = function (name, value) return family.outward(name, value, centre, width) end,
    error = function (name, value) return family.outward(name, value, 0 * centre, width) end,
  }
end

return units
