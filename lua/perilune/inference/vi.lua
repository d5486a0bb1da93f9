--- posed:vi {}: variational inference.
--
-- A Gaussian guide is fitted by fixed draws (recipe.lua), unless an option speaks of stochastic steps, or a plate has
-- batches, or the guide is a function: then it is a running fit (running.lua).
local Fit       = require "perilune.inference.running"
local Objective = require "perilune.inference.objective"
local checkpoint = require "perilune.inference.checkpoint"
local errors    = require "perilune.errors"
local form      = require "perilune.form"
local model     = require "perilune.model"
local optim     = require "perilune.optim"
local options   = require "perilune.inference.options"
local progress  = require "perilune.inference.progress"
local recipe    = require "perilune.inference.recipe"
local shared    = require "perilune.inference.shared"

local GUIDES     = { meanfield = true, fullrank = true, lowrank = true, flow = true }
local OBJECTIVES = { elbo = true, renyi = true }
local STEPPED    = { "objective", "alpha", "samples", "steps", "lr", "tolerance", "rank", "layers",
                     "optimiser", "on_step", "local_steps", "save", "save_every", "resume" }
local OF_GAUSSIANS = { "init", "noncentred", "starts", "objective", "alpha", "rank", "layers" }

local STEPS     = 20000
local TOLERANCE = 0.05
local SAMPLES   = { elbo = 8, renyi = 16 }
local RANK      = 10

local function optional (rule) return function (x) return x == false or rule(x) end end

local ROWS = {
  { "guide", false, '"meanfield", "lowrank", "fullrank", "flow" or a function (g, d)',
    optional(function (x) return GUIDES[x] ~= nil or options.is_callable(x) end) },
  { "starts", false, "a positive integer", optional(options.is_count) },
  { "run", true, "true or false", options.is_boolean },
  { "objective", "elbo", '"elbo" or "renyi"', function (x) return OBJECTIVES[x] ~= nil end },
  { "alpha", 0, "a finite number", function (x) return type(x) == "number" and x - x == 0 end },
  { "samples", false, "a positive integer", optional(options.is_count) },
  { "steps", STEPS, "a positive integer", options.is_count },
  { "lr", false, "positive", optional(options.is_positive) },
  { "tolerance", TOLERANCE, "positive, or false", optional(options.is_positive) },
  { "rank", false, "a positive integer", optional(options.is_count) },
  { "layers", false, "a positive integer", optional(options.is_count) },
  { "optimiser", "Adam", "the name of an optimiser that steps without a closure, or a function giving one",
    function (x) return options.is_callable(x) or x ~= "LBFGS" and rawget(optim, x) ~= nil end },
  { "on_step", false, "a function (step, elbo, fit)", optional(options.is_callable) },
  shared.ROW,
  { "local_steps", 1, "a positive integer", options.is_count },
}
table.move(checkpoint.ROWS, 1, #checkpoint.ROWS, #ROWS + 1, ROWS)

-- Do the options speak of stochastic steps?
local function is_stepped (given, read)
  for _, name in ipairs(STEPPED) do
    if given[name] ~= nil then return true end
  end
  return read.guide == "lowrank" or read.guide == "flow" or not read.run
end

-- Which model and options a saved state is of.
local function tag_of (posed, read)
  local names = {}
  for i, site in ipairs(posed.latents) do names[i] = site.name .. ":" .. site.size end
  return string.format("%s %s %s %s", read.guide, read.objective, read.samples, table.concat(names, " "))
end

local function running (posed, read)
  read.guide = read.guide or posed.size <= recipe.FULL_MOST and "fullrank" or "meanfield"
  read.samples = read.samples or SAMPLES[read.objective]
  read.rank = math.min(read.rank or RANK, posed.size)
  return Fit.new({
    set_up = function (between) return Objective.set_up(posed, read, between) end,
    make   = function (set_up) return Objective.new(posed, read, set_up) end,
    is_set_up = function (x) return Objective.is_set_up(posed, x) end,
    tag    = tag_of(posed, read),
  }, read)
end

-- With a guide function, which says by itself where its parameters begin.
local function guided (posed, read, given)
  for _, name in ipairs(OF_GAUSSIANS) do
    if given[name] ~= nil then errors.raise("vi: %s is of no use with a guide function", name) end
  end
  return Fit.new({
    set_up = function () return {} end,
    is_set_up = form.fields {},
    make   = function () return require "perilune.inference.guided".objective(posed, read.guide, read) end,
    tag    = "guide function",
  }, read)
end

-- A running fit, or nil where fixed draws will do.
local function fit_of (posed, read, given)
  if read.guide and not GUIDES[read.guide] then return guided(posed, read, given) end
  if not posed.found then model.discover(posed) end
  if posed.found.rows > 0 or is_stepped(given, read) then return running(posed, read) end
  return nil
end

--@ Model:vi(options) -> Posterior or Fit
-- Variational inference: a Gaussian on the free numbers, fitted to draws that stay fixed, and corrected by importance
-- weights. With an option of stochastic steps (from objective on), a plate with batches or a guide function, it takes
-- such steps.
--   options  guide = "meanfield", "lowrank", "fullrank", "flow" or a function (g, d); full rank up to 150 free numbers
--            unless told; starts = places that modes are looked for from, 8 unless told; comm = world of perilune.mpi:
--            each of its ranks has a share of the rows of all plates; run; objective = "elbo" or "renyi" ("elbo");
--            alpha = order of Renyi's bound (0); samples = draws for each step, 8, or 16 of "renyi", unless told;
--            steps = at most (20000); lr = learning rate, by the guide unless told; tolerance = sds of the guide that
--            count as no change, or false: no end (0.05); rank = factors of "lowrank", 10 unless told; layers =
--            couplings of "flow", 4 unless told; optimiser = name of one of peri.optim, or a function (params, options)
--            ("Adam"); on_step = function (step, elbo, fit), which ends the fit by returning false; local_steps = of
--            each rank between two messages, with comm (1); save = name of a file for checkpoints; save_every = steps
--            between them; resume = true goes on from the last one; rng; seed; progress; noncentred; init
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > post = posed:vi { seed = 1 }
-- > post.verdict, string.format("%.3f", post.mean.mu)
-- ok  1.000
return function (posed, given, more)
  local read = options.read("vi", given, ROWS, more)
  checkpoint.check("vi", read)
  local comm = read.comm
  if given.local_steps and not comm then errors.raise("vi: local_steps is of no use without comm") end
  if comm then
    if read.guide and not GUIDES[read.guide] then
      errors.raise("vi: comm takes a guide by its name, not a guide function")
    end
    read.rng, posed = shared.rng(comm, read.rng), shared.posed("vi", posed, comm)
    read.progress = progress.of_rank(read.progress, comm)
  end
  read.report = progress.reporter(read.progress, "vi")
  local fit, post = fit_of(posed, read, given), nil
  if fit and read.resume then
    checkpoint.resume("vi", read.save, function (text) return fit:restore(text) end, comm)
  end
  if fit and not read.run then return fit end
  if not fit then post = recipe.fit(posed, read)
  elseif not read.tolerance and given.steps == nil then
    errors.raise("vi: a fit without tolerance has no end; give steps, or run = false")
  else
    fit:run(read.steps)
    post = fit:result()
  end
  read.report(post.verdict .. ": " .. post.how, true)
  return post
end
