--- Where tempering begins: a law with draws, log density and gradients on the free numbers.
--
--   prior      as the model writes it
--   Gaussians  one around each mode, twice as wide as the mode: for priors that are improper
local core      = require "perilune.core"
local Density   = require "perilune.model.density"
local form      = require "perilune.form"
local modes     = require "perilune.inference.modes"
local recipe    = require "perilune.inference.recipe"
local tensor    = require "perilune.tensor"
local Uniform   = require "perilune.distributions.Uniform"
local Units     = require "perilune.inference.units"

local WIDTH   = 2
local LOG_2PI = math.log(2 * math.pi)


-- The prior -----------------------------------------------------------------------------------

local Prior = { words = "the prior" }
Prior.__index = Prior

function Prior.new (posed, degrees)
  return setmetatable({ posed = posed, degrees = degrees, density = Density.prior(posed, degrees) }, Prior)
end

function Prior:draw (n, rng) return self.posed:prior_rows(n, self.degrees, rng) end
function Prior:gradients (rows) return self.density:gradients(rows) end
function Prior.kept () return nil end
function Prior.suits (_, kept) return kept == nil end


-- Gaussians around modes ------------------------------------------------------------------------

local Around = {}
Around.__index = Around

-- From a list of { units, weight }.
function Around.new (guides)
  local words = #guides == 1 and "a Gaussian" or string.format("%d Gaussians", #guides)
  return setmetatable({ guides = guides, words = words .. " around the mode" .. (#guides > 1 and "s" or "") }, Around)
end

local function widened (units) return Units.new(units.centre, units.scale * WIDTH) end

-- The modes that matter, or the best end where there is none; of many free numbers one, on the diagonal.
local function units_of (posed, density, start, rng)
  local is_full = density.size <= recipe.FULL_MOST
  local ends, best = modes.ends(density, start, rng, { once = not is_full })
  if not best then recipe.complain(posed, density, start) end
  if not is_full then return { Units.new(best.x, modes.diagonal_sd(density, best, rng)) } end
  local list = modes.of(density, ends, best)
  return #list > 0 and list or { recipe.units_of_end(best) }
end

function Around.of (posed, density, start, rng)
  local list = units_of(posed, density, start, rng)
  for _, units in ipairs(list) do units.elbo = units.evidence or 0 end
  local guides = recipe.shares(list)
  for _, guide in ipairs(guides) do guide.units = widened(guide.units) end
  return Around.new(guides)
end

function Around:draw (n, rng)
  local size, rows, last, limit = self.guides[1].units.size, {}, 0, Uniform(0, 1):sample(nil, rng)
  local share = 0
  for i, guide in ipairs(self.guides) do
    share = share + guide.weight
    local to = i == #self.guides and n or math.min(n, math.floor(share * n + limit))
    if to > last then rows[#rows + 1] = guide.units:to(modes.noise(to - last, size, rng)) end
    last = math.max(last, to)
  end
  return tensor.cat(rows, 1)
end

function Around:gradients (rows)
  local logs, pulls = {}, {}
  for i, guide in ipairs(self.guides) do
    local units = guide.units
    local v = units:from(rows)
    logs[i] = (v * v):sum(2) * -0.5 - units.log_det - units.size / 2 * LOG_2PI + math.log(guide.weight)
    pulls[i] = -(units.is_diagonal and v / units.scale or v:matmul(units.inverse))
  end
  if #logs == 1 then return logs[1], pulls[1] end
  local total, gradients = tensor.stack(logs):logsumexp(1), core.zeros(core.shape(rows))
  for i, log in ipairs(logs) do gradients = gradients + pulls[i] * (log - total):exp():reshape(-1, 1) end
  return total, gradients
end

--- What there is to keep, for origin.restored.
function Around:kept ()
  local list = {}
  for i, guide in ipairs(self.guides) do
    list[i] = { centre = guide.units.centre, scale = guide.units.scale, weight = guide.weight }
  end
  return list
end

--- Can it be what kept() gave, for as many free numbers?
function Around:suits (kept)
  local n = self.guides[1].units.size
  local scale = form.either(form.tensor(n), form.tensor(n, n))
  return form.list(form.fields { centre = form.tensor(n), scale = scale, weight = form.positive })(kept) and #kept > 0
end


local origin = {}

--- Is there a prior to begin with? Nil, or the name of a site without one.
function origin.improper (posed)
  for _, site in ipairs(posed.latents) do
    if site.distribution == "Flat" then return site.name end
  end
  return nil
end

--- Of a kind: "prior" or "mode".
function origin.new (kind, posed, density, degrees, start, rng)
  if kind == "prior" then return Prior.new(posed, degrees) end
  return Around.of(posed, density, start, rng)
end

--- From what kept() gave.
function origin.restored (kept, posed, degrees)
  if not kept then return Prior.new(posed, degrees) end
  local guides = {}
  for i, one in ipairs(kept) do guides[i] = { units = Units.new(one.centre, one.scale), weight = one.weight } end
  return Around.new(guides)
end

return origin
