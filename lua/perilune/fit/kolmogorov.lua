--- The law of the Kolmogorov-Smirnov distance D of n draws from a continuous distribution.
--
-- Three ways, s being n D^2:
--   s >= 4           twice the tail of the one-sided distance, which is a finite sum of positive terms (Birnbaum and
--                    Tingey); both sides at once add a part e^(-6 s) of it, 4e-11 at most
--   n D small        1 - (n!/n^n) (H^n)_kk, a power of a matrix of 2 k - 1 rows (Marsaglia, Tsang and Wang)
--   n large          the asymptotic series of Pelz and Good to n^(-3/2)
local core      = require "perilune.core"
local functions = require "perilune.functions"

local FAR   = 4       -- s from which one side is enough
local ROWS  = 150     -- of the largest matrix

local exp, log, lgamma = functions.exp, functions.log, functions.lgamma

-- P(D+ >= d) = d sum over j of C(n, j) (d + j/n)^(j - 1) (1 - d - j/n)^(n - j), j <= n (1 - d)
local function one_sided (n, d)
  local most = math.tointeger(math.floor(n * (1 - d)))
  local j = core.public.arange(0, most + 1)
  local rest = functions.maximum(1 - d - j / n, 0)
  local logs = lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1) + (j - 1) * log(d + j / n)
               + functions.xlogy(n - j, rest)
  return d * exp(logs:logsumexp())
end

-- The matrix H, and k.
local function matrix (n, d)
  local k = math.tointeger(math.floor(n * d)) + 1
  local h, m = k - n * d, 2 * k - 1
  local rows = {}
  for i = 1, m do
    rows[i] = {}
    for j = 1, m do
      local steps = i - j + 1
      local value = steps < 0 and 0 or 1
      if j == 1 then value = value - h ^ i end
      if i == m then value = value - h ^ (m - j + 1) end
      if i == m and j == 1 then value = value + math.max(2 * h - 1, 0) ^ m end
      rows[i][j] = steps > 0 and value / exp(lgamma(steps + 1)) or value
    end
  end
  return core.tensor(rows), k
end

-- n!/n^n (H^n)_kk, powers being kept near 1.
local function by_matrix (n, d)
  local power, k = matrix(n, d)
  local result, scale, power_scale, left = nil, 0, 0, n
  while left > 0 do
    if left % 2 == 1 then
      result = result and result:matmul(power) or power
      scale = scale + power_scale
    end
    left = left // 2
    if left > 0 then
      power, power_scale = power:matmul(power), 2 * power_scale
      local size = power:abs():max()
      power, power_scale = power / size, power_scale + math.log(size)
    end
    local size = result and result:abs():max() or 1
    if result then result, scale = result / size, scale + math.log(size) end
  end
  return result:at(k, k) * math.exp(scale + lgamma(n + 1) - n * math.log(n))
end

local function by_series (n, d)
  local pi, z = math.pi, math.sqrt(n) * d
  local z2 = z * z
  local terms = math.tointeger(math.ceil(16 * z / pi)) + 1
  local k = core.public.arange(1, terms + 1)
  local m2 = functions.square(2 * k - 1)
  local m4 = m2 * m2
  local q = exp(-pi ^ 2 / 8 / z2 * m2)
  local k0 = q:sum() / z
  local k1 = (q * (pi ^ 2 / 4 * m2 - z2)):sum() / (6 * z2 ^ 2)
  local k2 = (q * (6 * z2 ^ 3 + 2 * z2 ^ 2 + (2 * z2 ^ 2 - 5 * z2) * pi ^ 2 / 4 * m2
                   + pi ^ 4 * (1 - 2 * z2) / 16 * m4)):sum() / (72 * z ^ 7)
  local k3 = (q * (-30 * z2 ^ 3 - 90 * z2 ^ 4 + pi ^ 2 * (135 * z2 ^ 2 - 96 * z2 ^ 3) / 4 * m2
                   + pi ^ 4 * (212 * z2 ^ 2 - 60 * z2) / 16 * m4
                   + pi ^ 6 * (5 - 30 * z2) / 64 * m2 * m4)):sum() / (6480 * z ^ 10)
  local e = exp(-pi ^ 2 / 2 / z2 * functions.square(k))
  k2 = k2 - pi ^ 2 / (36 * z ^ 3) * (functions.square(k) * e):sum()
  k3 = k3 + pi ^ 2 / (216 * z2 ^ 3) * ((3 * z2 - pi ^ 2 * functions.square(k)) * functions.square(k) * e):sum()
  return math.sqrt(2 * pi) * (k0 + k1 / n ^ 0.5 + k2 / n + k3 / n ^ 1.5)
end

--- P(D >= d) for n draws.
return function (n, d)
  if d ~= d then return d end
  if d <= 0.5 / n then return 1.0 end
  if d >= 1 then return 0.0 end
  if n * d * d >= FAR then return math.min(2 * one_sided(n, d), 1) end
  local below = 2 * n * d + 1 <= ROWS and by_matrix(n, d) or by_series(n, d)
  return math.max(math.min(1 - below, 1), 0)
end
