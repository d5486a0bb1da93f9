--- perilune.mpi: several processes that work as one, by MPI. Built by `make mpi`; nothing else needs it.
--
--   mpirun -n 8 lua5.4 script.lua
--
-- Every process runs the script, and all take part in every call: a call returns when the others have called the same.
-- Tensors cross as they are; numbers, strings, booleans and tables of these by packed.lua; functions never do. Ranks
-- begin at 0, as MPI's do, and lists of what ranks have at 1, as Lua's do. docs/scaling.md has the whole of it.
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local mpi_core  = require "perilune.mpi_core"
local options   = require "perilune.inference.options"
local packed    = require "perilune.packed"
local show      = require "perilune.show"

local KIND = "message"

local rank, size, library = mpi_core.open(function (message) errors.raise("%s", message) end)

local function fail (call, ...)
  errors.raise("mpi.%s: rank %d of %d: %s", call, rank, size, string.format(...))
end


-- Values as what crosses ------------------------------------------------------------------------

-- A tensor whose elements lie one after the other, or a string; nil for nothing.
local function outgoing (call, value)
  if core.is_tensor(value) then return core.bare(value):contiguous() end
  if value == nil then return nil end
  local ok, text = pcall(packed.pack, KIND, value)
  if ok then return text end
  return fail(call, "%s", (tostring(text):gsub("^.*save: ", ""):gsub("^cannot keep", "cannot send")))
end

local function incoming (call, from, value)
  if type(value) ~= "string" then return value end
  local found, why = packed.unpack(KIND, value)
  if why then fail(call, "what came from rank %d is %s", from, why) end
  return found
end

local function incoming_list (call, list)
  for i = 1, size do list[i] = incoming(call, i - 1, list[i]) end
  return list
end

local function root_of (call, root)
  if root == nil then return 0 end
  if math.type(root) == "integer" and root >= 0 and root < size then return root end
  return fail(call, "root must be a rank from 0 to %d, got %s", size - 1, show.value(root))
end


-- Calls -----------------------------------------------------------------------------------------

local Comm = { __name = "communicator" }
Comm.__index = Comm

--- The value that rank `root` has, 0 unless told.
function Comm.bcast (_, value, root)
  root = root_of("bcast", root)
  return incoming("bcast", root, mpi_core.bcast(rank == root and outgoing("bcast", value) or nil, root))
end

--- The list of all ranks' values at rank `root`, 0 unless told; nil elsewhere.
function Comm.gather (_, value, root)
  root = root_of("gather", root)
  local list = mpi_core.gather(outgoing("gather", value), root)
  return list and incoming_list("gather", list)
end

--- The same list on all ranks.
function Comm.allgather (_, value)
  return incoming_list("allgather", mpi_core.allgather(outgoing("allgather", value)))
end

-- What is to be scattered: a list of `size` values as it is, of a tensor stretches of rows.
local function parts_of (value)
  local parts = {}
  if core.is_tensor(value) and core.rank(value) > 0 then
    local rows = core.shape(value)[1]
    for r = 0, size - 1 do
      local first, n = Comm.share(nil, rows, r)
      parts[r + 1] = outgoing("scatter", value:narrow(1, first, n))
    end
    return parts
  end
  if type(value) ~= "table" or #value ~= size then
    fail("scatter", "takes a tensor, or a list of %d values at the root, got %s", size, show.value(value))
  end
  for i = 1, size do parts[i] = outgoing("scatter", value[i]) end
  return parts
end

--- Of the list that rank `root` has (0 unless told), the value for this rank; of a tensor its share of rows.
function Comm.scatter (_, value, root)
  root = root_of("scatter", root)
  return incoming("scatter", root, mpi_core.scatter(rank == root and parts_of(value) or nil, root))
end

--- Returns when all ranks are here.
function Comm.barrier () mpi_core.barrier() end

local FOLDS = {
  sum = function (a, b) return a + b end,
  max = function (a, b) return functions.maximum(a, b) end,
  min = function (a, b) return functions.minimum(a, b) end,
}

-- Numbers and tensors by `fold`; tables field by field.
local function folded (fold, a, b)
  if type(a) ~= "table" then return fold(a, b) end
  local all = {}
  for key, x in pairs(a) do
    if b[key] == nil then fail("allreduce", "tables must have the same keys on all ranks; %s is missing", tostring(key))
    end
    all[key] = folded(fold, x, b[key])
  end
  return all
end

--- All ranks' values in one, put together in the order of ranks: by "sum" (unless told), "max" or "min" of numbers,
-- tensors and tables of these; or by a function of two values.
function Comm.allreduce (_, value, by)
  local fold = FOLDS[by or "sum"]
  if not fold and not options.is_callable(by) then
    fail("allreduce", 'by must be "sum", "max", "min" or a function of two values, got %s', show.value(by))
  end
  if core.is_tensor(value) and fold == FOLDS.sum then
    local total = core.bare(value):clone()
    mpi_core.agree(total)
    mpi_core.sum(false, nil, total)
    return total
  end
  local list = Comm.allgather(nil, value)
  local all = list[1]
  for i = 2, size do
    if fold then all = folded(fold, all, list[i]) else all = by(all, list[i]) end
  end
  return all
end

--- The first of n rows that are this rank's (or rank r's), and how many they are: stretches as even as can be.
function Comm.share (_, n, r)
  local count = type(n) == "number" and math.tointeger(n)
  if not count or count < 0 then fail("share", "n must be how many rows there are, got %s", show.value(n)) end
  n, r = count, r or rank
  local first = math.floor(n * r / size)
  return first + 1, math.floor(n * (r + 1) / size) - first
end

--- This rank's generator, of those that a seed gives to all ranks.
function Comm.rng (_, seed) return core.rng(seed):split(size)[rank + 1] end

--- For what runs on all ranks (inference/shared.lua): adds one or two tensors up in place by one message, in the order
-- of ranks. `same` is a tensor that must be the same on all ranks, or nil. Returns the first rank that says it has
-- failed; the tensors are as they were then.
function Comm.sum (_, has_failed, same, a, b)
  if b == nil then return mpi_core.sum(has_failed, same, a) end
  return mpi_core.sum(has_failed, same, a, b)
end

--- A short text to rank 0, dropped where the last one has not left yet, unless it must be sent; and what has come.
function Comm.tell (_, text, must) return mpi_core.tell(text, must) end
function Comm.heard () return mpi_core.heard() end

function Comm.__tostring () return string.format("rank %d of %d", rank, size) end

local world = setmetatable({ rank = rank, size = size }, Comm)

local mpi = {
  rank = rank, size = size, world = world, library = (library:match("^[^\n,]*"):gsub("%s+", " ")),
  --- Messages that this rank has sent so far, their bytes, and the seconds it has spent in MPI.
  counters = mpi_core.counters,
}

for _, name in ipairs { "bcast", "gather", "allgather", "scatter", "barrier", "allreduce", "share", "rng" } do
  mpi[name] = function (...) return Comm[name](world, ...) end
end

return errors.module("perilune.mpi", mpi)
