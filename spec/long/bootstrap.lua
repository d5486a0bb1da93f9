--- Are the standard errors of fits what other data would show? For some families the spread of estimates from draws of
-- the fitted law is compared with what peri.fit says.
--
--   lua spec/long/bootstrap.lua          500 samples each, as `make bootstrap` does
--   lua spec/long/bootstrap.lua 2000     more
--
-- spec/fit/fit_spec.lua has what 500 gave.
local peri = require "perilune"

local COUNT = 500
local N     = 400     -- data
local MOST  = 0.12    -- relative difference: that of 500 samples is 0.03, and curvatures of N data differ

local bootstrap = {}

--- The families, with laws that their data are drawn from.
bootstrap.laws = {
  peri.Gamma(3, 2), peri.Weibull(2, 1.5), peri.NegativeBinomial(4, 0.6), peri.Gumbel(-1, 2),
  peri.VonMisesFisher({ 0.6, 0, 0.8 }, 5),
}

--- The data of a law.
function bootstrap.data (law) return law:sample(N, peri.rng(11)) end

-- A list of numbers of an estimate, and their names: of each element of each parameter.
local function numbers (of, names)
  local list, labels = {}, {}
  for _, name in ipairs(names) do
    local value = of[name]
    for i, v in ipairs(type(value) == "number" and { value } or value:reshape(-1):totable()) do
      list[#list + 1] = v
      labels[#labels + 1] = type(value) == "number" and name or string.format("%s[%d]", name, i)
    end
  end
  return list, labels
end

--- For a law: names, standard errors as fitted, and as `count` samples spread; three lists.
function bootstrap.compare (law, count)
  local family, x, rng = getmetatable(law), bootstrap.data(law), peri.rng(12)
  local fit = peri.fit(family, x)
  local se, names = numbers(fit.se, fit.names)
  local rows = {}
  for i = 1, count do
    rows[i] = numbers(peri.fit(family, fit.distribution:sample(N, rng)).params, fit.names)
  end
  return names, se, peri.tensor(rows):std(1):totable()
end

local function main (count)
  local is_good = true
  for _, law in ipairs(bootstrap.laws) do
    local names, se, spread = bootstrap.compare(law, count)
    for i, name in ipairs(names) do
      local is_near = math.abs(se[i] / spread[i] - 1) <= MOST
      is_good = is_good and is_near
      print(string.format("%-18s %-18s se %-10.5g bootstrap %-10.5g%s", getmetatable(law).__name, name, se[i],
                          spread[i], is_near and "" or "  differ"))
    end
  end
  if not is_good then os.exit(1) end
end

if arg and arg[0] and arg[0]:find "long/bootstrap.lua$" then main(math.tointeger(tonumber(arg[1])) or COUNT) end

return bootstrap
