--- A fit with checkpoints that is killed, and goes on: resumes.lua WAY (whole FILE | dies STATE | resumes STATE FILE).
local peri = require "perilune"
local mpi  = require "perilune.mpi"

local way, what, state, file = arg[1], arg[2], arg[3], arg[4]

local rng = peri.rng(3)
local all = rng:normal(60) * 2 + 1
local first, n = mpi.share(60)
local rows = way == "vi" and all:narrow(1, first, n) or all   -- chains have all of them
local posed = peri.model(function (m, d)
  m.mu, m.sigma = peri.Normal(0, 5), peri.HalfNormal(3)
  m:plate("rows", #d.y, function () m.y = peri.Normal(m.mu, m.sigma) end)
end) { y = rows }

local function kill () if mpi.rank == mpi.size - 1 then os.execute "kill -9 $PPID" end end

local given = { comm = mpi.world, seed = 1 }
if way == "vi" then
  given.guide, given.tolerance, given.steps = "fullrank", false, 300
  if what == "dies" then given.on_step = function (step) if step == 170 then kill() end end end
else
  given.chains, given.draws, given.warmup = 4, 600, 400
end
if what ~= "whole" then
  given.save, given.save_every, given.resume = state, way == "vi" and 50 or 300, what == "resumes"
end
if way == "nuts" and what == "dies" then
  local checkpoint = require "perilune.inference.checkpoint"
  local write, written = checkpoint.write, 0
  checkpoint.write = function (...)
    write(...)
    written = written + 1
    if written == 2 then kill() end
  end
end

local post = posed[way](posed, given)
local found = { mean = post.mean.mu, sd = post.sd.sigma, bits = way == "nuts" and peri.pack(post.values) or nil }
if what == "whole" then
  if mpi.rank == 0 then
    local stream = assert(io.open(state, "wb"))
    stream:write(peri.pack(found))
    stream:close()
  end
else
  local stream = assert(io.open(file, "rb"))
  local whole = assert(peri.unpack(stream:read "a"))
  stream:close()
  assert(math.abs(found.mean - whole.mean) < 1e-10 and math.abs(found.sd - whole.sd) < 1e-10)
  assert(found.bits == whole.bits)
end
