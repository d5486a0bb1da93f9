--- Are the ways to a posterior right for models of which data can be simulated (peri.sbc)?
--
--   lua spec/long/calibration.lua               all models, by all ways
--   lua spec/long/calibration.lua 50 nuts vi    50 simulations, by some ways
--
-- Run by `make calibration`, not by `make test`. Seeds are fixed: what passed goes on passing.
local models = require "spec.support.calibrated"
local peri   = require "perilune"

local n, methods = tonumber(arg[1] or 200), { "nuts", "hmc", "smc", "vi", "random_walk" }
if arg[2] then methods = { table.unpack(arg, 2) } end

local names, failed = {}, 0
for name in pairs(models) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  for _, method in ipairs(methods) do
    local options = method == "smc" and { particles = 500 } or nil
    local found = peri.sbc(models[name].model, { data = models[name].data, method = method, n = n, seed = 1,
                                                 options = options })
    print(name .. " " .. tostring(found) .. "\n")
    io.stdout:flush()
    if found.verdict == "bad" then failed = failed + 1 end
  end
end
print(failed == 0 and "ranks are uniform" or failed .. " failed")
os.exit(failed == 0)
