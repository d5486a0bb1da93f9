--- posed:smc {}: tempered sequential Monte Carlo, with the log evidence.
--
-- Particles go from a law q0 (origin.lua) to the posterior p through q0^(1 - b) p^b, b from 0 to 1. Each stage weighs
-- them by (p/q0)^(b' - b), where b' is the next b such that a share `ess` of them counts, resamples them, and moves
-- each by Hamiltonian Monte Carlo in units of the particles' covariance. The states of all moves count as particles
-- (waste-free: Dau and Chopin 2022), and the log evidence is the sum over stages of what bridge sampling between
-- neighbours says; or what it says of the last particles alone, see evidence_of.
--
--   smc:step(n)   n moves of all particles; step { ms = 2 }, state, restore and result as in sampling.lua
local bridge    = require "perilune.inference.bridge"
local core      = require "perilune.core"
local Density   = require "perilune.model.density"
local errors    = require "perilune.errors"
local form      = require "perilune.form"
local functions = require "perilune.functions"
local matrices  = require "perilune.matrices"
local judge     = require "perilune.inference.judge"
local modes     = require "perilune.inference.modes"
local opts      = require "perilune.inference.options"
local origin    = require "perilune.inference.origin"
local packed    = require "perilune.packed"
local Posterior = require "perilune.inference.posterior"
local progress  = require "perilune.inference.progress"
local proposal  = require "perilune.inference.proposal"
local recipe    = require "perilune.inference.recipe"
local Sampling  = require "perilune.inference.sampling"
local show      = require "perilune.show"
local tensor    = require "perilune.tensor"
local Uniform   = require "perilune.distributions.Uniform"
local Units     = require "perilune.inference.units"
local verdict   = require "perilune.inference.verdict"
local weighted  = require "perilune.inference.weighted"

local raise = errors.raise

local LEAST_MOVES, MOST_MOVES = 4, 20
local FORGOTTEN = 0.1      -- the correlation with where they began that is small enough
local TARGET    = 0.9      -- of the acceptance: what is rejected stays where it was
local QUARTER   = math.pi / 2   -- the length of a trajectory, in units
local MOST_LEAPS = 16
local SHORTEST, LONGEST = 0.5, 1.2   -- steps of particles differ, lest trajectories are periodic
local GROUPS    = 25       -- of particles by their first ancestors, for the error of the evidence
local FIRST     = 4        -- times as many draws of the first law as particles: they are cheap
local AGREE     = 4        -- standard errors by which two answers may differ
local SHARED    = 0.25     -- of the stages' error, that the last particles may have in common: bridges do not see it
local DRIFT     = 0.01     -- nats between earlier and later moves at the end that are no drift,
local MOST_ROUNDS = 10     -- of moves until that is so
local LEAST_RISE = 1e-12   -- of b: particles that cannot pass this are stuck
local EVEN, LIGHT = 1 / 3, 0.7   -- of weights that can be trusted: the share that counts, the tail

local ROWS = {
  { "particles", 2000, "an integer from 20", function (x) return opts.is_count(x) and x >= 20 end },
  { "ess", 0.5, "between 0 and 1", function (x) return type(x) == "number" and x > 0 and x < 1 end },
  { "moves", "auto", '"auto" or a positive integer', function (x) return x == "auto" or opts.is_count(x) end },
  { "start", "mode", '"mode" or "prior"', function (x) return x == "mode" or x == "prior" end },
  { "run", true, "true or false", opts.is_boolean },
}

local Smc = { __name = "sampling" }
Smc.__index = Smc

local function is_finite (x) return x - x == 0 end


-- Weights -------------------------------------------------------------------------------------

-- p/q0 to the power `rise`, as weights that sum to 1, and the logarithm of their mean.
local function weights_of (ratios, rise)
  local log = ratios * rise
  local total = log:logsumexp()
  return (log - total):exp(), total - math.log(core.numel(ratios))
end

-- The next b: by bisection, such that a share of the particles that have a density counts.
local function next_temperature (ratios, b, share)
  local n = ratios:gt(-math.huge):sum()
  local function counts (rise) return weighted.ess((weights_of(ratios, rise))) >= share * n end
  if counts(1 - b) then return 1 end
  local low, high = 0, 1 - b
  for _ = 1, 60 do
    local middle = (low + high) / 2
    if counts(middle) then low = middle else high = middle end
  end
  return b + high
end

-- n places, in proportion to weights, by one uniform number.
local function resampled (weights, n, rng)
  local limits, picked, at = weights:cumsum():totable(), {}, 1
  local offset, total = Uniform(0, 1):sample(nil, rng), limits[#limits]
  for i = 1, n do
    local limit = (i - 1 + offset) / n * total
    while at < #limits and limits[at] <= limit do at = at + 1 end
    picked[i] = at
  end
  return core.tensor(picked)
end

-- Adds to `sums`, by groups of first ancestors, the deviations of terms from their mean, in units of that mean and of
-- their number.
local function add_deviations (sums, eves, terms, sign)
  local list = ((terms / terms:mean() - 1) * (sign / core.numel(terms))):totable()
  for i, one in ipairs(eves:totable()) do
    local group = math.tointeger(one) % GROUPS + 1
    sums[group] = sums[group] + list[i]
  end
end

-- The variance of a sum of such deviations over independent groups: terms of all stages that have a first ancestor in
-- common are added up first (Lee and Whiteley 2018).
local function variance_of (sums)
  local total = 0
  for _, x in ipairs(sums) do total = total + x * x end
  return total * GROUPS / (GROUPS - 1)
end


-- Stages --------------------------------------------------------------------------------------

-- What is known of particles: rows u; log densities and gradients of q0 and p there.
local function evaluated (self, u)
  local q, dq = self.origin:gradients(u)
  local p, dp = self.density:gradients(u)
  return { u = u, q = q, dq = dq, p = p, dp = dp }
end

-- Particles of all moves since the last stage, one block after another.
local function pooled (self, name)
  local parts = {}
  for i, one in ipairs(self.at.pool) do parts[i] = one[name] end
  return tensor.cat(parts, 1)
end

-- The scale of weighted particles: of variances alone where they are few.
local function scale_of (u, w)
  local size = core.shape(u)[2]
  w = w / w:sum()
  local covariance = weighted.covariance(u, w)
  if weighted.ess(w) > 2 * size then
    local factor = matrices.cholesky(covariance)
    if is_finite(factor:sum()) then return factor end
  end
  return functions.maximum(matrices.diagonal(covariance), 1e-300):sqrt()
end

-- Two scales: particles whose first ancestor has an odd number move by that of the others, and those by that of these.
-- For what moves a particle must not be found from itself: in d dimensions the evidence would be off by some d^2/n.
local function scales_of (u, w, is_odd)
  local odd, even = w * is_odd, w * (1 - is_odd)
  if odd:max() == 0 or even:max() == 0 then odd, even = w, w end
  return scale_of(u, even), scale_of(u, odd)
end

local function pool_up (at) at.pool[#at.pool + 1] = { u = at.now.u, q = at.now.q, p = at.now.p } end

-- log p - log q0 of the pool; -inf where there is no density.
local function ratios_of (self)
  local ratios = pooled(self, "p") - pooled(self, "q")
  return functions.where(ratios:lt(math.huge), ratios, -math.huge)
end

-- The number of the first ancestor of each particle of the pool.
local function eves_of (at)
  local parts = {}
  for i = 1, #at.pool do parts[i] = at.eve end
  return tensor.cat(parts)
end

-- What the moves of a stage have to change: the places, and the ratio that weighs them.
local function traits (now) return tensor.cat({ now.u, (now.p - now.q):reshape(-1, 1) }, 2) end

-- Weighs and resamples.
local function begin_stage (self)
  local at, n = self.at, self.options.particles
  local ratios, u = ratios_of(self), pooled(self, "u")
  if ratios:max() == -math.huge then
    raise("smc: the log density of the model is finite at no draw of %s", self.origin.words)
  end
  local b = next_temperature(ratios, at.b, self.options.ess)
  local is_rising = b == 1 or b - at.b >= LEAST_RISE
  if not is_rising then
    raise("smc: the particles are stuck at temperature %g: the density is too far from %s", at.b, self.origin.words)
  end
  local w = weights_of(ratios, b - at.b)
  local index = resampled(w, n, self.rng)
  local eves = eves_of(at)
  at.last = { ratios = ratios * (b - at.b), eves = eves, count = core.numel(at.eve) }
  at.rise, at.b, at.stages = b - at.b, b, at.stages + 1
  u = functions.where(w:gt(0):reshape(-1, 1), u, 0)   -- what has no weight need not be finite
  at.odd_scale, at.even_scale = scales_of(u, w, eves % 2)
  at.eve = eves[index]
  at.now = evaluated(self, u[index])
  at.from, at.pool, at.accept = traits(at.now), {}, {}
end

-- The stage's part of the log evidence: by bridge sampling between its particles and those of the stage before, which
-- together know it three times as well as the mean weight.
local function end_stage (self)
  local at = self.at
  local ratios = ratios_of(self) * at.rise
  local shift = ratios:median()
  local log_z, above, below = bridge.solve(ratios - shift, core.numel(at.eve), at.last.ratios - shift,
                                           at.last.count)
  at.log_evidence = at.log_evidence + log_z + shift
  add_deviations(at.deviations, at.last.eves, above, 1)
  add_deviations(at.deviations, eves_of(at), below, -1)
  at.last = {}
end

-- Units for the moves of all particles: each by the scale that is not its own.
local function movers (at, size)
  local odd, even = Units.new(core.zeros(size), at.odd_scale), Units.new(core.zeros(size), at.even_scale)
  local is_odd = (at.eve % 2):reshape(-1, 1)
  return { to = function (_, v) return functions.where(is_odd:eq(1), odd:to(v), even:to(v)) end,
           pull = function (_, g) return functions.where(is_odd:eq(1), odd:pull(g), even:pull(g)) end }
end

-- Gradients of the tempered density with respect to v, and its values.
local function tempered (at, units, now)
  return units:pull(now.dq * (1 - at.b) + now.dp * at.b), now.q * (1 - at.b) + now.p * at.b
end

-- One trajectory of every particle.
local function move (self)
  local at, size = self.at, self.density.size
  local units, n = movers(at, size), self.options.particles
  local step = at.step * Uniform(SHORTEST, LONGEST):sample({ n, 1 }, self.rng)
  local leaps = math.max(1, math.min(MOST_LEAPS, math.floor(QUARTER / at.step + 0.5)))
  local gradient, value = tempered(at, units, at.now)
  local momentum, there = modes.noise(n, size, self.rng), at.now
  local energy = value - (momentum * momentum):sum(2) * 0.5
  for _ = 1, leaps do
    momentum = momentum + gradient * step * 0.5
    there = evaluated(self, there.u + units:to(momentum * step))
    gradient, value = tempered(at, units, there)
    momentum = momentum + gradient * step * 0.5
  end
  local rise = value - (momentum * momentum):sum(2) * 0.5 - energy
  rise = functions.where(rise:lt(math.huge), rise, -math.huge)
  local taken = rise:gt(Uniform(0, 1):sample({ n }, self.rng):log())
  for name, x in pairs(at.now) do
    at.now[name] = functions.where(core.rank(x) == 2 and taken:reshape(n, 1) or taken, there[name], x)
  end
  local accept = functions.minimum(rise, 0):exp():mean()
  at.accept[#at.accept + 1] = accept
  at.step = at.step * math.exp(accept - TARGET)
end

-- The larger number, or if b is NaN a: math.max tells one Lua this, another that.
local function larger (a, b) return b > a and b or a end

-- The largest correlation of a trait with what it was when the stage began.
local function correlation (at)
  local a, b = at.from - at.from:mean(1), traits(at.now)
  b = b - b:mean(1)
  local below = ((a * a):sum(1) * (b * b):sum(1)):sqrt()
  return ((a * b):sum(1) / below):max()
end

local function is_moved (self)
  local at, moves = self.at, self.options.moves
  if moves ~= "auto" then return #at.pool >= moves end
  return #at.pool >= LEAST_MOVES and (#at.pool >= MOST_MOVES or at.correlation < FORGOTTEN)
end

-- A copy of a generator: looking at a result does not change what is drawn next.
local function copied (rng)
  local other = core.rng(1)
  other:restore(rng:state())
  return other
end

-- The log evidence by bridge sampling from particles of moves first, ..., last since the stage began, with families
-- together, and its error.
local function bridged (self, first, last)
  local rows, eves = {}, {}
  for i = first, last do rows[#rows + 1], eves[#eves + 1] = self.at.pool[i].u, self.at.eve end
  return bridge.log_evidence(self.density, tensor.cat(rows, 1)[tensor.cat(eves):argsort()], 1, copied(self.rng))
end

-- Have particles of the posterior found its tails and its arms? If so, bridges from their earlier and their later moves
-- say the same; particles that still spread say more and more. Else they go on moving.
local function settle (self)
  local at = self.at
  local n = #at.pool
  local early, early_error = bridged(self, 1, math.max(1, math.floor(n / 2)))
  local late, late_error = bridged(self, n - math.max(1, math.floor(n / 2)) + 1, n)
  at.drift = math.abs(late - early)
  local drifts = at.drift > math.max(DRIFT, math.sqrt(early_error ^ 2 + late_error ^ 2))   -- not with NaN
  at.is_settled = not drifts
  at.rounds = at.rounds + 1
  at.is_done = at.is_settled or at.rounds >= MOST_ROUNDS
  if not at.is_done then at.from, at.pool = traits(at.now), {} end
end

-- One move of all particles, after what has to come before it. True when all is done.
local function advance (self)
  local at = self.at
  if at.is_done then return true end
  if at.is_ready then
    begin_stage(self)
    at.is_ready = false
  end
  move(self)
  pool_up(at)
  at.correlation = correlation(at)
  if is_moved(self) then
    if at.rounds == 0 then end_stage(self) end
    at.is_ready, at.slowest = at.b < 1, larger(at.slowest, at.correlation)
    if at.b == 1 then settle(self) end
  end
  return at.is_done
end


-- Running -------------------------------------------------------------------------------------

local function start_of (posed, asked)
  local improper = origin.improper(posed)
  if asked == "prior" and improper then
    raise('smc: there is no prior to start from: %s is Flat; use start = "mode"', improper)
  end
  return asked
end

local function new (posed, options)
  local density, init, degrees = recipe.density(posed, options)
  local self = setmetatable({ posed = posed, density = density, degrees = degrees, options = options }, Smc)
  self.rng = Sampling.own_rng(options.rng)
  self.origin = origin.new(start_of(posed, options.start), posed, density, degrees, init, self.rng)
  self.at = { b = 0, log_evidence = 0, rise = 0, last = {}, stages = 0, step = density.size ^ -0.25, pool = {},
              accept = {}, is_ready = true, is_done = false, correlation = 1, slowest = 0, rounds = 0,
              drift = 0, is_settled = true, deviations = core.zeros(GROUPS):totable(),
              eve = core.arange(1, FIRST * options.particles + 1) }   -- numbers of first ancestors
  self.at.now = evaluated(self, self.origin:draw(FIRST * options.particles, self.rng))
  pool_up(self.at)
  return self
end

--- n moves of all particles (1 unless told), or { ms = } of time. True when the posterior is reached.
function Smc:step (n)
  if n == nil then n = 1 end
  if type(n) == "table" then
    errors.check_options("step", n, { "ms" })
    if not opts.is_positive(n.ms) then raise("step: ms must be positive, got %s", show.value(n.ms)) end
    local stop = core.clock() + n.ms / 1000
    repeat until advance(self) or core.clock() >= stop
  elseif opts.is_count(n) then
    for _ = 1, n do
      if advance(self) then break end
    end
  else raise("step: takes a positive integer or { ms = }, got %s", show.value(n)) end
  return self.at.is_done
end

--- Runs to the end.
function Smc:finish ()
  local report = progress.reporter(self.options.progress, "smc")
  repeat
    local done, at = advance(self), self.at
    report({ text = string.format("smc: stage %d, temperature %.3g, %d moves", at.stages, at.b, #at.pool),
             stage = at.stages, temperature = at.b, moves = #at.pool }, done)
  until done
  return self:result()
end

--- The whole state, as a string.
function Smc:state ()
  return packed.pack("smc", { at = self.at, rng = self.rng:state(), origin = self.origin:kept(),
                              degrees = self.degrees, size = self.density.size, particles = self.options.particles })
end

-- What `at` must look like, if it is about m particles.
local function form_of (m, size)
  local vector, matrix = form.tensor(m), form.tensor(m, size)
  local scale = form.maybe(form.either(form.tensor(size), form.tensor(size, size)))
  return form.fields {
    b = function (b) return type(b) == "number" and b >= 0 and b <= 1 end, log_evidence = form.number,
    rise = form.number,
    last = form.fields { ratios = form.maybe(form.tensor(false)), eves = form.maybe(form.tensor(false)),
                         count = form.maybe(form.integer(1)) },
    stages = form.integer(0, 2 ^ 53), step = form.positive, accept = form.list(form.number),
    pool = form.list(form.fields { u = matrix, q = vector, p = vector }), correlation = form.number,
    slowest = form.number, is_ready = form.boolean, is_done = form.boolean, is_settled = form.boolean,
    rounds = form.integer(0, MOST_ROUNDS), drift = form.number, deviations = form.list(form.number, GROUPS),
    eve = vector, now = form.fields { u = matrix, q = vector, p = vector, dq = matrix, dp = matrix },
    odd_scale = scale, even_scale = scale, from = form.maybe(form.tensor(m, size + 1)),
  }
end

-- Are these the numbers of first ancestors?
local function are_numbers (eves, most)
  return core.numel(eves) > 0 and (eves % 1):max() == 0 and eves:min() >= 1 and eves:max() <= most
end

-- Do its parts belong together, with n particles?
local function is_whole (at, n)
  local m, last = core.numel(at.eve), at.last
  if #at.deviations ~= GROUPS or not are_numbers(at.eve, FIRST * n) then return false end
  if at.is_ready then return #at.pool > 0 and (m == n or m == FIRST * n) end
  local has_last = last.ratios and last.eves and last.count and core.numel(last.ratios) == core.numel(last.eves)
                   and are_numbers(last.eves, FIRST * n)
  return m == n and at.odd_scale ~= nil and at.even_scale ~= nil and at.from ~= nil and #at.accept > 0
         and (has_last or at.rounds > 0 or at.is_done) and (#at.pool > 0 or not at.is_done)
end

local KEPT = form.fields {
  at = form.map(form.any), rng = form.rng, origin = form.any,
  degrees = form.map(form.either(form.number, core.is_tensor)),
  size = form.integer(1), particles = form.integer(1),
}

-- Is it a state of these particles?
local function suits (self, kept)
  local n, size = self.options.particles, self.density.size
  if not KEPT(kept) or kept.size ~= size or kept.particles ~= n or not core.is_tensor(kept.at.eve) then return false end
  return form_of(core.numel(kept.at.eve), size)(kept.at) and is_whole(kept.at, n) and self.origin:suits(kept.origin)
end

--- Goes on from a state of the same model with the same options: true, or nil and why not.
function Smc:restore (text)
  local kept, why = packed.unpack("smc", text)
  if kept == nil then return nil, why end
  if not suits(self, kept) then return nil, "it is no state of particles with these options" end
  self.rng:restore(kept.rng)
  self.at, self.degrees = kept.at, kept.degrees
  self.density = Density.new(self.posed, kept.degrees)
  self.origin = origin.restored(kept.origin, self.posed, kept.degrees)
  return true
end


-- Results ---------------------------------------------------------------------------------------

-- Sums of rows over groups that follow each other, `ends` being the last row of each.
local function sums_of (x, ends)
  local sums = x:cumsum(1)[ends]
  local n = core.shape(sums)[1]
  if n == 1 then return sums end
  return tensor.cat({ sums:narrow(1, 1, 1), sums:narrow(1, 2, n - 1) - sums:narrow(1, 1, n - 1) }, 1)
end

-- Where groups of equal numbers end in a sorted vector.
local function ends_of (sorted)
  local n = core.numel(sorted)
  local ends = {}
  local values = sorted:totable()
  for i = 1, n do
    if i == n or values[i + 1] ~= values[i] then ends[#ends + 1] = i end
  end
  return core.tensor(ends), #ends
end

-- What is worst over the elements of unobserved sites, but for those that never change: `all` has values by name, and
-- by name lists of their effective draws and of the relative errors of their sds.
local function worst_of (posed, all)
  local worst = { ess = math.huge, ess_name = "", sd_error = 0, sd_name = "", kf = -math.huge }
  for _, site in ipairs(posed.latents) do   -- in their order: of equals the first is named
    local x = all.values[site.name]
    x = x:reshape(core.shape(x)[1], -1)
    local weights = core.full({ core.shape(x)[1] }, 1 / core.shape(x)[1])
    for j, range in ipairs((x:max(1) - x:min(1)):totable()) do
      local count, error = all.ess[site.name][j], all.off[site.name][j]
      local element, column = Posterior.element_name(site.name, site.shape, j), x:select(2, j)
      if not is_finite(range) then worst.infinite = worst.infinite or element
      elseif range > 0 then
        local kf = weighted.second_tail(column, weights, column:mean())
        if count < worst.ess then worst.ess, worst.ess_name = count, element end
        if error > worst.sd_error then worst.sd_error, worst.sd_name = error, element end
        if kf > worst.kf then worst.kf, worst.kf_name = kf, element end
      end
    end
  end
  return worst
end

-- How many independent draws each value is worth, by name: particles with the same first ancestor may be alike, others
-- are independent (Lee and Whiteley 2018). And what is worst over the elements of unobserved sites: the smallest of
-- these numbers, the largest relative error of a standard deviation, sqrt((kurtosis - 1)/(4 ess)), the heaviest tail of
-- what a second moment adds up; and how many first ancestors there are.
local function effective (posed, values, eve)
  local order = eve:argsort()
  local ends, families = ends_of(eve[order])
  local found, flat, off = {}, {}, {}
  for name, value in pairs(values) do
    local shape = core.shape(value)
    local n = table.remove(shape, 1)
    local x = value:reshape(n, -1)
    x = x / x:abs():max(1)   -- sums and squares of what is huge would be infinite
    local centred = (x - x:mean(1))[order]
    local sums = sums_of(centred, ends)
    local ess = n * (centred * centred):sum(1) / (sums * sums):sum(1)
    ess = functions.minimum(ess, n)
    found[name], flat[name] = #shape == 0 and ess[1] or ess:reshape(shape), ess:reshape(-1):totable()
    local kurtosis = (centred ^ 4):mean(1) / functions.square((centred * centred):mean(1))
    off[name] = functions.sqrt((kurtosis - 1) / (4 * ess)):reshape(-1):totable()
  end
  local worst = worst_of(posed, { values = values, ess = flat, off = off })
  worst.families = families
  return found, worst
end

local function mean_of (list)
  local sum = 0
  for _, x in ipairs(list) do sum = sum + x end
  return sum / #list
end

-- The log evidence and its error. The stages add up to one answer; the last particles, by bridge sampling, to another,
-- which does not remember how they came there, and is the better one where the posterior is near a Gaussian. Where the
-- two agree, the one with the smaller error counts; else that of the stages, and their distance is the error.
local function evidence_of (self)
  local at = self.at
  local f = { tempered = at.log_evidence, tempered_error = math.sqrt(variance_of(at.deviations)) }
  f.bridged, f.bridged_error = bridged(self, 1, #at.pool)
  local apart = math.abs(f.bridged - f.tempered)
  local agrees = apart <= AGREE * math.sqrt(f.tempered_error ^ 2 + f.bridged_error ^ 2)   -- not with NaN
  if not agrees then return f.tempered, larger(f.tempered_error, apart), f end
  local is_better = f.bridged_error < f.tempered_error
  local deviation = is_better and larger(f.bridged_error, f.tempered_error * SHARED) or f.tempered_error
  if at.slowest > FORGOTTEN then deviation = larger(deviation, apart) end   -- both may be low
  return is_better and f.bridged or f.tempered, larger(deviation, at.drift), f
end

-- A second opinion on standard deviations: those of draws from wide laws around the particles, weighted. Particles that
-- began in a Gaussian and hardly moved since may have missed a heavy tail, where these draws are. The largest factor
-- between the two, less two standard errors, and the element's name; nil where the weights are too uneven to tell.
local function beside_wide_draws (self, u, values)
  local density, n = self.density, core.shape(u)[1]
  if density.size > recipe.FULL_MOST then return nil end
  local even = core.full({ n }, 1 / n)
  local units = Units.new(u:mean(1), matrices.cholesky(weighted.covariance(u, even)))
  if not is_finite(units.log_det) then return nil end
  local rows = proposal.around(units, judge.DRAWS, copied(self.rng))
  local seen = judge.weigh(density, rows, proposal.log_around(units, rows), judge.DRAWS)
  local tells = seen.r >= EVEN and seen.khat < LIGHT   -- not with NaN
  if not tells then return nil end
  local x = Posterior.columns(self.posed, density:report(rows))
  x = functions.where(seen.w:gt(0):reshape(-1, 1), x, 0)   -- what has no weight need not be finite
  local mean, sd = weighted.moments(x, seen.w)
  local own, names = Posterior.columns(self.posed, values)
  local _, own_sd = weighted.moments(own, even)
  local apart = (sd / own_sd):log():abs() - 2 * weighted.sd_errors(x, seen.w, mean, sd)
  apart = functions.where(apart:lt(math.huge), apart, 0)   -- not what never changes
  local at = apart:argmax()
  return math.exp(math.max(apart[at], 0)), names[at]
end

--- The Posterior, once it is reached.
function Smc:result ()
  local at = self.at
  if not at.is_done then
    raise("smc: the posterior is not reached yet: temperature %.3g of 1 after %d stages", at.b, at.stages)
  end
  local u = pooled(self, "u")
  local values = self.density:report(u)
  local eves = eves_of(at)
  local ess, f = effective(self.posed, values, eves)
  f.draws, f.accept, f.stages = core.shape(u)[1], mean_of(at.accept), at.stages
  f.correlation, f.drift = at.slowest, not at.is_settled and at.drift or nil
  f.wide, f.wide_name = beside_wide_draws(self, u, values)
  local log_evidence, deviation, parts = evidence_of(self)
  for name, value in pairs(parts) do f[name] = value end
  f.log_evidence_error = deviation
  local word, reasons = verdict.of_particles(f)
  return Posterior.new {
    posed = self.posed, density = self.density, u = u, values = values, method = "smc", verdict = word,
    reasons = reasons, findings = f, ess_bulk = ess, log_evidence = log_evidence,
    log_evidence_error = deviation, centring = self.degrees, r_eff = f.ess / f.draws,
    extra_columns = { { "ESS", ess } },
    how = string.format("smc from %s, %d draws after %d stages, log evidence %.2f +- %.2f, ESS at least %.0f",
                        self.origin.words, f.draws, at.stages, log_evidence, deviation, f.ess),
  }
end

errors.count_arguments("smc", Smc, "step finish state restore result")

--@ Model:smc(options) -> Posterior or Sampling
-- Tempered sequential Monte Carlo: particles go from the prior, or from around the modes, to the posterior, and the
-- log evidence comes with them.
--   options  particles = how many, at least 20 (2000); ess = share of them that counts after each stage (0.5); moves =
--            of each stage, or "auto" ("auto"); start = "mode" or "prior" ("mode"); run; rng; seed; progress;
--            noncentred; init
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > post = posed:smc { seed = 1 }
-- > post.verdict, string.format("%.1f", post.log_evidence)
-- ok  -2.3
return function (posed, given)
  local smc = new(posed, opts.read("smc", given, ROWS))
  return smc.options.run and smc:finish() or smc
end
