--- Do samplers draw from the law they claim? A million draws a stratum, for every distribution there is.
--
--   lua spec/long/samplers.lua            all of them
--   lua spec/long/samplers.lua Gamma Beta some of them
--
-- Run by `make samplers`, not by `make test`. Draws are compared with the law's own cdf, which the specs hold
-- to 50-digit values, by statistics.fit: a sampler without fault fails one comparison with probability below
-- 1e-6, and the last line says how many comparisons there were. Seeds are fixed: what passed goes on passing.
-- A distribution without strata (strata.lua) is a failure.
local peri       = require "perilune"
local statistics = require "spec.support.statistics"
local strata     = require "spec.long.strata"

local N     = 1000000   -- draws from one law
local MIXED = 100000    -- draws from each of several laws in turn
local ROW   = "%-32s %4d %8.2f %8.2f %8.1f  %s"
local HEAD  = "%-32s %4s %8s %8s %8s\n"

local function compare (report, text, sample, law)
  local fine, ks, z = statistics.fit(sample, law)
  report.laws, report.ks, report.z = report.laws + 1, math.max(report.ks, ks), math.max(report.z, z)
  if not fine then report[#report + 1] = string.format("%s: distance %.2f, chi-square %.2f", text, ks, z) end
end

-- Strata are tuples of parameters, or functions that give a distribution.
local function law_of (name, stratum)
  if type(stratum) == "function" then return stratum() end
  return peri[name](table.unpack(stratum))
end

local function all_numbers (stratum)
  for i = 1, type(stratum) == "table" and #stratum or 0 do
    if math.type(stratum[i]) == nil then return false end
  end
  return type(stratum) == "table"
end

-- All laws in one batch, so that each block of draws has all of them.
local function compare_mixed (report, name, list)
  local columns = {}
  for i, stratum in ipairs(list) do
    if not all_numbers(stratum) or #stratum ~= #list[1] then return end
    for k, value in ipairs(stratum) do
      columns[k] = columns[k] or {}
      columns[k][i] = value
    end
  end
  local draws = peri[name](table.unpack(columns)):sample(MIXED, peri.rng(0))
  for i, stratum in ipairs(list) do
    local law = law_of(name, stratum)
    compare(report, tostring(law) .. " among others", draws:select(2, i):contiguous(), law)
  end
end

local function compare_univariate (report, name, list)
  for seed, stratum in ipairs(list) do
    local law = law_of(name, stratum)
    compare(report, tostring(law), law:sample(N, peri.rng(seed)), law)
  end
  compare_mixed(report, name, list)
end

-- Strata give a distribution, and functions of its draws with their laws.
local function compare_multivariate (report, name, list)
  for seed, stratum in ipairs(list) do
    local law, margins = stratum(peri[name])
    local draws = law:sample(N, peri.rng(seed))
    for _, margin in ipairs(margins) do
      local text, of, its_law = table.unpack(margin)
      compare(report, name .. " " .. seed .. ", " .. text, of(draws), its_law)
    end
  end
end

local function examine (name)
  local report, start = { name = name, laws = 0, ks = 0, z = -math.huge }, os.clock()
  if strata.univariate[name] then compare_univariate(report, name, strata.univariate[name])
  elseif strata.multivariate[name] then compare_multivariate(report, name, strata.multivariate[name])
  else report[1] = name .. " has no strata in spec/long/strata.lua" end
  report.seconds = os.clock() - start
  return report
end

local function print_table (reports)
  local failures = {}
  io.write("\n", string.format(HEAD, "family", "laws", "distance", "chi-sq.", "seconds"))
  for _, r in ipairs(reports) do
    print(string.format(ROW, r.name, r.laws, r.ks, r.z, r.seconds, #r == 0 and "" or "FAILED"))
    table.move(r, 1, #r, #failures + 1, failures)
  end
  io.write("\n", table.concat(failures, "\n"), #failures > 0 and "\n" or "")
  return #failures == 0
end

local names = #arg > 0 and arg or peri.distributions()
local reports, laws = {}, 0
for i, name in ipairs(names) do
  local report = examine(name)
  reports[i], laws = report, laws + report.laws
  io.stderr:write(string.format("%d/%d %s: %d laws, %.1f s\n", i, #names, name, report.laws, report.seconds))
end
local fine = print_table(reports)
print(string.format("%d comparisons; false alarm of all below %.1g", laws, laws * 1e-6))
os.exit(fine)
