-- Every distribution at the points of its spec: gradients of its methods with respect to every parameter, through
-- the public API, against slopes.
local peri     = require "perilune"
local core     = require "perilune.core"
local check    = require "spec.gradient.check"
local contract = require "spec.support.contract"

local unpack = table.unpack

-- Parameters that are integers: there is nothing to differentiate, and they say so.
local refused = {
  DiscreteUniform = { log_prob = true, cdf = true, entropy = true },
  Hypergeometric  = { log_prob = true, cdf = true, entropy = true },
}

-- A sampler that draws by itself moves along its quantiles; any other along its noise.
local function is_implicit (class)
  for _, kernel in ipairs(core.kernels(class.kernels) or {}) do
    if kernel.name == "rsample" then return kernel.noise == nil end
  end
  return false
end

-- The method as a function of the parameters, and what to compare its slope with.
local function functions_of (class, method, d)
  if method == "rsample" then
    local function draw (...) return class(...):rsample(nil, peri.rng(7)) end
    local x = d:rsample(nil, peri.rng(7))
    local u, upper = d:cdf(x), d:cdf(x) > 0.5 and d:sf(x)
    local function quantile (...) return upper and class(...):isf(upper) or class(...):icdf(u) end
    return draw, is_implicit(class) and quantile or draw
  end
  local x = (method == "log_prob" or method == "cdf") and d:icdf(0.4) or nil
  local function value (...)
    local dist = class(...)
    return dist[method](dist, x)
  end
  return value, value
end

-- Gradients with respect to all parameters.
local function gradients_of (f, point)
  local named = {}
  for k, x in ipairs(point) do named["p" .. k] = x end
  local grads = peri.grad(function (p)
    local arguments = {}
    for k = 1, #point do arguments[k] = p["p" .. k] end
    return f(unpack(arguments))
  end)(named)
  local list = {}
  for k = 1, #point do list[k] = grads["p" .. k] end
  return list
end

local function verify (name, class, method, point)
  local d = class(unpack(point))
  local f, compared = functions_of(class, method, d)
  local value = f(unpack(point))
  if value ~= value or math.abs(value) == math.huge then return end
  local grads = gradients_of(f, point)
  for _, g in ipairs(grads) do assert(math.abs(g) < math.huge, method) end
  local why = check.slope_mismatch(compared, point, grads, 1e-6)
  if why and why:find("+- inf", 1, true) then why = nil end   -- no step stays within the domain
  assert(not why, why and string.format("%s(%s):%s: %s", name, table.concat(point, ", "), method, why))
end

-- Small steps may leave the domain of a parameter.
setup(function () peri.validate(false) end)
teardown(function () peri.validate(true) end)

for _, name in ipairs(core.classes()) do
  local class, points = peri[name], contract.of(name).points
  for _, method in ipairs(points and { "log_prob", "cdf", "entropy", "mean", "variance", "rsample" } or {}) do
    if refused[name] and refused[name][method] then
      it(name .. ":" .. method .. " of integers has no derivative", function ()
        local ok, message = pcall(gradients_of, (functions_of(class, method, class(unpack(points[1])))), points[1])
        assert.is_false(ok)
        assert.matches(name .. ":" .. method .. ": has no derivative", message, 1, true)
      end)
    elseif method ~= "rsample" or class.has_rsample then
      it(name .. ":" .. method, function ()
        for _, point in ipairs(points) do verify(name, class, method, point) end
      end)
    end
  end
end
