--- Statements about gradients, optimisers and fits, in which several calls belong together.
local surface = require "spec.fuzz.surface"
local text    = require "spec.fuzz.text"

local function set (source, expression)
  return string.format("set(%d, function () return %s end)", source:next(), expression)
end

-- The gradient of a function, at something.
local function gradient (source)
  local which = source.random:pick { "grad", "value_and_grad" }
  return set(source, string.format("peri.%s(%s)(%s)", which, source:callback(), source:argument "operand"))
end

local function structure (source)
  local form = "peri.grad(function (x) return total(x.a) * 2 + total(x.b) end)({ a = %s, b = %s })"
  return set(source, form:format(source:argument "numbers", source:argument "number"))
end

-- A function with a gradient of one's own, and a backward pass through it.
local function own_gradient (source)
  return set(source, string.format("peri.func({ forward = %s, backward = %s })(%s)", source:callback(),
                                   source:callback(), source:argument "tensor"))
end

-- A parameter, a loss and a backward pass; then the parameter's gradient is there for the next statements.
local function backward (source)
  local ref = source:ref "tensor"
  local operand = ref or source:new_tensor()
  local form = "total(peri.mul(%s, %s) * peri.param(1)):backward()"
  return set(source, form:format(operand, source:argument "operand"))
end

local OPTIONS = { "{ lr = 0.1 }", "{}", "nil", "{ lr = -1 }", "{ x = 1 }", "{ momentum = 0.9 }", "{ max_iter = 3 }",
                  "{ betas = { 0.5, 0.9 } }", "{ weight_decay = 0.1, lr = 0.01 }" }

local function new_optimiser (source)
  local options = source.random:unit() < source.wildness and source:anything() or source.random:pick(OPTIONS)
  return set(source, string.format("peri.optim.%s(%s, %s)", source.random:pick(surface.optimisers),
                                   source:argument "params", options))
end

-- A whole descent, a few steps long.
local function descent (source)
  local name = source.random:pick(surface.optimisers)
  local body = "local w = peri.param(%s) local opt = peri.optim.%s({ w }) "
            .. "for _ = 1, 3 do opt:zero_grad() local function loss () local l = total(peri.mul(%s(w), w)) "
            .. "l:backward() return l end %s end return w"
  local step = name == "LBFGS" and "opt:step(loss)" or "loss() opt:step()"
  return string.format("set(%d, function () " .. body .. " end)", source:next(), source:vector(), name,
                       "peri." .. source.random:pick { "exp", "square", "sigmoid", "softplus", "tanh" }, step)
end

local STEPS = { "%s:step(%s)", "%s:zero_grad(), %s", "%s:state(), %s", "%s:restore(%s)", "%s:schedule(%s)",
                "%s:rate(), %s", "%s:restore(%s:state())" }

local function of_optimiser (source)
  local ref = source:ref "optimiser"
  if not ref then return new_optimiser(source) end
  local form = source.random:pick(STEPS)
  return set(source, form:format(ref, form:find ":state%(%)%)" and ref or source:argument "callback"))
end

local function clip (source)
  return set(source, string.format("peri.optim.%s(%s, %s)", source.random:pick { "clip_grad_norm", "clip_grad_value" },
                                   source:argument "params", source:argument "positive"))
end

local function schedule (source)
  local name = source.random:pick { "constant", "step", "exponential", "cosine", "warmup" }
  return set(source, string.format("peri.optim.schedules.%s(%s)(%s)", name,
                                   source:arguments { "positive", "positive?" }, source:number()))
end

-- What a trace replays, and its use.
local function trace (source)
  local ref = source:ref "trace"
  if ref then
    return set(source, ref .. ":" .. source.random:pick { "value", "backward" } .. "(" .. source:arguments {} .. ")")
  end
  local tensor = source:ref "tensor" or source:new_tensor()
  return set(source, string.format("peri.trace(function () return total(peri.%s(%s)) end)",
                                   source.random:pick { "exp", "square", "sigmoid", "lgamma" }, tensor))
end

local SITES = {
  "mu = 1", "mu = { 2 }", "s = peri.constraints.positive", "w = { shape = 2, constraint = peri.constraints.simplex }",
  "w = { shape = { 2, 2 }, constraint = peri.constraints.lower_cholesky }", "u = { init = 0.5 }", "x = {}",
  "u = peri.constraints.unit_interval", "w = { shape = 3, constraint = peri.constraints.ordered_vector }",
}
local JOINTS = {
  "function (t) local s = 0 for _, x in pairs(t) do s = s + total(peri.Normal(0, 1):log_prob(x)) end return s end",
  "function () return 0 end", "function () return 0 / 0 end", "function () error(own_error, 0) end",
}

local function fit (source)
  local sites = {}
  for i = 1, source.random:integer(1, 3) do sites[i] = source.random:pick(SITES) end
  if source.random:unit() < source.wildness then
    local odd = source:anything()
    local is_long = (tonumber(odd) or 0) > 20   -- the search for modes of so many numbers takes its time
    sites[#sites + 1] = "x = " .. (is_long and "20" or odd)
  end
  local made = string.format("{ log_joint = %s, params = { %s }, guide = %q, steps = %d, trace = %s, starts = 1, "
                             .. "rng = %s }",
                             source.random:pick(JOINTS), table.concat(sites, ", "),
                             source.random:pick { "meanfield", "fullrank", "lowrank", "flow" },
                             source.random:integer(1, 5), source:boolean(), source:rng())
  return set(source, source.random:pick { "peri.vi.new(", "peri.vi.fit(" } .. made .. ")")
end

local FIT_STEPS = { "%s:step(%s)", "%s:step { ms = %s }", "%s:restore(%s)", "%s:state(), %s", "%s:step(3), %s" }

local function of_fit (source)
  local ref = source:ref "running fit"
  return ref and set(source, source.random:pick(FIT_STEPS):format(ref, source:argument "extent")) or fit(source)
end

local function callable (source)
  local ref = source:ref "function"
  return ref and set(source, ref .. "(" .. source:arguments { "operand", "operand?" } .. ")")
end

local function loss (source)
  return set(source, string.format("peri.KLDivLoss(%s)(%s, %s)", source:argument "kl_div_options",
                                   source:argument "operand", source:argument "operand"))
end

-- Calls without recording.
local function no_grad (source)
  return set(source, string.format("peri.no_grad(function (...) %s return ... end, %s)",
                                   source.random:pick { "", "collectgarbage()", "error(own_error, 0)" },
                                   source:argument "operand"))
end

-- Many small steps through the same tensors, some of them written to.
local function chain (source)
  local body = "local x = peri.param(%s) local y = x for i = 1, %d do y = peri.%s(y) * %s end "
            .. "local z = y:sum() z:backward() return x.grad"
  return string.format("set(%d, function () " .. body .. " end)", source:next(),
                       source.random:pick { "peri.zeros(600)", "peri.rng(1):normal(5000)", "{ 1, 2 }", "0.5" },
                       source.random:integer(1, 20), source.random:pick(surface.elementwise),
                       text.number(source.random:between(0.1, 2)))
end

return {
  { 4, gradient }, { 2, structure }, { 2, own_gradient }, { 3, backward }, { 2, new_optimiser }, { 2, descent },
  { 3, of_optimiser }, { 1, clip }, { 1, schedule }, { 4, trace }, { 1, fit }, { 2, of_fit }, { 3, callable },
  { 1, loss }, { 2, no_grad }, { 2, chain },
}
