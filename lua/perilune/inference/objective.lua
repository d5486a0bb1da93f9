--- What stochastic steps of a guide on the free numbers maximise: the ELBO, or Renyi's bound.
--
-- The guide is one of families.lua, in units v of the free numbers u in which the posterior is near a standard normal.
-- With K draws v_k and their weights w_k = p(u_k) |du/dv| / q(v_k),
--
--   ELBO     mean_k log w_k
--   renyi    log mean_k w_k^(1 - a) / (1 - a),    a = 0 being that of importance weighted autoencoders
--
-- Gradients go by the path of draws alone, log q's parameters being what they are (Roeder, Wu and Duvenaud 2017;
-- Tucker, Lawson, Gu and Maddison 2019): with s_k = softmax_k((1 - a) log w_k) it is
--
--   sum_k (a s_k + (1 - a) s_k^2) d log w_k / dv_k  dv_k / d parameters
--
-- which for a = 1 is that of the ELBO.
--
-- Where only some rows of plates count in a step, what these rows say at the centre of the units, to first order, is
-- replaced by what all rows say there (a control variate): the noise that is left does not grow with the number of
-- rows. The same goes for ranks that take steps by their own rows (`local_steps`).
local core      = require "perilune.core"
local Density   = require "perilune.model.density"
local errors    = require "perilune.errors"
local families  = require "perilune.inference.families"
local form      = require "perilune.form"
local functions = require "perilune.functions"
local gaussian  = require "perilune.inference.gaussian"
local judge     = require "perilune.inference.judge"
local lbfgs     = require "perilune.inference.lbfgs"
local modes     = require "perilune.inference.modes"
local Normal    = require "perilune.distributions.Normal"
local proposal  = require "perilune.inference.proposal"
local recipe    = require "perilune.inference.recipe"
local show      = require "perilune.show"
local tensor    = require "perilune.tensor"
local Units     = require "perilune.inference.units"
local weighted  = require "perilune.inference.weighted"

local ROW_EVALUATIONS = 2e9   -- rows times draws that a judgement may cost,
local LEAST_DRAWS     = 1000  -- but for this many draws

local CALMER = 0.2            -- factor of the learning rate where few draws have most of the weight

local Objective = {}
Objective.__index = Objective

local function is_finite (x) return x - x == 0 end


-- Set-up ----------------------------------------------------------------------------------

local function is_batched (posed) return posed.found.rows > 0 end

-- The log density of all rows at a place, and its gradient.
local function anchor_at (posed, degrees, u)
  local value, gradient = Density.new(posed, degrees):at(u)
  return { value = value, gradient = gradient }
end

-- Units around the best mode of a density, or where it is highest; what a verdict wants to know of the search; and how
-- many starts there were.
local function search (posed, density, start, options)
  local found = recipe.search(posed, density, start, options)
  local first = found.list[1] or found.looked and recipe.units_of_end(found.best)
                or Units.new(found.best.x, modes.diagonal_sd(density, found.best, options.rng))
  local units = gaussian.scaled(density, first, options.rng)
  if not units then recipe.complain(posed, density, first.centre) end
  return units, recipe.findings(posed, density, found), #found.ends
end

-- Units around the mode of a density near those of another one; nil if there is none. Where these are diagonal, around
-- the place where it is highest.
local function moved (density, units)
  local size = units.size
  local found = lbfgs.minimise(function (v)
    local value, gradient = density:at(units:to(v:reshape(1, size)):reshape(size))
    return -value, -units:pull(gradient:reshape(1, size)):reshape(size)
  end, core.zeros(size), { iterations = 30, gain = 1e-4 })
  if not is_finite(found.value) then return nil end
  local centre = units:to(found.x:reshape(1, size)):reshape(size)
  if units.is_diagonal then return Units.new(centre, units.scale) end
  return modes.polish(density, centre, units:sd())
end

--- Finds units for a guide: a table of numbers and tensors, from which Objective.new makes an objective. They are those
-- of a Gaussian fitted by fixed draws. Where only some rows of plates count in a step, they are those of a mode: it is
-- looked for with one batch of rows, then near by with all rows, and if there is none, with all rows from the start.
-- (If rows may change, `tolerance` being false, the batch must do.) `between` is called after every evaluation.
function Objective.set_up (posed, options, between)
  local batched = is_batched(posed)
  local density, start, degrees = recipe.density(posed, options, { batched = batched, between = between })
  density:next_batch(options.rng)
  local units, findings, starts = search(posed, density, start, options)
  if batched and options.tolerance then
    local all = Density.new(posed, degrees, { between = between })
    units = findings.has_mode and moved(all, units)
    if not units then units, findings, starts = search(posed, all, start, options) end
  elseif not batched then
    units = gaussian.fit(density, units, options.rng, { rounds = 1 }) or units
  end
  return { centre = units.centre, scale = units.scale, degrees = degrees, starts = starts, findings = findings }
end

local FINDING = form.either(form.boolean, form.either(form.number, form.string))

--- Can it be what Objective.set_up gave?
function Objective.is_set_up (posed, x)
  local n = posed.size
  return form.fields {
    centre = form.tensor(n), scale = form.either(form.tensor(n), form.tensor(n, n)),
    degrees = form.map(form.either(form.number, core.is_tensor)), starts = form.integer(0),
    findings = form.map(FINDING),
  }(x)
end

--- The objective of a posed model. `set_up` is what Objective.set_up gave; options are those of vi.lua.
function Objective.new (posed, options, set_up)
  local self = setmetatable({ posed = posed, options = options, set_up = set_up }, Objective)
  self.units = Units.new(set_up.centre, set_up.scale)
  self.family = families[options.guide](posed.size, options, options.rng)
  self.samples, self.alpha = options.samples, options.objective == "renyi" and options.alpha or 1
  self.params, self.lr = { self.family.theta }, self.family.lr * (self.alpha < 1 and CALMER or 1)
  self:refresh()
  return self
end

--- Reads the data anew, which may have changed where they lie.
function Objective:refresh ()
  local posed, degrees, options = self.posed, self.set_up.degrees, self.options
  local is_alone = options.comm and options.local_steps > 1
  self.batched = is_batched(posed)
  self.density = Density.new(posed, degrees, { batched = self.batched, alone = is_alone })
  local has_anchor = self.batched and options.tolerance or is_alone
  self.anchor = has_anchor and anchor_at(posed, degrees, self.units.centre) or nil
end

--- What the next steps depend on, beside parameters and generator; `restore` returns whether it can go on from it.
function Objective:state () return self.density:batch_state() end
function Objective:restore (state) return self.density:restore_batch(state) end


-- What is not finite, and whose fault it is -----------------------------------------------------

-- "x = 3": the value of a site at u.
local function shown (self, site, u)
  local values = self.density:report(u:reshape(1, self.posed.size))
  return site.name .. " = " .. show.parameter(values[site.name][1])
end

-- The sites that make the density not finite at u, all others being at the centre.
local function culprit (self, u)
  for _, site in ipairs(self.posed.latents) do
    local mixed = self.units.centre:clone()
    mixed:narrow(1, site.at, site.size):copy(u:narrow(1, site.at, site.size))
    if not is_finite(self.density:values(mixed:reshape(1, -1))[1]) then return shown(self, site, u) end
  end
  return self.posed:describe(self.density, u)
end

-- Raises because of a row of u where the density or its gradient is not finite.
local function complain (self, values, gradients)
  local u = self.u
  for i = 1, self.samples do
    if not is_finite(values[i]) then
      errors.raise("vi: the log density is %s at a draw of the guide, because of %s", show.number(values[i]),
                   culprit(self, u[i]))
    end
    for _, site in ipairs(self.posed.latents) do
      local total = gradients[i]:narrow(1, site.at, site.size):sum()
      if not is_finite(total) then
        errors.raise("vi: the gradient of the log density is %s at a draw of the guide, because of %s",
                     show.number(total), shown(self, site, u[i]))
      end
    end
  end
  errors.raise("vi: the guide is not finite any more; a smaller lr may help")
end


-- Estimates -----------------------------------------------------------------------------------

local function sum_of (file, name, operands) return core.bind_sum(file, name, "vi", operands, operands) end

local push       = sum_of("variational", "push", { "u", "gradients", "counts" })   -- of their products
local difference = sum_of("op/arithmetic", "sub", { "x", "y" })

-- Records what the guide does in a step: `u` and `log_q` of new draws; and, on the way back, how the parameters move
-- them. Of the model's density nothing but `gradients` at u is needed there, and what each draw `counts`: both are
-- written between the two.
local function prepare (self, rng)
  if self.prepared == rng then return end
  local n, family, units, before = self.samples, self.family, self.units, rng:state()
  local gradients, counts = core.param(core.zeros(n, units.size)), core.param(core.full({ n }, 1 / n))
  local u, log_q
  self.trace = core.trace(function ()
    local v = family:draw(Normal(0, 1):rsample({ n, family.noise_size }, rng))
    u, log_q = units:to(v), family:log_prob(v)
    return (log_q * counts):sum() - push(u, gradients, counts:reshape(n, 1))
  end, family.theta)
  rng:restore(before)
  self.u, self.log_q, self.values = core.bare(u), core.bare(log_q), core.zeros(n)
  self.gradients, self.counts, self.prepared = core.bare(gradients), core.bare(counts), rng
end

-- Log densities at u, and their gradients. What these rows say at the centre is replaced by what all rows say there.
local function evaluate (self)
  local anchor, n, u, centre = self.anchor, self.samples, self.u, self.units.centre
  if not anchor then return self.density:gradients(u, self.values, self.gradients) end
  local values, gradients = self.density:gradients(tensor.cat({ u, centre:reshape(1, -1) }, 1))
  local slope = anchor.gradient - gradients[n + 1]
  self.values:copy(values:narrow(1, 1, n) + (anchor.value - values[n + 1]) + ((u - centre) * slope):sum(2))
  self.gradients:copy(gradients:narrow(1, 1, n) + slope)
  return values, gradients
end

-- The bound of the draws' log weights; sets what each of them counts.
local function bound (self)
  local n, a = self.samples, self.alpha
  if a == 1 then return difference(self.values, self.log_q) / n end
  local log_w = self.values - self.log_q
  local s = (log_w * (1 - a)):softmax()
  self.counts:copy(a * s + (1 - a) * s * s)
  return ((log_w * (1 - a)):logsumexp() - math.log(n)) / (1 - a)
end

--- Draws; returns an estimate of the bound, and adds the gradient of minus it to those of the parameters.
function Objective:estimate (rng)
  prepare(self, rng)
  self.density:next_batch(rng)
  self.trace:value()
  local values, gradients = evaluate(self)
  local estimate = bound(self)
  self.trace:pass_back()
  if not is_finite(estimate) or not core.finite_grad(self.family.theta) then complain(self, values, gradients) end
  return estimate + self.units.log_det
end

-- Means and sds of the guide where its parameters have these values.
local function moments_at (self, values)
  local theta = self.family.theta
  local kept = theta:detach():clone()
  theta:copy(values[1])
  local found = { self.family:moments() }
  theta:copy(kept)
  return found
end

--- How far the guide moves from one list of its parameters' values to another, in its sds.
function Objective:drift (before, after)
  return families.drift(moments_at(self, before), moments_at(self, after))
end


-- Judgement -------------------------------------------------------------------------------------

local function draws_for (posed)
  if not is_batched(posed) then return judge.DRAWS end
  return math.max(LEAST_DRAWS, math.min(judge.DRAWS, math.floor(ROW_EVALUATIONS / posed.found.rows)))
end

-- n draws of the guide, rows of u, and their log densities.
local function drawn (self, n, rng)
  local e = modes.noise(n, self.family.noise_size, rng)
  local v = core.no_grad(function () return self.family:draw(e) end)
  return self.units:to(v), self.family:log_prob(v) - self.units.log_det
end

-- Draws of a guide that is not a Gaussian, and of laws around its mean and covariance that defend it, as those of
-- proposal.lua do: rows of u, the log density of the mixture, and how many of the first ones are the guide's.
local function defended (self, n, rng)
  local units, size = self.units, self.posed.size
  local u, log_q = drawn(self, n, rng)
  if size > recipe.FULL_MOST then return u, log_q, n end
  local from = units:from(u)
  local factor = weighted.covariance(from, core.full({ n }, 1 / n)):cholesky()
  if not is_finite(factor:sum()) then return u, log_q, n end
  local around = units:compose(from:mean(1), factor)
  local share = judge.defence(size)
  local others = math.floor(n * share)
  local far = proposal.around(around, others, rng)
  local all = tensor.cat({ u:narrow(1, 1, n - others), far }, 1)
  local of_guide = self.family:log_prob(units:from(all)) - units.log_det
  return all, functions.logaddexp(of_guide + math.log(1 - share), proposal.log_around(around, all) + math.log(share)),
         n - others
end

-- Weighted draws: around the guide where it is a Gaussian of which the factor is known, else of itself.
local function look (self, density, draws, rng)
  local posed, family = self.posed, self.family
  local loc, factor
  if family.name ~= "lowrank" or posed.size <= recipe.FULL_MOST then loc, factor = family:factor() end
  if loc then
    return judge.look(posed, density, { { units = self.units:compose(loc, factor), weight = 1 } }, rng, draws)
  end
  local u, log_q, plain = defended(self, draws, rng)
  local seen = judge.weigh(density, u, log_q, plain)
  seen.r0, seen.guide = seen.r, judge.guide_moments(posed, density, seen)
  return seen
end

-- The ELBO from n draws, and its standard error.
local function elbo (self, density, n, rng)
  local u, log_q = drawn(self, n, rng)
  local terms = density:values(u) - log_q
  return terms:mean(), terms:std() / math.sqrt(n)
end

local NAMES = { meanfield = "mean-field Gaussian", fullrank = "full-rank Gaussian", lowrank = "low-rank Gaussian",
                flow = "flow" }

local function text_of (self, steps, seen, draws, mean)
  local rows = self.batched and string.format(" on all %d rows", self.posed.found.rows) or ""
  return string.format("%s, %d steps, k-hat %.2f, %.0f %% of %d draws%s count, ELBO %.2f; if no mode was missed by %d "
                       .. "starts", NAMES[self.family.name], steps, seen.khat, 100 * seen.r, draws, rows, mean,
                       self.set_up.starts)
end

--- The posterior that the guide is, judged with all data; `looked` as running.lua says.
function Objective:posterior (looked)
  local posed, rng = self.posed, looked.rng
  local density = Density.new(posed, self.set_up.degrees)
  local draws = draws_for(posed)
  local mean, error_ = elbo(self, density, math.floor(draws / 4), rng)
  local seen = look(self, density, draws, rng)
  local findings = { single = true, near = self.family.name == "flow" and "the flow" or nil }
  for _, list in ipairs { self.set_up.findings, looked.findings } do
    for name, value in pairs(list) do findings[name] = value end
  end
  local fields = { method = "vi", how = text_of(self, looked.fields.steps, seen, draws, mean), elbo_mean = mean,
                   elbo_error = error_, centring = self.set_up.degrees }
  for name, value in pairs(looked.fields) do fields[name] = value end
  return judge.posterior(posed, density, seen, findings, fields)
end

return Objective
