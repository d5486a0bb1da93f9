--- Fits with a guide of one's own: the objective that a running fit moves, and the posterior of what it found.
--
-- `terms` (terms.lua) says for each site how its part of the ELBO is computed: by "kl", "path" or "score".
local attempt   = require "perilune.attempt"
local core      = require "perilune.core"
local Density   = require "perilune.model.density"
local errors    = require "perilune.errors"
local form      = require "perilune.form"
local functions = require "perilune.functions"
local Guide     = require "perilune.model.guide"
local judge     = require "perilune.inference.judge"
local space     = require "perilune.model.space"
local tensor    = require "perilune.tensor"
local terms     = require "perilune.inference.terms"

local raise = errors.raise

local SAMPLES = 8     -- of the guide, in each estimate
local RATE    = 0.05
local MOST    = 4e6   -- numbers of all draws that a posterior is judged by,
local FEWEST  = 200   -- unless so few draws have more
local LOOKED  = 200   -- draws, to see how far a guide has moved

local Objective = {}
Objective.__index = Objective


-- Sites -------------------------------------------------------------------------------------------

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
  for _, site in ipairs(drawn) do names[#names + 1] = Guide.is_point(site.q) and site.name or nil end
  return #names > 0 and table.concat(names, ", ") or nil
end


-- Estimates ---------------------------------------------------------------------------------------

--- The ELBO of a guide function for a posed model. Options: `rng`, which initial values are drawn from, and `samples`
-- of the guide that are averaged in each estimate.
function Objective.new (posed, fn, options)
  local self = setmetatable({ posed = posed, guide = Guide.new(fn, posed), samples = options.samples or SAMPLES,
                              lr = RATE, plates = {}, terms = {}, baselines = {} }, Objective)
  local whole = terms.find(posed, self.guide, options.rng, nil, true)
  terms.find(posed, self.guide, options.rng, self.plates)   -- finds the plates
  self.params = self.guide.params
  if #self.params == 0 then raise("guide: there is nothing to fit; g:param(name, init) is a parameter") end
  self.like = posed_like(posed, whole.noted)
  if self.like.size == 0 then raise("model: every site is observed; there is nothing to infer") end
  self.has_scores, self.points = terms.has_scores(whole.drawn), points_of(whole.drawn)
  return self
end

-- The trace of fn, or nil where it cannot be traced, and says so once.
local function traced (self, fn)
  local ok, found = attempt.call("not within trace", "cannot be replayed", core.trace, fn)
  if ok then return found end
  if warn and not self.posed.warned then
    warn("perilune: the model or its guide cannot be traced, and both run in Lua at every step: " .. tostring(found))
    self.posed.warned = true
  end
  return nil
end

-- The ELBO of one draw, with a gradient, and what it is the sum of.
local function evaluate (self, rng)
  local found = terms.find(self.posed, self.guide, rng, self.plates)
  local total
  total, self.terms = terms.price(found, self.guide, self.is_traced)
  return total, found
end

-- Traces a draw from this generator, if that can be done. The generator stays as it was, but for baselines.
local function prepare (self, rng)
  if self.prepared == rng then return end
  local before = rng:state()
  self.is_traced = not self.has_scores
  self.trace = self.is_traced and traced(self, function () return -evaluate(self, rng) / self.samples end) or nil
  self.is_traced = self.trace ~= nil
  rng:restore(before)
  if self.has_scores and not next(self.baselines) then
    local _, found = evaluate(self, rng)
    terms.scores(found, self.baselines)
  end
  self.prepared = rng
end

-- One draw in Lua; the ELBO.
local function step_slowly (self, rng)
  local total, found = evaluate(self, rng)
  local loss = -(total + terms.scores(found, self.baselines)) / self.samples
  if core.tracked(loss) then loss:backward() end
  return terms.number_of(total)
end

-- Raises if no parameter has a gradient.
local function check_params (self)
  for _, param in ipairs(self.params) do
    if param.grad then return end
  end
  raise("guide: the ELBO depends on none of its parameters")
end

--- An estimate of the ELBO from new draws, and new rows of plates; adds the gradients of minus it to those of params.
function Objective:estimate (rng)
  prepare(self, rng)
  for _, batch in ipairs(self.plates) do batch:draw(rng) end
  local sum = 0
  for _ = 1, self.samples do
    sum = sum + (self.trace and -self.samples * self.trace:backward() or step_slowly(self, rng))
  end
  check_params(self)
  return sum / self.samples
end

--- Reads the data anew, which may have changed where they lie.
function Objective:refresh () self.prepared = nil end

--- What the next estimates depend on, beside parameters and generator. `restore` returns whether it can go on from it.
function Objective:state ()
  local state = { baselines = {}, plates = {} }
  for name, baseline in pairs(self.baselines) do state.baselines[name] = baseline end
  for i, batch in ipairs(self.plates) do state.plates[i] = batch:state() end
  return state
end

function Objective:restore (state)
  local fits = form.fields { baselines = form.map(form.either(form.number, core.is_tensor)),
                             plates = form.list(form.any, #self.plates) }(state)
  if not fits then return false end
  for i, saved in ipairs(state.plates) do
    if not self.plates[i]:restore(saved) then return false end
  end
  self.baselines = {}
  for name, baseline in pairs(state.baselines) do self.baselines[name] = baseline end
  return true
end


-- Draws -------------------------------------------------------------------------------------------

-- A draw of all sites, as one vector, and behind it log q.
local function draw_vector (self, rng)
  local drawn, parts, log_q = self.guide:draw(rng), {}, 0
  for i, site in ipairs(self.like.latents) do parts[i] = drawn[site.name].value:reshape(-1) end
  for _, site in ipairs(drawn) do log_q = log_q + terms.log_prob(site.q, site.value) end
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

-- Draws where parameters have these values: the same noise in every call.
local function rows_at (self, values)
  local kept = {}
  for i, param in ipairs(self.params) do
    kept[i] = core.bare(param):clone()
    param:copy(values[i])
  end
  local ok, rows = pcall(draw_rows, self, LOOKED, core.rng(1))
  for i, param in ipairs(self.params) do param:copy(kept[i]) end
  if not ok then error(rows, 0) end
  return rows:narrow(2, 1, self.like.size)
end

--- How far the guide moves from one list of its parameters' values to another, in its sds; a point, in its own units.
function Objective:drift (before, after)
  local a, b = rows_at(self, before), rows_at(self, after)
  local unit = functions.where(b:max(1):gt(b:min(1)), b:std(1), 1)
  return functions.maximum((b:mean(1) - a:mean(1)):abs(), (b:std(1) - a:std(1)):abs()):div(unit):max()
end

local function text_of (seen, n)
  local tail = seen.khat > -math.huge and string.format("k-hat %.2f, ", seen.khat) or ""
  return string.format("a guide of its own, %s%.0f %% of %d draws count, ELBO %.2f", tail, 100 * seen.r, n, seen.elbo)
end

--- The posterior: draws of the guide, weighted by the model with all rows of plates. `looked` has the generator `rng`,
-- and maybe `findings` for the verdict and `fields` for the posterior.
function Objective:posterior (looked)
  local like = self.like
  local n = math.floor(math.max(FEWEST, math.min(judge.DRAWS, MOST / like.size)))
  local rows = draw_rows(self, n, looked.rng)
  local u = rows:narrow(2, 1, like.size):contiguous()
  local density = Density.new(like, nil, { origin = u[1] })
  local seen = judge.weigh(density, u, rows:select(2, like.size + 1), n)
  seen.r0, seen.guide = seen.r, judge.guide_moments(like, density, seen)
  local findings = { has_mode = true, kept = 1, lonely = false, gap = 0, near = "the guide", points = self.points }
  for name, value in pairs(looked.findings or {}) do findings[name] = value end
  local fields = { method = "vi", terms = self.terms, params = self.guide:values(), elbo_mean = seen.elbo,
                   elbo_error = seen.elbo_error, how = text_of(seen, n) }
  for name, value in pairs(looked.fields or {}) do fields[name] = value end
  return judge.posterior(like, density, seen, findings, fields)
end

return { objective = Objective.new }
