--- peri.vi.fit { log_joint =, params =, ... }: variational inference for a log density written by hand.
--
-- It is the inference of a model whose sites are flat on their constraints and whose one factor is log_joint: all other
-- options, and the result, are those of posed:vi {}. peri.vi.new gives the running fit.
local attempt     = require "perilune.attempt"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local errors      = require "perilune.errors"
local Flat        = require "perilune.distributions.Flat"
local infer       = require "perilune.inference.vi"
local model       = require "perilune.model"
local options     = require "perilune.inference.options"
local show        = require "perilune.show"
local space       = require "perilune.model.space"

local raise = errors.raise

--@ peri.vi
-- Variational inference for a log density written by hand.
-- > log_joint = function (t) return Normal(3, 2):log_prob(t.x) end
-- > peri.vi.fit({ log_joint = log_joint, params = { x = {} }, seed = 1 }).verdict
-- ok
local vi = {}

-- What is asked for beside the options of posed:vi {}.
local ROWS = {
  { "log_joint", nil, "a function of the parameters", options.is_callable },
  { "params", nil, "a table", function (x) return type(x) == "table" end },
  { "trace", true, "true or false", options.is_boolean },
}


-- Parameters --------------------------------------------------------------------------------

local RESERVED = { factor = true, plate = true }   -- by models

local function fail (...) raise("vi: %s", string.format(...)) end

local function is_shape (x)
  if core.table_kind(x) ~= "data" then return false end
  for key, d in next, x do
    if type(key) ~= "number" or math.type(d) ~= "integer" or d < 1 then return false end
  end
  return true
end

-- { shape =, constraint =, init = } out of what stands for a parameter.
local function description (name, given)
  local d
  if constraints.is_constraint(given) then d = { constraint = given }
  elseif math.type(given) == "integer" or is_shape(given) then d = { shape = given }
  elseif core.table_kind(given) == "named" then d = given
  else fail("params.%s must be a constraint, a shape or { shape =, constraint =, init = }, got %s", name,
            show.value(given)) end
  errors.check_options("vi: params." .. name, d, { "shape", "constraint", "init" })
  return d
end

local function shape_of (name, d, constraint)
  local shape = d.shape
  if math.type(shape) == "integer" then shape = { shape } end
  if shape == nil and d.init ~= nil then
    shape = core.is_tensor(d.init) and core.shape(d.init) or type(d.init) == "table" and core.tensor(d.init).shape
  end
  shape = shape or {}
  if not is_shape(shape) then fail("params.%s: shape must be positive integers, got %s", name, show.value(d.shape)) end
  if #shape < constraint.event_dim then
    fail("params.%s: %s needs a shape of at least %d dimension%s, got %s", name, tostring(constraint),
         constraint.event_dim, constraint.event_dim == 1 and "" or "s", show.shape(shape))
  end
  return shape
end

local function check_init (site, init)
  local value = core.is_tensor(init) and core.bare(init) or core.tensor(init)
  local fits, whole = attempt.call("Tensor:expand: ", nil, value.expand, value, site.shape)
  if not fits then
    fail("params.%s: init must fit shape %s, got %s", site.name, show.shape(site.shape), show.value(value))
  end
  local bad = site.constraint:violation(whole)
  if bad ~= nil then
    fail("params.%s: init must be %s, got %s", site.name, site.constraint:rule(),
         type(bad) == "number" and show.number(bad) or tostring(bad))
  end
  local free = space.free(space.site(site.name, site.constraint, site.shape, 1), site.constraint, whole)
  local total = free:abs():sum()
  if total - total ~= 0 then fail("params.%s: init must not lie on the edge of its constraint", site.name) end
  return whole
end

local function read_site (name, given)
  local d = description(name, given)
  local constraint = d.constraint or constraints.real
  if not constraints.is_constraint(constraint) then
    fail("params.%s: constraint must be a constraint, got %s", name, show.value(constraint))
  end
  local site = { name = name, constraint = constraint, shape = shape_of(name, d, constraint) }
  if d.init ~= nil then site.init = check_init(site, d.init) end
  return site
end

-- Parameters in the order of their names.
local function read_params (params)
  local names, sites = {}, {}
  for name in next, params do
    if type(name) ~= "string" then fail("params must have names, got %s", show.value(name)) end
    if RESERVED[name] then fail("params.%s: a parameter must have another name", name) end
    names[#names + 1] = name
  end
  if #names == 0 then fail("params must be a table of at least one parameter, got %s", show.value(params)) end
  table.sort(names)
  for i, name in ipairs(names) do sites[i] = read_site(name, params[name]) end
  return sites
end


-- The model -----------------------------------------------------------------------------------

local function check_joint (value)
  if type(value) == "number" or core.is_tensor(value) and core.numel(value) == 1 then return value end
  raise("vi: log_joint must return a number or a tensor of one element, got %s", show.value(value))
end

local function model_of (log_joint, sites)
  local laws = {}
  for i, site in ipairs(sites) do laws[i] = Flat(site.constraint, site.shape) end
  return model.model(function (m)
    local theta = {}
    for i, site in ipairs(sites) do
      m[site.name] = laws[i]
      theta[site.name] = m[site.name]
    end
    m:factor("log_joint", check_joint(log_joint(theta)))
  end)
end

local function start (given, run)
  if type(given) ~= "table" then
    raise("vi: takes a table { log_joint =, params =, ... }, got %s", show.value(given))
  end
  local all = {}
  for name, value in next, given do all[name] = value end
  if all.run == nil then all.run = run end
  for _, row in ipairs(ROWS) do   -- what the model is made of; infer checks the others
    if all[row[1]] == nil then all[row[1]] = row[2] end
    options.check("vi", row, all[row[1]])
  end
  local sites = read_params(all.params)
  local posed = model_of(core.located(all.log_joint), sites) {}
  posed.untraced = not all.trace
  if all.init == nil then
    all.init = {}
    for _, site in ipairs(sites) do all.init[site.name] = site.init end
  end
  return infer(posed, all, ROWS)
end

--@ peri.vi.new(options) -> Fit
-- The running fit of vi.fit, for a host to drive.
--   options  log_joint = function of a table of tensors that returns the log density; params = for each name a
--            constraint, a shape, or { shape =, constraint =, init = }; trace = false calls log_joint at every step
--            (true); guide = "meanfield", "lowrank", "fullrank" or "flow"; lr = learning rate, by the guide unless
--            told; tolerance = sds of the guide that count as no change, or false: no end (0.05); rng; seed
-- > fit = peri.vi.new { log_joint = function (t) return Normal(3, 2):log_prob(t.x) end, params = { x = {} }, seed = 1 }
-- > fit:step(10)
-- > fit.steps
-- 10
function vi.new (given, ...)
  errors.no_more("vi.new(options)", ...)
  return start(given, false)
end

--@ peri.vi.fit(options) -> Posterior
-- Fits a log density; the determinants of constraints are accounted for. All other options, and the result, are those
-- of Model:vi.
--   options  log_joint = function of a table of tensors that returns the log density; params = for each name a
--            constraint, a shape, or { shape =, constraint =, init = }; trace = false calls log_joint at every step
--            (true); guide = "meanfield", "lowrank", "fullrank" or "flow"; starts = places that modes are looked for
--            from, 8 unless told; steps = at most, if it takes stochastic ones (20000); rng; seed; progress; init
-- > y = tensor { 171, 165, 180, 174 }
-- > post = peri.vi.fit {
-- >   log_joint = function (t)
-- >     return Normal(170, 20):log_prob(t.mean) + HalfNormal(20):log_prob(t.spread)
-- >            + Normal(t.mean, t.spread):log_prob(y):sum()
-- >   end,
-- >   params = { mean = { init = 170 }, spread = constraints.positive },
-- >   seed = 1,
-- > }
-- > string.format("%.0f", post.mean.mean)
-- 172
function vi.fit (given, ...)
  errors.no_more("vi.fit(options)", ...)
  return start(given, true)
end

return errors.module("vi", vi)
