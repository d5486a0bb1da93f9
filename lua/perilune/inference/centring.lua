--- How far location-scale sites are centred (step 0 of docs/inference.md).
--
-- A site x = loc + scale * something, whose scale depends on other sites, makes a funnel where the data say little of
-- x, and its standardised form makes one where they say much. In between lies
--
--   x = loc + scale^(1 - c) (z - c loc),    c = 1 - (sd of z in the standardised form)^2
--
-- which the model's author need not know of: the density of u is the model's, whatever c is. That c is right for the
-- scales where most of the posterior is. Chains also go where the scale is small and the data say less of x: theirs is
-- c^2, which costs some steps and leaves no narrow corner (of twenty runs of radon all mix, instead of sixteen).
local class     = require "perilune.class"
local core      = require "perilune.core"
local Density   = require "perilune.model.density"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local gaussian  = require "perilune.inference.gaussian"
local handlers  = require "perilune.model.handlers"
local lbfgs     = require "perilune.inference.lbfgs"
local matrices  = require "perilune.matrices"
local modes     = require "perilune.inference.modes"
local run       = require "perilune.model.run"
local Units     = require "perilune.inference.units"

local FAMILIES = { Normal = true, StudentT = true, Cauchy = true, Laplace = true, Logistic = true, Gumbel = true }

local NEARLY_NOT = 0.3   -- degrees below this are 0: that costs less, and chains like it
local ITERATIONS = 100   -- of the fit that finds how far

local centring = {}

-- Runs the body on u and notes the laws of unobserved sites; those in `standardised` have their standardised form.
local function laws_at (posed, u, standardised)
  local laws, degrees = {}, {}
  for name in pairs(standardised or {}) do degrees[name] = 0 end
  local handler = handlers.density(posed.latents, core.param(u), degrees)
  local latent = handler.latent
  handler.latent = function (self, name, d)
    laws[name] = d
    return latent(self, name, d)
  end
  run.body(posed.body, posed.data, handler)
  return laws
end

local function differs (a, b)
  a, b = core.is_tensor(a) and a:detach() or a, core.is_tensor(b) and b:detach() or b
  if core.is_tensor(a) ~= core.is_tensor(b) then return true end
  return core.is_tensor(a) and not a:equal(b) or not core.is_tensor(a) and a ~= b
end

-- Does the location or scale of one of two laws differ from the other's?
local function is_moved (a, b) return differs(a.loc, b.loc) or differs(a.scale, b.scale) end

local function is_of_family (d)
  local name = class.name(class.of(d))
  return FAMILIES[name] == true and require("perilune.distributions." .. name) == class.of(d)
end

-- Does the scale of a law depend on sites?
local function has_moving_scale (d) return core.is_tensor(d.scale) and core.tracked(d.scale) end

--- The names of sites that can be recentred: of a location-scale family, their scale dependent on other sites, location
-- and scale on no other such site.
function centring.candidates (posed)
  local u = core.full({ posed.size }, 0.1)
  local before = laws_at(posed, u)
  local is_candidate, names = {}, {}
  for name, law in pairs(before) do is_candidate[name] = is_of_family(law) and has_moving_scale(law) or nil end
  for _, site in ipairs(posed.latents) do
    if is_candidate[site.name] then   -- all that it depends on came before
      names[#names + 1] = site.name
      is_candidate[site.name] = nil
      if next(is_candidate) == nil then break end
      local moved = u:clone()
      moved:narrow(1, site.at, site.size):copy(0.3)
      local after = laws_at(posed, moved)
      for name in pairs(is_candidate) do
        if is_moved(before[name], after[name]) then is_candidate[name] = nil end
      end
    end
  end
  return names
end

local function chosen (posed, option)
  if option == false then return {} end
  if option == nil or option == "auto" then return centring.candidates(posed) end
  local names = core.check_list("noncentred", "names", option)
  for _, name in ipairs(names) do
    local site = posed.latents[name]
    if not site then errors.unknown("noncentred", "unobserved site", name, posed:latent_names()) end
    if not FAMILIES[site.distribution] then
      errors.raise("noncentred: %s is a %s, which has no location and scale", name, site.distribution)
    end
  end
  return names
end

-- Where the fit of the standardised form begins: the mode there, or `start` if there is none.
local function first_units (density, start)
  local size = density.size
  local found = size <= modes.MATRIX_MOST and lbfgs.minimise(modes.objective(density), start, {})
  local mode = found and found.value - found.value == 0 and modes.polish(density, found.x, modes.sd_of_end(found))
  if not mode then return Units.new(start, core.full({ size }, 0.5)) end
  local inverse = matrices.triangular_inverse(mode.scale)
  return Units.new(mode.centre, (inverse * inverse):sum(1):sqrt():reciprocal())
end

-- The point u of the standardised form in that of these degrees: z becomes c loc + scale^c z.
local function moved_start (posed, u, degrees)
  local laws, start = laws_at(posed, u, degrees), u:clone()
  for name, c in pairs(degrees) do
    local site, law = posed.latents[name], laws[name]
    local z = start:narrow(1, site.at, site.size)
    local moved = c * law.loc + law.scale ^ c * z:reshape(site.shape)
    if core.is_tensor(moved) then moved = moved:detach() end
    z:copy(core.is_tensor(moved) and moved:reshape(-1) or moved)
  end
  return start
end

--- The density of a posed model on its free numbers, with sites centred as the option `noncentred` says: "auto", a list
-- of names whose standardised form is taken, or false; settings are those of Density, and `for_chains`. Returns it,
-- where to start, and the degrees by name.
function centring.density (posed, option, start, rng, settings)
  local names, degrees = chosen(posed, option), {}
  for _, name in ipairs(names) do degrees[name] = 0 end
  local density = Density.new(posed, degrees, settings)
  if #names == 0 or type(option) == "table" then return density, start, degrees end
  density:next_batch(rng)
  local fitted = gaussian.fit(density, first_units(density, start), rng,
                              { draws = 32, rounds = 1, iterations = ITERATIONS })
  if not fitted then return density, start, degrees end
  local found = {}
  for _, name in ipairs(names) do
    local site = posed.latents[name]
    local sd = fitted.scale:narrow(1, site.at, site.size)
    local c = functions.maximum(1 - sd * sd, 0)
    if settings and settings.for_chains then c = c * c end
    if c:max() < NEARLY_NOT then found[name] = 0
    else found[name] = #site.shape == 0 and c[1] or c:reshape(site.shape) end
  end
  return Density.new(posed, found, settings), moved_start(posed, fitted.centre, found), found
end

return centring
