--- larger_than_memory.lua: a logistic regression whose rows stay in a file.
--
--   lua larger_than_memory.lua make PATH ROWS     writes 20 predictors and the outcome, float64, without a head
--   lua larger_than_memory.lua WORK PATH ROWS     prints: rows, seconds, peak of resident memory in MB, a note
--
-- WORK, while there are SECONDS: read, shuffled batches of 1000 rows alone; adam, and a step of Adam for each; blocks,
-- rows as they lie in the file; random, each from anywhere. value and gradient, passes over all rows, which are in
-- memory as ARG 4 says ("tensor", or rows of "f64" or "f32"), at ARG 5 points; rows are counted once a point. And fit,
-- posed:vi {} to its end. (Linux.)
local peri = require "perilune"
local core = require "perilune.core"

local K, SIZE = 20, 1000
local SECONDS = tonumber(os.getenv "SECONDS" or 10)
local BETA = peri.linspace(-1, 1, K)

local work, path, n = arg[1], arg[2], math.tointeger(tonumber(arg[3]))

local function make ()
  local rng, left = peri.rng(1), n
  peri.write_rows(function ()
    local count = math.min(left, 10000)
    if count == 0 then return nil end
    left = left - count
    local x = rng:normal(count, K)
    local y = peri.Bernoulli { logits = x:matmul(BETA) } :sample(nil, rng)
    return peri.cat({ x, y:reshape(count, 1) }, 2)
  end, path, { head = false })
end

local function peak ()   -- MB
  local status = assert(io.open("/proc/self/status")):read("a")
  return tonumber(status:match("VmHWM:%s+(%d+) kB")) / 1000
end

local rows = work ~= "make" and peri.map_file(path, { shape = { -1, K + 1 } })

-- Calls f(batch) for shuffled batches while there is time; rows and seconds.
local function batches (f)
  local begin, count, rng = core.clock(), 0, peri.rng(1)
  while true do
    for _, batch in rows:batches(SIZE, rng) do
      f(batch)
      count = count + SIZE
      if core.clock() - begin > SECONDS then return count, core.clock() - begin end
    end
  end
end

local works = {}

function works.read () return batches(function () end) end

-- Calls f(i) for i = 1, 2, ..., each for SIZE rows, while there is time.
local function reads (f)
  local begin, i = core.clock(), 0
  repeat
    i = i + 1
    f(i)
  until core.clock() - begin > SECONDS
  return i * SIZE, core.clock() - begin
end

function works.blocks ()
  local most = n // SIZE
  return reads(function (i) rows:read(i % most * SIZE + 1, i % most * SIZE + SIZE) end)
end

function works.random ()
  local rng = peri.rng(1)
  return reads(function () return rows[(rng:uniform(SIZE) * n):floor() + 1] end)
end

function works.adam ()
  local beta = peri.param(peri.zeros(K))
  local optimiser = peri.optim.Adam({ beta }, { lr = 0.01 })
  local count, seconds = batches(function (batch)
    local x, y = batch:narrow(2, 1, K), batch:select(2, K + 1)
    optimiser:zero_grad()
    local loss = -peri.Bernoulli { logits = x:matmul(beta) } :log_prob(y):mean() + (beta * beta):sum() / (18 * n)
    loss:backward()
    optimiser:step()
  end)
  return count, seconds, string.format("%.3f", (beta - BETA):abs():max():item())
end

local function logistic (count, size)
  return peri.model(function (m, d)
    m.beta = peri.Normal(0, 3):expand(K)
    m:plate("rows", count, size, function () m.y = peri.Bernoulli { logits = d.x:matmul(m.beta) } end)
  end)
end

local function x_of (all)
  local places = {}
  for j = 1, K do places[j] = j end
  return all:columns(places)
end

-- Passes over rows in memory while there is time.
local function passes (evaluate)
  local dtype, points = arg[4], math.tointeger(tonumber(arg[5]))
  local x, y = x_of(rows):read(), rows:column(K + 1):read()
  if dtype ~= "tensor" then x, y = peri.rows(x, { dtype = dtype }), peri.rows(y, { dtype = dtype }) end
  local posed = logistic(n, n) { x = x, y = y }
  posed:sites()
  local density = require "perilune.model.density".new(posed)
  local u, done = peri.zeros(points, K), 0
  evaluate(density, u)
  local begin = core.clock()
  repeat
    evaluate(density, u)
    done = done + n * points
  until core.clock() - begin > SECONDS
  return done, core.clock() - begin
end

function works.value () return passes(function (density, u) return density:values(u) end) end
function works.gradient () return passes(function (density, u) return density:gradients(u) end) end

function works.fit ()
  local begin = core.clock()
  local post = logistic(n, SIZE) { x = x_of(rows), y = rows:column(K + 1) } :vi { seed = 1 }
  local off = ((post.mean.beta - BETA) / post.sd.beta):abs():max()
  return n, core.clock() - begin, string.format("%s, %d steps, off by %.1f sd at most", post.verdict, post.steps, off)
end

if work == "make" then make()
else
  local count, seconds, note = works[work]()
  print(count, seconds, peak(), note or "")
end
