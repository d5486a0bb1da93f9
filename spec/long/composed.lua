--- Do laws that are made of others agree with themselves: draws with tails, tails with quantiles, densities with tails,
-- moments with draws, expectations with tails? Random laws, cut, censored, mixed and transformed, up to three times.
--
--   lua spec/long/composed.lua [seed] [laws of each class] [class ...]
--
-- Run by `make composed`, and for some laws by spec/composed_spec.lua. Laws whose draws are rounded to one another are
-- left out. A false alarm by chance is rarer than 1e-6 for each law; jumps at values that are rounded to the end of a
-- transform, and what is left of a law where the logarithm of its mass is below -1e8, give some as well. Each line can
-- be pasted into a program.
local peri   = require "perilune"
local points = require "perilune.points"
local Random = require "spec.fuzz.random"
local params = require "spec.fuzz.params"

local random_laws = require "spec.support.random_laws"
local round_trip  = require "spec.support.round_trip"

local N     = 2000    -- draws
local KS    = 3       -- sqrt(N) times the largest distance between cdf and draws: more has a chance of 3e-8
local FAR   = 7       -- standard errors
local CLOSE = 1e-8    -- more than rounding of tails

local composed = {}

-- No with NaN.
local function is_within (x, limit) return math.abs(x) <= limit end

local ENDS = { "-math.huge", "-2", "-0.3", "0", "0.1", "1", "3", "10", "math.huge" }
local INTEGER_ENDS = { "-math.huge", "-2", "0", "1", "3", "10", "math.huge" }
local WEIGHTS = { "0.3, 0.7", "0.5, 0.5", "0.05, 0.95" }
local MAPS = { "Abs()", "Exp()", "Tanh()", "Sigmoid()", "Affine(3, -0.5)", "Affine(0, -1)", "Power(0.5)" }
local INTEGER_MAPS = { "Abs()", "Affine(3, -0.5)", "Affine(0, -1)", "Affine(1, 2)" }

local evaluate = random_laws.evaluate

-- Text for k laws of a class, or nil.
local function plain (random, name, k)
  return random_laws.plain(name, k, function (class) return params.batch(random, class, k) end)
end

local function is_discrete (code)
  local ok, law = pcall(evaluate, code)
  return ok and law.support and law.support.is_discrete
end

local function cut (random, class, code)
  local ends = is_discrete(code) and INTEGER_ENDS or ENDS
  local i = random:integer(1, #ends - 1)
  return ("peri.%s(%s, %s, %s)"):format(class, code, ends[i], ends[random:integer(i + 1, #ends)])
end

-- What is made of one law; and of laws that of(k) and other(k) give texts for.
local ONE = {
  function (random, code) return cut(random, "Truncated", code) end,
  function (random, code) return cut(random, "Censored", code) end,
  function (random, code)
    local map = random:pick(is_discrete(code) and INTEGER_MAPS or MAPS)
    return ("peri.TransformedDistribution(%s, {peri.transforms.%s})"):format(code, map)
  end,
}
local SOME = random_laws.mixtures(WEIGHTS)

--- Text of a law made of the class `name`.
function composed.law (random, name, names)
  local function of (k) return plain(random, name, k) or "peri.Normal(0, 1)" end
  local function other (k) return plain(random, random:pick(names), k) or "peri.Normal(0, 1)" end
  local code = random:pick(SOME)(random, of, other)
  for _ = 1, random:integer(0, 3) do code = random:pick(ONE)(random, code) end
  return code
end

-- Draws in order; nil where there are none, or where many of a law with a density are one number that has no mass.
local function draws_of (d)
  local ok, x = pcall(d.sample, d, N, peri.rng(1))
  if not ok then return nil end
  local list, known, ties = x:totable(), {}, 0
  for _, point in ipairs(points.of(d)) do known[tostring(peri.item(point))] = true end
  table.sort(list)
  for i, v in ipairs(list) do
    if v ~= v or math.abs(v) > 1e15 then return nil end
    if v == list[i - 1] and not known[tostring(v)] then ties = ties + 1 end
  end
  return (d.support and d.support.is_discrete or ties < 3) and list or nil
end

local function all (d, method, list) return d[method](d, peri.tensor(list)):totable() end

-- Numbers close to each of the list, on one side of it: draws are rounded, perhaps to a point that has mass itself.
local function beside (list, side)
  local moved = {}
  for i, x in ipairs(list) do moved[i] = x + side * math.max(4 * 2^-52 * math.abs(x), 5e-324) end
  return moved
end

local function check_tails (d, list, say)
  local cdf, sf, worst, where = all(d, "cdf", list), all(d, "sf", list), 0, nil
  local least, most = cdf, cdf
  if not d.support.is_discrete then least, most = all(d, "cdf", beside(list, -1)), all(d, "cdf", beside(list, 1)) end
  local log_cdf, log_sf = all(d, "log_cdf", list), all(d, "log_sf", list)
  for i, x in ipairs(list) do
    if not is_within(cdf[i] + sf[i] - 1, CLOSE) then return say("cdf + sf is %.15g at %.17g", cdf[i] + sf[i], x) end
    if i > 1 and cdf[i] < cdf[i - 1] - CLOSE then return say("the cdf falls at %.17g", x) end
    if not (is_within(math.exp(log_cdf[i]) - cdf[i], CLOSE) and is_within(math.exp(log_sf[i]) - sf[i], CLOSE)) then
      return say("logarithms of tails at %.17g: %.15g, %.15g", x, log_cdf[i], log_sf[i])
    end
    local off = math.max(least[i] - i / N, i / N - most[i])
    if x ~= list[i + 1] and off > worst then worst, where = off, x end
  end
  if worst * math.sqrt(N) > KS then say("draws and cdf differ by %.3g at %.17g", worst, where) end
end

local function check_quantiles (d, say)
  for _, p in ipairs { 0.01, 0.21, 0.487, 0.77, 0.99 } do
    local x, y = peri.item(d:icdf(p)), peri.item(d:isf(1 - p))
    local step = math.max(1e-9 * math.abs(x), 1e-12)
    local below, above = peri.item(d:cdf(x - step)), peri.item(d:cdf(x + step))
    if not (above >= p - CLOSE and below <= p + CLOSE) then
      say("icdf(%g) is %.17g, where the cdf goes from %.15g to %.15g", p, x, below, above)
    end
    if math.abs(x - y) > step and math.abs(peri.item(d:cdf(y)) - peri.item(d:cdf(x))) > CLOSE
       and not d.support.is_discrete then
      say("icdf(%g) is %.17g, isf %.17g", p, x, y)
    end
  end
end

-- Quantiles of levels far out.
local function check_far_out (d, say)
  for _, level in ipairs { 1e-300, 1e-100, 1e-10 } do
    for _, way in ipairs { { "icdf", "log_cdf" }, { "isf", "log_sf" } } do
      local what = round_trip.fault(d, way[1], way[2], level)
      if what then say("%s(%g) %s", way[1], level, what) end
    end
  end
end

-- Densities beside slopes of the cdf.
local function check_density (d, list, say)
  local spread = list[N] - list[1]
  for _, p in ipairs { 0.1, 0.35, 0.6, 0.85 } do
    local x = peri.item(d:icdf(p))
    local h = 1e-3 * math.min(peri.item(d:icdf(p + 0.01)) - x, x - peri.item(d:icdf(p - 0.01)))
    local up, down = peri.item(d:prob(x + h)), peri.item(d:prob(x - h))
    if h > 1e-7 * spread and h > 1e-9 * math.abs(x) and math.abs(up - down) < 0.1 * up then   -- no points or kinks near
      local slope = (peri.item(d:cdf(x + h)) - peri.item(d:cdf(x - h))) / (2 * h)
      if math.abs(slope / (0.5 * up + 0.5 * down) - 1) > 0.1 then
        say("density %.6g at %.17g, slope of the cdf %.6g", 0.5 * up + 0.5 * down, x, slope)
      end
    end
  end
end

local function check_moments (d, list, say)
  local mean, variance = peri.item(d:mean()), peri.item(d:variance())
  local value, error = d:expectation(function (x) return x end)
  value, error = peri.item(value), peri.item(error)
  if math.abs(mean) < math.huge and not is_within(value - mean, error + CLOSE * math.abs(mean)) then
    say("mean %.15g, expectation %.15g +- %.3g", mean, value, error)
  end
  local sum = 0
  for _, x in ipairs(list) do sum = sum + x end
  local room = FAR * math.sqrt(variance / N) + CLOSE * math.abs(mean) + error
  if variance < math.huge and math.abs(sum / N - mean) > room then
    say("mean %.6g, of draws %.6g, standard deviation %.6g", mean, sum / N, math.sqrt(variance))
  end
end

-- E 1(X > c) beside the tail, E cos X beside draws.
local function check_expectations (d, list, say, code)
  local middle, sum = N * (1 + #code % 9) // 10, 0
  local c = 0.5 * (list[middle] + list[middle + 1])
  local value, error = d:expectation(function (x) return peri.gt(x, c) end)
  value, error = peri.item(value), peri.item(error)
  if not is_within(value - peri.item(d:sf(c)), error + CLOSE) then
    say("P(x > %.17g) is %.15g, as an expectation %.15g +- %.3g", c, peri.item(d:sf(c)), value, error)
  end
  for _, x in ipairs(list) do sum = sum + math.cos(x) end
  value, error = d:expectation(function (x) return peri.cos(x) end)
  value, error = peri.item(value), peri.item(error)
  if value == value and not is_within(value - sum / N, error + FAR / math.sqrt(2 * N)) then
    say("E cos is %.6g +- %.3g, of draws %.6g", value, error, sum / N)
  end
end

--- Reports what is wrong with a law, given as text, to say(line); false where it cannot be judged.
function composed.check (code, report)
  local ok, d = pcall(evaluate, code)
  local list = ok and draws_of(d)
  if not list then return false end
  local function say (...) report(string.format(...) .. "  -- " .. code) end
  local function tried (check, ...)
    local fine, message = pcall(check, ...)
    if not fine then say("error: %s", message) end
  end
  tried(check_tails, d, list, say)
  tried(check_moments, d, list, say)
  tried(check_expectations, d, list, say, code)
  if not pcall(d.icdf, d, 0.5) then return true end   -- magnitudes of outcomes have no quantiles
  tried(check_quantiles, d, say)
  if type(d:icdf(0.5)) == "number" then tried(check_far_out, d, say) end
  if not (d.support.is_discrete or d.is_circular) then tried(check_density, d, list, say) end
  return true
end

--- Checks so many laws of each of these classes, all unless told; how many were judged.
function composed.run (seed, each, wanted, report)
  local random, names, count = Random.new(seed), peri.distributions(), 0
  for _, name in ipairs(wanted or names) do
    for _ = 1, plain(random, name, 1) and each or 0 do
      if composed.check(composed.law(random, name, names), report) then count = count + 1 end
    end
  end
  return count
end

if arg and arg[0] and arg[0]:find "composed%.lua$" then
  local found = 0
  io.stdout:setvbuf "line"
  local wanted = #arg > 2 and { table.unpack(arg, 3) } or nil
  local count = composed.run(tonumber(arg[1]) or 1, tonumber(arg[2]) or 20, wanted, function (line)
    found = found + 1
    print(line)
  end)
  print(("%d laws, %d findings"):format(count, found))
  os.exit(found == 0)
end

return composed
