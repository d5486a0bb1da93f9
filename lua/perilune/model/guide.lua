--- Guides of one's own: function (g, d) ... end, run as a model's body is.
--
--   g.mu = Normal(g:param("loc", 0), g:param("scale", 1, constraints.positive))
--
-- Assignment declares what draws a site of the model, reading gives the draw, g:param(name, init, constraint) is a
-- parameter that a fit moves: free numbers, brought to the constraint by biject_to. It begins at `init`, or at a draw
-- of it, if that is a distribution.
local class       = require "perilune.class"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local errors      = require "perilune.errors"
local functions   = require "perilune.functions"
local handlers    = require "perilune.model.handlers"
local held        = require "perilune.one_sided".held
local run         = require "perilune.model.run"
local show        = require "perilune.show"
local space       = require "perilune.model.space"

local raise = errors.raise

local Guide = {}
Guide.__index = Guide

--- A guide for the data of a posed model. `params` are free numbers, a tensor for each parameter.
function Guide.new (fn, posed)
  return setmetatable({ fn = errors.check_function("vi", "guide", fn), data = posed.data, entries = {}, params = {} },
                      Guide)
end


-- Parameters --------------------------------------------------------------------------------

-- The initial value as a tensor without a gradient; a distribution as it is.
local function initial (name, init)
  if init == nil then raise("guide: param %s has no initial value: g:param(name, init, constraint)", name) end
  if run.is_distribution(init) then return init end
  return core.is_tensor(init) and core.bare(init) or core.tensor(core.operand(init, "guide", "param " .. name))
end

local function shape_of (init) return core.is_tensor(init) and core.shape(init) or handlers.shape_of(init) end

local function new_entry (name, init, constraint, rng)
  if not core.is_tensor(init) then init = core.tensor(init:sample(nil, rng)) end
  constraint = constraint == nil and constraints.real or constraint
  if not constraints.is_constraint(constraint) then
    raise("guide: the constraint of param %s must be one of peri.constraints, got %s", name, show.value(constraint))
  elseif constraint.is_discrete then
    raise("guide: param %s cannot be moved in steps: %s is discrete", name, tostring(constraint))
  end
  local site = space.site("param " .. name, constraint, core.shape(init), 1, "guide")
  return { site = site, constraint = constraint, free = core.param(space.free(site, constraint, init)) }
end

local function param (self, name, init, constraint, rng)
  if type(name) ~= "string" then raise("guide: a param must have a name, got %s", show.value(name)) end
  local entry = self.entries[name]
  init = initial(name, init)
  if not entry then
    entry = new_entry(name, init, constraint, rng)
    self.entries[name], self.params[#self.params + 1] = entry, entry.free
  elseif show.shape(shape_of(init)) ~= show.shape(entry.site.shape) then
    raise("guide: param %s has shape %s, and had %s before", name, show.shape(shape_of(init)),
          show.shape(entry.site.shape))
  end
  return entry
end

-- The value of a parameter: a tensor with a gradient, as those of sites are. One that is held has a gradient that does
-- not reach the parameter, though a trace replays it.
local function value_of (entry, is_held)
  local value = space.value(entry.site, entry.constraint, entry.free)
  if not is_held then return value end
  value = held(value)
  return core.tracked(value) and value or core.param(value)
end

--- The values of all parameters, by name.
function Guide:values ()
  local values = {}
  for name, entry in pairs(self.entries) do values[name] = core.bare(value_of(entry)):clone() end
  return values
end


-- Runs --------------------------------------------------------------------------------------

local Run = { who = "guide" }
Run.__index = Run

function Run.observed (_, name) raise("guide: %s is observed, and needs no guide", name) end

function Run.derived (_, name, value)
  raise("guide: %s must be a distribution, got %s; Delta(x) makes a site a point", name, show.value(value))
end

function Run:param (name, init, constraint, ...)
  errors.no_more("g:param(name, init, constraint)", ...)
  return value_of(param(self.guide, name, init, constraint, self.rng), self.is_held)
end

Run.plate = handlers.batch

-- A draw as the body sees it: every site is a tensor with a gradient.
local function draw (d, rng)
  local z = d.has_rsample and d:rsample(nil, rng) or d:sample(nil, rng)
  return core.tracked(z) and z or core.param(z)
end

function Run:latent (name, d)
  local value = self.given and self.given[name] or draw(d, self.rng)
  local site = { name = name, q = d, value = value, index = #self.sites + 1, scale = self.scale }
  self.sites[site.index], self.sites[name] = site, site
  return value
end

--- Draws every site: a list of { name, q, value, index, scale }, also by name. `plates`: see handlers.batch.
function Guide:draw (rng, plates)
  return run.body(self.fn, self.data, setmetatable({ guide = self, sites = {}, rng = rng, plates = plates }, Run)).sites
end

--- The same sites with their values given by name, and parameters held.
function Guide:held (given, plates)
  return run.body(self.fn, self.data, setmetatable({ guide = self, sites = {}, given = given, plates = plates,
                                                     is_held = true }, Run)).sites
end


-- Does it fit the model? ----------------------------------------------------------------------

-- The constraint of the numbers that a batch of them is made of.
local function of_parts (c)
  while c and c.dims do c = c.base end
  return c
end

local function any (flags) return core.is_tensor(flags) and core.bare(flags):any() ~= 0 or flags == 1 end

--- Is all of q at one point?
function Guide.is_point (q)
  local c = of_parts(q.support)
  return c ~= nil and c.low ~= nil and not any(functions.lt(c.low, c.high))
end

-- Are all draws of q where p has a density? By the ends of supports of single numbers; others must be of one kind.
local function is_inside (q, p, value)
  local inner, outer = of_parts(q.support), of_parts(p.support)
  if not (inner and outer) then return true end
  if Guide.is_point(q) then return p.support:check(core.bare(value)) end
  if inner.low and outer.low then
    if (inner.is_discrete or false) ~= (outer.is_discrete or false) then return false end
    return not any(functions.maximum(functions.lt(inner.low, outer.low), functions.gt(inner.high, outer.high)))
  end
  return getmetatable(inner) == getmetatable(outer) and p.support:check(core.bare(value))
end

local function name_of (d) return class.name(class.of(d)) end

--- Raises unless a site of the guide, which has drawn, has the shape of the model's distribution p, and if told a
-- support inside p's.
function Guide.check_site (site, p, checks_support)
  local name, q = site.name, site.q
  local own, other = handlers.shape_of(q), handlers.shape_of(p)
  if show.shape(own) ~= show.shape(other) then
    raise("guide: %s has shape %s, and %s in the model", name, show.shape(own), show.shape(other))
  end
  if checks_support and not is_inside(q, p, site.value) then
    raise("guide: %s is drawn from %s with support %s, which is not inside that of the model's %s, %s", name,
          name_of(q), tostring(q.support), name_of(p), tostring(p.support))
  end
end

return Guide
