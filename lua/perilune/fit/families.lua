--- What is known of single families for maximum likelihood, by the name of the class. All of it is optional: a family
-- that is not here is maximised as it is.
--
--   closed(x, w)    all parameters, where none is fixed
--   errors(v, n)    standard errors of what `closed` gave for n data, where there is a formula
--   data(x)         parameters that the data leave no choice of: numbers of trials, sizes
--   kinks(x, w)     parameters that the data give whatever the others are, where the likelihood has a kink or an end:
--                   there is no curvature there, and no standard error
--   kink_errors(exact, values, x, w)  standard errors of what `kinks` gave, where it is smooth there
--   kink            a parameter whose best value is likely to be one of the data
--   start(x, w)     parameters to start from
--   starts(x, w)    more of them, a list
--   constraints(k)  of parameters whose own cannot be followed; k is the length of an event
--   length(k, x)    of rows of parameters, k, the length of events, unless told
--   needs           parameters that must be fixed, and why
--   event           dimensions of an event, where the class does not know
--   takes_outcomes  it has the option `outcomes`, which `closed` gets after what is fixed
--   closed_with     the one parameter that is fixed when there is a closed form
--   smooth_kinks    `kinks` are maxima where the likelihood is smooth: directions, of one number less than they have
--   no_units        x is not to be scaled
--   measure(x, w)   centre and width of data that are no single numbers, to work with (x - centre)/width; then inward
--                   and outward(name, value, centre, width) take parameters there and back
--   no_fit          why there is no fit
local class       = require "perilune.class"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local functions   = require "perilune.functions"
local matrices    = require "perilune.matrix_functions"
local statistics  = require "perilune.statistics"

local atan2 = rawget(math, "atan2") or math.atan   -- that of Lua 5.1 takes one number
local FEW = 200   -- data that may hide their maximum

local families = {}

local log, square = functions.log, functions.square

-- Means along the first dimension, with weights.
local function mean (x, w)
  if not w then return x:mean(1) end
  for _ = 2, core.rank(x) do w = w:unsqueeze(-1) end
  return (w * x):sum(1) / w:sum()
end

local function variance (x, w, centre) return mean(square(x - centre), w) end

local function total (w, x) return w and w:sum() or core.shape(x)[1] end

families.mean, families.total = mean, total

-- The value with half of the weight on either side.
local function median (x, w)
  if not w then return x:median() end
  local sorted, order = x:sort()
  local below = w[order]:cumsum()
  return sorted[below:ge(0.5 * w:sum()):argmax()]
end


-- The line -----------------------------------------------------------------------------------

families.Normal = { closed = function (x, w)
  local loc = mean(x, w)
  return { loc = loc, scale = variance(x, w, loc) ^ 0.5 }
end }

-- X with g(X) normal.
local function normal_of (g)
  return { closed = function (x, w) return families.Normal.closed(g(x), w) end }
end

families.LogNormal   = normal_of(log)
families.LogitNormal = normal_of(functions.logit)

local function ends (x) return { low = x:min(), high = x:max() } end

families.Uniform    = { kinks = ends }
families.LogUniform = { kinks = ends }
families.TruncatedNormal = {
  kinks = ends,
  start = function (x, w)
    local loc = mean(x, w)
    return { loc = loc, scale = variance(x, w, loc) ^ 0.5 }
  end,
}
families.Laplace = { kinks = function (x, w) return { loc = median(x, w) } end }

-- With A and B the mean distances of the data above and below loc, the likelihood is largest where sqrt A + sqrt B is
-- smallest (Kotz, Kozubowski and Podgorski), whatever asymmetry and scale there are then: a concave function of loc
-- between two data.
families.AsymmetricLaplace = { kinks = function (x, w, fixed)
  if next(fixed) ~= nil then return {} end
  local sorted, order = x:sort()
  local weights = w and w[order] or core.public.ones(core.numel(x))
  local count, sum = weights:cumsum(), (weights * sorted):cumsum()
  local n = core.numel(x)
  local below = functions.maximum(sorted * count - sum, 0)
  local above = functions.maximum((sum[n] - sum) - sorted * (count[n] - count), 0)
  local at = (functions.sqrt(above) + functions.sqrt(below)):argmin()
  return { loc = sorted[at] }
end, kink = "loc" }

-- A law that is all but uniform is where other starts do not lead.
families.GeneralizedNormal = {
  kink = "loc",
  start = function (x)
    local low, high = x:min(), x:max()
    return { loc = low / 2 + high / 2, scale = 0.51 * (high - low) + 1e-3, shape = 20 }
  end,
}

-- By moments: skewness 0 is a saddle of the likelihood that looks like a maximum (Azzalini), and starts must be off it.
-- Of few data the maximum is likely to be a half of a normal law, from the smallest or the largest of them on.
families.SkewNormal = { starts = function (x, w)
  local halves = {}
  if core.numel(x) > FEW then return halves end
  for i, at in ipairs { x:min(), x:max() } do
    halves[i] = { loc = at, scale = variance(x, w, at) ^ 0.5, skewness = i == 1 and 30 or -30 }
  end
  return halves
end, start = function (x, w)
  local centre = mean(x, w)
  local sd = variance(x, w, centre) ^ 0.5
  local third = mean((x - centre) ^ 3, w) / sd ^ 3
  if third ~= third then return { loc = centre, scale = 1 } end
  local r = math.max((2 * math.abs(third) / (4 - math.pi)) ^ (1 / 3), 0.5)
  local shift = math.min(r / (1 + r * r) ^ 0.5, 0.79) * (third < 0 and -1 or 1)   -- in units of scale
  local delta = shift * (math.pi / 2) ^ 0.5
  local scale = sd / (1 - shift * shift) ^ 0.5
  return { loc = centre - scale * shift, scale = scale, skewness = delta / (1 - delta * delta) ^ 0.5 }
end }

-- By halves of the variance; and an exponential law from the smallest of few data on.
families.ExGaussian = {
  start = function (x, w)
    local centre = mean(x, w)
    local part = (variance(x, w, centre) / 2) ^ 0.5
    return part > 0 and { loc = centre - part, scale = part, rate = 1 / part } or nil
  end,
  starts = function (x, w)
    local low = x:min()
    local rest = mean(x, w) - low
    if core.numel(x) > FEW or rest <= 0 then return {} end
    return { { loc = low, scale = 0.05 * rest, rate = 1 / rest } }
  end,
}

families.Triangular = {
  kink = "peak",
  start = function (x)
    local low, high = x:min(), x:max()
    local margin = 0.05 * (high - low) + 1e-3
    return { low = low - margin, high = high + margin, peak = x:median() }
  end,
}

families.VonMises = { start = function (x, w)
  return { loc = atan2(mean(functions.sin(x), w), mean(functions.cos(x), w)), concentration = 1 }
end }


-- The half-line --------------------------------------------------------------------------------

families.Exponential = { closed = function (x, w) return { rate = 1 / mean(x, w) } end }
families.HalfNormal  = { closed = function (x, w) return { scale = mean(square(x), w) ^ 0.5 } end }
families.Rayleigh    = { closed = function (x, w) return { scale = (mean(square(x), w) / 2) ^ 0.5 } end }
families.Maxwell     = { closed = function (x, w) return { scale = (mean(square(x), w) / 3) ^ 0.5 } end }

families.InverseGaussian = { closed = function (x, w)
  local loc = mean(x, w)
  return { loc = loc, concentration = 1 / mean(1 / x - 1 / loc, w) }
end }

families.Pareto            = { kinks = function (x) return { scale = x:min() } end }
families.GeneralizedPareto = {
  needs = { loc = "at the smallest of the data the likelihood would grow without bound as scale goes to 0" },
}

-- log(mean x) - mean(log x) = log a - digamma(a), which is near 1/(2 a)
local function gamma_start (x, w)
  local centre = mean(x, w)
  local a = 0.5 / (math.log(centre) - mean(log(x), w))
  return { concentration = a, rate = a / centre }
end

families.Gamma        = { start = gamma_start }
families.InverseGamma = { start = function (x, w) return gamma_start(1 / x, w) end }

-- log X is a Gumbel law, of deviation pi/(concentration sqrt 6)
local function weibull_start (x, w)
  local logs = log(x)
  local centre = mean(logs, w)
  local concentration = math.pi / (6 * variance(logs, w, centre)) ^ 0.5
  return { scale = math.exp(centre + 0.5772156649015329 / concentration), concentration = concentration }
end

families.Weibull = { start = weibull_start }
families.Frechet = { start = function (x, w)
  local inverse = weibull_start(1 / x, w)
  return { scale = 1 / inverse.scale, concentration = inverse.concentration }
end }

families.Chi2 = { start = function (x, w) return { df = mean(x, w) } end }

families.FisherSnedecor = { constraints = function () return { df2 = constraints.positive } end }


-- The unit interval ----------------------------------------------------------------------------

families.Beta = { start = function (x, w)
  local m = mean(x, w)
  local sum = m * (1 - m) / variance(x, w, m) - 1
  return sum > 0 and { concentration1 = m * sum, concentration0 = (1 - m) * sum } or nil
end }


-- Counts ---------------------------------------------------------------------------------------

families.Poisson   = { closed = function (x, w) return { rate = mean(x, w) } end }
families.Bernoulli = { closed = function (x, w) return { probs = mean(x, w) } end }
families.Geometric = { closed = function (x, w) return { probs = 1 / (1 + mean(x, w)) } end }

families.Binomial = { closed = function (x, w, fixed)
  local n = fixed.total_count
  return { probs = mean(x, w) / (core.is_tensor(n) and mean(n, w) or n) }
end, closed_with = "total_count" }

families.NegativeBinomial = { start = function (x, w)
  local m = mean(x, w)
  local excess = variance(x, w, m) - m
  local count = excess > 0 and m * m / excess or 100 * (m + 1)
  return { total_count = count, probs = m / (m + count) }
end }

families.DiscreteUniform = { kinks = ends }
families.Delta = { kinks = function (x) return { v = x:min() } end, no_units = true }

families.Hypergeometric = { no_fit = "its parameters are integers: compare log_prob(x):sum() of those that may be" }


-- Rows and matrices ----------------------------------------------------------------------------

-- How often each of the outcomes 1 to k came.
local function shares (x, w, k)
  if w then return (w:unsqueeze(2) * x:one_hot(k)):sum(1) / w:sum() end
  return statistics.histogram(x, core.public.arange(1, k + 2) - 0.5) / core.numel(x)
end

local function share_errors (values, n)
  return { probs = functions.sqrt(values.probs * (1 - values.probs) / n) }
end

families.Categorical = {
  event = 0, takes_outcomes = true, errors = share_errors,
  length = function (_, x) return math.tointeger(x:max()) end,
  closed = function (x, w, _, outcomes) return { probs = shares(x, w, outcomes or math.tointeger(x:max())) } end,
}

local one_hot = { event = 1, errors = share_errors, closed = function (x, w) return { probs = mean(x, w) } end }
families.OneHotCategorical, families.OneHotCategoricalStraightThrough = one_hot, one_hot

-- The sum of every row, if it is the same.
local function trials (x)
  local sums = x:sum(-1)
  return sums:min() == sums:max() and { total_count = math.tointeger(sums[1]) } or {}
end

families.Multinomial = { event = 1, data = trials, closed_with = "total_count", closed = function (x, w)
  local counts = mean(x, w)
  return { probs = counts / counts:sum() }
end }

-- Of shares whose variances are m (1 - m)/(A + 1).
local function dirichlet_start (x, w)
  local m = mean(x, w)
  local ratio = (m * (1 - m)):sum() / variance(x, w, m):sum() - 1
  return { concentration = m * math.max(ratio, 0.5) + 1e-3 }
end

families.Dirichlet = { start = dirichlet_start }
families.DirichletMultinomial = { event = 1, data = trials, start = function (x, w)
  return dirichlet_start(x / x:sum(-1, true), w)
end }

families.RelaxedOneHotCategorical = { event = 1 }

families.LogisticNormal = { event = 1, length = function (k) return k - 1 end, closed = function (x, w)
  local u = require "perilune.transforms".StickBreaking():inv()(x)
  local loc = mean(u, w)
  return { loc = loc, scale = functions.sqrt(variance(u, w, loc)) }
end }

-- The mean of (x - loc)(x - loc)^T.
local function scatter (x, w, loc)
  local centred = x - loc
  local weighted = w and centred * w:unsqueeze(2) or centred
  return centred:transpose(1, 2):matmul(weighted) / total(w, x)
end

families.MultivariateNormal = { closed = function (x, w)
  local loc = mean(x, w)
  return { loc = loc, covariance_matrix = scatter(x, w, loc) }
end, errors = function (values, n)
  local c = values.covariance_matrix
  local variances = c:diagonal()
  return { loc = functions.sqrt(variances / n),
           covariance_matrix = functions.sqrt((variances:unsqueeze(1) * variances:unsqueeze(2) + square(c)) / n) }
end }

-- In units in which every coordinate has deviation 1.
families.MultivariateStudentT = {
  inward = function (name, value, centre, width)
    if name == "loc" then return (value - centre) / width end
    return name == "scale_tril" and value / width:unsqueeze(2) or value
  end,
  measure = function (x, w)
    local loc = mean(x, w)
    return loc, functions.sqrt(variance(x, w, loc))
  end,
  outward = function (name, value, centre, width)
    if name == "loc" then return value * width + centre end
    return name == "scale_tril" and value * width:unsqueeze(2) or value
  end,
}

families.VonMisesFisher = { kinks = function (x, w)
  local direction = mean(x, w)
  return { mean_direction = direction / functions.sqrt(square(direction):sum()) }
end, smooth_kinks = true, kink_errors = function (exact, values, x, w)
  local direction = exact.mean_direction
  if not direction then return {} end
  local length = functions.sqrt(square(mean(x, w)):sum())   -- which is A(concentration) at the maximum
  return { mean_direction = functions.sqrt((1 - square(direction)) / (total(w, x) * values.concentration * length)) }
end }

-- P(x <= j) is sigmoid(cutpoint j - predictor).
families.OrderedLogistic = {
  event = 0,
  needs = { predictor = "the cutpoints can move along with it" },
  length = function (_, x) return math.max(math.tointeger(x:max()) - 1, 1) end,
  closed_with = "predictor",
  closed = function (x, w, fixed)
    local k = math.tointeger(x:max())
    if core.is_tensor(fixed.predictor) or k < 2 then return nil end
    return { cutpoints = functions.logit(shares(x, w, k):cumsum():narrow(1, 1, k - 1)) + fixed.predictor }
  end,
}

families.LKJ = { event = 2, data = function (x) return { dim = core.shape(x)[2] } end }
families.LKJCholesky = { data = function (x) return { dim = core.shape(x)[2] } end }

local function more_than_dimension (k) return { df = constraints.greater_than(k - 1) } end

-- The mean is df times the covariance; twice its square over df is the variance on the diagonal.
local function wishart_start (x, w)
  local m, k = mean(x, w), core.shape(x)[2]
  local spread = variance(x, w, m):diagonal()
  local df = math.max((2 * square(m:diagonal()) / spread):mean(), k + 0.5)
  return { df = df < math.huge and df or k + 1, covariance_matrix = m / df }
end

-- The mean of all diagonals: the unit of x. Parameters change by these powers of it.
local function matrix_size (x, w) return 0, mean(x, w):diagonal():mean() end

local POWERS = { covariance_matrix = 1, scale_matrix = 1, precision_matrix = -1, scale_tril = 0.5 }

local function matrix_inward (name, value, _, width) return value / width ^ (POWERS[name] or 0) end
local function matrix_outward (name, value, _, width) return value * width ^ (POWERS[name] or 0) end

families.Wishart = {
  constraints = more_than_dimension, start = wishart_start,
  measure = matrix_size, inward = matrix_inward, outward = matrix_outward,
}

families.InverseWishart = {
  constraints = more_than_dimension, measure = matrix_size, inward = matrix_inward, outward = matrix_outward,
  start = function (x, w)
    local k = core.shape(x)[2]
    local inverse = matrices.cholesky_solve(x:cholesky(), core.public.eye(k))
    local start = wishart_start(inverse, w)
    return { df = start.df, scale_matrix = matrices.cholesky_solve(start.covariance_matrix:cholesky(),
                                                                   core.public.eye(k)) }
  end,
}

families.MatrixNormal = {
  no_fit = "row and column covariance are known up to a factor that one can take from the other; reshape the matrices "
           .. "to rows and fit MultivariateNormal",
}
families.LowRankMultivariateNormal = {
  no_fit = "cov_factor is known up to a rotation only, and its rank is a choice; fit MultivariateNormal",
}


-- What has no parameters of its own --------------------------------------------------------------

families.Flat = { no_fit = "it has no parameters" }

for name, parts in pairs {
  HiddenMarkov = "others", LinearGaussian = "matrices that many models share", Independent = "another one: fit that",
  Masked = "another one: fit that, with weights", Censored = "another one", MixtureDistribution = "others",
  MixtureSameFamily = "others",
  TransformedDistribution = "another one: fit that to the inverse of x", Truncated = "another one",
} do
  families[name] = { no_fit = "it is made of " .. parts .. "; peri.model and posed:map fit what is written there" }
end

--- What is known of a class: nothing, if it only has the name of one of ours.
function families.of (c)
  local name = class.name(c)
  for _, own in ipairs(core.classes()) do
    if own == name and require("perilune.distributions." .. name) == c then return families[name] or {} end
  end
  return {}
end

return families
