--- Guides: Gaussians on the free numbers of a model, u = loc + scale * noise.
--
--   meanfield   scale = diag(exp(w)),              -log q(u) = sum(w) + (|noise|^2 + D log 2 pi)/2
--   fullrank    scale = L, of diagonal exp(w)      the same
--
-- The entropy is the mean of -log q(u), and has the gradient of sum(w).
local core = require "perilune.core"

local START_SCALE = 0.1

local function bound (bind, kernel, ...) return bind("variational", kernel, "vi", { ... }, { ... }) end

local noise_of = core.bind("noise", "normal", "vi", { "self", "shape", "rng" }, {})
local draw     = bound(core.bind, "draw", "noise", "loc", "log_scale")
local surprise = bound(core.bind_sum, "surprise", "noise", "log_scale")

local Guide = {}
Guide.__index = Guide

--- A guide around the vector `start`.
function Guide.new (kind, start)
  local size = core.numel(start)
  local self = setmetatable({ kind = kind, size = size, params = {} }, Guide)
  self.params.loc = core.param(start)
  self.params.log_scale = core.param(core.full({ size }, math.log(START_SCALE)))
  if kind == "fullrank" then
    self.params.below = core.param(core.zeros(size, size))   -- of L, what lies below the diagonal
    self.mask = core.zeros(size, size)
    for i = 2, size do self.mask[i]:narrow(1, 1, i - 1):copy(1) end
  end
  return self
end

--- Another one with the same distribution.
function Guide:copy ()
  local other = Guide.new(self.kind, self.params.loc:detach())
  for name, param in pairs(self.params) do other.params[name]:copy(param:detach()) end
  return other
end

--- Noise for a draw, or n of them: vectors of D numbers.
function Guide:noise (rng, n) return noise_of(nil, n and { n, self.size } or self.size, rng) end

--- Draws from noise, one or (n, D) of them; tracked, unless in no_grad.
function Guide:draw (noise)
  local params = self.params
  local u = draw(noise, params.loc, params.log_scale)
  if not self.mask then return u end
  local below = (params.below * self.mask):transpose(1, 2)
  return u + noise:matmul(below)
end

--- Minus the log density of a draw, by its noise; tracked, unless in no_grad.
function Guide:surprise (noise) return surprise(noise, self.params.log_scale) end

--- Means and standard deviations of the free numbers.
function Guide:moments ()
  local params = self.params
  local loc, scale = params.loc:detach():clone(), params.log_scale:detach():exp()
  if not self.mask then return loc, scale end
  local below = params.below:detach() * self.mask
  return loc, ((below * below):sum(2) + scale * scale):sqrt()
end

return Guide
