--- Sampling: chains that run, and the posterior that their draws are.
--
--   sampling:step(n)          n gradients of each chain, or draws where there are none (random_walk)
--   sampling:step { ms = 2 }  as many as fit into the time
--   sampling:state()          a string; sampling:restore(s) goes on from there, to the same bits
--   sampling:result()         a Posterior of what has been drawn
local checkpoint  = require "perilune.inference.checkpoint"
local core        = require "perilune.core"
local Density     = require "perilune.model.density"
local diagnostics = require "perilune.inference.diagnostics"
local errors      = require "perilune.errors"
local lbfgs       = require "perilune.inference.lbfgs"
local modes       = require "perilune.inference.modes"
local opts        = require "perilune.inference.options"
local packed      = require "perilune.packed"
local Path        = require "perilune.inference.path"
local Posterior   = require "perilune.inference.posterior"
local progress    = require "perilune.inference.progress"
local recipe      = require "perilune.inference.recipe"
local shared      = require "perilune.inference.shared"
local show        = require "perilune.show"
local tensor      = require "perilune.tensor"
local Uniform     = require "perilune.distributions.Uniform"
local verdict     = require "perilune.inference.verdict"
local weighted    = require "perilune.inference.weighted"

local raise = errors.raise

local CLIMB    = 60        -- iterations towards a mode before a chain starts
local SAMPLES  = 5         -- draws for a point of such a path,
local EVERY    = 4         -- one in so many
local PROGRESS = 0.1       -- seconds between two reports

local BURST    = 1000      -- gradients of each chain between two looks at how far they are

local AT_ONCE  = 8         -- quantities that are diagnosed together

local METRICS = { auto = true, diag = true, dense = true }
local DENSE_MOST = 30      -- free numbers for which a dense metric costs next to nothing

local STATS = { "log_density", "energy", "accept", "step", "depth", "leapfrogs", "divergent" }

--@ Sampling
-- Chains, or particles, that their host drives: posed:nuts { run = false } gives one, likewise hmc, random_walk and
-- smc.
-- > posed = model(function (m) m.x = Normal(0, 1) end) {}
-- > sampling = posed:nuts { seed = 1, draws = 200, warmup = 200, run = false }
-- > while not sampling:step(100) do end
-- > #sampling:result():draws().x
-- 800
local Sampling = { __name = "sampling" }
Sampling.__index = Sampling


-- Where chains start --------------------------------------------------------------------------

-- A draw from the best Gaussian on the path from a random start towards a mode, or the start itself; and where the path
-- ended.
local function start_of (density, init, i, rng)
  local u = i == 1 and modes.is_finite_at(density, init) and init or modes.start_near(density, init, 2, rng)
  if not u then return nil end
  local path = Path.follow(density, SAMPLES, rng, EVERY)
  local ended = lbfgs.minimise(modes.objective(density), u, { iterations = CLIMB, on_step = path.on_step })
  if not path.best then return u, ended end
  local drawn = path.best:draw(1, rng):reshape(density.size)
  return modes.is_finite_at(density, drawn) and drawn or u, ended
end

-- Starts of n chains from the first on, as rows, and the end of the best path. rng_of(i) is chain i's generator.
local function starts_of (posed, density, init, first, n, rng_of)
  local list, best = {}, nil
  for i = first, first + n - 1 do
    local start, ended = start_of(density, init, i, rng_of(i))
    if not start then recipe.complain(posed, density, init) end
    list[#list + 1] = start
    if not best or ended.value < best.value then best = ended end
  end
  return tensor.stack(list), best
end

-- A first metric: the curvature at the mode near the best end, if there is one.
local function scale_of (density, best, is_dense)
  if density.size > recipe.FULL_MOST then return nil end
  local units = modes.polish(density, best.x, modes.sd_of_end(best))
  if not units then return nil end
  return is_dense and units.scale or units:sd()
end

-- A trace and its parameter for each thread.
local function sources_of (posed, density, degrees)
  local list = {}
  for k = 1, core.threads() do
    local own = k == 1 and density or Density.new(posed, degrees)
    list[2 * k - 1], list[2 * k] = own:traced(), own.u
  end
  return list
end

-- Seeds of the chains' own generators.
local function seeds_of (rng, n)
  local seeds = {}
  for i, x in ipairs(Uniform(0, 1):sample({ n }, rng):totable()) do seeds[i] = math.floor(x * 2 ^ 53) end
  return seeds
end

--- A generator of its own for something that keeps its state.
function Sampling.own_rng (rng) return core.rng(seeds_of(rng, 1)[1]) end

--- Of chains that exist, which know run, draws, state and restore; `names` are those of their statistics.
function Sampling.of (posed, density, degrees, options, chains, names)
  return setmetatable({ posed = posed, density = density, degrees = degrees, options = options, chains = chains,
                        names = names }, Sampling)
end

-- Starts, seeds and the first metric of all chains.
local function begin (posed, density, init, options, is_dense)
  local rng, n = options.rng, options.chains
  local starts, best = starts_of(posed, density, init, 1, n, function () return rng end)
  return starts, seeds_of(rng, n), scale_of(density, best, is_dense)
end

-- The same of those that run on this rank. Each chain has a generator of its own, and the metric is that of the best
-- path of all ranks: nothing depends on how chains are spread.
local function begin_share (posed, density, init, options, is_dense)
  local comm, n = options.comm, options.chains
  local first, count = comm:share(n)
  local rngs, seeds = options.rng:split(n), seeds_of(options.rng, n)
  local found = shared.together(comm, function ()
    local starts, best = starts_of(posed, density, init, first, count, function (i) return rngs[i] end)
    return { starts = starts, best = best }
  end)
  local ends = comm:allgather(found.best.value)
  local winner = core.tensor(ends):argmin() - 1
  local scale = comm.rank == winner and scale_of(density, found.best, is_dense) or nil
  scale = comm:bcast(scale, winner)
  return found.starts, table.move(seeds, first, first + count - 1, 1, {}), scale
end

--- Chains of a posed model; options as nuts.lua and hmc.lua read them.
function Sampling.new (posed, options)
  local density, init, degrees = recipe.density(posed, options, { for_chains = true })
  local is_dense = options.metric == "dense" or options.metric == "auto" and density.size <= DENSE_MOST
  local how = options.comm and begin_share or begin
  local starts, seeds, scale = how(posed, density, init, options, is_dense)
  local chains = core.chains(sources_of(posed, density, degrees), starts, seeds, {
    warmup = options.warmup, draws = options.draws, max_depth = options.max_depth, steps = options.steps,
    target = options.target, step = options.step, dense = is_dense, scale = scale,
  })
  return Sampling.of(posed, density, degrees, options, chains, STATS)
end


-- Running ---------------------------------------------------------------------------------------

--@ Sampling:step(n) -> boolean
-- So many gradients of each chain (of random_walk: draws; of smc: moves of all particles), or as many as fit into a
-- time. True when all is drawn.
--   n  integer, 100 unless told (smc: 1); or { ms = 2 }
-- > posed = model(function (m) m.x = Normal(0, 1) end) {}
-- > posed:nuts({ seed = 1, run = false }):step(10)
-- false
function Sampling:step (n)
  if n == nil then n = 100 end
  if type(n) == "table" then
    errors.check_options("step", n, { "ms" })
    if not opts.is_positive(n.ms) then raise("step: ms must be positive, got %s", show.value(n.ms)) end
    self.done = self.chains:run(nil, n.ms / 1000)
  elseif opts.is_count(n) then self.done = self.chains:run(math.tointeger(n))
  else raise("step: takes a positive integer or { ms = }, got %s", show.value(n)) end
  return self.done
end

--@ Sampling:progress() -> table
-- How far each chain is: a list of tables { method, chain, done, of, phase, divergences, text }. done and of are
-- iterations, those of the warm-up among them; phase is "warm-up" or "sampling"; divergences are those after the
-- warm-up. The option progress = function (info) is called with such tables while chains run, which have seconds_left
-- as well.
-- > posed = model(function (m) m.x = Normal(0, 1) end) {}
-- > sampling = posed:nuts { seed = 1, draws = 200, warmup = 200, run = false }
-- > sampling:progress()[4].text
-- nuts: chain 4, warm-up, 0 of 400 iterations, 0 divergences
function Sampling:progress ()
  local done, divergences = self.chains:counts()
  return progress.of_chains(self.options.method, self.options.warmup, self.options.draws, done, divergences, nil, nil,
                            self.options.comm and (self.options.comm:share(self.options.chains)))
end

-- Tells of chains that have done so many iterations; `clock` says when they began, and what they had done by then.
local function tell (self, done, divergences, clock)
  local options, is_last = self.options, true
  for _, n in ipairs(done) do is_last = is_last and n == options.warmup + options.draws end
  local list = progress.of_chains(options.method, options.warmup, options.draws, done, divergences, clock.before,
                                  core.clock() - clock.begun)
  progress.tell_chains(options.progress, list, is_last)
end

-- Have all chains done so many iterations, those of the warm-up among them?
local function has_done (self, iterations)
  for _, n in ipairs((self.chains:counts())) do
    if n < iterations then return false end
  end
  return true
end

-- Runs until all chains have done so many iterations, or all.
local function run_to (self, iterations, clock)
  while not self.done and not has_done(self, iterations) do
    if clock then
      self.done = self.chains:run(nil, PROGRESS)
      local done, divergences = self.chains:counts()
      tell(self, done, divergences, clock)
    else self.done = self.chains:run(iterations < math.huge and BURST or nil) end
  end
end

-- The same on a rank of several, of which rank 0 tells of all: what others say of theirs comes when it comes.
local function run_share (self, iterations, clock)
  local comm, burst = self.options.comm, not clock and iterations < math.huge and BURST or nil
  local function say (done, divergences) tell(self, done, divergences, clock) end
  local ok, why = pcall(function ()
    while not self.done and not has_done(self, iterations) do
      self.done = self.chains:run(burst, clock and PROGRESS or nil)
      if clock then clock.line:note(self.chains, say) end
    end
  end)
  if clock then clock.line:finish(self.chains, say) end
  shared.together(comm, function () return ok or error(why, 0) end)
end

-- Are the chains of all ranks done?
local function all_done (self)
  local comm, is_done = self.options.comm, self.done
  if comm then is_done = comm:allreduce(is_done and 1 or 0, "min") == 1 end
  return is_done
end

-- Runs to the end, with a checkpoint every now and then.
local function run_all (self, clock)
  local options = self.options
  local run, every = options.comm and run_share or run_to, options.save_every or math.huge
  local target = every
  while has_done(self, target) and target < math.huge do target = target + every end   -- a state was restored
  if options.comm then target = options.comm:allreduce(target, "max") end
  while not all_done(self) do
    run(self, target, clock)
    if options.save_every then checkpoint.write(options.save, self:state(), options.comm) end
    target = target + every
  end
end

--- Runs to the end. An interruption (Ctrl-C) ends it early: what was drawn is kept.
function Sampling:finish ()
  local options = self.options
  local comm, is_told = options.comm, progress.is_wanted(options.progress)
  if comm then is_told = comm:bcast(is_told) end
  local clock = is_told and { before = self.chains:counts(), begun = core.clock() }
  if clock and comm then
    clock.line = shared.line(comm, options.chains)
    clock.before = clock.line.before
  end
  local ok, why = pcall(run_all, self, clock)
  if not ok then
    if type(why) ~= "string" or not why:find("interrupted", 1, true) then error(why, 0) end
    self.interrupted = true
    progress.break_line(options.progress)
  end
  return self:result()
end

-- Rows of all ranks' chains; or of a tensor with those of all, this rank's.
local function all_rows (comm, t) return tensor.cat(comm:allgather(t), 1) end
local function own_rows (comm, t)
  local first, n = comm:share(core.shape(t)[1])
  return t:narrow(1, first, n)
end

local function all_states (comm, list)
  local all = {}
  for _, of_rank in ipairs(comm:allgather(list)) do table.move(of_rank, 1, #of_rank, #all + 1, all) end
  return all
end

--@ Sampling:state() -> string
-- The whole state, of the chains of all ranks.
-- > posed = model(function (m) m.x = Normal(0, 1) end) {}
-- > type(posed:nuts({ seed = 1, run = false }):state())
-- string
function Sampling:state ()
  local draws, stats = self.chains:draws()
  local chains, comm = self.chains:state(), self.options.comm
  if comm then draws, stats, chains = all_rows(comm, draws), all_rows(comm, stats), all_states(comm, chains) end
  return packed.pack("sampling", { chains = chains, draws = draws, stats = stats })
end

--@ Sampling:restore(state) -> true or nil, string
-- Goes on from a state, to the same bits, for the same model with the same options: true, or nil and why not.
--   state  string that state() gave
-- > posed = model(function (m) m.x = Normal(0, 1) end) {}
-- > a, b = posed:nuts { seed = 1, run = false }, posed:nuts { seed = 1, run = false }
-- > a:step(100)
-- > b:restore(a:state())
-- true
function Sampling:restore (text)
  local kept, why = packed.unpack("sampling", text)
  if kept == nil then return nil, why end
  local fits = type(kept) == "table" and type(kept.chains) == "table" and core.is_tensor(kept.draws)
               and core.is_tensor(kept.stats)
  local comm, n = self.options.comm, self.options.chains
  if fits and comm then
    fits = #kept.chains == n and core.shape(kept.draws)[1] == n and core.shape(kept.stats)[1] == n
    if fits then
      local first, count = comm:share(n)
      kept.chains = table.move(kept.chains, first, first + count - 1, 1, {})
      kept.draws, kept.stats = own_rows(comm, kept.draws), own_rows(comm, kept.stats)
    end
  end
  if not fits or not self.chains:restore(kept.chains, kept.draws, kept.stats) then
    return nil, "it is no state of chains with these options"
  end
  self.done = self.chains:run(0)
  return true
end


-- Results ---------------------------------------------------------------------------------------

-- Draws after the warm-up that all chains have, (chains, n, ...), and their statistics by name.
local function drawn (self)
  local draws, stats, counts = self.chains:draws()
  local n, warmup = math.huge, self.options.warmup
  for _, count in ipairs(counts) do n = math.min(n, count - warmup) end
  local comm = self.options.comm
  if comm then n = comm:allreduce(n, "min") end
  if not opts.is_enough(n) then raise("%s: fewer than 4 draws of each chain yet", self.options.method) end
  draws, stats = draws:narrow(2, warmup + 1, n):contiguous(), stats:narrow(2, warmup + 1, n):contiguous()
  if comm then draws, stats = all_rows(comm, draws), all_rows(comm, stats) end
  local by_name = {}
  for i, name in ipairs(self.names) do by_name[name] = stats:select(3, i):contiguous() end
  return draws, by_name, n
end

-- Diagnostics of columns, as three vectors. A few at a time: their draws stay in the cache.
local function of_columns (columns, chains, n)
  local found, count = { {}, {}, {} }, core.shape(columns)[2]
  for first = 1, count, AT_ONCE do
    local width = math.min(AT_ONCE, count - first + 1)
    local x = columns:narrow(2, first, width):transpose():contiguous():reshape(width, chains, n)
    for i, part in ipairs { diagnostics.all(x) } do table.insert(found[i], part) end
  end
  for i, parts in ipairs(found) do found[i] = tensor.cat(parts) end
  return found
end

-- Diagnostics of every element of values by name, whose rows are the chains' draws one after another.
local function diagnosed (values, chains, n)
  local all = { rhat = {}, ess_bulk = {}, ess_tail = {} }
  for name, value in pairs(values) do
    local found = of_columns(value:reshape(chains * n, -1), chains, n)
    local shape = core.shape(value)
    table.remove(shape, 1)
    for i, kind in ipairs { "rhat", "ess_bulk", "ess_tail" } do
      all[kind][name] = #shape == 0 and found[i][1] or found[i]:reshape(shape)
    end
  end
  return all
end

-- A number, or a tensor of them, as a list; NaN as something else.
local function list_of (x, otherwise)
  local list = core.is_tensor(x) and x:reshape(-1):totable() or { x }
  for i, value in ipairs(list) do list[i] = value == value and value or otherwise end
  return list
end

-- Calls fn(name, x, is_finite, rhat, ess_bulk, ess_tail) for elements of unobserved sites, x being their draws, but not
-- for those that never change, if chains move at all: the diagonal of a correlation matrix. What cannot be computed,
-- since there are too few draws or they are not finite, is as bad as can be.
local function each_element (posed, values, found, is_stuck, fn)
  for _, site in ipairs(posed.latents) do
    local name = site.name
    local x = values[name]:reshape(core.shape(values[name])[1], -1)
    local ranges = (x:max(1) - x:min(1)):totable()      -- NaN of what is infinite throughout
    local rhat = list_of(found.rhat[name], math.huge)
    local bulk, tail = list_of(found.ess_bulk[name], 0), list_of(found.ess_tail[name], 0)
    for j, range in ipairs(ranges) do
      if range ~= 0 or is_stuck then
        fn(Posterior.element_name(name, site.shape, j), x:select(2, j), range < math.huge, rhat[j], bulk[j], tail[j])
      end
    end
  end
end

-- The largest R-hat, the smallest numbers of effective draws and the heaviest tail of what second moments add up, over
-- unobserved sites, with their elements' names.
local function worst (posed, values, found, u)
  local w = { rhat = 1, ess_bulk = math.huge, ess_tail = math.huge, rhat_name = "", ess_name = "", kf = -math.huge }
  local n = core.shape(u)[1]
  local weights = core.full({ n }, 1 / n)
  w.stuck = u:max(1):eq(u:min(1)):sum() > 0
  each_element(posed, values, found, w.stuck, function (name, x, is_finite, rhat, bulk, tail)
    local kf = weighted.second_tail(x, weights, x:mean())
    if kf > w.kf then w.kf, w.kf_name = kf, name end
    if rhat > w.rhat then w.rhat, w.rhat_name = rhat, name end
    if bulk < w.ess_bulk then w.ess_bulk, w.ess_name = bulk, name end
    if tail < w.ess_tail then w.ess_tail, w.tail_name = tail, name end
    if not is_finite then w.infinite = w.infinite or name end
  end)
  return w
end

--@ Sampling:result() -> Posterior
-- The posterior of what has been drawn so far; of smc, once it is reached.
-- > posed = model(function (m) m.x = Normal(0, 1) end) {}
-- > sampling = posed:nuts { seed = 1, draws = 200, warmup = 200, run = false }
-- > while not sampling:step(100) do end
-- > sampling:result().method
-- nuts
function Sampling:result ()
  local draws, stats, n = drawn(self)
  local chains, size = core.shape(draws)[1], self.density.size
  local u = draws:reshape(chains * n, size)
  local values = self.density:report(u)
  local found = diagnosed(values, chains, n)
  local w = worst(self.posed, values, found, u)
  w.chains, w.draws, w.interrupted = chains, chains * n, self.interrupted
  w.divergences = stats.divergent and math.tointeger(stats.divergent:sum()) or 0
  w.saturated = self.options.steps == 0 and math.tointeger(stats.depth:ge(self.options.max_depth):sum()) or 0
  w.e_bfmi = stats.energy and diagnostics.e_bfmi(stats.energy):min() or 1
  local word, reasons = verdict.of_chains(w)
  w.r, w.lonely = w.ess_bulk / w.draws, false
  return Posterior.new {
    posed = self.posed, density = self.density, u = u, values = values, method = self.options.method,
    verdict = word, reasons = reasons, findings = w, rhat = found.rhat, ess_bulk = found.ess_bulk,
    ess_tail = found.ess_tail, divergences = stats.divergent and w.divergences or nil, stats = stats, chains = chains,
    centring = self.degrees, r_eff = w.ess_bulk / w.draws,
    how = string.format("%s, %d chain%s of %d draws, R-hat at most %s, ESS at least %.0f", self.options.method,
                        chains, chains == 1 and "" or "s", n, verdict.rhat_text(w.rhat), w.ess_bulk)
          .. (stats.divergent and string.format(", %d divergences", w.divergences) or ""),
  }
end

-- Options as a rank of several has them: at least a chain for each.
local function share_options (method, posed, read, given)
  local comm = read.comm
  shared.check_data(method, posed, comm)
  if given.chains == nil then read.chains = math.max(read.chains, comm.size) end
  if read.chains < comm.size then
    raise("%s: chains must be at least as many as ranks, %d, got %d", method, comm.size, read.chains)
  end
  read.rng, read.progress = shared.rng(comm, read.rng), progress.of_rank(read.progress, comm)
end

--- posed:nuts {} and posed:hmc {}: a function of a posed model and options, with a row of its own (options.lua) and
-- what is fixed for it.
function Sampling.way (method, fixed, row)
  local rows = {
    { "chains", 4, "an integer from 1 to 1024", function (x) return opts.is_count(x) and x <= 1024 end },
    { "draws", 1000, "an integer from 4", opts.is_enough },
    { "warmup", 1000, "an integer that is not negative", function (x) return x == 0 or opts.is_count(x) end },
    { "metric", "auto", '"auto", "diag" or "dense"', function (x) return METRICS[x] ~= nil end },
    { "target", 0.8, "between 0 and 1", function (x) return type(x) == "number" and x > 0 and x < 1 end },
    { "run", true, "true or false", opts.is_boolean },
    shared.ROW,
    row,
  }
  table.move(checkpoint.ROWS, 1, #checkpoint.ROWS, #rows + 1, rows)
  return function (posed, given)
    local read = opts.read(method, given, rows)
    checkpoint.check(method, read)
    read.step, read.method = 1, method
    for name, value in pairs(fixed) do read[name] = value end
    if read.comm then share_options(method, posed, read, given) end
    local sampling = Sampling.new(posed, read)
    if read.resume then
      checkpoint.resume(method, read.save, function (text) return sampling:restore(text) end, read.comm)
    end
    return read.run and sampling:finish() or sampling
  end
end

errors.count_arguments("sampling", Sampling, "step progress finish state restore result")

return Sampling
