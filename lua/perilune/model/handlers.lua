--- What a run of a model's body is for: the handlers of model/run.lua.
--
-- In every run the values of unobserved sites are tensors with a gradient, so that what a body may do with them does
-- not depend on what the run is for.
local class     = require "perilune.class"
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local show      = require "perilune.show"
local space     = require "perilune.model.space"

local raise = errors.raise

local handlers = {}

local function new_kind (kind)
  kind.__index = kind
  return kind
end

-- The shape of what a distribution draws.
local function shape_of (d)
  local shape = {}
  for _, n in ipairs(d.batch_shape) do shape[#shape + 1] = n end
  for _, n in ipairs(d.event_shape) do shape[#shape + 1] = n end
  return shape
end

local function is_same_shape (a, b)
  for i = 1, math.max(#a, #b) do
    if a[i] ~= b[i] then return false end
  end
  return true
end

-- All of x, added up.
local function total_of (x)
  if type(x) == "number" or core.rank(x) == 0 then return x end
  return x:sum()
end


-- Finding the sites ---------------------------------------------------------------------

-- Unobserved sites have the value of u = 0, or of `init`.
local Discovery = new_kind {}

--- Finds the sites in their order: { kind =, name =, shape =, ... }, those unobserved with their place in u.
function handlers.discovery (init)
  return setmetatable({ sites = {}, latents = {}, size = 0, init = init or {}, start = {} }, Discovery)
end

function Discovery:note (kind, name, shape, d)
  self.sites[#self.sites + 1] = { kind = kind, name = name, shape = shape,
                                  distribution = d and class.name(class.of(d)) }
end

function Discovery:latent (name, d)
  if self.scale ~= 1 then
    raise("model: %s is not observed, within a plate of which only some rows count; declare it before the plate and "
          .. "index it", name)
  end
  local shape = shape_of(d)
  local site = space.site(name, d.support, shape, self.size + 1)
  site.kind, site.distribution, site.class = "latent", class.name(class.of(d)), class.of(d)
  site.index = #self.latents + 1
  self.sites[#self.sites + 1], self.latents[site.index], self.latents[name] = site, site, site
  self.size = self.size + site.size
  local free = core.zeros(site.size)
  if self.init[name] ~= nil then free = space.free(site, d.support, self.init[name]) end
  self.start[site.index] = free
  return (space.value(site, d.support, core.param(free), 1))
end

function Discovery:observed (name, d, value)
  self:note("observed", name, core.is_tensor(value) and core.shape(value) or {}, d)
end

function Discovery:derived (name, value)
  self:note("derived", name, core.is_tensor(value) and core.shape(value) or {})
end

function Discovery:factor (name) self:note("factor", name, {}) end

function Discovery.plate (_, _, n, size) return require "perilune.model.batch".new(n, size) end


-- The log density at free numbers -----------------------------------------------------------

local Density = new_kind {}

--- Adds up the log density of u in `total`. `latents` are those of a discovery; `centring` has, by name, how far a
-- location-scale site is centred: 0 is not at all.
function handlers.density (latents, u, centring, plates)
  return setmetatable({ latents = latents, u = u, centring = centring or {}, plates = plates, total = nil }, Density)
end

local function add (self, term)
  term = total_of(term)
  if self.scale ~= 1 then term = term * self.scale end
  self.total = self.total and self.total + term or term
end

-- x = loc + scale^(1 - c) (z - c loc), where z is scored as a draw of the same law with c loc and scale^c.
local function recentred (self, site, d, c)
  local z = space.value(site, d.support, self.u)
  local params = {}
  for _, p in ipairs(class.of(d).params) do params[p[1]] = d[p[1]] end
  if c == 0 then params.loc, params.scale = 0, 1
  else params.loc, params.scale = c * d.loc, functions.exp(c * functions.log(d.scale)) end   -- cheaper than ^
  params.validate = false
  add(self, class.of(d)(params):log_prob(z))
  if c == 0 then return d.loc + d.scale * z end
  return d.loc + d.scale / params.scale * (z - params.loc)
end

function Density:latent (name, d)
  local site = self.latents[name]
  if not site then
    raise("model: %s was not there when the sites were found: sites must be the same in every run", name)
  end
  if not is_same_shape(shape_of(d), site.shape) then
    raise("model: %s has shape %s in this run, and had %s before", name, show.shape(shape_of(d)),
          show.shape(site.shape))
  end
  local c = self.centring[name]
  if c ~= nil and c ~= 1 then return recentred(self, site, d, c) end
  local value, log_det = space.value(site, d.support, self.u)
  if site.distribution ~= "Flat" then add(self, d:log_prob(value)) end   -- that is 0 here
  if log_det and not self.is_joint then add(self, log_det) end
  return value
end

function Density:observed (_, d, value)
  add(self, d:log_prob(value))
end

function Density:factor (_, value) add(self, value) end

function Density:plate (name, n, size)
  if not self.plates then return nil end
  self.plates[name] = self.plates[name] or require "perilune.model.batch".new(n, size)
  return self.plates[name]
end


-- The log joint density of given values -----------------------------------------------------

local Joint = new_kind {}

--- Adds up the log density of values given by name in `total`.
function handlers.joint (values) return setmetatable({ values = values, total = 0 }, Joint) end

function Joint:latent (name, d)
  local value = self.values[name]
  if value == nil then raise("model: log_joint needs a value for %s", name) end
  value = core.param(core.operand(value, "model", name))
  add(self, d:log_prob(value))
  return value
end

function Joint:observed (_, d, value) add(self, d:log_prob(value)) end

Joint.factor = Density.factor


-- Draws -------------------------------------------------------------------------------------

local Sampling = new_kind {}

--- Draws sites that `values` do not give, by name; all values, those derived among them, are in `values` after. Sites
-- that are observed otherwise are as data are.
function handlers.sampling (latents, values, rng)
  return setmetatable({ latents = latents, values = values, rng = rng }, Sampling)
end

function Sampling:latent (name, d)
  local value = self.values[name]
  if value == nil then
    value = d:sample(nil, self.rng)
    self.values[name] = value
  end
  return self.latents[name] and core.param(value) or value
end

function Sampling:derived (name, value) self.values[name] = core.is_tensor(value) and value:detach() or value end


-- Reports -------------------------------------------------------------------------------------

local Report = new_kind {}

--- As the density, and keeps the values of sites and derived ones in `values`, by name.
function handlers.report (latents, u, centring)
  local self = handlers.density(latents, u, centring)
  self.values = {}
  return setmetatable(self, Report)
end

function Report:latent (name, d)
  local value = Density.latent(self, name, d)
  self.values[name] = value
  return value
end

function Report:derived (name, value) self.values[name] = value end
function Report.observed () end
function Report.factor () end


-- Log likelihoods -----------------------------------------------------------------------------

local Likelihood = new_kind {}

--- As the density; `values` has the log densities of observed sites, element by element.
function handlers.likelihood (latents, u, centring)
  local self = handlers.density(latents, u, centring)
  self.values = {}
  return setmetatable(self, Likelihood)
end

Likelihood.latent = Density.latent

function Likelihood:observed (name, d, value) self.values[name] = d:log_prob(value) end

function Likelihood.factor () end

handlers.shape_of = shape_of

return handlers
