--- Errors: they name the place of the caller, no wrong argument does harm,
-- and neither does a script that swaps metatables or loads the module twice.
local peri = require "perilune"
local core = require "perilune.core"

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end


describe("an error names the line of the call:", function ()
  local t, p = peri.zeros(2, 3), peri.Normal(0, 1)
  local q2, w = peri.Normal({ 1, 2 }, 1), peri.param { 1, 2 }
  local mixture = peri.MixtureSameFamily(peri.Categorical({ 0.5, 0.5 }), q2)
  local calls = {
    tensor        = function () local x = peri.tensor "x" return x end,
    exp           = function () local x = peri.exp "x" return x end,
    ["t + string"] = function () local x = t + "x" return x end,
    ["t[5]"]      = function () local x = t[5] return x end,
    ["t[5] = 1"]  = function () t[5] = 1 end,
    ["t < 1"]     = function () local x = t < 1 return x end,
    sum           = function () local x = t:sum(5) return x end,
    reshape       = function () local x = t:reshape(7) return x end,
    softmax       = function () local x = t:softmax(5) return x end,
    ["softmax of a string"] = function () local x = peri.softmax "x" return x end,
    cumsum        = function () local x = t:cumsum(5) return x end,
    sort          = function () local x = t:sort(5) return x end,
    quantile      = function () local x = t:quantile(2) return x end,
    one_hot       = function () local x = t:one_hot(2) return x end,
    diag          = function () local x = peri.diag(1) return x end,
    diagonal      = function () local x = t[1]:diagonal() return x end,
    logdet        = function () local x = t:logdet() return x end,
    solve_triangular = function () local x = t:solve_triangular(t) return x end,
    squeeze       = function () local x = t:squeeze(5) return x end,
    unsqueeze     = function () local x = t:unsqueeze(5) return x end,
    matmul        = function () local x = t:matmul(t) return x end,
    ["matmul of vectors"] = function () local x = t[1]:matmul { 1, 2 } return x end,
    ["matmul of a string"] = function () local x = t:matmul "x" return x end,
    cat           = function () local x = peri.cat { { 1, 2 }, { { 1, 2 } } } return x end,
    ["cat of nothing"] = function () local x = peri.cat {} return x end,
    ["cat along 5"] = function () local x = peri.cat({ t }, 5) return x end,
    stack         = function () local x = peri.stack { { 1, 2 }, { 1 } } return x end,
    Normal        = function () local x = peri.Normal(0, -1) return x end,
    ["Normal, named"]    = function () local x = peri.Normal { scale = -1 } return x end,
    ["Normal, misnamed"] = function () local x = peri.Normal { scala = 1 } return x end,
    ["Normal, too many"] = function () local x = peri.Normal(1, 2, 3) return x end,
    ["Normal, a string"] = function () local x = peri.Normal "x" return x end,
    ["Normal, shapes"]   = function () local x = peri.Normal({ 1, 2 }, { 1, 2, 3 }) return x end,
    log_prob      = function () local x = p:log_prob "x" return x end,
    sample        = function () local x = p:sample "x" return x end,
    expand        = function () local x = peri.Normal({ 1, 2 }, 1):expand { 3 } return x end,
    ["expand to a string"] = function () local x = p:expand "x" return x end,
    ["expand of a part"] = function () local x = peri.Masked(peri.Normal({ 1, 2 }, 1), true):expand { 3 } return x end,
    ["expand, too small"] = function () local x = peri.Truncated(peri.Normal({ 1, 2 }, 1), 0):expand { 3 } return x end,
    ["no cdf"]    = function () local x = peri.Dirichlet({ 1, 2 }):log_cdf { 0.5, 0.5 } return x end,
    ["no rsample"] = function () local x = peri.Poisson(2):rsample() return x end,
    mode          = function () local x = peri.Distribution():mode() return x end,
    extend        = function () local x = peri.Normal:extend(5) return x end,
    validate      = function () peri.validate(3) end,
    kl_divergence = function () local x = peri.kl_divergence(p, 3) return x end,
    ["kl_divergence, no pair"] = function ()
      local x = peri.kl_divergence(p, peri.Distribution(), { fallback = false })
      return x
    end,
    register_kl   = function () peri.register_kl(3, peri.Normal, print) end,
    rng           = function () local x = peri.rng "x" return x end,
    ["rng:uniform"] = function () local x = peri.rng(1):uniform "x" return x end,
    set_threads   = function () peri.set_threads(0) end,
    -- found deep within the library
    ["kl_divergence, shapes"] = function () return (peri.kl_divergence(q2, peri.Normal({ 1, 2, 3 }, 1))) end,
    ["kl_divergence by a formula, shapes"] = function () return (peri.kl_divergence(q2, peri.Laplace({ 1, 2, 3 }))) end,
    ["kl_divergence, numerically, shapes"] = function () return (peri.kl_divergence(q2, peri.Cauchy({ 1, 2, 3 }))) end,
    ["js_divergence, shapes"] = function () return (peri.js_divergence(q2, peri.Laplace({ 1, 2, 3 }))) end,
    cross_entropy = function () return (q2:cross_entropy(peri.Laplace({ 1, 2, 3 }))) end,
    grad          = function () return (peri.grad(function (x) return x * 2 end)("x")) end,
    ["grad, called with nil"] = function () return (peri.grad(function (x) return x * 2 end)()) end,
    ["grad of a function in C"] = function () return (peri.grad(math.sin)(1)) end,
    ["expectation of a function in C"] = function () return (p:expectation(math.sin)) end,
    ["expectation of a function that returns nothing"] = function () return (p:expectation(function () end)) end,
    ["not within trace, from a method"] = function () return (peri.trace(function () return (w:prod():item()) end)) end,
    ["not within trace, from a mixture"] = function ()
      return (peri.trace(function () return (mixture:rsample() * w):sum() end))
    end,
    ["Independent of a bad number"] = function () return (peri.Independent(peri.Normal({ 1, 2 }, 1), 5)) end,
    Truncated     = function () return (peri.Truncated(p, 3, 1)) end,
    LogisticNormal = function () return (peri.LogisticNormal({ 0, 0 }, -1)) end,
    TransformedDistribution = function () return (peri.TransformedDistribution(p, 3)) end,
    ["MixtureSameFamily of unlike batches"] = function ()
      return (peri.MixtureSameFamily(peri.Categorical({ 0.5, 0.5 }), peri.Normal({ 1, 2, 3 }, 1)))
    end,
    ["mixture:log_prob"] = function () return (mixture:log_prob(peri.zeros(3, 4, 7)):sum(9)) end,
    ["Independent:log_prob"] = function () return (peri.Independent(q2, 1):log_prob(peri.zeros(3))) end,
    ["MultivariateNormal"] = function () return (peri.MultivariateNormal({ 0, 0 }, { { 1, 2 }, { 2, 1 } })) end,
    ["biject_to"] = function () return (peri.biject_to(peri.constraints.boolean)) end,
    ["Affine"]    = function () return (peri.transforms.Affine(0, 0)) end,
    ["schedules"] = function () return (peri.optim.schedules.step(0)) end,
    ["Adam"]      = function () return (peri.optim.Adam({ a = { 3 } })) end,
    ["vi.fit"]    = function () return (peri.vi.fit { log_joint = function () end, params = { x = {} } }) end,
    ["vi.fit, its params"] = function () return (peri.vi.fit { log_joint = math.sin, params = { x = "y" } }) end,
  }
  for name, call in pairs(calls) do
    it(name, function ()
      local ok, text = pcall(call)
      assert.is_false(ok)
      assert.matches("^[^:]*errors_spec%.lua:%d+: [^:]*%a.*", text)
      assert.is_nil(text:find("attempt to", 1, true), text)
      local line = debug.getinfo(call, "S")
      local at = tonumber(text:match ":(%d+): ")
      assert.is_true(at >= line.linedefined and at <= line.lastlinedefined, text)
    end)
  end
end)


-- What is called, and the message that it gives.
local function check_messages (cases)
  for _, case in ipairs(cases) do
    local call, expected = case[1], case[2]
    it(expected, function ()
      local ok, text = pcall(call)
      assert.is_false(ok, "an error was expected")
      local place = "errors_spec.lua:" .. debug.getinfo(call, "S").linedefined
      assert.equal(place .. ": " .. expected, text:match "[%w_]+%.lua:.*")
    end)
  end
end

local function undefined () return nil end   -- a misspelt variable

describe("nothing is guessed:", function ()
  local p, t, w = peri.Normal(0, 1), peri.zeros(2, 3), peri.param { 1, 2 }
  local optim, transforms, constraints, rng = peri.optim, peri.transforms, peri.constraints, peri.rng(1)

  describe("a parameter that is nil", function ()
    check_messages {
      { function () return (peri.Normal(5, undefined())) end, "Normal: scale is nil (argument 2)" },
      { function () return (peri.Gamma(undefined(), 1)) end, "Gamma: concentration is nil (argument 1)" },
      { function () return (peri.LogisticNormal({ 0, 0 }, undefined())) end,
        "LogisticNormal: scale is nil (argument 2)" },
      { function () return (peri.Truncated(p, undefined(), 1)) end, "Truncated: low is nil (argument 2)" },
      { function () return (transforms.Affine(1, undefined())) end, "Affine: scale is nil (argument 2)" },
      { function () return (optim.schedules.step(3, undefined())) end, "schedules.step: gamma is nil (argument 2)" },
      { function () return (constraints.greater_than(undefined())) end, "greater_than: low is nil (argument 1)" },
      { function () return (constraints.interval(1)) end, "interval: high is missing" },
    }

    it("is no matter where it is optional", function ()
      assert.equal(p:sample(nil, peri.rng(3)), p:sample(nil, peri.rng(3)))
      assert.equal(0, peri.kl_divergence(p, p, nil))
    end)
  end)

  describe("an unknown name", function ()
    check_messages {
      { function () return (peri.kl_divergence(p, p, { sampels = 3 })) end,
        "kl_divergence: there is no option sampels; did you mean samples? There are fallback, rng, samples" },
      { function () return (peri.kl_explain(p, p, { sampels = 3 })) end,
        "kl_explain: there is no option sampels; did you mean samples? There are fallback, rng, samples" },
      { function () return (peri.js_divergence(p, p, { n = 3 })) end,
        "js_divergence: there is no option n; there are fallback, rng, samples" },
      { function () return (p:expectation(peri.exp, { rtoll = 3 })) end,
        "Normal:expectation: there is no option rtoll; did you mean rtol? There are "
        .. "atol, outcomes, panels, parts, points, rtol" },
      { function () return (peri.kl_div({ 0 }, { 1 }, { reduce = "sum" })) end,
        "kl_div: there is no option reduce; there are check, log_target, logits, reduction" },
      { function () return (peri.KLDivLoss { log_targets = true }) end,
        "KLDivLoss: there is no option log_targets; did you mean log_target? There are "
        .. "check, log_target, logits, reduction" },
      { function () peri.register_kl(peri.Normal, peri.Normal, print, { overide = true }) end,
        "register_kl: there is no option overide; did you mean override? There are override" },
      { function () return (optim.SGD(w, { learning_rate = 1 })) end,
        "SGD: there is no option learning_rate; there are dampening, lr, maximize, momentum, nesterov, weight_decay" },
      { function () w:sum():backward { retian = true } end,
        "Tensor:backward: there is no option retian; there is retain" },
      { function () return (peri.vi.new { log_joint = print, params = { x = {} }, sample = 3 }) end,
        "vi: there is no option sample; did you mean samples? There are alpha, comm, guide, init, layers, "
        .. "local_steps, log_joint, lr, noncentred, objective, on_step, optimiser, params, progress, rank, resume, "
        .. "rng, run, samples, save, save_every, seed, starts, steps, tolerance, trace" },
      { function () return (peri.vi.new { log_joint = print, params = { x = { shaep = 3 } } }) end,
        "vi: params.x: there is no option shaep; did you mean shape? There are constraint, init, shape" },
      { function () return (peri.func { forwards = print }) end,
        "func: there is no option forwards; did you mean forward? There are backward, forward" },
      { function () return (peri.Gamma { concentration = 1, rat = 2 }) end,
        "Gamma: there is no parameter rat; did you mean rate? There are concentration, rate, validate" },
      { function () return (peri.Masked { base = p, masks = true }) end,
        "Masked: there is no parameter masks; did you mean mask? There are base, mask" },
      { function () return (p:sample { shape = 3 }) end,
        "Normal:sample: shape must be an integer or a table of integers, got a table with the key shape" },
      { function () return (peri.zeros { n = 3 }) end,
        "zeros: shape must be an integer or a table of integers, got a table with the key n" },
      { function () return (p:expand { shape = 3 }) end,
        "Normal:expand: shape must be an integer or a table of integers, got a table with the key shape" },
    }
  end)

  describe("the shape of batches", function ()
    local Delta, Beta, Uniform, LogNormal, Cauchy = peri.Delta, peri.Beta, peri.Uniform, peri.LogNormal, peri.Cauchy
    local two, three = peri.ones(2), peri.ones(3)
    local function image (loc) return peri.TransformedDistribution(Cauchy(loc, 1), transforms.Exp()) end
    local function apart (P, Q) return ("kl_divergence(%s, %s): shapes (2) and (3) do not broadcast"):format(P, Q) end
    check_messages {
      { function () return (peri.kl_divergence(peri.Normal(two, 1), peri.Normal(three, 1))) end,   -- a kernel
        apart("Normal", "Normal") },
      { function () return (peri.kl_divergence(Beta(two, 1), Uniform(0 * three, 1))) end, apart("Beta", "Uniform") },
      { function () return (peri.kl_divergence(LogNormal(two, 1), peri.Gamma(three, 1))) end,   -- statistics
        apart("LogNormal", "Gamma") },
      { function () return (peri.kl_divergence(Cauchy(two, 1), peri.Normal(three, 1))) end,   -- infinite
        apart("Cauchy", "Normal") },
      { function () return (peri.kl_divergence(Delta(two), peri.Poisson(three))) end, apart("Delta", "Poisson") },
      { function () return (peri.kl_divergence(peri.Gumbel(two, 1), Cauchy(three, 1))) end,   -- numerically
        apart("Gumbel", "Cauchy") },
      { function () return (peri.kl_divergence(image(two), image(three))) end,
        apart("TransformedDistribution", "TransformedDistribution") },
    }
  end)

  describe("a list with other keys", function ()
    local real, exp = constraints.real, transforms.Exp()
    check_messages {
      { function () return (peri.Categorical { 0.2, 0.8, validate = false }) end,
        'Categorical: probs must be a list without other keys, got the string "validate"' },
      { function () return (peri.Normal({ 1, 2, x = 1 }, 1)) end,
        'Normal: loc must be a list without other keys, got the string "x"' },
      { function () return (p:log_prob { 1, 2, [4] = 1 }) end,
        "Normal:log_prob: x must be a list without other keys, got 4" },
      { function () return (peri.tensor { { 1, 2 }, { 3, 4, n = 2 } }) end,
        'tensor: data must be a list without other keys, got the string "n"' },
      { function () return (peri.tensor { { 1, 2 }, { 3, 4 }, n = 2 }) end,
        'tensor: data must be a list without other keys, got the string "n"' },
      { function () return (peri.stack { t, t, dim = 2 }) end,
        'stack: tensors must be a list without other keys, got the string "dim"' },
      { function () return (peri.cat { t, nil, t }) end,
        "cat: tensors must be a list without nil, got 2 of 3 elements" },
      { function () return (transforms.Cat { exp, dim = 1 }) end,
        'Cat: parts must be a list without other keys, got the string "dim"' },
      { function () return (constraints.stack { real, dim = 1 }) end,
        'stack: constraints must be a list without other keys, got the string "dim"' },
      { function () return (peri.TransformedDistribution(p, { exp, dim = 1 })) end,
        'TransformedDistribution: transforms must be a list without other keys, got the string "dim"' },
    }

    it("is refused, and one in another order is not", function ()
      local list, late = {}, { x = 1, y = 2, z = 3 }
      for i = 100, 1, -1 do list[i] = i end
      assert.same(peri.arange(1, 101):totable(), peri.tensor(list):totable())
      for i = 1, 5 do late[i] = i end
      late.x, late.y, late.z = nil, nil, nil
      assert.same({ 1, 2, 3, 4, 5 }, peri.tensor(late):totable())
      assert.same({ { 1, 2, 3, 4, 5 } }, peri.tensor({ late }):totable())
      late.x = 1
      assert.has_error(function () return peri.tensor(late) end)
      list[200] = 1
      assert.has_error(function () return peri.tensor(list) end)
    end)
  end)

  describe("a superfluous argument", function ()
    check_messages {
      { function () return (peri.tensor(1, 2, 3)) end, "tensor: takes at most 1 argument, got 3" },
      { function () return (peri.param(1, 2)) end, "param: takes at most 1 argument, got 2" },
      { function () return (peri.exp(1, 2)) end, "exp: takes at most 1 argument, got 2" },
      { function () return (peri.softmax({ 1 }, 1, 2)) end, "softmax(t, dim) takes no more arguments, got 2" },
      { function () return (t:sum(1, true, 5)) end, "Tensor:sum: takes at most 2 arguments, got 3" },
      { function () return (t:std(1, true, 5)) end, "Tensor:std: takes at most 2 arguments, got 3" },
      { function () return (t:clone(1)) end, "Tensor:clone: takes at most 0 arguments, got 1" },
      { function () return (t:matmul(t, t)) end, "matmul(a, b) takes no more arguments, got a tensor of shape (2, 3)" },
      { function () return (peri.cat({ t }, 1, 2)) end, "cat(tensors, dim) takes no more arguments, got 2" },
      { function () return (p:log_prob(1, 2)) end, "Normal:log_prob: takes at most 1 argument, got 2" },
      { function () return (p:sample(2, rng, 3)) end, "Normal:sample: takes at most 2 arguments, got 3" },
      { function () return (p:expand(2, 3)) end, "Normal:expand: takes at most 1 argument, got 2" },
      { function () return (p:mean(3)) end, "Normal:mean: takes at most 0 arguments, got 1" },
      { function () return (peri.Beta(1, 2):stddev(3)) end, "Beta:stddev: takes at most 0 arguments, got 1" },
      { function () return (peri.Chi2(1):mode(nil, 3)) end, "Chi2:mode: takes at most 0 arguments, got 2" },
      { function () return (peri.Independent(peri.Normal({ 1, 2 }, 1), 1):log_prob({ 1, 2 }, 3)) end,
        "Independent:log_prob: takes at most 1 argument, got 2" },
      { function () return (p.mean()) end, "Normal:mean: self is missing" },
      { function () return (peri.Beta.stddev(3)) end,
        "Distribution:stddev: self must be an object (call it as object:method), got 3" },
      { function () return (p:expectation(peri.exp, {}, 3)) end,
        "expectation(f, opts) takes no more arguments, got 3" },
      { function () return (peri.kl_divergence(p, p, {}, 1)) end, "kl_divergence: takes at most 3 arguments, got 4" },
      { function () return (peri.wasserstein(p, p, 1, 2)) end,
        "wasserstein(p, q, order) takes no more arguments, got 2" },
      { function () return (peri.grad(peri.exp, 1)) end, "grad(f) takes no more arguments, got 1" },
      { function () return (optim.clip_grad_norm(w, 1, 2, {}, "nonsense")) end,
        "clip_grad_norm(params, max, p, options) takes no more arguments, got the string \"nonsense\"" },
      { function () return (optim.Adam(w, {}, 3)) end, "Adam(params, options) takes no more arguments, got 3" },
      { function () return (optim.schedules.constant(1, 2)) end, "schedules.constant: takes 1 argument, got 2" },
      { function () return (transforms.Exp(1)) end, "Exp: takes 0 arguments, got 1" },
      { function () return (transforms.Exp()(1, 2)) end, "Exp transform takes no more arguments, got 2" },
      { function () return (transforms.Exp():inv(3)) end, "Exp transform:inv: takes at most 0 arguments, got 1" },
      { function () return (constraints.positive:holds(1, 2)) end,
        "positive constraint:holds: takes at most 1 argument, got 2" },
      { function () return (constraints.simplex:rule(1)) end,
        "simplex constraint:rule: takes at most 0 arguments, got 1" },
      { function () optim.Adam(w):zero_grad(1) end, "optimiser:zero_grad: takes at most 0 arguments, got 1" },
      { function () optim.Adam(w):step(nil, 1) end, "optim.Adam:step: takes at most 1 argument, got 2" },
      { function () return (optim.LBFGS(w):state(1)) end, "optim.LBFGS:state: takes at most 0 arguments, got 1" },
      { function () return (constraints.greater_than(1, 2)) end, "greater_than: takes 1 argument, got 2" },
      { function () return (rng:split(2, 3)) end, "rng:split: takes at most 1 argument, got 2" },
      { function () return (peri.rng(1, 2)) end, "rng: takes at most 1 argument, got 2" },
      { function () peri.set_threads(1, 2) end, "set_threads: takes at most 1 argument, got 2" },
      { function () return (peri.kl_div({ 0 }, { 1 }, {}, 1)) end,
        "kl_div(input, target, opts) takes no more arguments, got 1" },
      { function () return (peri.Masked(p, true, 1)) end, "Masked: takes 2 parameters, got 3" },
      { function () return (peri.has("Normal", 1)) end, "has(name) takes no more arguments, got 1" },
      { function () return (peri.distributions(1)) end, "distributions: takes at most 0 arguments, got 1" },
    }
  end)

  describe("a field that is not there", function ()
    check_messages {
      { function () return (peri.Gama) end, "perilune has no Gama; did you mean Gamma?" },
      { function () return (peri.kl_divergance) end, "perilune has no kl_divergance; did you mean kl_divergence?" },
      { function () return (peri.something_else) end, "perilune has no something_else" },
      { function () return (peri.special.lgama) end, "special has no lgama; did you mean lgamma?" },
      { function () return (optim.Adan) end, "optim has no Adan; did you mean Adam?" },
      { function () return (optim.schedules.cosinus) end, "optim.schedules has no cosinus; did you mean cosine?" },
      { function () return (transforms.Sigmiod) end, "transforms has no Sigmiod; did you mean Sigmoid?" },
      { function () return (constraints.positiv) end, "constraints has no positiv; did you mean positive?" },
      { function () return (peri.vi.fitt) end, "vi has no fitt; did you mean fit?" },
    }

    it("is found missing, and its nearest found, in few steps", function ()
      for _, name in ipairs { "Nothing", "nothing", "Nomal" } do
        local steps = 0
        debug.sethook(function () steps = steps + 1 end, "", 100)
        pcall(function () return peri[name] end)
        debug.sethook()
        assert.is_true(steps < 50, name .. " took " .. 100 * steps .. " instructions")
      end
    end)

    it("is compared with names of all lengths", function ()
      local long = ("x"):rep(64)
      for _, case in ipairs {   -- a name, the list, the nearest
        { "", { "ab", "b" }, "b" }, { "b", { "", "abc" }, "" }, { "loc", {}, nil },
        { "sclae", { "scal", "scale" }, "scale" }, { "LOC", { "lock", "loc" }, "loc" },
        { "loc", { "lod", "lob" }, "lob" },   -- the first in the alphabet
        { long, { ("x"):rep(2 ^ 20), long .. "y" }, long .. "y" }, { long .. "x", { long .. "x" }, nil },
      } do
        assert.equal(case[3], core.nearest(case[1], case[2]))
      end
    end)

    it("is no function of a module that is loaded on first use", function ()
      for _, module in ipairs { "divergences", "functions", "gradient", "kl", "kl_div", "tensor" } do
        for name, value in pairs(require("perilune." .. module)) do assert.equal(value, peri[name]) end
      end
    end)

    it("is asked for with peri.has", function ()
      assert.is_true(peri.has "Gamma" and peri.has "exp" and peri.has "optim" and peri.has "has")
      assert.is_false(peri.has "Gama" or peri.has "gamma_" or peri.has(3) or peri.has(nil))
    end)

    it("is nil in classes and objects", function ()
      assert.is_nil(peri.Normal.scala)
      assert.is_nil(p.scala)
    end)

    it("is nil if only others look for it", function ()
      assert.is_nil(peri.__name)
      assert.is_nil(peri[1])
    end)
  end)

  describe("what is missing, and which kind of table is wrong,", function ()
    check_messages {
      { function () return (peri.linspace(0, 1)) end, "linspace: count is missing" },
      { function () return (peri.tensor()) end, "tensor: data is missing" },
      { function () return (peri.linspace(0, 1, {})) end, "linspace: count must be an integer, got an empty table" },
      { function () return (peri.linspace(0, 1, { 2, 3 })) end,
        "linspace: count must be an integer, got a table of 2 elements" },
      { function () return (peri.exp(peri.Normal)) end,
        "exp: x must be a number, a table of numbers or a tensor, got the class Normal" },
      { function () return (peri.exp(peri.Exponential(1))) end,
        "exp: x must be a number, a table of numbers or a tensor, got an Exponential" },
      { function () return (peri.exp(transforms.Exp())) end,
        "exp: x must be a number, a table of numbers or a tensor, got an Exp transform" },
      { function () return (peri.exp { x = 1 }) end,
        "exp: x must be an array of numbers, got a table with other keys" },
    }
  end)
end)


describe("a table with a metatable, as readers of JSON make them, is data:", function ()
  local function json (t) return setmetatable(t, { __jsontype = t[1] ~= nil and "array" or "object" }) end

  it("an operand", function ()
    assert.same({ 1, 2 }, peri.tensor(json { 1, 2 }):totable())
    assert.same({ { 2, 3 } }, (peri.ones(1, 2) + json { json { 1, 2 } }):totable())
    assert.same({ 2 }, peri.Normal(0, 1):log_prob(json { 0, 1 }).shape)
  end)

  it("parameters, by place and by name", function ()
    assert.same({ 1, 2 }, peri.Normal(json { 1, 2 }, 1).loc:totable())
    assert.same({ 1, 2 }, peri.Normal(json { loc = json { 1, 2 }, scale = 1 }).loc:totable())
    assert.is_true(peri.transforms.Affine(json { 1, 2 }, 1).loc == peri.tensor { 1, 2 })
  end)

  it("a shape, a list, options, and what is differentiated", function ()
    assert.same({ 2, 3 }, peri.zeros(json { 2, 3 }).shape)
    assert.same({ 2, 3 }, peri.Normal(0, 1):sample(json { 2, 3 }).shape)
    assert.same({ 2, 3 }, peri.Normal(0, 1):expand(json { 2, 3 }).batch_shape)
    assert.same({ 3, 2 }, peri.ones(2, 3):reshape(json { 3, 2 }).shape)
    assert.same({ 2, 2 }, peri.stack(json { json { 1, 2 }, json { 3, 4 } }).shape)
    assert.equal(0, peri.kl_divergence(peri.Normal(), peri.Normal(), json { samples = 10 }))
    local grads = peri.grad(function (x) return (x.a * x.a):sum() end)(json { a = json { 1, 2 } })
    assert.same({ 2, 4 }, grads.a:totable())
  end)

  it("but an object is none", function ()
    for _, object in ipairs { peri.Normal(0, 1), peri.transforms.Exp(), peri.constraints.real, peri.Normal } do
      assert.matches("^exp: x must be a number, .*, got %a+ %a", message(function () return peri.exp(object) end))
      assert.matches("^Normal: loc must be a number", message(function () return peri.Normal(object) end))
    end
  end)
end)


describe("what once ended in an error of Lua's own says what is wrong:", function ()
  local p, t, transforms = peri.Normal(0, 1), peri.zeros(2, 3), peri.transforms
  local function changed (field, value)
    local w = peri.param(1)
    local opt = peri.optim.Adam(w)
    w:sum():backward()
    return function ()
      opt[field] = value
      opt:step()
    end
  end
  local function print_nothing () end
  local itself = {}
  itself[1] = itself
  local ten = { { 1 }, 2, { 3 }, { 4 }, { 5 }, { 6 }, { 7 }, { 8 }, { 9 }, { 10 } }
  check_messages {
    { function () return (peri.cat(ten)) end, "cat: shapes (1) and () do not fit" },
    { function () return (peri.stack(ten)) end, "stack: shapes (1) and () do not fit" },
    { function () return (peri.cat { 1, 2 }) end,
      "cat: single numbers have no dimension to be joined along; stack makes one" },
    { function () return (p:with_batch(true)) end,
      "Normal:with_batch: shape must be an integer or a table of integers, got true" },
    { function () return (peri.Independent(peri.Normal({ 1, 2 }), 1):with_batch("x")) end,
      "Independent:with_batch: shape must be an integer or a table of integers, got the string \"x\"" },
    { function () return (transforms.Cat(3)) end, "Cat: parts must be a transform or a table of them, got 3" },
    { function () return (transforms.Cat()) end, "Cat: parts must be a transform or a table of them, got nil" },
    { function () return (transforms.Cat({ transforms.Exp() }, "x")) end,
      "Cat: dim must be an integer other than 0, got the string \"x\"" },
    { function () return (transforms.Cat({ transforms.Exp() }, 1, 3)) end,
      "Cat: lengths must be a table of integers, got 3" },
    { function () return (transforms.Stack("x")) end,
      "Stack: parts must be a transform or a table of them, got the string \"x\"" },
    { function () return (transforms.Stack({ transforms.Exp() }, {})) end,
      "Stack: dim must be an integer other than 0, got an empty table" },
    { function () return (transforms.Reshape("x", { 1 })) end,
      "Reshape: in_shape: shape must be an integer or a table of integers, got the string \"x\"" },
    { function () return (transforms.Reshape({ "x" }, { 1 })) end,
      "Reshape: in_shape: a dimension must be an integer, got the string \"x\"" },
    { function () return (transforms.Reshape({ 2 }, { 3 })) end,
      "Reshape: in_shape and out_shape must be shapes of equally many elements, got (2) and (3)" },
    { function () return (peri.constraints.stack { 3 }) end, "stack: constraint 1 must be a constraint, got 3" },
    { function () return (peri.constraints.greater_than(print)) end,
      "greater_than: low must be a number, a table of numbers or a tensor, got a function" },
    { function () return (peri.constraints.interval(0, itself)) end, "interval: high is nested deeper than 16 tables" },
    { function () return (peri.Distribution:extend("Mine", { params = { { "a", print_nothing } } })(1)) end,
      "Mine: the function that gives the constraint of a must return one, got nil" },
    { function () return (peri.trace(math.sin)) end, "bad argument #1 to 'math.sin' (number expected, got no value)" },
    { function () return (peri.optim.LBFGS(peri.param(1)):step(math.sin)) end,
      "bad argument #1 to 'math.sin' (number expected, got no value)" },
    { function () return (peri.func { forward = math.sin, backward = math.sin }(peri.param(1))) end,
      "bad argument #1 to 'math.sin' (number expected, got perilune.Tensor)" },
    { function () return (t:softmax({ 1 })) end,
      "softmax: dim must be an integer between 1 and 2 (or -1 and -2), got a table of 1 element" },
    { function () return (peri.kl_divergence(p, p, true)) end, "kl_divergence: options must be a table, got true" },
    { function () return (t:expand(setmetatable({ 3 }, { __len = function () return "x" end }))) end,
      "Tensor:expand: shape (2, 3) does not expand to (3)" },
    { function () return (p:expand(setmetatable({ 1, "x" }, { __len = function () return "x" end }))) end,
      "Normal:expand: a dimension must be an integer, got the string \"x\"" },
    { function () return (p:expand(setmetatable({}, { __index = { 6 } }))) end,
      "Normal:expand: shape must be an integer or a table of integers, got an object" },
  }

  for field, case in pairs {
    lr = { "x", "Adam: lr must be positive, got the string \"x\"" },
    betas = { 3, "Adam: betas must be two numbers of at least 0 and below 1, got 3" },
    eps = { -1, "Adam: eps must be a non-negative number, got -1" },
    steps = { "x", "Adam: steps must be an integer, got the string \"x\"" },
    factor = { "x", "Adam: factor must be a function, got the string \"x\"" },
    entries = { 3, "Adam: entries must stay as they are; a new optimiser takes other parameters" },
    params = { {}, "Adam: params must stay as they are; a new optimiser takes other parameters" },
    memory = { {}, "ready: memory must be the memory of an optimiser, got an empty table" },
  } do
    it("an optimiser's " .. field, function () assert.equal(case[2], message(changed(field, case[1]))) end)
  end

  it("an element of an optimiser's betas", function ()
    local betas = peri.optim.Adam(peri.param(1)).betas
    for _, case in ipairs {
      { 1, "x", 'got the string "x" at [1]' }, { 2, nil, "got nil at [2]" }, { 1, 1, "got 1 at [1]" },
      { 3, 0.5, "got 0.5 at [3]" }, { "x", 0.5, "got 0.5 at [x]" },
    } do
      assert.equal("Adam: betas must be two numbers of at least 0 and below 1, " .. case[3],
                   message(function () betas[case[1]] = case[2] end))
    end
    assert.same({ 0.9, 0.999 }, { table.unpack(betas) })
  end)

  it("a name with a zero in a fit", function ()
    local name = "a\0b"
    local fit = peri.vi.fit { log_joint = function (m) return -m[name] ^ 2 end, params = { [name] = {} }, steps = 10 }
    assert.is_truthy(tostring(fit):find(name, 1, true))
    assert.is_truthy(message(function () return peri.vi.fit { log_joint = print, params = { [name] = 0.5 } } end)
                     :find(name, 1, true))
  end)
end)


describe("densities, tails and quantiles of laws made of others want numbers:", function ()
  local normal, transforms = peri.Normal(0, 1), peri.transforms
  local laws = {
    peri.TransformedDistribution(normal, { transforms.Exp() }),
    peri.TransformedDistribution(normal, { transforms.Affine(1, 2) }),
    peri.TransformedDistribution(normal, { transforms.Abs() }),
    peri.Truncated(normal, 0, 2),
    peri.Truncated(peri.Poisson(3), 1, 6),
    peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, peri.Normal({ 0, 4 }, 1)),
  }
  for _, law in ipairs(laws) do
    for _, name in ipairs { "log_prob", "prob", "cdf", "sf", "log_cdf", "log_sf", "icdf", "isf" } do
      it(tostring(law) .. ":" .. name, function ()
        for _, x in ipairs { true, "2", { x = 1 }, { 1, "x" }, print, law, peri.rng(1) } do
          assert.matches("must be a.*number", message(function () return (law[name](law, x)) end))
        end
        assert.matches("must be a number", message(function () return (law[name](law)) end))
      end)
    end
  end
end)


describe("functions of rows and lists name themselves:", function ()
  local calls = {
    softmax     = function () return peri.softmax "x" end,
    log_softmax = function () return peri.log_softmax "x" end,
    matmul      = function () return peri.matmul("x", { 1 }) end,
    cat         = function () return peri.cat { "x" } end,
    stack       = function () return peri.stack { "x" } end,
    equal       = function () return peri.equal({ 1 }, "x") end,
  }
  for name, call in pairs(calls) do
    it(name, function () assert.matches("^" .. name .. ": .*got the string \"x\"$", message(call)) end)
  end

  it("Normal:sample", function ()
    assert.equal("Normal:sample: shape must be an integer or a table of integers, got the string \"x\"",
                 message(function () return peri.Normal(0, 1):sample "x" end))
  end)

  it("where a vector or a matrix is wanted", function ()
    assert.equal("MultivariateNormal:log_prob: x must be a vector, or a batch of them, got 0.3",
                 message(function () return peri.MultivariateNormal({ 0, 0 }, peri.eye(2)):log_prob(0.3) end))
    assert.equal("Wishart:log_prob: x must be a matrix, or a batch of them, got a tensor of shape (2)",
                 message(function () return peri.Wishart(3, peri.eye(2)):log_prob(peri.ones(2)) end))
  end)
end)


describe("no wrong argument does harm:", function ()
  -- Whatever a function is given, it returns or raises a message.
  local values = {
    nil, false, 0, -1, 1.5, 0 / 0, math.huge, math.mininteger, math.maxinteger, "", "x", "1", {}, { {} }, { 1, 2 },
    { "x" }, { x = 1 }, setmetatable({}, { __index = function () error "index" end }), rawequal, io.stdout,
    coroutine.create(function () end), peri.zeros(0), peri.zeros(2, 3), peri.tensor(1), peri.rng(1), peri.Normal(0, 1),
    peri.Normal,
  }
  local n = 27   -- the first is nil

  local function call_all (fn)
    for i = 1, n do
      for j = 1, n do
        local ok, text = pcall(fn, values[i], values[j], values[(i + j) % n + 1])
        if not ok then assert.equal("string", type(text)) end
      end
    end
  end

  local functions = {}
  for name, fn in pairs(core) do
    if type(fn) == "function" and name ~= "set_threads" and name ~= "tensor_metatable" then
      functions["core." .. name] = fn
    end
  end
  local t, rng, p = peri.zeros(2, 3), peri.rng(1), peri.Normal(0, 1)
  for _, name in ipairs { "sum", "argmax", "logsumexp", "var", "softmax", "log_softmax", "cumsum", "matmul", "squeeze",
                          "sort", "argsort", "quantile", "median", "one_hot", "cumprod", "flip", "diag", "diagonal",
                          "diag_embed", "tril", "triu", "cholesky", "logdet", "solve_triangular", "cholesky_solve",
                          "unsqueeze", "flatten", "equal", "allclose", "exp", "add", "where", "isclose" } do
    functions["t:" .. name] = t[name]
  end
  for _, name in ipairs { "state", "restore", "split", "uniform", "normal", "exponential" } do
    functions["rng:" .. name] = rng[name]
  end
  for _, name in ipairs { "log_prob", "cdf", "icdf", "entropy", "sample", "rsample", "expand", "mean", "variance",
                          "is_a", "batched", "prob" } do
    functions["Normal:" .. name] = p[name]
  end
  for _, name in ipairs { "cat", "stack", "kl_divergence", "register_kl", "Normal" } do
    functions["peri." .. name] = peri[name]
  end

  for name, fn in pairs(functions) do
    it(name, function () call_all(fn) end)
  end
end)


describe("a metatable grafted with debug.setmetatable", function ()
  local t, rng = peri.zeros(4), peri.rng(1)
  local of_tensor, of_rng = debug.getmetatable(t), debug.getmetatable(rng)

  it("is hidden from getmetatable", function ()
    assert.is_false(type(getmetatable(t)) == "table")
    assert.is_false(type(getmetatable(rng)) == "table")
    assert.is_false(pcall(setmetatable, t, {}))
  end)

  it("of tensors, on a file, makes no tensor of it", function ()
    local file = io.tmpfile()
    local own = debug.getmetatable(file)
    debug.setmetatable(file, of_tensor)
    assert.is_false(peri.is_tensor(file))
    for name, method in pairs { sum = t.sum, reshape = t.reshape, at = t.at, totable = t.totable, item = t.item,
                                clone = t.clone, softmax = t.softmax, exp = t.exp, matmul = t.matmul } do
      assert.matches("got a userdata$", message(method, file), name)
    end
    local operators = {
      function () return file + 1 end, function () return -file end, function () return file[1] end,
      function () file[1] = 2 end, function () return #file end, function () return file < 1 end,
      function () return tostring(file) end, function () return file.shape end,
    }
    for _, operator in ipairs(operators) do assert.equal("string", type(message(operator))) end
    assert.is_false(file == t)
    debug.setmetatable(file, own)
    file:close()
  end)

  it("of tensors, on a generator, makes no tensor of it", function ()
    local other = peri.rng(1)
    debug.setmetatable(other, of_tensor)
    assert.matches("got a userdata$", message(t.sum, other))
    assert.matches("got a userdata$", message(function () return other + 1 end))
    debug.setmetatable(other, of_rng)
    assert.equal(peri.rng(1):uniform(), other:uniform())
  end)

  it("of generators, on a tensor or a file, makes no generator of it", function ()
    local tensor, file = peri.zeros(4), io.tmpfile()
    local own = debug.getmetatable(file)
    for _, x in ipairs { tensor, file } do
      debug.setmetatable(x, of_rng)
      for _, name in ipairs { "state", "restore", "split", "uniform" } do
        assert.matches("must be a generator %(peri.rng%), got a ", message(x[name], x))
      end
      assert.matches("must be a generator", message(tostring, x))
    end
    debug.setmetatable(tensor, of_tensor)
    debug.setmetatable(file, own)
    file:close()
    assert.same({ 0, 0, 0, 0 }, tensor:totable())
  end)
end)


describe("loaded a second time in the same state,", function ()
  local old, fresh, saved = peri, nil, {}
  local t, p, rng

  setup(function ()
    t, p, rng = old.tensor { 1, 2 }, old.Normal({ 0, 1 }, 1), old.rng(4)
    old.seed(21)
    for name, module in pairs(package.loaded) do
      if name:find "^perilune" then
        saved[name] = module
        package.loaded[name] = nil
      end
    end
    fresh = require "perilune"
  end)

  teardown(function ()
    for name in pairs(package.loaded) do
      if name:find "^perilune" then package.loaded[name] = nil end
    end
    for name, module in pairs(saved) do package.loaded[name] = module end
    old.seed(0)
  end)

  it("the module is another, tensors are the same", function ()
    assert.is_false(rawequal(old, fresh))
    assert.is_true(fresh.is_tensor(t))
    assert.is_true(old.is_tensor(fresh.zeros(2)))
  end)

  it("old tensors work with new functions, and the other way round", function ()
    assert.same({ 2, 4 }, (t + fresh.tensor { 1, 2 }):totable())
    assert.same({ 2, 4 }, fresh.add(t, t):totable())
    assert.same({ 2, 4 }, old.add(fresh.tensor { 1, 2 }, t):totable())
    assert.equal(3, peri.item(t:sum()))
    assert.equal(fresh.Normal(0, 1):log_prob(t)[2], p:log_prob(t)[2] - 1.5)
  end)

  it("old generators work with new functions, and the default one goes on", function ()
    assert.is_true(fresh.Normal(0, 1):sample(3, rng) == old.rng(4):normal(3))
    local first = old.Normal(0, 1):sample()
    assert.equal(first, old.rng(21):normal())
    assert.is_false(first == fresh.Normal(0, 1):sample())
  end)

  it("old distributions work with new functions", function ()
    assert.same({ 0, 0.5 }, fresh.kl_divergence(p, fresh.Normal(0, 1)):totable())
    assert.same({ 0, 0.5 }, fresh.kl_divergence(fresh.Normal({ 0, 1 }, 1), old.Normal(0, 1)):totable())
    assert.is_true(p:is_a(fresh.Normal))
  end)
end)
