--- perilune's side: `lua5.4 bench/models/perilune.lua data FOLDER | gradient [NAME] | nuts [NAME] | threads [NAME]`
--
--   data       writes the data of each model for R, as FOLDER/NAME.R
--   gradient   name, microseconds of CPU for a log density with its gradient: the least of ROUNDS
--   nuts       name, seconds of CPU, the same with diagnostics, least effective draws: the middle one of ROUNDS by
--              draws per second
--   threads    name, seconds of wall clock for four chains on one thread and on two: the least of ROUNDS
local peri    = require "perilune"
local core    = require "perilune.core"
local Density = require "perilune.model.density"
local list    = require "bench.models.list"

local what, given = arg[1], arg[2]
local ROUNDS = tonumber(os.getenv "ROUNDS" or 5)
local ROUND  = 0.2    -- seconds of a round of gradients

local function chosen (one, part) return (not given or one.name == given) and one[part] end

local function write_number (x) return string.format("%.17g", x) end

local function write_value (x)
  if type(x) == "number" then return write_number(x) end
  local t = peri.tensor(x)
  local list_of = {}
  for i, v in ipairs((#t.shape == 2 and t:transpose() or t):reshape(-1):totable()) do list_of[i] = write_number(v) end
  local text = "c(" .. table.concat(list_of, ",") .. ")"
  return #t.shape == 2 and string.format("structure(%s, .Dim = c(%d, %d))", text, t.shape[1], t.shape[2]) or text
end

local function write_data (folder, one)
  local _, data = one.pose()
  local file = assert(io.open(folder .. "/" .. one.name .. ".R", "w"))
  for name, value in pairs(data) do file:write(name, " <- ", write_value(value), "\n") end
  file:close()
end

local function seconds (call)
  local begin = os.clock()
  call()
  return os.clock() - begin
end

-- Microseconds of one gradient, at rows near the origin.
local function gradient (one)
  local posed = one.pose()
  posed:start()
  local density = Density.new(posed)
  local n = 4
  local rows, spent
  repeat
    n = 2 * n
    rows = peri.Normal(0, 0.1):sample({ n, density.size }, peri.rng(1))
    spent = seconds(function () density:gradients(rows) end)
  until spent > ROUND / 4
  local best = math.huge
  for _ = 1, ROUNDS do
    local calls = math.ceil(ROUND / spent)
    best = math.min(best, seconds(function () for _ = 1, calls do density:gradients(rows) end end) / calls / n)
  end
  return best * 1e6
end

local function least_ess (post, sites)
  local least = math.huge
  for _, name in ipairs(sites) do
    local of = post.ess_bulk[name]
    least = math.min(least, type(of) == "number" and of or of:min())
  end
  return least
end

local function nuts (one)
  local runs = {}
  local posed = one.pose()
  for seed = 1, ROUNDS do
    collectgarbage()
    local sampling, post
    local chains = seconds(function ()
      sampling = posed:nuts { rng = peri.rng(seed), run = false }
      while not sampling:step { ms = 100 } do end
    end)
    local diagnostics = seconds(function () post = sampling:result() end)
    runs[seed] = { chains, chains + diagnostics, least_ess(post, one.sites) }
  end
  table.sort(runs, function (a, b) return a[3] / a[1] < b[3] / b[1] end)
  return table.unpack(runs[#runs // 2 + 1])
end

-- Rounds by turns, so that both have the quietest moments.
local function threads (one)
  local posed, best = one.pose(), { math.huge, math.huge }
  for _ = 1, ROUNDS do
    for n = 1, 2 do
      peri.set_threads(n)
      local sampling = posed:nuts { seed = 1, chains = 4, run = false }
      collectgarbage()
      local begin = core.clock()
      while not sampling:step { ms = 1000 } do end
      best[n] = math.min(best[n], core.clock() - begin)
    end
  end
  peri.set_threads(1)
  return table.unpack(best)
end

for _, one in ipairs(list) do
  if what == "data" then write_data(given, one)
  elseif what == "gradient" and chosen(one, "gradient") then print(one.name, gradient(one))
  elseif what == "nuts" and chosen(one, "nuts") then print(one.name, nuts(one))
  elseif what == "threads" and chosen(one, "nuts") then print(one.name, threads(one)) end
end
