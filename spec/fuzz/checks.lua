--- Statements that check a law: see laws.lua.
local peri    = require "perilune"
local params  = require "spec.fuzz.params"
local surface = require "spec.fuzz.surface"
local text    = require "spec.fuzz.text"

local METHODS = { "log_prob", "prob", "cdf", "sf", "log_cdf", "log_sf" }
local LEVELS = "{ 5e-324, 1e-300, 1e-20, 1e-3, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999, 1 - 1e-9, 1 - 2^-53 }"

-- A function of x, for laws that hold for all of them: elementwise with one operand that varies, or a density.
local function function_of_x (source)
  local random = source.random
  if random:once_in(3) then
    local d = source:ref "distribution"
    if d then return string.format("function (x) return %s:%s(x) end", d, random:pick(METHODS)) end
  end
  local name = random:pick(surface.elementwise)
  local operands, at = {}, random:integer(1, surface.operands[name])
  for i = 1, surface.operands[name] do operands[i] = i == at and "x" or source:positive() end
  return string.format("function (x) return peri.%s(%s) end", name, table.concat(operands, ", "))
end

-- A function of x with more steps.
local function program_of_x (source)
  local random = source.random
  local inner, outer = random:pick(surface.elementwise), random:pick(surface.elementwise)
  local function call (name, x)
    local operands = {}
    for i = 1, surface.operands[name] do operands[i] = i == 1 and x or source:positive() end
    return "peri." .. name .. "(" .. table.concat(operands, ", ") .. ")"
  end
  return string.format("function (x) return %s * x end", call(outer, call(inner, "x")))
end

local function law_of_x (name, make)
  return function (source)
    return string.format("try(function () law.%s(%s, %s) end)", name, make(source), source:tensor())
  end
end

local function replay (source)
  local seed = source:seed()
  return string.format("try(function () law.replay(%s, peri.rng(%s):uniform(3), peri.rng(%s):normal(3)) end)",
                       program_of_x(source), seed, source:seed())
end

-- Slopes ---------------------------------------------------------------------------------

-- (The teeth of `mod` may be finer than any step.)
local function slope (source)
  local f
  repeat f = function_of_x(source) until not f:find("peri.mod(", 1, true)
  return string.format("try(function () law.slope(%s, %s) end)", f, text.number(source.random:between(0.05, 3)))
end

-- A density as a function of one of the parameters.
local function slope_of_parameter (source)
  local random = source.random
  local name = random:pick(surface.classes)
  local class = peri[name]
  local given = not class.construct and params.batch(random, class, 1)
  if not given then return nil end
  local names = {}
  given = params.first(given)
  for key, value in pairs(given) do names[#names + 1] = math.type(value) == "float" and key or nil end
  if #names == 0 then return nil end
  table.sort(names)
  local varied = random:pick(names)
  local at = text.number(given[varied])
  local others = {}
  given[varied] = nil
  for key, value in pairs(given) do others[#others + 1] = key .. " = " .. text.number(value) end
  table.sort(others)
  others[#others + 1] = varied .. " = t"
  local made = "peri." .. name .. "{ " .. table.concat(others, ", ") .. " }"
  local x = source:number()
  if math.abs(tonumber(x) or 0) > 1e9 and name == "VonMises" then x = "3" end   -- x - loc has no digits of an angle
  local call = random:pick { ":log_prob(" .. x .. ")", ":cdf(" .. x .. ")", ":mean()", ":variance()", ":entropy()" }
  return string.format("try(function () law.slope(function (t) return %s%s end, %s) end)", made, call, at)
end


-- Distributions ----------------------------------------------------------------------------

local function of_distribution (form, ...)
  local more = { ... }
  return function (source)
    local parts = {}
    for i, kind in ipairs(more) do parts[i] = source[kind](source) end
    return string.format("try(function () law." .. form .. " end)", source:distribution(), table.unpack(parts))
  end
end

local function batch (source)
  local random = source.random
  local name = random:pick(surface.classes)
  local given = not peri[name].construct and params.batch(random, peri[name], 3)
  if not given then return nil end
  local points = {}
  for i = 1, 3 do points[i] = source:number() end
  return string.format("try(function () law.batch(peri.%s, %s, { %s }) end)", name, text.value(given),
                       table.concat(points, ", "))
end

local function divergence_batch (source)
  local random, parts = source.random, {}
  for i = 1, 2 do
    local name = random:pick(surface.classes)
    local given = not peri[name].construct and params.batch(random, peri[name], 3)
    if not given then return nil end
    parts[i] = "peri." .. name .. ", " .. text.value(given)
  end
  return string.format("try(function () law.divergence_batch(%s, %s) end)", parts[1], parts[2])
end

local function divergence (source)
  local p = source:distribution()
  local name = source.random:pick(surface.classes)
  local q = source.random:once_in(2) and source:distribution() or source:of_class(name)
  if source.random:once_in(2) then p = source:of_class(name) end
  return string.format("try(function () law.divergence(%s, %s) end)", p, q)
end

local checks = {}

-- Laws that hold whatever the numbers are.
checks.of_any_numbers = {
  { 4, law_of_x("layouts", function_of_x) },
  { 1, law_of_x("threads", function_of_x) },
  { 3, law_of_x("elements", function_of_x) },
  { 3, law_of_x("recorded", program_of_x) },
  { 3, law_of_x("gradients", function_of_x) },
  { 2, law_of_x("written", program_of_x) },
  { 2, replay }, { 3, batch },
}

checks.all = {
  { 3, slope }, { 3, slope_of_parameter },
  { 4, of_distribution("draws(%s, %s)", "seed") },
  { 4, of_distribution("tails(%s, %s)", "vector") },
  { 3, of_distribution("quantiles(%s, " .. LEVELS .. ")") },
  { 4, divergence }, { 2, divergence_batch }, table.unpack(checks.of_any_numbers)
}

return checks
