--- How a draw moves with its parameters where the sampler does not follow its noise.
--
-- paths.<family>(x, operands...) gives a function of the operands that is x where they are what they were, and whose
-- slopes a reparameterised draw x must have. Each keeps x at the same place of its law: single numbers keep
-- their quantile.
local peri     = require "perilune"
local matrices = require "perilune.matrices"

local paths = {}

-- x of the law `from` at the same quantile of the law `to`, by the smaller tail.
local function carried (from, to, x)
  local below, above = from:cdf(x), from:sf(x)
  return peri.where(above:lt(below), to:isf(above), to:icdf(below))
end

local function times (matrix, vector) return matrix:matmul(vector:unsqueeze(-1)):squeeze(-1) end
local function lengths (x) return (x * x):sum(-1, true):sqrt() end

--- Any law of single numbers.
function paths.quantile (make)
  return function (x, ...)
    local from = make(...)
    return function (...) return carried(from, make(...), x) end
  end
end

--- Share j is Beta(a_j, A - a_j); as a_j moves it the others keep their proportions. To first order, effects add.
function paths.dirichlet (x, log_a)
  local a = log_a:exp()
  local others = a:sum(-1):unsqueeze(-1) - a
  return function (moved_log_a)
    local move = carried(peri.Beta(a, others), peri.Beta(moved_log_a:exp(), others), x) - x
    local shrink = -move / (1 - x)
    return x + move + x * (shrink:sum(-1):unsqueeze(-1) - shrink)
  end
end

--- loc + W e1 + D^1/2 e2 with the means of e1 and e2 given x.
function paths.low_rank (x, loc, w, log_d)
  local d = peri.LowRankMultivariateNormal { loc = loc, cov_factor = w, cov_diag = log_d:exp() }
  local pull = times(d.precision_matrix, x - loc)
  local e1, e2 = times(w:transpose(-1, -2), pull), (log_d / 2):exp() * pull
  return function (m, v, log_s) return m + times(v, e1) + (log_s / 2):exp() * e2 end
end

--- loc + L z, |z|^2/d of FisherSnedecor(d, df).
function paths.student (below)
  return function (x, df, loc, l)
    local z = times(matrices.triangular_inverse(l * below), x - loc)
    local d, square = z.shape[#z.shape], (z * z):sum(-1)
    return function (moved_df, m, t)
      local moved = carried(peri.FisherSnedecor(d, df), peri.FisherSnedecor(d, moved_df), square / d) * d
      return m + times(t * below, z * (moved / square):sqrt():unsqueeze(-1))
    end
  end
end

--- Bartlett's triangle T: T_ii^2 is of Chi2(df - k_i), the rest normal. x = L T T^T L^T, or L (T^T T)^-1 L^T.
function paths.wishart (below, inverse)
  return function (x, df, l)
    local side = l.shape[1]
    local c, scale = x:cholesky(), l * below
    local t = inverse and matrices.triangular_inverse(c):matmul(scale) or matrices.triangular_inverse(scale):matmul(c)
    local k, eye = inverse and peri.arange(side - 1, -1, -1) or peri.arange(0, side), peri.eye(side)
    local square = (t * t * eye):sum(-1)
    return function (moved_df, moved_l)
      local roots = carried(peri.Chi2(df - k), peri.Chi2(moved_df - k), square):sqrt()
      local moved = t * (1 - eye) + eye * roots:unsqueeze(-1)
      local factor = (moved_l * below):matmul(inverse and matrices.triangular_inverse(moved) or moved)
      return factor:matmul(factor:transpose(-1, -2))
    end
  end
end

--- Row i keeps its direction left of the diagonal, whose square is Beta(eta + (d - i)/2, (i - 1)/2).
function paths.lkj (x, eta)
  local d = x.shape[#x.shape]
  return function (moved_eta)
    local rows = { x:select(-2, 1) }
    for i = 2, d do
      local row = x:select(-2, i)
      local square, b, h = row:select(-1, i) ^ 2, (d - i) / 2, (i - 1) / 2
      local moved = carried(peri.Beta(eta + b, h), peri.Beta(moved_eta + b, h), square)
      local on = peri.arange(1, d + 1):eq(i)
      rows[i] = row * peri.where(on, (moved / square):sqrt():unsqueeze(-1),
                                 ((1 - moved) / (1 - square)):sqrt():unsqueeze(-1))
    end
    return peri.stack(rows, -2)
  end
end

--- The factor of x moves so.
function paths.lkj_matrix (x, eta)
  local moving = paths.lkj(x:cholesky(), eta)
  return function (moved_eta)
    local l = moving(moved_eta)
    return l:matmul(l:transpose(-1, -2))
  end
end

--- In space: 1 - cos t = -log(1 - u (1 - e^(-2k)))/k for the angle t between x and m, and the direction across m turns
-- with m along the great circle.
function paths.mises_fisher (x, m, k)
  m = m / lengths(m)
  local cosine = (x * m):sum(-1, true)
  local across = x - cosine * m
  across = across / lengths(across)
  local u = (1 - (-k * (1 - cosine)):exp()) / (1 - peri.exp(-2 * k))
  return function (moved_m, moved_k)
    local n = moved_m / lengths(moved_m)
    local c = 1 + peri.log(1 - u * (1 - peri.exp(-2 * moved_k))) / moved_k
    local turned = across - (m + n) * ((n * across):sum(-1, true) / (1 + (m * n):sum()))
    return n * c + turned * (1 - c * c):sqrt()
  end
end

--- The draw stays, with the slopes of the probabilities.
function paths.straight_through (x, logits)
  local probs = logits:softmax()
  return function (l) return x + l:softmax() - probs end
end

return paths
