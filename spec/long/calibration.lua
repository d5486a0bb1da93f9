--- Are the ways to a posterior right for models of which data can be simulated (peri.sbc), and are samplers that were
-- broken on purpose found out? Are single steps of chains right for every kind of site (Geweke's joint test)?
--
--   lua spec/long/calibration.lua               all models, by all ways; broken ones; single steps
--   lua spec/long/calibration.lua 50 nuts vi    50 simulations, by some ways ("broken" and "steps" are two)
--
-- Run by `make calibration`, not by `make test`. Seeds are fixed: what passed goes on passing.
local geweke = require "spec.support.geweke"
local models = require "spec.support.calibrated"
local peri   = require "perilune"

local n, methods = tonumber(arg[1] or 200), { "nuts", "hmc", "smc", "vi", "random_walk", "broken", "steps" }
if arg[2] then methods = { table.unpack(arg, 2) } end

local failed = 0

local function say (is_right, ...)
  if not is_right then failed = failed + 1 end
  print(string.format(...) .. (is_right and "" or "   <-- WRONG") .. "\n")
  io.stdout:flush()
end

local function sorted (list)
  local names = {}
  for name in pairs(list) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function calibrated (name, method)
  return peri.sbc(models[name].model, { data = models[name].data, method = method, n = n, seed = 1,
                                        options = method == "smc" and { particles = 500 } or nil })
end

-- nuts whose draws are a fifth too narrow.
local function too_narrow (posed, rng)
  local post = posed:nuts { rng = rng, chains = 2, draws = 500, warmup = 500 }
  local draws = {}
  for name, x in pairs(post.values) do draws[name] = x:mean(1, true) + 0.8 * (x - x:mean(1, true)) end
  return draws
end

-- nuts of data that are a little off: y is taken for larger than it is.
local function off (name)
  return function (posed, rng)
    local data = {}
    for key, value in pairs(posed.data.values) do data[key] = value end
    data.y = posed.data.values.y * 1.2
    return models[name].model(data):nuts { rng = rng, chains = 2, draws = 500, warmup = 500 }
  end
end

-- Single steps of chains for every kind of site; a determinant left out where there is one, and a chain that drifts.
local RUNS, STEPS, FAR = 2500, 6, 4.5
local NO_DETERMINANT = { real = true, outcomes = true, vector = true }

local function steps ()
  for _, kind in ipairs(sorted(geweke.kinds)) do
    for _, kernel in ipairs { "nuts", "hmc" } do
      local d = geweke.distance(kind, kernel, RUNS, STEPS, 1)
      say(d < FAR, "steps of %s, %s: %.2f standard errors", kernel, kind, d)
    end
    if not NO_DETERMINANT[kind] then
      local d = geweke.distance(kind, "nuts", RUNS, STEPS, 1, { settings = { is_joint = true } })
      say(d > FAR, "the same without determinant: %.2f", d)
    end
    local d = geweke.distance(kind, "nuts", RUNS, STEPS, 1, { after = function (u) return u + 0.2 end })
    say(d > FAR, "the same that drifts: %.2f", d)
  end
end

for _, method in ipairs(methods) do
  if method == "steps" then steps()
  else
    for _, name in ipairs(sorted(models)) do
      if method ~= "broken" then
        local found = calibrated(name, method)
        say(found.verdict ~= "bad", "%s %s", name, tostring(found))
      else
        for what, way in pairs { ["too narrow"] = too_narrow, ["of other data"] = off(name) } do
          local found = calibrated(name, way)
          say(found.verdict == "bad", "%s, nuts %s: %s", name, what, tostring(found))
        end
      end
    end
  end
end
print(failed == 0 and "all as it should be" or failed .. " failed")
os.exit(failed == 0)
