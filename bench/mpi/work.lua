--- One measurement on the ranks that there are: mpirun -n 2 lua5.4 bench/mpi/work.lua KIND ...; prints lines of fields.
--
--   sums N ...                      microseconds of a sum of N numbers in the order of ranks
--   steps NAME ROWS BATCH LOCAL     a step of vi on a logistic regression of ROWS rows in all and 20 columns, by
--                                   batches of BATCH rows a rank (0: all), LOCAL steps between two messages
--   fit LOCAL                       how far a fit by batches is from that with all rows
--   chains                          seconds of nuts, 4 chains
local core = require "perilune.core"
local peri = require "perilune"
local mpi  = require "perilune.mpi"

local D, ROUNDS = 20, 7

local function print_line (...)
  if mpi.rank == 0 then print(table.concat({ ... }, "\t")) end
end

-- The least time of rounds of fn, which ranks begin together.
local function best_of (rounds, fn)
  local best = math.huge
  for _ = 1, rounds do
    mpi.barrier()
    local begin = core.clock()
    fn()
    mpi.barrier()
    best = math.min(best, core.clock() - begin)
  end
  return mpi.allreduce(best, "max")
end

local function logistic (rows, batch)
  local x = mpi.rng(1):normal(rows, D)
  local w = peri.rng(2):normal(D) * 0.5
  local y = peri.Bernoulli { logits = x:matmul(w:reshape(D, 1)):reshape(-1) }:sample(nil, mpi.rng(3))
  return peri.model(function (m, d)
    m.w = peri.Normal(0, 2):expand(D)
    m:plate("rows", #d.y, batch > 0 and math.min(batch, #d.y) or #d.y, function ()
      m.y = peri.Bernoulli { logits = d.x:matmul(m.w:reshape(D, 1)):reshape(-1) }
    end)
  end) { x = x, y = y }
end

local KINDS = {}

function KINDS.sums (...)
  for _, n in ipairs { ... } do
    n = math.tointeger(n)
    local x, times = peri.zeros(n), n < 5000 and 200 or 20
    mpi.world:sum(false, nil, x)
    local best = best_of(20, function () for _ = 1, times do mpi.world:sum(false, nil, x) end end)
    print_line("sum", mpi.size, n, string.format("%.3f", best / times * 1e6))
  end
end

function KINDS.steps (name, rows, batch, local_steps)
  local _, own = mpi.share(math.tointeger(rows))
  batch, local_steps = math.tointeger(batch), math.tointeger(local_steps)
  local fit = logistic(own, batch):vi { comm = mpi.world, seed = 1, guide = "meanfield", run = false, starts = 1,
                                        tolerance = 1e-9, local_steps = local_steps }
  local times = local_steps * math.ceil((batch > 0 and 200 or own < 1e5 and 40 or 10) / local_steps)
  local best, messages, bytes, seconds = math.huge, 0, 0, 0
  for _ = 1, ROUNDS do
    mpi.barrier()
    fit:step(local_steps)   -- makes room for the messages of those that count
    local before, begin = { mpi.counters() }, core.clock()
    fit:step(times)
    best = math.min(best, core.clock() - begin)
    local after = { mpi.counters() }
    messages, bytes = messages + after[1] - before[1], bytes + after[2] - before[2]
    seconds = seconds + after[3] - before[3]
  end
  local steps = ROUNDS * times
  print_line("step", name, mpi.size, rows, batch, local_steps, string.format("%.2f", best / times * 1e6),
             string.format("%.3f", messages / steps), string.format("%.0f", bytes / steps),
             string.format("%.2f", seconds / steps * 1e6))
end

function KINDS.fit (local_steps)
  local rows = select(2, mpi.share(100000))
  local exact = logistic(rows, 0):vi { comm = mpi.world, seed = 1, starts = 1 }
  local begin = core.clock()
  local post = logistic(rows, 500):vi { comm = mpi.world, seed = 1, starts = 1, guide = "meanfield",
                                        local_steps = math.tointeger(local_steps) }
  local far = ((post.mean.w - exact.mean.w) / exact.sd.w):abs():max()
  print_line("fit", mpi.size, local_steps, post.steps, post.verdict, string.format("%.4f", far),
             string.format("%.3f", core.clock() - begin))
end

function KINDS.chains ()
  local x = peri.rng(1):normal(10000, D)
  local y = peri.Bernoulli { logits = x:matmul(peri.rng(2):normal(D, 1) * 0.5):reshape(-1) }:sample(nil, peri.rng(3))
  local posed = peri.model(function (m, d)
    m.w = peri.Normal(0, 2):expand(D)
    m.y = peri.Bernoulli { logits = d.x:matmul(m.w:reshape(D, 1)):reshape(-1) }
  end) { x = x, y = y }
  local best = best_of(3, function ()
    posed:nuts { comm = mpi.world, seed = 1, chains = 4, draws = 300, warmup = 200 }
  end)
  print_line("chains", mpi.size, string.format("%.3f", best))
end

KINDS[arg[1]](table.unpack(arg, 2))
