--- Does memory grow with the number of steps? A small model is fitted for a long time, and what the state and the
-- process hold after a first tenth is compared with what they hold at the end.
--
--   lua spec/long/steps.lua          a million steps, as `make steps` does
--   lua spec/long/steps.lua 20000    fewer
--
-- spec/optim_spec.lua runs it for a short while.
local peri = require "perilune"

local STEPS = 1000000
local MOST_KILOBYTES, MOST_PAGES = 16, 256   -- of growth; a page is 4096 bytes or more

local steps = {}

-- Regression with three weights: draws, densities, a divergence, a backward pass and a step each time.
local function fit ()
  local inputs, weights = peri.Normal(0, 1):sample({ 20, 3 }, peri.rng(1)), peri.tensor { 1, -2, 0.5 }
  local outputs = (inputs * weights):sum(-1)
  local loc, log_scale = peri.param(peri.zeros(3)), peri.param(peri.zeros(3))
  local opt, rng, prior = peri.optim.Adam({ loc, log_scale }, { lr = 0.01 }), peri.rng(2), peri.Normal(0, 1)
  local function step ()
    local q = peri.Normal(loc, log_scale:exp())
    local w = q:rsample(nil, rng)
    local loss = peri.kl_divergence(q, prior):sum() - peri.Normal((inputs * w):sum(-1), 1):log_prob(outputs):sum()
    opt:zero_grad()
    loss:backward()
    opt:step()
  end
  return step, function () return peri.item(peri.abs(loc:detach() - weights):max()) end
end

-- Pages of this process in memory, or nil where the system does not say.
local function resident ()
  local file = io.open "/proc/self/statm"
  if not file then return nil end
  local _, pages = file:read("n", "n")
  file:close()
  return pages
end

local function measured ()
  collectgarbage()
  collectgarbage()
  return { kilobytes = collectgarbage "count", pages = resident() }
end

--- Takes n steps; progress(done, memory) is called after each tenth. Returns the growth of memory, in kilobytes of the
-- state and pages of the process, and how far the fit is off.
function steps.growth (n, progress)
  local step, miss = fit()
  local first, last
  for tenth = 1, 10 do
    for _ = 1, math.floor(n / 10) do step() end
    last = measured()
    first = first or last
    if progress then progress(tenth * math.floor(n / 10), last) end
  end
  return last.kilobytes - first.kilobytes, last.pages and last.pages - first.pages, miss()
end

--- What is wrong with n steps, or nil.
function steps.fault (n, progress)
  local kilobytes, pages, miss = steps.growth(n, progress)
  if kilobytes > MOST_KILOBYTES then return string.format("the state has grown by %.1f kB", kilobytes) end
  if pages and pages > MOST_PAGES then return string.format("the process has grown by %d pages", pages) end
  local fitted = miss < 1   -- false for NaN
  if not fitted then return string.format("the fit is off by %g", miss) end
end

local function report (done, memory)
  io.write(string.format("%8d steps: state %.1f kB, process %s pages\n", done, memory.kilobytes,
                         memory.pages or "unknown"))
  io.flush()
end

if ... == "spec.long.steps" then return steps end   -- else run by itself

local why = steps.fault(tonumber((...)) or STEPS, report)
if why then
  io.stderr:write("steps: ", why, "\n")
  os.exit(1)
end
print "memory does not grow"
