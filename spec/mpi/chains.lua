--- Chains, paths and simulations that ranks share; what does not depend on their number goes to the file named.
local peri = require "perilune"
local mpi  = require "perilune.mpi"

local schools = peri.model(function (m, d)
  m.mu, m.tau = peri.Normal(0, 5), peri.HalfCauchy(5)
  m.theta = peri.Normal(m.mu, m.tau):expand(8)
  m.y = peri.Normal(m.theta, d.sigma)
end)
local posed = schools { y = { 28, 8, -3, 7, -1, 1, 18, 12 }, sigma = { 15, 10, 16, 11, 9, 11, 10, 18 } }

local function on_all (value)
  local text = peri.pack(value)
  for _, other in ipairs(mpi.allgather(text)) do assert(other == text) end
  return text
end

local said = {}
local post = posed:nuts { comm = mpi.world, chains = 5, draws = 300, warmup = 200, seed = 1, progress = function (info)
  said[info.chain] = info
end }
assert(#post:draws().mu == 1500 and post.chains == 5)
local chains = on_all { post.values, post.stats, post.rhat, post.divergences }

-- Rank 0 has heard of all chains; a function is called there.
assert(mpi.rank > 0 and #said == 0 or #said == 5 and said[5].done == 500 and said[5].chain == 5)

local hmc = posed:hmc { comm = mpi.world, chains = 4, draws = 100, warmup = 100, seed = 1, progress = true }
on_all(hmc.values)

-- Driven by hand, and saved: the state is that of all chains.
local function sampling ()
  return posed:nuts { comm = mpi.world, chains = 5, draws = 300, warmup = 200, seed = 1, run = false }
end
local a, b = sampling(), sampling()
a:step(50)
assert(b:restore(a:state()))
while not b:step(1000) do end
assert(peri.pack(b:result().values) == peri.pack(post.values))
local ok, why = pcall(posed.nuts, posed, { comm = mpi.world, chains = 1 })
assert(ok == (mpi.size == 1) and (ok or why:find("at least as many as ranks", 1, true)), why)

-- Ranks that share chains must have all data.
ok, why = pcall(function ()
  return schools { y = peri.full({ 8 }, mpi.rank), sigma = 1 } :nuts { comm = mpi.world, draws = 100 }
end)
assert(ok == (mpi.size == 1) and (ok or why:find("y is not the same on ranks 0 and 1; each must have", 1, true)))

local path = posed:pathfinder { comm = mpi.world, paths = 6, seed = 1 }
on_all { path.values, path.elbo_mean }
assert(path.how:find "6 paths")

-- Simulations are fitted where they are fitted: ranks are those of one process.
local line = peri.model(function (m) m.mu = peri.Normal(0, 1); m.y = peri.Normal(m.mu, 1) end)
local function given (comm)
  return { method = "laplace", n = 30, draws = 19, data = { y = 0 }, seed = 1, comm = comm }
end
local alone, together = peri.sbc(line, given()), peri.sbc(line, given(mpi.world))
assert(peri.pack(alone.ranks) == peri.pack(together.ranks) and alone.verdict == together.verdict)
local function fails (n)
  return pcall(peri.sbc, line, { method = function () error("fit " .. n) end, n = 20, draws = 19, data = { y = 0 },
                                 seed = 1, comm = mpi.world })
end
ok, why = fails(1)
assert(not ok and tostring(why):find "fit 1")
mpi.barrier()

if mpi.rank == 0 then
  local file = assert(io.open(arg[1], "wb"))
  file:write(chains)
  file:close()
end
