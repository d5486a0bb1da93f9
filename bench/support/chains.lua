--- Means and sds by long chains: Hamiltonian steps of many chains at once.
--
-- They begin at draws of a fit, so that they need not find the posterior, and go where the density leads them: only a
-- mode far from all draws would be missed. An answer whose chains disagree (split R-hat) or have moved too little
-- counts as unknown.
local peri = require "perilune"

local CHAINS, WARM, KEPT, THIN, LEAPS = 24, 1000, 1200, 2, 12
local AGREE, ENOUGH = 1.03, 600

local chains = {}

local function noise (shape, rng) return peri.Normal(0, 1):sample(shape, rng) end

-- CHAINS rows of a fit's draws.
local function starts (fit, rng)
  local picked = {}
  for i = 1, CHAINS do
    local at = peri.item(peri.Uniform(0, 1):sample(nil, rng))
    picked[i] = math.min(fit.weights:cumsum():lt(at):sum() + 1, #fit.weights)
  end
  return fit.u[peri.tensor(picked)]
end

-- One Hamiltonian path of every chain in coordinates u = L v; returns rows, values, gradients, mean acceptance.
local function step (density, at, factor, size, rng)
  local n, d = CHAINS, density.size
  local p = noise({ n, d }, rng)
  local kinetic = (p * p):sum(2) / 2
  local u, g = at.u, at.g
  local leaps = 1 + math.floor(LEAPS * peri.item(peri.Uniform(0, 1):sample(nil, rng)))
  local jitter = size * peri.item(peri.Uniform(0.8, 1.2):sample(nil, rng))
  local values
  for _ = 1, leaps do
    p = p + g:matmul(factor) * (jitter / 2)
    u = u + p:matmul(factor:transpose()) * jitter
    values, g = density:gradients(u)
    p = p + g:matmul(factor) * (jitter / 2)
  end
  local gain = values - (p * p):sum(2) / 2 - at.values + kinetic
  local rate = peri.where(gain:ge(0), 1, gain:exp())
  rate = peri.where(rate:ge(0), rate, 0)   -- NaN: diverged
  local is_taken = peri.Uniform(0, 1):sample({ n }, rng):lt(rate):reshape(n, 1)
  at.u = peri.where(is_taken:eq(1), u, at.u)
  at.g = peri.where(is_taken:eq(1), g, at.g)
  at.values = peri.where(is_taken:reshape(n):eq(1), values, at.values)
  return rate:mean()
end

-- The factor of the covariance of all chains' rows, a little widened.
local function factor_of (rows, d)
  local all = peri.cat(rows, 1)
  local x = all - all:mean(1)
  local n = all.shape[1]
  local c = x:transpose():matmul(x) / n
  local sd = x:std(1)
  c = c * (n / (n + 20)) + peri.eye(d) * (sd * sd) * (20 / (n + 20)) + peri.eye(d) * 1e-20
  local ok, l = pcall(peri.cholesky, c)
  return ok and l:sum() - l:sum() == 0 and l or peri.eye(d) * sd:reshape(-1, 1)
end

-- Split R-hat and effective number of draws of x: (draws, chains).
local function diagnose (x)
  local n, m = x.shape[1], x.shape[2]
  local half = n // 2
  local halves = peri.cat({ x:narrow(1, 1, half), x:narrow(1, half + 1, half) }, 2)
  local means, within = halves:mean(1), (halves:std(1) ^ 2):mean()
  local between = means:std() ^ 2
  local rhat = math.sqrt((within * (half - 1) / half + between) / within)
  -- the variance of chains' means says how many draws count
  local ess = n * m
  local chain_means = x:mean(1)
  local v = chain_means:std() ^ 2
  if v > 0 then ess = math.min(ess, m * within / v) end
  return rhat, ess
end

--- The truth about a posed model: { name = { mean, sd } }, or nil where the chains do not say.
function chains.of (one)
  local rng = peri.rng(7)
  local fit = one.posed:fit { rng = rng }
  local density = fit.density
  local d = density.size
  local u = starts(fit, rng)
  local values, g = density:gradients(u)
  local at = { u = u, values = values, g = g }
  local factor, size = factor_of({ u }, d), 0.1
  local window = {}
  local ends = { [50] = true, [100] = true, [200] = true, [350] = true, [550] = true, [800] = true }
  for i = 1, WARM do
    local rate = step(density, at, factor, size, rng)
    size = size * math.exp(0.1 * (rate - 0.8))
    if i < 100 and rate < 0.1 then size = size * 0.7 end
    window[#window + 1] = at.u
    if ends[i] then
      factor, window, size = factor_of(window, d), {}, math.min(1, 2 / d ^ 0.25)
    end
  end
  local rows = {}
  for i = 1, KEPT do
    step(density, at, factor, size, rng)
    if i % THIN == 0 then rows[#rows + 1] = at.u end
  end
  local all = peri.stack(rows)                                    -- (draws, chains, d)
  local n = #rows
  local found, truth = density:report(all:reshape(n * CHAINS, d)), {}
  for name, x in pairs(found) do
    local shape = x.shape
    table.remove(shape, 1)
    x = x:reshape(n, CHAINS, -1)
    local k = x.shape[3]
    local mean, sd = {}, {}
    for j = 1, k do
      local column = x:select(3, j):contiguous()
      mean[j], sd[j] = column:mean(), column:std()
      if sd[j] ~= 0 then   -- NaN, too
        local rhat, ess = diagnose(column)
        local square = (column - mean[j]) ^ 2
        local rhat2, ess2 = diagnose(square)
        local holds = rhat < AGREE and ess > ENOUGH and rhat2 < AGREE and ess2 > ENOUGH / 2
        if not holds then
          if os.getenv "CHAINS" then
            io.stderr:write(string.format("%s: %s[%d] rhat %.3f %.3f ess %.0f %.0f\n", one.name, name, j, rhat, rhat2,
                                          ess, ess2))
          end
          return nil
        end
      end
    end
    local is_constant = true
    for j = 1, k do is_constant = is_constant and sd[j] == 0 end
    if not is_constant then truth[name] = { mean = peri.tensor(mean), sd = peri.tensor(sd) } end
  end
  return truth
end

return chains
