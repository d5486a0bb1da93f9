-- Gradients of integrals, quantiles and moments of laws of single numbers where slopes overflow at an end of the
-- support, though the value is smooth: against slopes, with respect to every argument.
local peri  = require "perilune"
local check = require "spec.gradient.check"

local unpack = table.unpack

-- Is the gradient of f at the point its slope? Values are numbers for numbers.
local function verify (f, point, tolerance)
  local params, grads = {}, {}
  for k, x in ipairs(point) do params[k] = peri.param(x) end
  f(unpack(params)):backward()
  for k, w in ipairs(params) do grads[k] = w.grad and peri.item(w.grad) or 0 end
  local why = check.slope_mismatch(f, point, grads, tolerance or 1e-6)
  assert(not why, why)
end

local function from_cauchy (p)
  return function (...) return (peri.kl_divergence(p(...), peri.Cauchy(0, 1))) end
end

local function mean_of (p, f)
  return function (...) return (p(...):expectation(f)) end
end

it("expectations do not lose their gradients to quantiles that have next to no mass", function ()
  for _, shape in ipairs { 0.3, 0.5, 0.8, 0.9, 1.5 } do
    verify(from_cauchy(peri.Gamma), { shape, 1 })
    verify(from_cauchy(peri.Weibull), { 1, shape })
    verify(from_cauchy(peri.Beta), { shape, 3 })
    verify(from_cauchy(peri.Kumaraswamy), { shape, 1 })
    verify(from_cauchy(peri.FisherSnedecor), { shape, 9 })
    verify(mean_of(peri.Beta, peri.log), { shape, 3 })
    verify(mean_of(peri.FisherSnedecor, peri.log), { shape, 9 })
  end
  verify(from_cauchy(peri.VonMises), { -1.5, 10.5 })
end)

-- Laws that are cut at an end of their own, and elsewhere: made of their shape.
local function cut (p, low, high)
  return function (...) return peri.Truncated(p(...), low, high) end
end

local function moment (p, name)
  return function (...)
    local d = p(...)
    return d[name](d)
  end
end

local function quantile (p, name, level)
  return function (...)
    local d = p(...)
    return d[name](d, level)
  end
end

local CUT = {
  { cut(function (m) return peri.StudentT(3, m, 1) end, 0, math.huge), { -0.2, 0.3 } },
  { cut(function (m) return peri.LogNormal(m, 1) end, 1, math.huge), { -0.2, 0.3 } },
  { cut(function (a) return peri.Gamma(a, 1) end, 0, 1), { 0.3, 0.5, 0.9, 1.5 } },
  { cut(function (k) return peri.Weibull(1, k) end, 0, 1), { 0.3, 0.8, 1.5 } },
  { cut(function (a) return peri.Beta(a, 1.2) end, 0, 0.7), { 0.3, 0.6, 1.5 } },
  { cut(function (b) return peri.Beta(1.2, b) end, 0.3, 1), { 0.3, 0.6, 1.5 } },
}

it("what is left of a law has gradients where its own end, or a far quantile, is steep", function ()
  for _, case in ipairs(CUT) do
    local p, shapes = case[1], case[2]
    for _, shape in ipairs(shapes) do
      verify(moment(p, "mean"), { shape })
      verify(moment(p, "entropy"), { shape })
      verify(from_cauchy(p), { shape })
      for _, level in ipairs { 0.2, 0.7 } do
        verify(quantile(p, "icdf", level), { shape })
        verify(quantile(p, "isf", level), { shape })
      end
    end
  end
  verify(quantile(CUT[1][1], "isf", 1e-300), { 0.1 })
end)
