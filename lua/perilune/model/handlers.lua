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

local GLANCE = 16   -- rows of a plate that is streamed, for what does not depend on them

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
  return setmetatable({ sites = {}, latents = {}, size = 0, rows = 0, init = init or {}, start = {} }, Discovery)
end

function Discovery:note (kind, name, shape, d)
  self.sites[#self.sites + 1] = { kind = kind, name = name, shape = shape, in_plate = self.depth > 0,
                                  distribution = d and class.name(class.of(d)) }
end

function Discovery:latent (name, d)
  if self.scale ~= 1 then
    raise("model: %s is not observed, within a plate of which only some rows count; declare it before the plate and "
          .. "index it, or give vi a guide function", name)
  end
  local shape = shape_of(d)
  local site = space.site(name, d.support, shape, self.size + 1)
  site.kind, site.distribution, site.class = "latent", class.name(class.of(d)), class.of(d)
  site.index, site.in_plate = #self.latents + 1, self.depth > 0
  self.sites[#self.sites + 1], self.latents[site.index], self.latents[name] = site, site, site
  self.size = self.size + site.size
  local free = core.zeros(site.size)
  if self.init[name] ~= nil then
    free = space.free(site, d.support, self.init[name])
    local total = free:sum()
    if total - total ~= 0 then
      raise("model: %s must be finite, and within its support, got %s", name, show.parameter(self.init[name]))
    end
  end
  self.start[site.index] = free
  return (space.value(site, d.support, core.param(free), 1))
end

-- The shape of two that broadcast; nil if they do not.
local function broadcast_shape (a, b)
  local shape, n = {}, math.max(#a, #b)
  for i = 1, n do
    local x, y = a[#a - n + i] or 1, b[#b - n + i] or 1
    if x ~= y and x ~= 1 and y ~= 1 then return nil end
    shape[i] = x == 1 and y or x
  end
  return shape
end

-- Data and distribution must fit as they are, or by stretching one of the two: where both are stretched, a row stands
-- beside a column by mistake.
local function check_shapes (name, d, value)
  local of_data, of_law = core.is_tensor(value) and core.shape(value) or {}, shape_of(d)
  local shape = broadcast_shape(of_data, of_law)
  if not shape or not is_same_shape(shape, of_data) and not is_same_shape(shape, of_law) then
    raise("model: %s has shape %s in the data, and %s by its distribution, which do not fit", name,
          show.shape(of_data), show.shape(of_law))
  end
end

-- NaN may be where a mask hides it, and nowhere else.
local function check_numbers (name, d, value)
  local is_nan = functions.ne(value, value)
  local count = total_of(is_nan)
  if count == 0 then return end
  local total = total_of(d:log_prob(value))
  if core.is_tensor(total) then total = core.item(total) end
  if total == total then return end
  raise("model: %s is nan in the data%s; leave missing values out, or make them sites", name,
        core.is_tensor(is_nan) and string.format(" (element %d)", is_nan:reshape(-1):argmax()) or "")
end

function Discovery:observed (name, d, value)
  if type(value) == "number" or core.is_tensor(value) and core.numel(value) > 0 then
    check_shapes(name, d, value)
    check_numbers(name, d, value)
  end
  self:note("observed", name, core.is_tensor(value) and core.shape(value) or {}, d)
end

function Discovery:derived (name, value)
  self:note("derived", name, core.is_tensor(value) and core.shape(value) or {})
end

function Discovery:factor (name) self:note("factor", name, {}) end

local function new_batch (...) return require "perilune.model.batch".new(...) end

-- `rows` counts those of plates of which only some are looked at in a step.
function Discovery:plate (_, n, size, block)
  if size < n then self.rows = self.rows + n end
  if size < n or block then return new_batch(n, math.min(size, block or n)) end
  return nil
end


-- The log density at free numbers -----------------------------------------------------------

local Density = new_kind {}

--- Adds up the log density of u in `total`. `latents` are those of a discovery; `centring` has, by name, how far a
-- location-scale site is centred: 0 is not at all. Whoever makes one of a share of the plates' rows may set `outside`
-- and `inside`, how often terms count that stand outside of plates, and within.
function handlers.density (latents, u, centring, plates)
  return setmetatable({ latents = latents, u = u, centring = centring or {}, plates = plates, total = nil,
                        met = 0 }, Density)
end

--- As the density; note_term(name, term) is told of each of its terms.
function handlers.terms (latents, u, note_term)
  local self = handlers.density(latents, u)
  self.note_term = note_term
  return self
end

local function add (self, term, name)
  local share = self.depth > 0 and self.inside or self.depth == 0 and self.outside or 1
  if share == 0 then return end
  term = total_of(term)
  if self.note_term then self.note_term(name, term) end
  if self.scale * share ~= 1 then term = term * (self.scale * share) end
  self.total = self.total and self.total + term or term
end

-- x = loc + scale^(1 - c) (z - c loc), where z is a draw of the same law with c loc and scale^c: that law, and x.
local function law_of_z (d, c)
  local params = { validate = false }
  for _, p in ipairs(class.of(d).params) do params[p[1]] = d[p[1]] end
  if c == 0 then params.loc, params.scale = 0, 1
  else params.loc, params.scale = c * d.loc, functions.exp(c * functions.log(d.scale)) end
  return class.of(d)(params)
end

local function value_of_z (d, c, law, z)
  if c == 0 then return d.loc + d.scale * z end
  return d.loc + d.scale / law.scale * (z - law.loc)
end

local function recentred (self, site, d, c)
  local z = space.value(site, d.support, self.u)
  local law = law_of_z(d, c)
  add(self, law:log_prob(z), site.name)
  return value_of_z(d, c, law, z)
end

function Density:latent (name, d)
  local site = self.latents[name]
  self.met = self.met + 1
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
  if site.distribution ~= "Flat" then add(self, d:log_prob(value), name) end   -- that is 0 here
  if log_det and not self.is_joint then add(self, log_det, name) end
  return value
end

function Density:observed (name, d, value)
  add(self, d:log_prob(value), name)
end

function Density:factor (name, value) add(self, value, name) end

-- Some rows of a plate that is streamed, where it does not matter which; all, if they are one block.
function handlers.glance (_, _, n, size, block)
  if not block then return nil end
  return new_batch(n, size == n and block == n and n or math.min(size, GLANCE))
end

-- The Batch of this name in self.plates, which has them in their order, and by name.
local function plate_of (self, name, n, size, first)
  local plates = self.plates
  local batch = plates[name]
  if not batch then
    batch = new_batch(n, size, first)
    plates[#plates + 1], plates[name] = batch, batch
  end
  if batch.n ~= n or batch.size ~= size then
    raise("%s: plate %s has %d of %d rows here, and %d of %d elsewhere", self.who or "model", name, size, n,
          batch.size, batch.n)
  end
  return batch
end

--- The Batch of a plate, or nil: then all rows count. With `self.stretch`, { first, count }, it has these rows of
-- plates that are streamed, and all of others. With `self.plates` alone, as many rows as a step looks at.
function handlers.batch (self, name, n, size, block)
  local stretch = self.stretch
  if stretch and block then
    if self.scale ~= 1 then raise("model: plate %s has rows that are streamed, and is within another", name) end
    return plate_of(self, name, n, stretch.count, stretch.first)
  end
  if self.plates and not stretch and size < n then return plate_of(self, name, n, size) end
  if self.plates and block then
    raise("%s: plate %s has data that are not all in memory: give it a size, as other plates have", self.who or "model",
          name)
  end
  return handlers.glance(self, name, n, size, block)
end

Density.plate = handlers.batch


function Density:finish (values)
  if self.met == #self.latents then return end
  for _, site in ipairs(self.latents) do
    if values[site.name] == nil then
      raise("model: %s was there when the sites were found, and is not now: sites must be the same in every run",
            site.name)
    end
  end
end


-- The prior at free numbers ------------------------------------------------------------------

local Prior = new_kind { latent = Density.latent, plate = Density.plate }

--- As the density, without what is observed and without factors.
function handlers.prior (...) return setmetatable(handlers.density(...), Prior) end

local Drawing = new_kind { plate = handlers.glance }

--- Draws the free numbers of all sites from the prior into `parts`, one stretch of u each. The body ends by an error,
-- the handler itself, when the last one is drawn.
function handlers.drawing (latents, centring, rng)
  return setmetatable({ latents = latents, centring = centring, rng = rng, parts = {} }, Drawing)
end

-- The value of a site that was drawn, and its free numbers.
local function drawn (self, site, d)
  local c = self.centring[site.name]
  if c ~= nil and c ~= 1 then
    local law = law_of_z(d, c)
    local z = core.tensor(law:expand(site.shape):sample(nil, self.rng))
    return value_of_z(d, c, law, z), z:reshape(-1)
  end
  local x = core.tensor(d:sample(nil, self.rng))
  return x, space.inverse(site, d.support, x)
end

function Drawing:latent (name, d)
  local site = self.latents[name]
  local value, free = drawn(self, site, d)
  self.parts[site.index] = core.bare(free)
  if site.index == #self.latents then error(self, 0) end
  return core.param(core.bare(value))
end


-- The log joint density of given values -----------------------------------------------------

local Joint = new_kind { plate = handlers.batch }

--- Adds up the log density of values given by name in `total`, with a stretch { first, count } of rows that are
-- streamed.
function handlers.joint (values, stretch)
  return setmetatable({ values = values, total = 0, stretch = stretch, plates = stretch and {} }, Joint)
end

function Joint:latent (name, d)
  local value = self.values[name]
  if value == nil then raise("model: log_joint needs a value for %s", name) end
  value = core.param(core.operand(value, "model", name))
  add(self, d:log_prob(value))
  return value
end

function Joint:observed (_, d, value) add(self, d:log_prob(value)) end

Joint.factor = Density.factor

local Scored = new_kind { observed = Joint.observed }

--- Adds up the log density of what is observed, with values of unobserved sites given by name.
function handlers.scored (values) return setmetatable({ values = values, total = 0 }, Scored) end

function Scored:latent (name) return core.param(core.operand(self.values[name], "model", name)) end


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

local Report = new_kind { plate = handlers.glance }

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
Report.finish = Density.finish
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

Likelihood.latent, Likelihood.finish = Density.latent, Density.finish

function Likelihood:observed (name, d, value) self.values[name] = d:log_prob(value) end

function Likelihood.factor () end

handlers.shape_of, handlers.total_of = shape_of, total_of

return handlers
