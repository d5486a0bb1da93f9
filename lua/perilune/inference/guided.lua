--- Fits with a guide of one's own (model/guide.lua).
--
--   ELBO = sum of log likelihoods and factors - sum of K_i over sites,   K_i = E[log q_i - log p_i]
--
-- For each site one of three, in `terms` by name:
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
local attempt   = require "perilune.attempt"
local class     = require "perilune.class"
local core      = require "perilune.core"
local Delta     = require "perilune.distributions.Delta"
local Density   = require "perilune.model.density"
local errors    = require "perilune.errors"
local Guide     = require "perilune.model.guide"
local handlers  = require "perilune.model.handlers"
local judge     = require "perilune.inference.judge"
local kl        = require "perilune.kl"
local optim     = require "perilune.optim"
local run       = require "perilune.model.run"
local space     = require "perilune.model.space"
local tensor    = require "perilune.tensor"

local raise, total_of = errors.raise, handlers.total_of

local KEPT   = 0.9   -- of a baseline, at every step
local MOST   = 4e6   -- numbers of all draws that a posterior is judged by,
local FEWEST = 200   -- unless so few draws have more

local Objective = {}
Objective.__index = Objective


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

local function check_known (drawn, terms)
  local names = {}
  for _, term in ipairs(terms) do names[#names + 1] = term.site and term.site.name end
  for _, site in ipairs(drawn) do
    if not site.p then raise("guide: %s is no site of the model%s", site.name, hint(site.name, names)) end
  end
end

-- Draws from the guide and runs the model there. `noted` are the model's sites in their order, `terms` what the ELBO
-- is the sum of: { order, value } or { order, site }.
local function run_both (self, rng, plates, checks)
  local drawn = self.guide:draw(rng, plates)
  local handler = setmetatable({ drawn = drawn, terms = {}, noted = {}, plates = plates, checks = checks }, AtDraws)
  run.body(self.posed.body, self.posed.data, handler)
  check_known(drawn, handler.terms)
  return handler
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
local function divergence (self, site, drawn)
  if #site.q.event_shape ~= #site.p.event_shape then return nil end
  local is_free
  if self.is_traced then is_free = is_free_on_tape(site) else is_free = is_free_by_order(site, drawn) end
  return is_free and kl.closed(site.q, site.p) or nil
end

local function log_probs (d, value) return total_of(d:log_prob(value)) end

-- Gives every term of a site its value, minus K_i.
local function price (self, found, plates)
  local fixed
  for _, term in ipairs(found.terms) do
    local site = term.site
    if site then
      local divergent = divergence(self, site, found.drawn)
      local cost
      if divergent then cost = total_of(divergent)
      else
        fixed = fixed or self.guide:held(found.values, plates)
        cost = log_probs(fixed[site.name].q, site.value) - log_probs(site.p, site.value)
      end
      term.value, term.is_closed = -(site.scale ~= 1 and cost * site.scale or cost), divergent ~= nil
      self.terms[site.name] = not site.q.has_rsample and "score" or divergent and "kl" or "path"
    end
  end
end

local function sum_of (terms)
  local total = 0
  for _, term in ipairs(terms) do total = total + term.value end
  return total
end

-- All of it, of one draw: the terms with their values, and their sum.
local function evaluate (self)
  local found = run_both(self, self.rng, self.plates)
  found.values = {}
  for _, site in ipairs(found.drawn) do found.values[site.name] = site.value end
  price(self, found, self.plates)
  return sum_of(found.terms), found
end


-- Score functions -----------------------------------------------------------------------------

local function number_of (x) return core.is_tensor(x) and core.item(core.bare(x)) or x end

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
    if is_own and not term.is_closed or not is_own and may_depend then sum = sum + number_of(term.value) end
  end
  return sum
end

-- The sum of (cost - baseline) log q over sites that need it; baselines move on.
local function scores (self, found)
  local total = 0
  for _, site in ipairs(found.drawn) do
    if not site.q.has_rsample then
      local cost = downstream(site, found)
      local baseline = self.baselines[site.name] or cost
      total = total + (cost - baseline) * log_probs(site.q, site.value)
      self.baselines[site.name] = KEPT * baseline + (1 - KEPT) * cost
    end
  end
  return total
end


-- The objective -------------------------------------------------------------------------------

local function has_scores (drawn)
  for _, site in ipairs(drawn) do
    if not site.q.has_rsample then return true end
  end
  return false
end

-- The model as its sites were found: values of sites are what u has.
local function posed_like (posed, noted)
  local found = { sites = noted, latents = {}, size = 0 }
  for i, site in ipairs(noted) do
    if site.kind == "latent" then
      local plain = space.plain_site(site.name, site.shape, found.size + 1)
      plain.kind, plain.distribution = site.kind, site.distribution
      found.size = found.size + plain.size
      noted[i], found.latents[#found.latents + 1], found.latents[site.name] = plain, plain, plain
    end
  end
  local like = { model = posed.model, body = posed.body, data = posed.data, found = found, latents = found.latents,
                 size = found.size }
  return setmetatable(like, getmetatable(posed))
end

-- Names of sites that the guide makes points, or nil.
local function points_of (drawn)
  local names = {}
  for _, site in ipairs(drawn) do names[#names + 1] = site.q:is_a(Delta) and site.name or nil end
  return #names > 0 and table.concat(names, ", ") or nil
end

--- The ELBO of a guide function for a posed model. Options: `rng`, which initial values are drawn from, and `draws`,
-- how many of the guide are averaged in each estimate (1).
function Objective.new (posed, fn, options)
  local self = setmetatable({ posed = posed, guide = Guide.new(fn, posed), draws = options.draws or 1, plates = {},
                              terms = {}, baselines = {} }, Objective)
  local whole = run_both(self, options.rng, nil, true)
  run_both(self, options.rng, self.plates)   -- finds the plates
  self.params = self.guide.params
  if #self.params == 0 then raise("guide: there is nothing to fit; g:param(name, init) is a parameter") end
  self.like = posed_like(posed, whole.noted)
  self.has_scores, self.points = has_scores(whole.drawn), points_of(whole.drawn)
  return self
end

-- The trace of fn, or nil where it cannot be traced, and says so once.
local function traced (self, fn)
  local ok, found = attempt.call("not within trace", "cannot be replayed", core.trace, fn)
  if ok then return found end
  if not self.posed.warned then
    warn("perilune: the model or its guide cannot be traced, and both run in Lua at every step: " .. tostring(found))
    self.posed.warned = true
  end
  return nil
end

-- Traces a step with this generator, if that can be done; the generator stays as it was.
local function prepare (self, rng)
  if self.rng == rng then return end
  local before = rng:state()
  self.rng, self.is_traced = rng, not self.has_scores
  self.trace = self.is_traced and traced(self, function () return -evaluate(self) / self.draws end) or nil
  self.is_traced = self.trace ~= nil
  rng:restore(before)
  if self.has_scores and not next(self.baselines) then
    local _, found = evaluate(self)
    scores(self, found)
  end
end

-- One draw in Lua; the ELBO.
local function step_slowly (self)
  local total, found = evaluate(self)
  local loss = -(total + scores(self, found)) / self.draws
  if core.tracked(loss) then loss:backward() end
  return number_of(total)
end

-- Raises if no parameter has a gradient.
local function check_params (self)
  for _, param in ipairs(self.params) do
    if param.grad then return end
  end
  raise("guide: the ELBO depends on none of its parameters")
end

--- An estimate of the ELBO from new draws, and new rows of plates; params have the gradients of minus it.
function Objective:estimate (rng)
  prepare(self, rng)
  for _, batch in ipairs(self.plates) do batch:draw(rng) end
  for _, param in ipairs(self.params) do param.grad = nil end
  local sum = 0
  for _ = 1, self.draws do
    sum = sum + (self.trace and -self.draws * self.trace:backward() or step_slowly(self))
  end
  check_params(self)
  return sum / self.draws
end

--- All that the next estimates depend on, but for the generator: a plain table. `restore` goes on from there, and
-- returns whether it suits this guide.
function Objective:state ()
  local state = { params = {}, baselines = {}, plates = {} }
  for i, param in ipairs(self.params) do state.params[i] = core.bare(param):totable() end
  for name, baseline in pairs(self.baselines) do state.baselines[name] = baseline end
  for i, batch in ipairs(self.plates) do state.plates[i] = batch:state() end
  return state
end

local function suits (self, state)
  if #state.params ~= #self.params or #state.plates > #self.plates then return false end
  for i, param in ipairs(self.params) do
    if #state.params[i] ~= core.numel(param) then return false end
  end
  return true
end

function Objective:restore (state)
  if not suits(self, state) then return false end
  for i, batch in ipairs(self.plates) do
    if state.plates[i] and not batch:restore(state.plates[i]) then return false end
  end
  for i, param in ipairs(self.params) do param:copy(core.tensor(state.params[i])) end
  self.baselines = {}
  for name, baseline in pairs(state.baselines) do self.baselines[name] = baseline end
  return true
end


-- The posterior -------------------------------------------------------------------------------

-- A draw of all sites, as one vector, and behind it log q.
local function draw_vector (self, rng)
  local drawn, parts, log_q = self.guide:draw(rng), {}, 0
  for i, site in ipairs(self.like.latents) do parts[i] = drawn[site.name].value:reshape(-1) end
  for _, site in ipairs(drawn) do log_q = log_q + log_probs(site.q, site.value) end
  parts[#parts + 1] = (core.is_tensor(log_q) and log_q or core.tensor(log_q)):reshape(1)
  return tensor.cat(parts)
end

-- n of them, as rows.
local function draw_rows (self, n, rng)
  local rows, vector, x = core.zeros(n, self.like.size + 1), nil, core.param { 0 }
  local trace = not self.has_scores and traced(self, function ()
    vector = draw_vector(self, rng)
    return vector:sum() + x:sum()
  end)
  if trace then trace:rows(x, core.zeros(n, 1), core.zeros(n), nil, vector, rows)
  else
    for i = 1, n do rows[i]:copy(core.bare(draw_vector(self, rng))) end
  end
  return rows
end

local function text_of (seen, n)
  local tail = seen.khat > -math.huge and string.format("k-hat %.2f, ", seen.khat) or ""
  return string.format("a guide of its own, %s%.0f %% of %d draws count, ELBO %.2f", tail, 100 * seen.r, n, seen.elbo)
end

--- The posterior: draws of the guide, weighted by the model. `fit` has the generator `rng`, and maybe `findings` for
-- the verdict and `fields` for the posterior.
function Objective:posterior (fit)
  local like = self.like
  local n = math.floor(math.max(FEWEST, math.min(judge.DRAWS, MOST / like.size)))
  local rows = draw_rows(self, n, fit.rng)
  local density = Density.new(like)
  local u = rows:narrow(2, 1, like.size):contiguous()
  density.plates = nil     -- all rows count
  density.u:copy(u[1])     -- values that sites may have
  local seen = judge.weigh(density, u, rows:select(2, like.size + 1), n)
  seen.r0, seen.guide = seen.r, judge.guide_moments(like, density, seen)
  local findings = { has_mode = true, kept = 1, lonely = false, gap = 0, near = "the guide", points = self.points }
  for name, value in pairs(fit.findings or {}) do findings[name] = value end
  local fields = { method = "vi", terms = self.terms, params = self.guide:values(), elbo_mean = seen.elbo,
                   elbo_error = seen.elbo_error, how = text_of(seen, n) }
  for name, value in pairs(fit.fields or {}) do fields[name] = value end
  return judge.posterior(like, density, seen, findings, fields)
end


-- Fits ----------------------------------------------------------------------------------------

local guided = { objective = Objective.new }

--- Fits a guide by so many steps of Adam, whose rate falls to 0. Options as vi.lua reads them.
function guided.fit (posed, options)
  local rng, steps, report = options.rng, options.steps, options.report
  local objective = Objective.new(posed, options.guide, options)
  local opt = optim.Adam(objective.guide:named(), { lr = options.lr })
  opt:schedule(optim.schedules.cosine(steps))
  for step = 1, steps do
    local elbo = objective:estimate(rng)
    opt:step()
    if step % 100 == 0 then report(string.format("step %d of %d, ELBO %.2f", step, steps, elbo)) end
  end
  report "weighing draws"
  return objective:posterior { rng = rng }
end

return guided
