--- Families of guides on units v, in which the posterior is near a standard normal.
--
--   meanfield   v = m + exp(w) e
--   fullrank    v = m + C e, C lower triangular, of diagonal exp(w)
--   lowrank     v = m + exp(w) (e + F e'), F of `rank` columns, each row divided by sqrt(1 + |F_i|^2)
--   flow        v = m + exp(w) f(e), f a few affine couplings (Dinh, Sohl-Dickstein and Bengio 2017)
--
-- A family has
--
--   theta          its parameters, all of them one vector; at first v is standard normal, or nearly so
--   noise_size     length of the noise e of a draw
--   draw(e)        draws of rows of noise, tracked
--   log_prob(v)    log q of rows, tracked where v is: the parameters are what they are
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

local function kernel (file, name, ...) return core.bind(file, name, "vi", { ... }, { ... }) end

local draw        = kernel("variational", "draw", "noise", "loc", "w")      -- loc + exp(w) noise
local log_density = kernel("variational", "log_density", "v", "loc", "w")   -- of each draw
local held        = kernel("ends", "held", "x")                             -- x without a slope

local function new_kind (name, lr)
  local kind = { name = name, lr = lr }
  kind.__index = kind
  return kind
end

-- Log densities of rows of standard normal numbers.
local function log_normal (e) return (e * e):sum(2) * -0.5 - core.shape(e)[2] / 2 * LOG_2PI end

-- A family of a kind with parameters m = 0 and w = 0, and others, which begin with these values.
local function new_family (kind, size, ...)
  local self = setmetatable({ size = size, noise_size = size, shapes = {} }, kind)
  local flat = {}
  for i, first in ipairs { core.zeros(size), core.zeros(size), ... } do
    self.shapes[i], flat[i] = core.shape(first), first:reshape(-1)
  end
  self.theta = core.param(tensor.cat(flat))
  return self
end

-- The parameters, one by one, of a vector of them.
local function split (self, theta)
  local list, at = {}, 1
  for i, shape in ipairs(self.shapes) do
    local size = 1
    for _, n in ipairs(shape) do size = size * n end
    list[i], at = theta:narrow(1, at, size):reshape(shape), at + size
  end
  return table.unpack(list)
end

local function tracked (self) return split(self, self.theta) end
local function as_they_are (self) return split(self, held(self.theta)) end


-- Mean field ----------------------------------------------------------------------------

local MeanField = new_kind("meanfield", 0.05)

function families.meanfield (size) return new_family(MeanField, size) end

function MeanField:draw (e) return draw(e, tracked(self)) end
function MeanField:log_prob (v) return log_density(v, as_they_are(self)):sum(2) end

function MeanField:moments ()
  local m, w = as_they_are(self)
  return m, w:exp()
end

function MeanField:factor () return self:moments() end


-- Full rank -----------------------------------------------------------------------------

local FullRank = new_kind("fullrank", 0.05)

function families.fullrank (size)
  local self = new_family(FullRank, size, core.zeros(size, size))
  self.lr = FullRank.lr * math.min(1, MANY / size)   -- steps add up along rows of C
  self.mask = core.ones(size, size):tril(-1)
  return self
end

local function triangle (self, w, below) return below * self.mask + core.eye(self.size) * w:exp() end

function FullRank:draw (e)
  local m, w, below = tracked(self)
  return m + e:matmul(triangle(self, w, below):transpose())
end

function FullRank:log_prob (v)
  local m, w, below = as_they_are(self)
  local e = triangle(self, w, below):solve_triangular((v - m):transpose()):transpose()
  return log_normal(e) - w:sum()
end

function FullRank:moments ()
  local m, c = self:factor()
  return m, (c * c):sum(2):sqrt()
end

function FullRank:factor ()
  local m, w, below = as_they_are(self)
  return m, triangle(self, w, below)
end


-- Low rank ------------------------------------------------------------------------------

local LowRank = new_kind("lowrank", 0.05)

--- `options.rank` is the number of columns of F. Rotations of these make no difference: F is a lower triangle, and rows
-- are divided by their norms, so that what is averaged over steps has one meaning.
function families.lowrank (size, options, rng)
  local rank = math.min(options.rank, math.max(math.floor(size / 2), 1))
  local self = new_family(LowRank, size, modes.noise(size, rank, rng) * NEARLY)
  self.rank, self.noise_size, self.mask = rank, size + rank, core.ones(size, rank):tril()
  return self
end

-- m, the diagonal part of the scale, and the matrix F.
local function location_parts (self, m, w, columns)
  local f = columns * self.mask
  local a = w:exp() / ((f * f):sum(2) + 1):sqrt()
  return m, a, f * a:reshape(-1, 1)
end

function LowRank:draw (e)
  local own, shared = e:narrow(2, 1, self.size), e:narrow(2, self.size + 1, self.rank)
  local m, a, f = location_parts(self, tracked(self))
  return m + own * a + shared:matmul(f:transpose())
end

-- The covariance S = A^2 + F F' has S^-1 x = A^-2 x - G (1 + F'G)^-1 G'x, G = A^-2 F, and |S| = |A|^2 |1 + F'G|.
function LowRank:log_prob (v)
  local m, a, f = location_parts(self, as_they_are(self))
  local precision, x = 1 / (a * a), v - m
  local g = f * precision:reshape(-1, 1)
  local l = (core.eye(self.rank) + f:transpose():matmul(g)):cholesky()
  local inner = l:cholesky_solve(x:matmul(g):transpose())              -- (rank, rows)
  local solved = x * precision - inner:transpose():matmul(g:transpose())
  local log_scale = a:log():sum() + matrices.diagonal(l):log():sum()
  return (x * solved):sum(2) * -0.5 - log_scale - self.size / 2 * LOG_2PI
end

function LowRank:moments ()
  local m, w = as_they_are(self)
  return m, w:exp()
end

function LowRank:factor ()
  local m, a, f = location_parts(self, as_they_are(self))
  return m, (core.eye(self.size) * (a * a) + f:matmul(f:transpose())):cholesky()
end


-- Flows ---------------------------------------------------------------------------------

local Flow = new_kind("flow", 0.01)

-- The first values of the parameters of a coupling.
local function first_weights (size, rng)
  return modes.noise(size, HIDDEN, rng) / math.sqrt(size), core.zeros(HIDDEN),
         modes.noise(HIDDEN, 2 * size, rng) * NEARLY, core.zeros(2 * size)
end

--- `options.layers` is the number of couplings.
function families.flow (size, options, rng)
  local layers, weights = size > 1 and (options.layers or LAYERS) or 0, {}
  for _ = 1, layers do
    for _, first in ipairs { first_weights(size, rng) } do weights[#weights + 1] = first end
  end
  local self = new_family(Flow, size, table.unpack(weights))
  self.layers, self.lr = layers, Flow.lr * math.min(1, WIDE / size)   -- steps of all outputs add up
  return self
end

-- Coupling number k of x, whose weights are from weights[4 k - 3] on: every other element stays, and these say how the
-- others are stretched, as a logarithm, and moved.
local function coupling (k, x, size, weights)
  local kept = (core.arange(1, size + 1) + k) % 2
  local first = 4 * k - 3
  local hidden = ((x * kept):matmul(weights[first]) + weights[first + 1]):tanh()
  local out = hidden:matmul(weights[first + 2]) + weights[first + 3]
  return out:narrow(2, 1, size):tanh() * (MOST * (1 - kept)), out:narrow(2, size + 1, size) * (1 - kept)
end

-- Parameters as m, w and a list of the weights of couplings.
local function with_weights (m, w, ...) return m, w, { ... } end

function Flow:draw (e)
  local m, w, weights = with_weights(tracked(self))
  local x = e
  for k = 1, self.layers do
    local s, t = coupling(k, x, self.size, weights)
    x = x * s:exp() + t
  end
  return draw(x, m, w)
end

function Flow:log_prob (v)
  local m, w, weights = with_weights(as_they_are(self))
  local x, log_det = (v - m) / w:exp(), w:sum()
  for k = self.layers, 1, -1 do
    local s, t = coupling(k, x, self.size, weights)
    x = (x - t) * (-s):exp()
    log_det = log_det + s:sum(2)
  end
  return log_normal(x) - log_det
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
