--- Gaussians along a path of L-BFGS (Pathfinder: Zhang, Carpenter, Gelman and Vehtari 2022).
--
-- At each point of the path the pairs (s_k, y_k) describe an inverse Hessian,
--
--   H_k = (1 - rho s y') H_{k-1} (1 - rho y s') + rho s s',    H_0 = diag(a),  rho = 1/(s.y)
--
-- in which form it is drawn from, and its density evaluated, without a matrix:
--
--   z = sqrt(a) e;  for each pair z += (sqrt(rho) e_k - rho y.z) s                             has covariance H
--   z'H^-1 z = sum z^2/a - sum (b_k.z)^2/(s_k.b_k) + sum rho_k (y_k.z)^2,   b_k = H_{k-1}^-1 s_k
--   log det H = sum log a + sum log(s_k.b_k rho_k)
local core     = require "perilune.core"
local matrices = require "perilune.matrices"
local modes    = require "perilune.inference.modes"
local Units    = require "perilune.inference.units"

local LOG_2PI = math.log(2 * math.pi)

local Path = {}
Path.__index = Path

local function dot (a, b) return (a * b):sum() end

--- The diagonal a after one more pair (Gilbert and Lemarechal 1989).
function Path.diagonal (a, s, y)
  local yay, sas = (y * y * a):sum(), (s * s / a):sum()
  return dot(s, y) / (yay / a + y * y - yay / sas * (s / a) ^ 2)
end

-- H v by the two-loop recursion.
local function apply (a, list, v)
  local q, alpha = v, {}
  for i = #list, 1, -1 do
    alpha[i] = list[i].rho * dot(list[i].s, q)
    q = q - alpha[i] * list[i].y
  end
  local z = a * q
  for i = 1, #list do z = z + (alpha[i] - list[i].rho * dot(list[i].y, z)) * list[i].s end
  return z
end

--- The Gaussian at a point x with gradient g (of minus the density), the pairs and the diagonal so far; nil if it is
-- none.
function Path.new (x, g, pairs_so_far, a)
  local self = setmetatable({ a = a, list = {}, size = core.numel(x) }, Path)
  local log_det = a:log():sum()
  for k, p in ipairs(pairs_so_far) do
    local b = p.s / a
    for j = 1, k - 1 do
      local earlier = self.list[j]
      b = b - earlier.b * (dot(earlier.b, p.s) / earlier.sb) + earlier.y * (earlier.rho * dot(earlier.y, p.s))
    end
    local sb = dot(p.s, b)
    self.list[k] = { s = p.s, y = p.y, rho = p.rho, b = b, sb = sb }
    log_det = log_det + math.log(sb * p.rho)
  end
  if log_det - log_det ~= 0 then return nil end
  self.log_det = log_det / 2
  self.centre = x - apply(a, self.list, g)
  return self
end

--- As a table of numbers and tensors, and back.
function Path:plain ()
  local plain = {}
  for name, value in pairs(self) do plain[name] = value end
  return plain
end

function Path.of_plain (plain) return setmetatable(plain, Path) end

local function column (v) return v:reshape(-1, 1) end

--- n draws, as rows.
function Path:draw (n, rng)
  local z = modes.noise(n, self.size, rng) * self.a:sqrt()
  local extra = #self.list > 0 and modes.noise(n, #self.list, rng)
  for k, p in ipairs(self.list) do
    local along = extra:narrow(2, k, 1) * math.sqrt(p.rho) - p.rho * z:matmul(column(p.y))
    z = z + along * p.s
  end
  return self.centre + z
end

--- The log density of rows.
function Path:log_density (u)
  local z = u - self.centre
  local quadratic = (z * z / self.a):sum(2)
  for _, p in ipairs(self.list) do
    local bz, yz = z:matmul(column(p.b)):reshape(-1), z:matmul(column(p.y)):reshape(-1)
    quadratic = quadratic - bz * bz / p.sb + p.rho * yz * yz
  end
  return quadratic * -0.5 - self.size / 2 * LOG_2PI - self.log_det
end

--- The same Gaussian with its factor; nil where that is not positive definite to rounding.
function Path:units ()
  local n = self.size
  local h = core.eye(n) * self.a
  for _, p in ipairs(self.list) do
    local hy, s = h:matmul(column(p.y)), column(p.s)
    local yhy = dot(hy:reshape(n), p.y)
    local cross = s:matmul(hy:transpose())
    h = h - p.rho * (cross + cross:transpose()) + (p.rho + p.rho * p.rho * yhy) * s:matmul(s:transpose())
  end
  local factor = matrices.cholesky((h + h:transpose()) / 2)
  local total = factor:sum()
  return total - total == 0 and Units.new(self.centre, factor) or nil
end

--- Follows a path: `path.on_step` is to be called at its points, `path.best` is the Gaussian with the best ELBO of n
-- draws each, `path.elbo` its value. Of the points one in `every` is looked at, each unless told.
function Path.follow (density, n, rng, every)
  local path, points = { elbo = -math.huge }, 0
  local a, seen = core.ones(density.size), nil
  function path.on_step (at)
    local last = at.pairs[#at.pairs]
    if last and last ~= seen then a, seen = Path.diagonal(a, last.s, last.y), last end
    points = points + 1
    if points % (every or 1) ~= 0 then return end
    local gaussian = Path.new(at.x, at.gradient, at.pairs, a)
    if not gaussian then return end
    local u = gaussian:draw(n, rng)
    local elbo = (density:values(u) - gaussian:log_density(u)):mean()
    if elbo > path.elbo and elbo < math.huge then path.best, path.elbo = gaussian, elbo end   -- infinite by rounding
  end
  return path
end

return Path
