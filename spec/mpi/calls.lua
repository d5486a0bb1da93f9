--- Every call of perilune.mpi, on any number of ranks.
local peri = require "perilune"
local mpi  = require "perilune.mpi"

local rank, size, last = mpi.rank, mpi.size, mpi.size - 1

local function same (a, b) assert(peri.pack(a) == peri.pack(b)) end

local function refuses (text, fn, ...)
  local ok, why = pcall(fn, ...)
  assert(not ok and why:find(text, 1, true), why)
  assert(why:find("^spec/mpi/calls.lua:%d+: "), why)   -- at the caller's line
end

-- Tensors and plain data, from every rank.
local kinds = { peri.tensor { { 1, -0.0 }, { math.huge, 0.1 } }, peri.zeros(0, 3), 3, 2.5, "text\0", "", true, false,
                { a = { 1, "b" }, [7] = peri.tensor { 1, 2 } } }
for root = 0, last do
  for _, value in ipairs(kinds) do
    local own = value
    if rank ~= root then own = "other" end
    same(mpi.bcast(own, root), value)
  end
end
assert(mpi.bcast(nil) == nil)
local list = mpi.gather({ rank, "s" .. rank }, last)
assert((list ~= nil) == (rank == last))
for r = 0, list and last or -1 do same(list[r + 1], { r, "s" .. r }) end
for r, x in ipairs(mpi.allgather(peri.full({ rank, 2 }, rank))) do same(x, peri.full({ r - 1, 2 }, r - 1)) end
for r, x in ipairs(mpi.allgather(rank % 2 == 0 and "even" or peri.tensor { 1 })) do
  same(x, r % 2 == 1 and "even" or peri.tensor { 1 })
end
local transposed = peri.tensor { { 1, 2 }, { 3, 4 } }:transpose()
same(mpi.allgather(transposed)[size], peri.tensor { { 1, 3 }, { 2, 4 } })
local w = peri.param { 1, 2 }
same(mpi.bcast(w * 2), peri.tensor { 2, 4 })

-- Shares.
local rows = peri.arange(1, 11):reshape(10, 1)
local first, n = mpi.share(10)
same(mpi.scatter(rank == 0 and rows or nil), rows:narrow(1, first, n))
local values = {}
for r = 0, last do values[r + 1] = { r } end
same(mpi.scatter(rank == last and values or nil, last), { rank })
assert(mpi.allreduce(n) == 10)
assert(select(2, mpi.share(3 * size)) == 3)

-- Sums: in the order of ranks, short and long, the same everywhere.
local numbers = peri.rng(1):normal(size, 9001)
for _, length in ipairs { 1, 7, 7, 4096, 9001, 9001, 2 } do
  local own, expected = numbers:narrow(2, 1, length)[rank + 1], numbers:narrow(2, 1, length)[1]
  for r = 2, size do expected = expected + numbers:narrow(2, 1, length)[r] end
  same(mpi.allreduce(own), expected)
end
assert(mpi.allreduce(rank) == size * last / 2)
assert(mpi.allreduce(rank, "max") == last and mpi.allreduce(rank, "min") == 0)
same(mpi.allreduce(peri.tensor { rank, -rank }, "max"), peri.tensor { last, 0 })
same(mpi.allreduce({ x = 1, y = { peri.tensor { rank } } }), { x = size, y = { peri.tensor { size * last / 2 } } })
assert(mpi.allreduce("" .. rank, function (a, b) return a .. b end) == ("0123456789"):sub(1, size))

-- One message for each of equal sums but the first, which finds no room.
local x = peri.zeros(100)
mpi.world:sum(false, nil, x)
local messages, bytes = mpi.counters()
for _ = 1, 10 do mpi.world:sum(false, x, x) end
local messages_after, bytes_after = mpi.counters()
assert(messages_after - messages == 10 and (bytes_after - bytes) / 10 < 1000)

-- A rank that says it has failed is known on all.
assert(mpi.world:sum(rank == last, nil, x) == last)
assert(mpi.world:sum(false, nil, x) == nil)

-- Generators: one for each rank, by seed and rank alone.
local drawn = mpi.allgather(mpi.rng(5):uniform(3))
for r = 1, size do
  same(drawn[r], peri.rng(5):split(size)[r]:uniform(3))
  assert(r == 1 or not drawn[r]:equal(drawn[1]))
end

-- What is refused, before anything is sent.
refuses("mpi.bcast: rank " .. rank .. " of " .. size .. ": cannot send a function", mpi.bcast, print, rank)
refuses("cannot send", mpi.allgather, { { print } })
refuses("root must be a rank from 0 to " .. last, mpi.gather, 1, size)
refuses("by must be", mpi.allreduce, 1, "mean")
refuses("takes a tensor, or a list of " .. size, mpi.scatter, { 1, 2, 3, 4, 5, 6, 7 }, rank)
refuses("has no gathr; did you mean gather?", function () return mpi.gathr end)
mpi.barrier()
assert(mpi.world.rank == rank and mpi.world.size == size and tostring(mpi.world) == "rank " .. rank .. " of " .. size)
