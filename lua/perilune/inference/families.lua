--- Families of guides on units v, in which the posterior is near a standard normal.
--
--   meanfield   v = m + exp(w) e
--   fullrank    v = m + C e, C lower triangular, of diagonal exp(w)
--   lowrank     v = m + exp(w) (e + F e'), F of `rank` columns, each row divided by sqrt(1 + |F_i|^2)
--   flow        v = m + exp(w) f(e), f a few affine couplings (Dinh, Sohl-Dickstein and Bengio 2017)
--
-- A family has
--
--   params         parameters; at first v is standard normal, or nearly so
--   noise_size     length of the noise e of a draw
--   draw(e)        draws of rows of noise, tracked
--   score(e, v)    log q(v), and its gradient with respect to v, the parameters being what they are
--   moments()      means and standard deviations of v
--   factor()       m and the factor C of Gaussians of D numbers, for Units:compose; nil for other families
local core      = require "perilune.core"
local functions = require "perilune.functions"
local matrices  = require "perilune.matrices"
local modes     = require "perilune.inference.modes"
local tensor    = require "perilune.tensor"

local LOG_2PI = math.log(2 * math.pi)
local NEARLY  = 0.01        -- columns of F, and weights of a flow, at first
local LAYERS, HIDDEN = 4, 16
local MANY    = 20          -- columns of a triangle, and
local WIDE    = 100         -- numbers of a flow, from which on steps are smaller
local MOST    = 2           -- a coupling stretches by at most exp(MOST)
local LOOKED  = 1000        -- draws of a flow for its moments

local families = {}

local function kernel (name, ...) return core.bind("variational", name, "vi", { ... }, { ... }) end

local draw        = kernel("draw", "noise", "loc", "w")    -- loc + exp(w) noise
local log_density = kernel("log_density", "noise", "w")    -- of each draw,
local slope       = kernel("slope", "noise", "w")          -- and its slope there

local function new_kind (name, lr)
  local kind = { name = name, lr = lr }
  kind.__index = kind
  return kind
end

-- Log densities of rows of standard normal numbers.
local function log_normal (e) return (e * e):sum(2) * -0.5 - core.shape(e)[2] / 2 * LOG_2PI end

-- Parameters m = 0 and w = 0.
local function location_scale (kind, size)
  local self = setmetatable({ size = size, noise_size = size }, kind)
  self.m, self.w = core.param(core.zeros(size)), core.param(core.zeros(size))
  self.params = { self.m, self.w }
  return self
end

local function value (param) return param:detach() end


-- Mean field ----------------------------------------------------------------------------

local MeanField = new_kind("meanfield", 0.05)

function families.meanfield (size) return location_scale(MeanField, size) end

function MeanField:draw (e) return draw(e, self.m, self.w) end

function MeanField:score (e)
  local w = value(self.w)
  return log_density(e, w):sum(2), slope(e, w)
end

function MeanField:moments () return value(self.m):clone(), value(self.w):exp() end
function MeanField:factor () return self:moments() end


-- Full rank -----------------------------------------------------------------------------

local FullRank = new_kind("fullrank", 0.05)

function families.fullrank (size)
  local self = location_scale(FullRank, size)
  self.lr = FullRank.lr * math.min(1, MANY / size)   -- steps add up along rows of C
  self.below, self.mask = core.param(core.zeros(size, size)), core.ones(size, size):tril(-1)
  self.params[3] = self.below
  return self
end

local function triangle (self, w, below) return below * self.mask + core.eye(self.size) * w:exp() end

function FullRank:draw (e) return self.m + e:matmul(triangle(self, self.w, self.below):transpose()) end

function FullRank:score (e)
  local w = value(self.w)
  local c = triangle(self, w, value(self.below))
  local back = c:solve_triangular(e:transpose(), { transpose = true }):transpose()
  return log_normal(e) - w:sum(), -back
end

function FullRank:moments ()
  local m, c = self:factor()
  return m, (c * c):sum(2):sqrt()
end

function FullRank:factor () return value(self.m):clone(), triangle(self, value(self.w), value(self.below)) end


-- Low rank ------------------------------------------------------------------------------

local LowRank = new_kind("lowrank", 0.05)

--- `options.rank` is the number of columns of F. Rotations of these make no difference: F is a lower triangle, and rows
-- are divided by their norms, so that what is averaged over steps has one meaning.
function families.lowrank (size, options, rng)
  local self = location_scale(LowRank, size)
  self.rank = math.min(options.rank, math.max(math.floor(size / 2), 1))
  self.noise_size = size + self.rank
  self.columns, self.mask = core.param(modes.noise(size, self.rank, rng) * NEARLY), core.ones(size, self.rank):tril()
  self.params[3] = self.columns
  return self
end

-- The diagonal part of the scale, and the matrix F.
local function parts (self, w, columns)
  local f = columns * self.mask
  local a = w:exp() / ((f * f):sum(2) + 1):sqrt()
  return a, f * a:reshape(-1, 1)
end

local function present_parts (self) return parts(self, value(self.w), value(self.columns)) end

function LowRank:draw (e)
  local own, shared = e:narrow(2, 1, self.size), e:narrow(2, self.size + 1, self.rank)
  local a, f = parts(self, self.w, self.columns)
  return self.m + own * a + shared:matmul(f:transpose())
end

-- The covariance S = A^2 + F F' has S^-1 x = A^-2 x - G (1 + F'G)^-1 G'x, G = A^-2 F, and |S| = |A|^2 |1 + F'G|.
function LowRank:score (_, v)
  local a, f = present_parts(self)
  local precision, x = 1 / (a * a), v - value(self.m)
  local g = f * precision:reshape(-1, 1)
  local l = (core.eye(self.rank) + f:transpose():matmul(g)):cholesky()
  local inner = l:cholesky_solve(x:matmul(g):transpose())              -- (rank, rows)
  local solved = x * precision - inner:transpose():matmul(g:transpose())
  local log_scale = a:log():sum() + matrices.diagonal(l):log():sum()
  return (x * solved):sum(2) * -0.5 - log_scale - self.size / 2 * LOG_2PI, -solved
end

function LowRank:moments () return value(self.m):clone(), value(self.w):exp() end

function LowRank:factor ()
  local a, f = present_parts(self)
  return value(self.m):clone(), (core.eye(self.size) * (a * a) + f:matmul(f:transpose())):cholesky()
end


-- Flows ---------------------------------------------------------------------------------

local Flow = new_kind("flow", 0.01)

-- Coupling number k: the elements of `kept` stay, and say how the others are stretched and moved.
local function new_layer (k, size, rng)
  local kept = (core.arange(1, size + 1) + k) % 2
  return {
    kept = kept,
    params = { core.param(modes.noise(size, HIDDEN, rng) / math.sqrt(size)), core.param(core.zeros(HIDDEN)),
               core.param(modes.noise(HIDDEN, 2 * size, rng) * NEARLY), core.param(core.zeros(2 * size)) },
  }
end

--- `options.layers` is the number of couplings.
function families.flow (size, options, rng)
  local self = location_scale(Flow, size)
  self.layers, self.lr = {}, Flow.lr * math.min(1, WIDE / size)   -- steps of all outputs add up
  for k = 1, size > 1 and (options.layers or LAYERS) or 0 do
    self.layers[k] = new_layer(k, size, rng)
    for _, param in ipairs(self.layers[k].params) do self.params[#self.params + 1] = param end
  end
  return self
end

-- How the elements that are not kept are stretched, as a logarithm, and moved.
local function coupling (layer, x, size, read)
  local p, moved = layer.params, 1 - layer.kept
  local hidden = ((x * layer.kept):matmul(read(p[1])) + read(p[2])):tanh()
  local out = hidden:matmul(read(p[3])) + read(p[4])
  return out:narrow(2, 1, size):tanh() * (MOST * moved), out:narrow(2, size + 1, size) * moved
end

local function as_it_is (param) return param end

function Flow:draw (e)
  local x = e
  for _, layer in ipairs(self.layers) do
    local s, t = coupling(layer, x, self.size, as_it_is)
    x = x * s:exp() + t
  end
  return draw(x, self.m, self.w)
end

-- Log densities of rows, tracked where v is.
local function log_prob (self, v)
  local w = value(self.w)
  local x, log_det = (v - value(self.m)) / w:exp(), w:sum()
  for k = #self.layers, 1, -1 do
    local s, t = coupling(self.layers[k], x, self.size, value)
    x = (x - t) * (-s):exp()
    log_det = log_det + s:sum(2)
  end
  return log_normal(x) - log_det
end

function Flow:score (_, v)
  local leaf = core.param(v)
  local log_q = log_prob(self, leaf)
  log_q:sum():backward()
  return log_q:detach(), leaf.grad
end

-- By the same draws every time, so that they are a function of the parameters.
function Flow:moments ()
  local v = core.no_grad(function () return self:draw(modes.noise(LOOKED, self.size, core.rng(1))) end)
  return v:mean(1), functions.maximum(v:std(1), 1e-300)
end

function Flow.factor () return nil end


--- Moves that one family made between two places: the largest change of a mean, or of the logarithm of a standard
-- deviation, in standard deviations. `before` and `after` are what moments() gave.
function families.drift (before, after)
  local means = ((after[1] - before[1]) / before[2]):abs()
  local sds = (after[2] / before[2]):log():abs()
  local moved = tensor.cat({ means:reshape(-1), sds:reshape(-1) })
  local most = moved:max()
  return most == most and most or math.huge
end

return families
