--- Something goes wrong on rank 1, while others wait for it.
local peri = require "perilune"
local mpi  = require "perilune.mpi"

local is_faulty = mpi.rank == 1

local function kill () os.execute "kill -9 $PPID" end

local FAULTS = {
  raises = function () error "boom on rank 1" end,
  exits  = function () os.exit(3) end,
  ends   = function () os.exit(true, true) end,
  dies   = kill,
  strays = function () mpi.bcast(1) end,
}

local fault = arg[1]
if fault == "disagrees" then mpi.world:sum(false, nil, peri.zeros(is_faulty and 7 or 5))
elseif fault == "drifts" then
  local model = peri.model(function (m)
    m.z = peri.Normal(0, 1)
    m:plate("rows", 3, function () m.y = peri.Normal(m.z, 1) end)
  end)
  model { y = { 1, 2, 3 } } :vi { comm = mpi.world, seed = 1, guide = "meanfield", on_step = function (step, _, fit)
    local w = fit.objective.params[1]
    if is_faulty and step == 20 then w:copy(w:detach() + 1e-12) end
  end }
else
  if is_faulty then FAULTS[fault]() end
  mpi.gather(1)
  mpi.allreduce(peri.zeros(5))
end
