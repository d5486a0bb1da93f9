--- A communicator of one rank, as perilune.mpi's world is without mpirun: what is shared, shared by nobody.
local alone = { rank = 0, size = 1, sums = 0 }

function alone.bcast (_, value) return value end
function alone.allgather (_, value) return { value } end
function alone.allreduce (_, value) return value end
function alone.share (_, n) return 1, n end
function alone.tell () return true end
function alone.heard () end

--- Counts sums.
function alone:sum (has_failed)
  self.sums = self.sums + 1
  return has_failed and 0 or nil
end

return alone
