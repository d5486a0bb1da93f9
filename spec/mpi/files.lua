--- Batches of rows in files, a file for each rank: stages are shuffled on each rank, and the fit is that of tensors.
local peri = require "perilune"
local mpi = require "perilune.mpi"
local Batch = require "perilune.model.batch"
Batch.STAGE, Batch.BLOCK = 600, 60
local g = peri.rng(1):split(2)[mpi.rank + 1]
local x = g:normal(3000, 2)
local y = peri.Bernoulli { logits = x:matmul(peri.tensor { { 1 }, { -0.5 } }):reshape(-1) }:sample(nil, g)
local name = os.tmpname()
peri.write_rows(peri.cat({ x, y:reshape(-1, 1) }, 2), name)
local rows = peri.map_file(name)
local logistic = peri.model(function (m, d)
  m.w = peri.Normal(0, 2):expand(2)
  m:plate("rows", 3000, 100, function ()
    m.y = peri.Bernoulli { logits = d.x:matmul(m.w:reshape(2, 1)):reshape(-1) }
  end)
end)
local of_files = logistic { x = rows:columns { 1, 2 }, y = rows:column(3) }:vi { comm = mpi.world, seed = 1 }
local of_tensors = logistic { x = x, y = y }:vi { comm = mpi.world, seed = 1 }
os.remove(name)
assert(of_files.verdict == "ok" and of_tensors.verdict == "ok")
assert(((of_files.mean.w - of_tensors.mean.w) / of_tensors.sd.w):abs():max() < 0.05)
