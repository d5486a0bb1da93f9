-- Every registered pair of laws on single numbers: the gradient of kl_divergence with respect to all parameters of
-- both, against slopes.
local peri     = require "perilune"
local check    = require "spec.gradient.check"
local contract = require "spec.support.contract"

local unpack = table.unpack

-- The points of the specs, read once for each class.
local known = {}

local function points (name)
  if known[name] == nil then known[name] = contract.of(name).points or false end
  return known[name]
end

-- kl_divergence of two classes as a function of the parameters of both; fails where it has no closed form.
local function divergence (p, q, n)
  return function (...)
    local parameters = { ... }
    return peri.kl_divergence(peri[p](unpack(parameters, 1, n)), peri[q](unpack(parameters, n + 1)),
                              { fallback = false })
  end
end

-- Small steps may leave the domain of a parameter.
setup(function () peri.validate(false) end)
teardown(function () peri.validate(true) end)

it("the gradients of all closed divergences are right", function ()
  local checked = 0
  for _, pair in ipairs(peri.kl_pairs()) do
    local p, q = pair[1], pair[2]
    if points(p) and points(q) then
      local first, second = points(p)[1], points(q)[2] or points(q)[1]
      local point, f = { unpack(first) }, divergence(p, q, #first)
      for _, x in ipairs(second) do point[#point + 1] = x end
      local params, grads = {}, {}
      for k, x in ipairs(point) do params[k] = peri.param(x) end
      local ok, value = pcall(f, unpack(params))
      if ok and math.abs(peri.item(value)) < math.huge then
        value:backward()
        for k, w in ipairs(params) do grads[k] = w.grad and peri.item(w.grad) or 0 end
        local why = check.slope_mismatch(f, point, grads, 1e-6)
        if why and why:find("+- inf", 1, true) then why = nil end   -- no step stays within the domain
        assert(not why, why and string.format("KL(%s || %s) at (%s): %s", p, q, table.concat(point, ", "), why))
        checked = checked + 1
      end
    end
  end
  assert(checked >= 200, checked)
end)
