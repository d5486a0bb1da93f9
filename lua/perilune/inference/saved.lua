--- Posteriors as strings: post:save() and peri.load(string, posed).
--
-- A model is a function, and is not kept: what needs it (predict, log_lik, loo) is there again when the posed model is
-- given.
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local form      = require "perilune.form"
local packed    = require "perilune.packed"
local Posterior = require "perilune.inference.posterior"

local saved = {}

local KEPT = {
  "verdict", "reasons", "method", "how", "is_point", "values", "u", "log_weights", "khat", "elbo_mean", "elbo_error",
  "log_evidence", "log_evidence_error", "chains", "stats", "r_eff", "rhat", "ess_bulk", "ess_tail", "divergences",
  "steps", "converged", "terms", "params", "tried",
}

--- A posterior as a string.
function saved.save (post)
  local kept = { sites = {} }
  for _, name in ipairs(KEPT) do kept[name] = rawget(post, name) end   -- what is known
  for i, site in ipairs(post.posed:sites()) do kept.sites[i] = site end
  if post.density then
    kept.centring = {}
    for name, degree in pairs(post.density.centring) do kept.centring[name] = degree end
  end
  return packed.pack("posterior", kept)
end

-- What stands for a posed model that was not given: it knows its sites.
local function absent (sites)
  local latents = {}
  for _, site in ipairs(sites) do
    if site.kind == "latent" then latents[#latents + 1] = site end
  end
  return setmetatable({ latents = latents, sites = function () return sites end }, {
    __index = function ()
      errors.raise("this posterior was loaded without its model: peri.load(string, posed) gives it one")
    end,
  })
end

local NUMBER, NUMBERS, WORDS = form.maybe(form.number), form.either(form.number, core.is_tensor), form.list(form.string)
local BY_NAME = form.maybe(form.map(NUMBERS))
local SITE = form.fields { name = form.string, kind = form.one_of("latent", "observed", "derived", "factor"),
                           shape = form.list(form.integer(0)), distribution = form.maybe(form.string) }

-- n draws of something, by name.
local function draws_of (n) return form.map(function (x) return core.is_tensor(x) and core.shape(x)[1] == n end) end

-- What is kept of n draws must look like this.
local function form_of (n)
  return form.fields {
    verdict = form.one_of("ok", "doubtful", "bad"), reasons = WORDS, method = form.string, how = form.string,
    is_point = form.maybe(form.boolean), values = draws_of(n), u = form.tensor(n, false),
    log_weights = form.maybe(form.tensor(n)), khat = NUMBER, elbo_mean = NUMBER, elbo_error = NUMBER,
    log_evidence = NUMBER, log_evidence_error = NUMBER, r_eff = NUMBER,
    chains = form.maybe(function (x) return math.type(x) == "integer" and x > 0 and n % x == 0 end),
    stats = form.maybe(form.map(core.is_tensor)), rhat = BY_NAME, ess_bulk = BY_NAME, ess_tail = BY_NAME,
    divergences = form.maybe(form.integer(0)), steps = form.maybe(form.integer(0)),
    converged = form.maybe(form.boolean),
    terms = form.maybe(form.map(form.string)), params = form.maybe(form.map(NUMBERS)), tried = form.maybe(WORDS),
    sites = form.list(SITE), centring = form.maybe(form.map(NUMBERS)),
  }
end

-- Are there values of every unobserved site, in its shape?
local function has_latents (kept, sites, n)
  for _, site in ipairs(sites) do
    local fits = site.kind ~= "latent" or form.tensor(n, table.unpack(site.shape))(kept.values[site.name])
    if not fits then return false end
  end
  return true
end

-- Are diagnostics such of the values: numbers, or tensors with an element for each?
local function describes (found, values)
  for name, x in pairs(found or {}) do
    local size = values[name] and core.numel(values[name]) / core.shape(values[name])[1]
    if size and core.is_tensor(x) and core.numel(x) ~= size then return false end
  end
  return true
end

local function is_sound (kept)
  local u = type(kept) == "table" and kept.u
  local n = core.is_tensor(u) and core.shape(u)[1]
  return n and n > 0 and form_of(n)(kept) and has_latents(kept, kept.sites, n)
         and (kept.rhat == nil) == (kept.ess_tail == nil) and (kept.rhat == nil or kept.ess_bulk ~= nil)
         and describes(kept.rhat, kept.values) and describes(kept.ess_bulk, kept.values)
end

--@ peri.load(text, posed) -> Posterior
-- The posterior of a string that post:save() gave; raises for others. Nothing in it is executed.
--   text   string
--   posed  Model: needed for predict, log_lik and loo; none unless told
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > load(posed:vi({ seed = 1 }):save(), posed).verdict
-- ok
function saved.load (text, posed, ...)
  errors.no_more("load(string, posed)", ...)
  local kept, why = packed.unpack("posterior", text)
  if kept == nil then errors.raise("load: %s", why) end
  if not is_sound(kept) then errors.raise("load: it is no saved posterior") end
  if posed ~= nil then
    if type(posed) ~= "table" or type(posed.start) ~= "function" or type(posed.sites) ~= "function" then
      errors.raise("load: posed must be a model with its data, got %s", core.describe(posed))
    end
    posed:start()
    local n, size = table.unpack(core.shape(kept.u))
    if size ~= posed.size or not has_latents(kept, posed:sites(), n) then
      errors.raise("load: the posterior is one of another model")
    end
    kept.density = require "perilune.model.density".new(posed, kept.centring)
  end
  kept.posed = posed or absent(kept.sites)
  return Posterior.new(kept)
end

return saved
