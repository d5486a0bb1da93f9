--- The terms of the ELBO of a model and a guide of one's own (model/guide.lua), at one draw of the guide.
--
--   ELBO = sum of log likelihoods and factors - sum of K_i over sites,   K_i = E[log q_i - log p_i]
--
-- For each site one of three:
--
--   "kl"     K_i = kl_divergence(q_i, p_i) of the pair registered, at the parents that were drawn. That is E[log q_i -
--            log p_i] only if no parent of the site in the model was drawn from it.
--   "path"   K_i = log q_i - log p_i at the draw, with the parameters of q_i held: the gradient along the path of the
--            draw (Roeder, Wu and Duvenaud 2017). The rest of the gradient has expectation 0.
--   "score"  the site cannot be reparameterised: the gradient of log q_i, times what the draw costs downstream less its
--            moving average; K_i is either of the above.
--
-- That no parent was drawn from the site is proved on the tape of a trace, which has everything that can change from
-- draw to draw. What cannot be traced is judged by order: a parent stands before the site in the model, and what was
-- drawn from the site after it in the guide.
local class    = require "perilune.class"
local core     = require "perilune.core"
local errors   = require "perilune.errors"
local Guide    = require "perilune.model.guide"
local handlers = require "perilune.model.handlers"
local kl       = require "perilune.kl"
local run      = require "perilune.model.run"

local raise, total_of = errors.raise, handlers.total_of

local KEPT = 0.9   -- of a baseline, at every draw

local terms = {}


-- The model at draws of the guide -------------------------------------------------------------

local AtDraws = {}
AtDraws.__index = AtDraws

local function note (self, kind, name, shape, d)
  self.noted[#self.noted + 1] = { kind = kind, name = name, shape = shape,
                                  distribution = d and class.name(class.of(d)) }
end

local function add_term (self, term)
  term.order = #self.terms + 1
  self.terms[term.order] = term
end

local function names_of (sites)
  local names = {}
  for i, site in ipairs(sites) do names[i] = site.name end
  return names
end

local function hint (name, names)
  local near = core.nearest(name, names)
  return near and "; did you mean " .. near .. "?" or ""
end

function AtDraws:latent (name, d)
  local site = self.drawn[name]
  if not site then
    raise("guide: %s, a site of the model, is not declared%s", name, hint(name, names_of(self.drawn)))
  end
  if site.scale ~= self.scale then raise("guide: %s must stand in the same plates as in the model", name) end
  if not self.plates and self.scale ~= 1 then
    raise("guide: %s stands within a plate whose rows are streamed, and would be as large as they are", name)
  end
  Guide.check_site(site, d, self.checks)
  note(self, "latent", name, handlers.shape_of(d), d)
  site.p = d
  add_term(self, { site = site })
  site.order = #self.terms
  return site.value
end

local function shape_of (value) return core.is_tensor(value) and core.shape(value) or {} end

local function scaled (self, value)
  value = total_of(value)
  return self.scale ~= 1 and value * self.scale or value
end

function AtDraws:observed (name, d, value)
  note(self, "observed", name, shape_of(value), d)
  add_term(self, { value = scaled(self, d:log_prob(value)) })
end

function AtDraws:factor (name, value)
  note(self, "factor", name, {})
  add_term(self, { value = scaled(self, value) })
end

function AtDraws:derived (name, value) note(self, "derived", name, shape_of(value)) end

AtDraws.plate = handlers.batch

local function check_known (drawn, list)
  local names = {}
  for _, term in ipairs(list) do names[#names + 1] = term.site and term.site.name end
  for _, site in ipairs(drawn) do
    if not site.p then raise("guide: %s is no site of the model%s", site.name, hint(site.name, names)) end
  end
end

--- Draws from the guide and runs the model there. Returns { drawn, noted, terms, plates }: sites as the guide has them,
-- the model's sites and what else it assigns, and of what the ELBO is the sum: { order, value } or { order, site }.
-- `checks`: whether to look at supports.
function terms.find (posed, guide, rng, plates, checks)
  local drawn = guide:draw(rng, plates)
  local found = setmetatable({ drawn = drawn, terms = {}, noted = {}, plates = plates, checks = checks }, AtDraws)
  run.body(posed.body, posed.data, found)
  check_known(drawn, found.terms)
  return found
end


-- Which term a site has -----------------------------------------------------------------------

-- Was no parent of the site in the model drawn from it? Its density there, at a value that is no draw, has them all.
local function is_free_on_tape (site)
  return not core.depends(site.p:log_prob(core.bare(site.value)), site.value)
end

-- The same by order alone.
local function is_free_by_order (site, drawn)
  for _, other in ipairs(drawn) do
    if other.order < site.order and other.index > site.index then return false end
  end
  return true
end

-- The divergence, where it is the site's term; else nil.
local function divergence (site, drawn, is_traced)
  if #site.q.event_shape ~= #site.p.event_shape then return nil end
  local is_free
  if is_traced then is_free = is_free_on_tape(site) else is_free = is_free_by_order(site, drawn) end
  return is_free and kl.closed(site.q, site.p) or nil
end

--- log q or log p of all elements of a site.
function terms.log_prob (d, value) return total_of(d:log_prob(value)) end

local log_prob = terms.log_prob

local function values_of (drawn)
  local values = {}
  for _, site in ipairs(drawn) do values[site.name] = site.value end
  return values
end

--- Gives each term of a site its value, minus K_i. Returns the sum of all terms, and which kind each site has, by name.
-- `is_traced`: whether this is done within a trace.
function terms.price (found, guide, is_traced)
  local total, kinds, fixed = 0, {}, nil
  for _, term in ipairs(found.terms) do
    local site = term.site
    if site then
      local cost = divergence(site, found.drawn, is_traced)
      term.is_closed = cost ~= nil
      kinds[site.name] = not site.q.has_rsample and "score" or term.is_closed and "kl" or "path"
      if not cost then
        fixed = fixed or guide:held(values_of(found.drawn), found.plates)
        cost = log_prob(fixed[site.name].q, site.value) - log_prob(site.p, site.value)
      end
      term.value = -site.scale * total_of(cost)
    end
    total = total + term.value
  end
  return total, kinds
end


-- Score functions -----------------------------------------------------------------------------

--- A number, whether it has a gradient or not.
function terms.number_of (x) return core.is_tensor(x) and core.item(core.bare(x)) or x end

-- What may depend on the draw of a site, by order: sites after it in the guide, and terms that come after one of them
-- in the model.
local function downstream (site, found)
  local first, sum = site.order, 0
  for _, other in ipairs(found.drawn) do
    if other.index > site.index then first = math.min(first, other.order) end
  end
  for _, term in ipairs(found.terms) do
    local is_own = term.site == site
    local may_depend = term.order > first or term.site and term.site.index > site.index
    if is_own and not term.is_closed or not is_own and may_depend then sum = sum + terms.number_of(term.value) end
  end
  return sum
end

--- Does a site need the score function?
function terms.has_scores (drawn)
  for _, site in ipairs(drawn) do
    if not site.q.has_rsample then return true end
  end
  return false
end

--- The sum of (cost - baseline) log q over sites that need it, whose gradient is to be added. Baselines, by name, move
-- on; one that is not there yet is the cost itself.
function terms.scores (found, baselines)
  local total = 0
  for _, site in ipairs(found.drawn) do
    if not site.q.has_rsample then
      local cost = downstream(site, found)
      local baseline = baselines[site.name] or cost
      total = total + (cost - baseline) * log_prob(site.q, site.value)
      baselines[site.name] = KEPT * baseline + (1 - KEPT) * cost
    end
  end
  return total
end

return terms
