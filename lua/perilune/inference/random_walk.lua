--- posed:random_walk {}: draws by random-walk Metropolis, which asks for values of the density alone.
--
-- For densities without a useful gradient, and for models that cannot be traced. Each draw is the state after `thin`
-- proposals; during the warm-up their covariance follows that of the draws (Haario, Saksman and Tamminen 2001), their
-- scale the share that is accepted.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local matrices  = require "perilune.matrices"
local modes     = require "perilune.inference.modes"
local options   = require "perilune.inference.options"
local recipe    = require "perilune.inference.recipe"
local Sampling  = require "perilune.inference.sampling"
local tensor    = require "perilune.tensor"
local Uniform   = require "perilune.distributions.Uniform"
local Units     = require "perilune.inference.units"

local TARGET    = 0.3     -- of the acceptance
local FIRST     = 20      -- draws before the first covariance; then at each doubling
local RETRIES   = 100     -- for a start where the density is finite
local MOST_THIN = 200

local ROWS = {
  { "chains", 4, "an integer from 1 to 1024", function (x) return options.is_count(x) and x <= 1024 end },
  { "draws", 1000, "an integer from 4", options.is_enough },
  { "warmup", 1000, "an integer that is not negative", function (x) return x == 0 or options.is_count(x) end },
  { "thin", "auto", '"auto" or a positive integer', function (x) return x == "auto" or options.is_count(x) end },
  { "run", true, "true or false", options.is_boolean },
}

local STATS = { "log_density", "accept", "step" }

-- Chains as Sampling runs them: all of them at once, a row each.
local Walk = {}
Walk.__index = Walk

local function new_walk (density, starts, read, thin)
  local n, total = read.chains, read.warmup + read.draws
  return setmetatable({
    density = density, warmup = read.warmup, total = total, thin = thin, rng = Sampling.own_rng(read.rng),
    kept = core.zeros(n, total, density.size), stats = core.zeros(n, total, #STATS),
    at = { n = 0, u = starts, values = density:values(starts), step = 2.4 / math.sqrt(density.size),
           scale = core.ones(density.size) },
  }, Walk)
end

-- A covariance for proposals, from the later half of the draws of each chain about its own mean.
local function adapt_scale (self)
  local at = self.at
  local first = math.floor(at.n / 2) + 1
  local draws = self.kept:narrow(2, first, at.n - first + 1)
  local centred = (draws - draws:mean(2, true)):reshape(-1, self.density.size)
  local n = core.shape(centred)[1]
  local variance = (centred * centred):mean(1)
  if variance:min() == 0 then return end
  at.scale = variance:sqrt()
  if n < 4 * self.density.size then return end
  local factor = matrices.cholesky(centred:transpose():matmul(centred) / n)
  if factor:sum() - factor:sum() == 0 then at.scale = factor end
end

-- Is this the number of a draw after which the covariance is found anew?
local function is_doubling (n)
  while n > FIRST and n % 2 == 0 do n = math.floor(n / 2) end
  return n == FIRST
end

local function adapt (self, accept)
  local at = self.at
  if at.n > self.warmup then return end
  at.step = at.step * math.exp((accept - TARGET) * 4 / math.sqrt(math.max(4, at.n)))
  if is_doubling(at.n) then adapt_scale(self) end
end

-- One draw of each chain.
local function draw (self)
  local at, thin, n, size = self.at, self.thin, core.shape(self.at.u)[1], self.density.size
  local units = Units.new(core.zeros(size), at.scale * at.step)
  local moves = units:to(modes.noise(thin * n, size, self.rng)):reshape(thin, n, size)
  local limits = Uniform(0, 1):sample({ thin, n }, self.rng):log()
  local accepted = core.zeros(n)
  for i = 1, thin do
    local there = at.u + moves[i]
    local values = self.density:values(there)
    local taken = (values - at.values):gt(limits[i])   -- not where it is NaN
    taken = taken * values:lt(math.huge)
    at.u = functions.where(taken:reshape(n, 1), there, at.u)
    at.values = functions.where(taken, values, at.values)
    accepted = accepted + taken
  end
  at.n = at.n + 1
  self.kept:select(2, at.n):copy(at.u)
  self.stats:select(2, at.n):copy(tensor.stack({ at.values, accepted / thin, core.full({ n }, at.step) }, 2))
  adapt(self, accepted:mean() / thin)
end

--- n draws of each chain, or as many as fit into the time, or all. True when all is drawn.
function Walk:run (n, seconds)
  local stop, left = seconds and core.clock() + seconds, n or math.huge
  while self.at.n < self.total and left > 0 do
    draw(self)
    left = left - 1
    if stop and core.clock() >= stop then break end
  end
  return self.at.n >= self.total
end

function Walk:draws ()
  return self.kept, self.stats, (self:counts())
end

--- How many iterations each chain has done; none of them diverges.
function Walk:counts ()
  local counts = {}
  for i = 1, core.shape(self.kept)[1] do counts[i] = self.at.n end
  return counts
end

function Walk:state () return { at = self.at, rng = self.rng:state() } end

local function has_shape (x, like)
  if not core.is_tensor(x) then return false end
  local a, b = core.shape(x), core.shape(like)
  for i = 1, math.max(#a, #b) do
    if a[i] ~= b[i] then return false end
  end
  return true
end

function Walk:restore (state, draws, stats)
  local at = state.at
  local fits = type(at) == "table" and has_shape(at.u, self.at.u) and has_shape(at.values, self.at.values)
               and has_shape(draws, self.kept) and has_shape(stats, self.stats)
               and math.type(at.n) == "integer" and at.n >= 0 and at.n <= self.total and options.is_positive(at.step)
               and (has_shape(at.scale, core.zeros(self.density.size))
                    or has_shape(at.scale, core.zeros(self.density.size, self.density.size)))
  if not fits or type(state.rng) ~= "string" or not self.rng:restore(state.rng) then return nil end
  self.at, self.kept, self.stats = at, draws, stats
  return true
end


-- A start near init where the density is finite.
local function start_near (posed, density, init, rng)
  for _ = 1, RETRIES do
    local u = init + Uniform(-2, 2):sample({ density.size }, rng)
    local value = density:values(u:reshape(1, density.size))[1]
    if value - value == 0 then return u end
  end
  return recipe.complain(posed, density, init)
end

--@ Model:random_walk(options) -> Posterior or Sampling
-- Draws by random-walk Metropolis, which asks for values of the density alone: for bodies that cannot be traced, and
-- densities without a useful gradient.
--   options  chains = how many, at most 1024 (4); draws = of each chain (1000); warmup = draws before them, in which
--            proposals are tuned (1000); thin = proposals for each draw, or "auto" ("auto"); run; rng; seed; progress;
--            noncentred; init
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > posed:random_walk({ seed = 1 }).verdict
-- ok
return function (posed, given)
  local read = options.read("random_walk", given, ROWS)
  read.method = "random_walk"
  local density, init, degrees = recipe.density(posed, read, { for_chains = true })
  local starts = {}
  for i = 1, read.chains do starts[i] = start_near(posed, density, init, read.rng) end
  local thin = read.thin == "auto" and math.min(MOST_THIN, 2 * density.size) or read.thin
  local walk = new_walk(density, tensor.stack(starts), read, thin)
  local sampling = Sampling.of(posed, density, degrees, read, walk, STATS)
  return read.run and sampling:finish() or sampling
end
