--- Every method of every family whose parameters lead back to somewhere: it answers or refuses, and never fails inside.
local peri = require "perilune"
local core = require "perilune.core"

-- The instance that the help of a class shows.
local function instance (name)
  local text = peri[name].help.example[1]
  local call = text:match("^%u%w*%b()") or text:match("^%u%w*%b{}")
  return load("local peri, " .. name .. " = ...; return " .. call)(peri, peri[name])
end

-- Values of a parameter as one to which gradients lead: by itself, or for a batch of two.
local function as_param (value, is_batch)
  local t = core.is_tensor(value) and value or core.tensor(value)
  if is_batch then t = peri.stack { t, t } end
  return peri.param(t)
end

local IS_SHAPE = { dim = true }

-- The same law, of parameters; what shapes depend on stays a number.
local function of_params (name, d, is_batch)
  local arguments, given = {}, {}
  for _, param in ipairs(peri[name].params) do
    local value = rawget(d, param[1])
    if value ~= nil and not given[param[1]] then
      for other in pairs(param.gives or {}) do given[other] = true end
      local is_numbers = not IS_SHAPE[param[1]] and (type(value) == "number" or core.is_tensor(value))
      arguments[param[1]] = is_numbers and as_param(value, is_batch) or value
    end
  end
  return next(arguments) and peri[name](arguments) or nil
end

local a, b = peri.param(0.7), peri.param { 0.7, 1.2 }
local transforms = peri.transforms

-- Laws made of others, of a parameter.
local composed = {
  Truncated = function (v) return peri.Truncated(peri.Normal(v, 1), -1, 3) end,
  ["Truncated at"] = function (v) return peri.Truncated(peri.Gamma(2, 1), 0.1, v) end,
  ["Truncated Poisson"] = function (v) return peri.Truncated(peri.Poisson(v), 1, 5) end,
  Censored = function (v) return peri.Censored(peri.Normal(v, 1), -1, 3) end,
  ["Censored at"] = function (v) return peri.Censored(peri.Normal(0, 1), -1, v) end,
  TransformedDistribution = function (v)
    return peri.TransformedDistribution(peri.Normal(v, 1), { transforms.Exp(), transforms.Power(v) })
  end,
  folded = function (v) return peri.TransformedDistribution(peri.Normal(v, 1), { transforms.Abs() }) end,
  multiple = function (v) return v * peri.Gamma(2, 1) + v end,
  Independent = function (v)
    return peri.Independent(peri.Normal(v * peri.tensor { { 1 }, { 2 } }, 1):expand { 2, 2 }, 1)
  end,
  Masked = function (v) return peri.Masked(peri.Normal(v, 1), 1) end,
  MixtureSameFamily = function (v)
    local weights = peri.Categorical { 0.3, 0.7 }
    return peri.MixtureSameFamily(weights, peri.Normal(peri.stack { v, 2 * v }:transpose(1, -1), 1))
  end,
  MixtureDistribution = function (v)
    return peri.MixtureDistribution(peri.Categorical { 0.3, 0.7 }, { peri.Normal(v, 1), peri.Gamma(2, v) })
  end,
}

-- What is asked of a law d, of which x is a draw.
local asked = {}
for _, name in ipairs { "mean", "variance", "stddev", "std", "var", "mode", "median", "entropy", "kurtosis",
                        "enumerate_support", "sample", "rsample" } do
  asked[name] = function (d) return d[name](d) end
end
for _, name in ipairs { "log_prob", "prob", "pdf", "cdf", "sf", "log_cdf", "log_sf" } do
  asked[name] = function (d, x) return d[name](d, x) end
end
for _, name in ipairs { "icdf", "isf" } do asked[name] = function (d) return d[name](d, 0.3) end end
for _, name in ipairs { "icdf_log", "isf_log" } do
  asked[name] = function (d) return d[name](d, -0.4), d[name](d, -800) end
end
asked.skewness    = function (d) return peri.Distribution.skewness(d) end   -- a parameter of SkewNormal
asked.moment      = function (d) return d:moment(2), d:moment(3) end
asked.expand      = function (d) return d:expand { 3, table.unpack(d.batch_shape) }:log_prob(d:sample()) end
asked.expectation = function (d) return d:expectation(function (x) return x:tanh() end) end
asked.fit_check   = function (d, x) return tostring(d:fit_check(x)) end
asked.tostring    = function (d) return tostring(d) end
asked.kl          = function (d) return d:kl(d:expand(d.batch_shape)) end
asked.to_normal   = function (d) return peri.kl_divergence(d, peri.Normal(0, 1), { samples = 10 }) end
asked.from_normal = function (d) return peri.kl_divergence(peri.Normal(0, 1), d, { samples = 10 }) end
asked.js          = function (d) return peri.js_divergence(d, peri.Normal(0, 1)) end
asked.renyi       = function (d) return peri.renyi_divergence(d, d:expand(d.batch_shape), 0.5) end
asked.wasserstein = function (d) return peri.wasserstein(d, peri.Normal(0, 1)) end
asked.to_itself   = function (d) return peri.wasserstein(d, d, 2) end
asked.multiple    = function (d) return (2 * d + 1):mean() end
asked.truncated   = function (d) return peri.Truncated(d, 0.5, 2):mean() end
asked.censored    = function (d) return peri.Censored(d, 0, 2):entropy() end
asked.equal       = function (d) return d == d:expand(d.batch_shape) end

-- Does this text speak of the inside of the library?
local function is_internal (text)
  return text:find "lua/perilune/" or text:find "attempt to" or text:find "bad argument" or text:find "stack overflow"
end

local function check (name, d)
  local has_draws, x = pcall(d.sample, d, { 4, table.unpack(d.batch_shape) })
  x = has_draws and x or 0.5
  local failures = {}
  for method, ask in pairs(asked) do
    local ok, text = pcall(ask, d, x)
    if not ok and is_internal(tostring(text):gsub("^[^:]*params_spec%.lua:%d+: ", "")) then
      failures[#failures + 1] = string.format("%s %s: %s", name, method, text)
    end
  end
  table.sort(failures)
  assert(#failures == 0, table.concat(failures, "\n"))
end

for _, name in ipairs(peri.distributions()) do
  for rank = 0, 1 do
    it(string.format("%s of parameters of rank %d never fails inside", name, rank), function ()
      local d = of_params(name, instance(name), rank == 1)
      if d then check(name, d) end
    end)
  end
end

for name, make in pairs(composed) do
  it(name .. " of a parameter never fails inside", function ()
    check(name, make(a))
    check(name, make(b))
  end)
end
