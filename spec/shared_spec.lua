--- The option comm with a communicator of one rank, and checkpoints. `make mpi-test` has several ranks.
local peri  = require "perilune"
local alone = require "spec.support.alone"

local Normal = peri.Normal

local y = peri.rng(2):normal(40) * 2 + 1

local function posed (size)
  return peri.model(function (m, d)
    m.mu, m.sigma = Normal(0, 5), peri.HalfNormal(3)
    m:plate("rows", #d.y, size or #d.y, function () m.y = Normal(m.mu, m.sigma) end)
  end) { y = y }
end

local function bits (post) return peri.pack { post.values, post.verdict } end

local function refuses (text, fn)
  local ok, why = pcall(fn)
  assert.is_false(ok)
  assert.truthy(tostring(why):find(text, 1, true), why)
end

describe("comm", function ()
  it("of one rank changes no bit of a fit", function ()
    for _, given in ipairs { {}, { guide = "meanfield", steps = 50 }, { objective = "renyi", steps = 50 } } do
      given.seed = 1
      local plain = bits(posed():vi(given))
      given.comm, alone.sums = alone, 0
      assert.equal(plain, bits(posed():vi(given)))
      assert.is_true(alone.sums > 50)
    end
    assert.equal("ok", posed(10):vi({ comm = alone, seed = 1 }).verdict)
  end)

  it("sums a density once for each evaluation", function ()
    local fit = posed():vi { comm = alone, seed = 1, guide = "meanfield", run = false }
    fit:step(3)
    alone.sums = 0
    fit:step(20)
    assert.equal(20, alone.sums)
  end)

  it("counts terms outside of plates once, and those within as often as a rank stands for others", function ()
    local Density = require "perilune.model.density"
    local shared = require "perilune.inference.shared"
    local second = setmetatable({ rank = 1, size = 3 }, { __index = alone })
    local u = peri.tensor { { 0.3, -0.2 } }
    local function value (comm, settings)
      return Density.new(shared.posed("vi", posed(), comm), {}, settings):values(u)[1]
    end
    local whole = posed()
    whole:start()
    local density = Density.new(whole, {})
    local all, values = density:values(u)[1], density:report(u)
    local likelihood = Normal(values.mu[1], values.sigma[1]):log_prob(y):sum()
    assert.near(all, value(alone), 1e-12)
    assert.near(likelihood, value(second), 1e-12)
    assert.near(all + 2 * likelihood, value(second, { alone = true }), 1e-11)
  end)

  it("takes steps alone, and meets at the end", function ()
    local fit = posed():vi { comm = alone, seed = 1, guide = "meanfield", local_steps = 7, run = false }
    fit:step(5)
    alone.sums = 0
    fit:step(70)
    assert.equal(10, alone.sums)
    assert.equal(5, fit.apart)
    fit:result()
    assert.equal(0, fit.apart)
    fit:step(2)   -- to 77: ranks meet where they would have, whoever looked
    assert.equal(0, fit.apart)
    fit:step(2000)
    assert.is_true(fit.converged)
    assert.equal("ok", posed():vi({ comm = alone, seed = 1, guide = "meanfield", local_steps = 7 }).verdict)
  end)

  it("spreads chains, paths and simulations", function ()
    local post = posed():nuts { comm = alone, seed = 1, draws = 200, warmup = 200 }
    assert.equal(4, post.chains)
    assert.equal("ok", posed():pathfinder({ comm = alone, seed = 1 }).verdict)
    local line = peri.model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end)
    local given = { method = "laplace", n = 20, draws = 19, data = { y = 0 }, seed = 1 }
    local ranks = peri.sbc(line, given).ranks
    given.comm = alone
    assert.equal(peri.pack(ranks), peri.pack(peri.sbc(line, given).ranks))
  end)

  it("tells how far the chains of all ranks are", function ()
    local shared = require "perilune.inference.shared"
    local messages, said = { { 1, "3: 40 0, 50 2" }, { 1, "" } }, nil
    local comm = { rank = 0, size = 2, share = function () return 1, 2 end,
                   heard = function () return table.unpack(table.remove(messages, 1) or {}) end }
    local line = shared.line(comm, 4)
    line:finish({ counts = function () return { 10, 20 }, { 1, 0 } end }, function (...) said = { ... } end)
    assert.same({ { 10, 20, 40, 50 }, { 1, 0, 0, 2 } }, said)
  end)

  it("refuses what cannot be shared", function ()
    local function vi (body, data) return function () peri.model(body)(data or {}):vi { comm = alone, seed = 1 } end end
    refuses("vi: comm must be a communicator", function () posed():vi { comm = { rank = 0, size = 1 } } end)
    refuses("this model has none; write m:plate", vi(function (m) m.mu = Normal(0, 1) end))
    refuses("z is not observed, within a plate of which each rank has a share", vi(function (m)
      m:plate("rows", 2, function () m.z = Normal(0, 1) end)
    end))
    refuses("comm takes a guide by its name", function ()
      posed():vi { comm = alone, guide = function (g) g.mu = Normal(g:param("loc", 0), 1) end }
    end)
    refuses("local_steps is of no use without comm", function () posed():vi { local_steps = 2 } end)
    refuses("not a time", function () posed():vi({ comm = alone, run = false }):step { ms = 1 } end)
  end)

  it("says which rank has failed", function ()
    local comm = { rank = 0, size = 2, sum = function () return 1 end, bcast = function () return "no such file" end }
    refuses("rank 1 has failed: no such file", function ()
      local Density = require "perilune.model.density"
      local one = posed()
      one:start()
      rawset(one, "comm", comm)
      Density.new(one, {}):values(peri.zeros(1, 2))
    end)
  end)
end)

describe("checkpoints", function ()
  local name = os.tmpname()

  local function write (file, text)
    local stream = assert(io.open(file, "wb"))
    stream:write(text)
    stream:close()
  end

  local function read (file)
    local stream = assert(io.open(file, "rb"))
    local text = stream:read "*a"
    stream:close()
    return text
  end

  local function forget ()
    for _, file in ipairs { name, name .. ".before", name .. ".new" } do os.remove(file) end
  end

  before_each(forget)
  teardown(forget)

  local ways = {
    vi = function (given)
      given.guide, given.tolerance, given.steps = "meanfield", false, 200
      return posed(10):vi(given)
    end,
    nuts = function (given)
      given.chains, given.draws, given.warmup = 2, 400, 300
      return posed():nuts(given)
    end,
  }

  for way, fit in pairs(ways) do
    it("of " .. way .. " go on to the same bits", function ()
      local whole = bits(fit { seed = 1 })
      assert.equal(whole, bits(fit { seed = 1, save = name, save_every = 90 }))
      assert.equal(whole, bits(fit { seed = 1, save = name, resume = true }))        -- it is done
      write(name, read(name .. ".before"))
      assert.equal(whole, bits(fit { seed = 1, save = name, resume = true }))
      write(name, read(name):sub(1, 500))                                            -- cut short: the one before
      assert.equal(whole, bits(fit { seed = 1, save = name, resume = true }))
      os.remove(name .. ".before")
      refuses("damaged", function () fit { seed = 1, save = name, resume = true } end)
      os.remove(name)
      assert.equal(whole, bits(fit { seed = 1, save = name, resume = true }))        -- there is none
    end)
  end

  it("of ranks go on on another number of them", function ()
    local function given (more)
      local all = { seed = 1, guide = "fullrank", tolerance = false, steps = 200 }
      for option, value in pairs(more) do all[option] = value end
      return all
    end
    local whole = bits(posed():vi(given {}))
    posed():vi(given { comm = alone, steps = 120, save = name, save_every = 60 })
    assert.equal(whole, bits(posed():vi(given { save = name, resume = true })))
    assert.equal(whole, bits(posed():vi(given { comm = alone, save = name, resume = true })))
    posed(10):vi(given { steps = 50, save = name, save_every = 50 })
    local two = setmetatable({ size = 2, allgather = function (_, x) return { x, x } end }, { __index = alone })
    local fit = posed(10):vi(given { comm = two, save = name, resume = true, run = false })
    assert.equal(50, fit.steps)
  end)

  it("are refused where options make no sense", function ()
    refuses("save_every needs save", function () posed():vi { save_every = 5 } end)
    refuses("resume needs save", function () posed():nuts { resume = true } end)
    refuses("save needs save_every", function () posed():vi { save = name } end)
    refuses("of no use with run = false", function () posed():nuts { save = name, save_every = 5, run = false } end)
    refuses("cannot be written", function () posed():vi { save = "/nowhere/at/all", save_every = 5, steps = 5 } end)
    posed():vi { seed = 1, save = name, save_every = 5, steps = 5, guide = "meanfield" }
    refuses("saved of another model, or with other options", function ()
      posed():vi { seed = 1, save = name, resume = true, steps = 5, guide = "fullrank" }
    end)
  end)
end)
