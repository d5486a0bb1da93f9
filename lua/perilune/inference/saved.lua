--- Posteriors as strings: post:save() and peri.load(string, posed).
--
-- A model is a function, and is not kept: what needs it (predict, log_lik, loo) is there again when the posed model is
-- given.
local errors    = require "perilune.errors"
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
  if not kept then errors.raise("load: %s", why) end
  if posed ~= nil then
    posed:start()
    kept.density = require "perilune.model.density".new(posed, kept.centring)
  end
  kept.posed = posed or absent(kept.sites)
  return Posterior.new(kept)
end

return saved
