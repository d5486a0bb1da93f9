--- vi whose rows ranks share, beside the same fit of one; what it found goes to the file named.
local peri = require "perilune"
local mpi  = require "perilune.mpi"

local N, D = 403, 4
local rng = peri.rng(3)
local x = rng:normal(N, D)
local y = peri.Bernoulli { logits = x:matmul(rng:normal(D, 1)):reshape(N) }:sample(nil, rng)
local first, n = mpi.share(N)

local function logistic (size)
  return peri.model(function (m, d)
    m.a = peri.Normal(0, 2)
    m.w = peri.Normal(0, 2):expand(D)
    m.norm = (m.w * m.w):sum()
    m:factor("more", -m.a * m.a)
    m:plate("rows", #d.y, size and math.min(size, #d.y) or #d.y, function ()
      m.y = peri.Bernoulli { logits = m.a + d.x:matmul(m.w:reshape(D, 1)):reshape(-1) }
    end)
  end)
end

local function share (size) return logistic(size) { x = x:narrow(1, first, n), y = y:narrow(1, first, n) } end
local function whole (size) return logistic(size) { x = x, y = y } end

local function near (a, b, error_)
  for name, mean in pairs { a = a.mean.a, w = a.mean.w, sd = a.sd.w } do
    local other = name == "sd" and b.sd.w or b.mean[name]
    local far = peri.tensor(mean - other):reshape(-1):abs():max()
    assert(far <= error_, string.format("%s is off by %g", name, far))
  end
end

local kept = {}

-- Is the posterior the same on all ranks?
local function keep (post)
  local text = peri.pack { post.values, post.khat, post.elbo_mean, post.verdict }
  for _, other in ipairs(mpi.allgather(text)) do assert(other == text) end
  kept[#kept + 1] = text
  return post
end

-- Full batches: fixed draws, and steps of every guide.
near(keep(share():vi { comm = mpi.world, seed = 1 }), whole():vi { seed = 1 }, 1e-12)
for _, guide in ipairs { "meanfield", "fullrank", "lowrank", "flow" } do
  local function given (comm) return { comm = comm, seed = 2, guide = guide, steps = 60, tolerance = false } end
  near(keep(share():vi(given(mpi.world))), whole():vi(given()), 1e-12)
end
near(keep(share():vi { comm = mpi.world, seed = 1, objective = "renyi", steps = 60 }),
     whole():vi { seed = 1, objective = "renyi", steps = 60 }, 1e-12)

-- The generator is that of rank 0, and goes on in step.
local own = peri.rng(mpi.rank)
keep(share():vi { comm = mpi.world, rng = own, guide = "meanfield", steps = 5, tolerance = false })
local state = own:state()
for _, other in ipairs(mpi.allgather(state)) do assert(other == state) end

-- Batches, of as many rows as each rank wants; and steps between messages.
local exact = whole():vi { seed = 1 }
local batched = keep(share(10 + 5 * mpi.rank):vi { comm = mpi.world, seed = 1 })
assert(batched.verdict == "ok")
near(batched, exact, 0.02)
local apart = keep(share(20):vi { comm = mpi.world, seed = 1, local_steps = 7 })
assert(apart.verdict == "ok")
near(apart, exact, 0.02)
near(keep(share():vi { comm = mpi.world, seed = 1, local_steps = 5 }), exact, 0.02)

-- One message a step, of the gradients and values of all draws.
local fit = share():vi { comm = mpi.world, seed = 1, guide = "meanfield", run = false }
fit:step(5)
local messages, bytes = mpi.counters()
fit:step(100)
local messages_after, bytes_after = mpi.counters()
assert(messages_after - messages == 100)
assert((bytes_after - bytes) / 100 <= 8 * (D + 2) * 8 + 200)

-- on_step of one rank ends the fit on all.
fit = share():vi { comm = mpi.world, seed = 1, guide = "meanfield", run = false,
                   on_step = function (step) return not (step == 13 and mpi.rank == mpi.size - 1) end }
fit:step(100)
assert(fit.steps == 13)

-- What is refused is refused on all ranks, which go on after.
local function refuses (text, fn)
  local ok, why = pcall(fn)
  assert(not ok and tostring(why):find(text, 1, true), why)
  mpi.barrier()
end
local function vi (body, data) return function () peri.model(body)(data):vi { comm = mpi.world, seed = 1 } end end

refuses("z is not observed, within a plate", vi(function (m)
  m:plate("rows", 3, function () m.z = peri.Normal(0, 1):expand(3); m.y = peri.Normal(m.z, 1) end)
end, { y = { 1, 2, 3 } }))
refuses("p is derived within a plate", vi(function (m)
  m.z = peri.Normal(0, 1)
  m:plate("rows", 3, function () m.p = m.z + 1; m.y = peri.Normal(m.p, 1) end)
end, { y = { 1, 2, 3 } }))
refuses("this model has none", vi(function (m) m.z = peri.Normal(0, 1); m.y = peri.Normal(m.z, 1) end, { y = 1 }))
refuses("t stands outside of plates, and is not the same on ranks 0 and 1", vi(function (m)
  m.z = peri.Normal(0, 1)
  m.t = peri.Normal(m.z, 1)
  m:plate("rows", 3, function () m.y = peri.Normal(m.z, 1) end)
end, { y = { 1, 2, 3 }, t = mpi.rank }))
refuses("different models", vi(function (m)
  m["z" .. math.min(mpi.rank, 1)] = peri.Normal(0, 1)
  m:plate("rows", 3, function () m.y = peri.Normal(0, 1) end)
end, { y = { 1, 2, 3 } }))
local runs = 0
refuses("lost its file", vi(function (m)
  m.z = peri.Normal(0, 1)
  runs = runs + 1
  if mpi.rank == 1 and runs > 2 then error "lost its file" end
  m:plate("rows", 3, function () m.y = peri.Normal(m.z, 1) end)
end, { y = { 1, 2, 3 } }))
refuses("the log density of y is", vi(function (m)   -- finite on rank 0
  m.z = peri.Normal(0, 1)
  m:plate("rows", 1, function () m.y = peri.Exponential(m.z:exp()) end)
end, { y = { mpi.rank == 1 and -1 or 1 } }))
refuses("not a time", function () fit:step { ms = 2 } end)

if mpi.rank == 0 then
  local file = assert(io.open(arg[1], "wb"))
  file:write(peri.pack(kept))
  file:close()
end
