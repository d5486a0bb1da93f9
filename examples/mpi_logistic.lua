--- A logistic regression whose rows are spread over processes:
--
--   make mpi
--   mpirun -n 2 lua5.4 examples/mpi_logistic.lua
--
-- Every process runs this script with rows of its own. Without mpirun, or without perilune.mpi, it is one process that
-- has all of them.
local peri = require "perilune"

local has_mpi, mpi = pcall(require, "perilune.mpi")
local rank, size = 0, 1
if has_mpi then rank, size = mpi.rank, mpi.size end

local function say (...) if rank == 0 then print(string.format(...)) end end

-- The rows of this process. In earnest each would read its own file, or its part of one; here a block of rows has a
-- generator of its own, so that the data are the same on any number of processes.
local BLOCKS, ROWS, WEIGHTS = 8, 2500, peri.tensor { 1, -0.5, 0.25, 0, 2 }
local first, count = 1, BLOCKS
if has_mpi then first, count = mpi.share(BLOCKS) end
local generators, xs, ys = peri.rng(1):split(BLOCKS), {}, {}
for block = first, first + count - 1 do
  local x = generators[block]:normal(ROWS, 5)
  xs[#xs + 1] = x
  ys[#ys + 1] = peri.Bernoulli { logits = x:matmul(WEIGHTS:reshape(5, 1)):reshape(-1) }:sample(nil, generators[block])
end

-- What stands in a plate belongs to the rows; what stands outside is the same everywhere, and counts once.
local logistic = peri.model(function (m, d)
  m.w = peri.Normal(0, 2):expand(5)
  m:plate("rows", #d.y, function ()
    m.y = peri.Bernoulli { logits = d.x:matmul(m.w:reshape(5, 1)):reshape(-1) }
  end)
end)
local y = peri.cat(ys, 1)
local posed = logistic { x = peri.cat(xs, 1), y = y }

local begin = os.clock()
local post = posed:vi { seed = 1, comm = has_mpi and mpi.world or nil }
say("%d process%s with %d rows each: %s", size, size == 1 and "" or "es", #y, post.verdict)
for i = 1, 5 do say("w[%d]  %7.4f ± %.4f   (%g)", i, post.mean.w[i], post.sd.w[i], WEIGHTS[i]) end
say("%.2f s of CPU", os.clock() - begin)
if has_mpi then
  local messages, bytes = mpi.counters()
  say("%d messages of %.0f bytes on average from each", messages, bytes / math.max(messages, 1))
else
  say "(make mpi, then mpirun -n 2 lua5.4 examples/mpi_logistic.lua)"
end
