--- Sampling: chains that run, and the posterior that their draws are.
--
--   sampling:step(n)          n gradients of each chain, or draws where there are none (random_walk)
--   sampling:step { ms = 2 }  as many as fit into the time
--   sampling:state()          a string; sampling:restore(s) goes on from there, to the same bits
--   sampling:result()         a Posterior of what has been drawn
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
local show        = require "perilune.show"
local tensor      = require "perilune.tensor"
local Uniform     = require "perilune.distributions.Uniform"
local verdict     = require "perilune.inference.verdict"

local raise = errors.raise

local CLIMB    = 60        -- iterations towards a mode before a chain starts
local SAMPLES  = 5         -- draws for a point of such a path,
local EVERY    = 4         -- one in so many
local PROGRESS = 0.1       -- seconds between two reports

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

-- Starts of n chains, as rows, and the end of the best path.
local function starts_of (posed, density, init, n, rng)
  local list, best = {}, nil
  for i = 1, n do
    local start, ended = start_of(density, init, i, rng)
    if not start then recipe.complain(posed, density, init) end
    list[i] = start
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

--- Chains of a posed model; options as nuts.lua and hmc.lua read them.
function Sampling.new (posed, options)
  local density, init, degrees = recipe.density(posed, options)
  local starts, best = starts_of(posed, density, init, options.chains, options.rng)
  local is_dense = options.metric == "dense" or options.metric == "auto" and density.size <= DENSE_MOST
  local chains = core.chains(sources_of(posed, density, degrees), starts, seeds_of(options.rng, options.chains), {
    warmup = options.warmup, draws = options.draws, max_depth = options.max_depth, steps = options.steps,
    target = options.target, step = options.step, dense = is_dense, scale = scale_of(density, best, is_dense),
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
  return progress.of_chains(self.options.method, self.options.warmup, self.options.draws, done, divergences)
end

-- Runs on for a moment, and tells of it; `before` are the iterations done when it began.
local function run_and_tell (self, before, begin)
  local options, chains = self.options, self.chains
  self.done = chains:run(nil, PROGRESS)
  local done, divergences = chains:counts()
  local list = progress.of_chains(options.method, options.warmup, options.draws, done, divergences, before,
                                  core.clock() - begin)
  progress.tell_chains(options.progress, list, self.done)
end

--- Runs to the end. An interruption (Ctrl-C) ends it early: what was drawn is kept.
function Sampling:finish ()
  local before, begin = self.chains:counts(), core.clock()
  local is_told = progress.is_wanted(self.options.progress)
  local ok, why = pcall(function ()
    if not is_told then self.done = self.chains:run() end
    while not self.done do run_and_tell(self, before, begin) end
  end)
  if not ok then
    if type(why) ~= "string" or not why:find("interrupted", 1, true) then error(why, 0) end
    self.interrupted = true
    progress.break_line(self.options.progress)
  end
  return self:result()
end

--@ Sampling:state() -> string
-- The whole state.
-- > posed = model(function (m) m.x = Normal(0, 1) end) {}
-- > type(posed:nuts({ seed = 1, run = false }):state())
-- string
function Sampling:state ()
  local draws, stats = self.chains:draws()
  return packed.pack("sampling", { chains = self.chains:state(), draws = draws, stats = stats })
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
  if not opts.is_enough(n) then raise("%s: fewer than 4 draws of each chain yet", self.options.method) end
  local by_name = {}
  for i, name in ipairs(self.names) do by_name[name] = stats:narrow(2, warmup + 1, n):select(3, i):contiguous() end
  return draws:narrow(2, warmup + 1, n):contiguous(), by_name, n
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

-- Calls fn(name, is_finite, rhat, ess_bulk, ess_tail) for elements of unobserved sites, but not for those that never
-- change, if chains move at all: the diagonal of a correlation matrix. What cannot be computed, since there are too few
-- draws or they are not finite, is as bad as can be.
local function each_element (posed, values, found, is_stuck, fn)
  for _, site in ipairs(posed.latents) do
    local name = site.name
    local x = values[name]:reshape(core.shape(values[name])[1], -1)
    local ranges = (x:max(1) - x:min(1)):totable()      -- NaN of what is infinite throughout
    local rhat = list_of(found.rhat[name], math.huge)
    local bulk, tail = list_of(found.ess_bulk[name], 0), list_of(found.ess_tail[name], 0)
    for j, range in ipairs(ranges) do
      if range ~= 0 or is_stuck then
        fn(Posterior.element_name(name, site.shape, j), range < math.huge, rhat[j], bulk[j], tail[j])
      end
    end
  end
end

-- The largest R-hat and the smallest numbers of effective draws, over unobserved sites, with their elements' names.
local function worst (posed, values, found, u)
  local w = { rhat = 1, ess_bulk = math.huge, ess_tail = math.huge, rhat_name = "", ess_name = "" }
  w.stuck = u:max(1):eq(u:min(1)):sum() > 0
  each_element(posed, values, found, w.stuck, function (name, is_finite, rhat, bulk, tail)
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
    divergent_draws = w.divergences > 0 and stats.divergent:reshape(-1) or nil,
    how = string.format("%s, %d chain%s of %d draws, R-hat at most %s, ESS at least %.0f", self.options.method,
                        chains, chains == 1 and "" or "s", n, verdict.rhat_text(w.rhat), w.ess_bulk)
          .. (stats.divergent and string.format(", %d divergences", w.divergences) or ""),
  }
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
    row,
  }
  return function (posed, given)
    local read = opts.read(method, given, rows)
    read.step, read.method = 1, method
    for name, value in pairs(fixed) do read[name] = value end
    local sampling = Sampling.new(posed, read)
    return read.run and sampling:finish() or sampling
  end
end

errors.count_arguments("sampling", Sampling, "step progress finish state restore result")

return Sampling
