--- Every public entry point in small calls, for hosts that make them fail.
--
-- Each snippet returns what it computed; the same call must give the same
-- text in every state, however often it was interrupted before. `fresh` asks
-- for a new state each time, so that whatever happens once happens under fire.
-- `before` comes ahead of each state's first call, `after` follows a fault. One that is `forgiving` may give
-- something else during a fault: a prompt completes what it can.

local text = require "spec.host.text"

local function peri () return require "perilune" end

local M = { { 1, 2, 3 }, { 4, 5, 6 } }

return {
  { "require", fresh = true, function ()
    peri().seed(4)
    return text(peri()._VERSION, peri().tensor { 1, 2 } + 1)
  end },
  { "first class", fresh = true, before = peri, function () return text(peri().Normal(0, 2):log_prob(0.5)) end },
  { "first kl_divergence", fresh = true, before = function () return peri().Exponential end, function ()
    return text(peri().kl_divergence(peri().Exponential(1), peri().Exponential(2)))
  end },
  { "names that are not there", before = function () return peri().has "nothing" end, function ()
    return text(peri().has "Nothing", peri().has "nothing")
  end },
  { "preload", fresh = true, before = peri, function ()
    peri().preload { "Normal", "kl_divergence" }
    return text(peri().kl_divergence(peri().Normal(0, 1), peri().Normal(1, 2)))
  end },
  { "pack and unpack", function ()
    local back = peri().unpack(peri().pack { 1, "two", peri().tensor(M), { x = true } })
    return text(back[1], back[2], back[3], back[4].x)
  end },

  -- Tensors
  { "tensor from tables", function ()
    return text(peri().tensor(M), peri().tensor { { { 1 } }, { { 2 } } }, peri().tensor(3), peri().tensor {})
  end },
  { "filled tensors", function ()
    local p = peri()
    return text(p.zeros(2, 3), p.ones { 3 }, p.full(2, 2, 0.5), p.arange(1, 4), p.linspace(0, 1, 3), p.eye(2))
  end },
  { "reading", function ()
    local t = peri().tensor(M)
    local rows = {}
    for i, row in ipairs(t) do rows[i] = row:sum() end
    return text(t:totable()[2][3], t[2], t[2][1], t:at(1, 2), t:at(2), #t, t:numel(), table.concat(t.shape, "x"),
                rows[1], rows[2], peri().is_tensor(t))
  end },
  { "writing", function ()
    local t = peri().zeros(2, 3)
    t[1] = { 1, 2, 3 }
    t[2] = t[1] * 2
    t[2][2] = 7
    t:select(2, 3):copy { 8, 9 }
    return text(t)
  end },
  { "overlapping copy", function ()
    local t = peri().arange(1, 7)
    t:narrow(1, 2, 5):copy(t:narrow(1, 1, 5))
    return text(t)
  end },
  { "views", function ()
    local t = peri().tensor(M)
    return text(t:transpose(), t:permute(2, 1), t:narrow(2, 2, 2), t:select(1, 2), t:reshape(3, 2), t:reshape { -1 },
                t:transpose():reshape(6), t[1]:expand(2, 3), t:unsqueeze(1):squeeze(), t:flatten(),
                t:transpose():contiguous(), t:clone(), t[2]:narrow(1, 2, 2):transpose(1, 1))
  end },
  { "operators", function ()
    local t = peri().tensor(M)
    return text(t + 1, 1 - t, t * t, t / { 1, 2, 4 }, t ^ 2, t % 2, -t, t:lt(3), t:eq(t), t == t:clone(), t[1][1] < 2,
                t:equal(t), t:allclose(t + 1e-12), t .. "")
  end },
  { "elementwise functions", function ()
    local p, t = peri(), peri().tensor { 0.25, 0.5 }
    return text(t:exp(), p.log(t), p.special.lgamma(2.5), p.special.gammainc(t, 1), p.special.betainc(1, t, 0.5),
                p.special.ndtri { 0.1, 0.9 }, p.exp(1), t:transpose(1, 1):sqrt())
  end },
  { "reductions", function ()
    local t = peri().tensor(M)
    return text(t:sum(), t:sum(1), t:mean(2, true), t:max(-1), t:min(), t:prod(1), t:logsumexp(2), t:std(), t:var(1),
                t:sum { 1, 2 }, t:argmax(2), t:argmin(), t:all(), t:any(1), t:cumsum(), t:cumsum(1))
  end },
  { "matmul", function ()
    local t = peri().tensor(M)
    return text(t:matmul(t:transpose()), t:matmul { 1, 0, 1 }, peri().matmul({ 1, 1 }, M),
                peri().matmul({ 1, 2 }, { 3, 4 }))
  end },
  { "order", function ()
    local t = peri().tensor(M)
    return text(t:sort(), t:argsort(1), t:quantile({ 0.1, 0.5 }, 1), t:median(), t:flip(), t:cumprod(2),
                peri().one_hot({ 2, 1 }, 3))
  end },
  { "parts of matrices", function ()
    local p, t = peri(), peri().tensor(M)
    local square = t:matmul(t:transpose()) + p.eye(2)
    return text(t:diag(), t[1]:diag(), t:diag_embed(), t:tril(), t:triu(1), square:logdet(), square:solve_triangular(t),
                square:cholesky():cholesky_solve { 1, 2 })
  end },
  { "softmax", function ()
    local t = peri().tensor(M)
    return text(t:softmax(), t:softmax(1), t:log_softmax(), peri().softmax { 1, 2 }, peri().logsumexp { 1, 2 })
  end },
  { "cat and stack", function ()
    local t = peri().tensor(M)
    return text(peri().cat { t, t }, peri().cat({ t, M }, 2), peri().stack { t, t }, peri().stack({ t[1], t[2] }, 2))
  end },
  { "printing", function ()
    local p = peri()
    return text(p.zeros(12, 12), p.zeros(2, 2, 2, 2), p.tensor(1.5), p.Normal, p.Normal(0, { 1, 2 }),
                p.Uniform(p.zeros(2, 2), 1), p.constraints.interval(0, p.ones(2)), p.rng(3))
  end },
  { "errors", function ()
    local p = peri()
    local messages = {}
    for i, f in ipairs {
      function () return p.tensor { 1, "x" } end,
      function () return p.tensor { { 1 }, { 2, 3 } } end,
      function () return p.zeros(2) + p.zeros(3) end,
      function () return p.zeros(2, 3):matmul(p.zeros(2)) end,
      function () return p.Normal(0, { 1, -1 }) end,
      function () return p.Normal { scale = "x" } end,
      function () return p.Normal(p.zeros(2), p.ones(3)) end,
      function () return p.kl_divergence(p.Normal(0, 1), p.Cauchy(0, 1), { fallback = false }) end,
      function () return p.zeros(1 << 40, 1 << 40) end,
    } do
      local ok, message = pcall(f)
      local fault = ok or message:find "not enough memory" or message:find "stack overflow"
      if fault or message:find "over budget" then error(message, 0) end
      messages[i] = message
    end
    return text(table.unpack(messages))
  end },

  -- Distributions
  { "construction", function ()
    local p = peri()
    return text(p.Normal(), p.Normal(1, 2), p.Normal { loc = 1, scale = { 1, 2 } },
                p.Normal({ 1, 2 }, p.tensor { 3, 4 }), p.Uniform(0, { 1, 2 }),
                p.Exponential { rate = 2, validate = false },
                table.concat(p.Normal({ { 1 }, { 2 } }, { 1, 2, 3 }).batch_shape, "x"), p.Normal(0, 1):expand { 2 })
  end },
  { "densities of numbers", function ()
    local d = peri().Normal(0, 2)
    return text(d:log_prob(1), d:prob(1), d:cdf(1), d:icdf(0.25), d:sf(1), d:log_cdf(1), d:log_sf(1), d:isf(0.25),
                d:mean(), d:variance(), d:stddev(), d:mode(), d:median(), d:entropy(), d:is_a(peri().Normal))
  end },
  { "densities of tensors", function ()
    local d, x = peri().Normal({ 0, 1, 2 }, 2), peri().tensor(M)
    return text(d:log_prob(x), d:prob(x), d:cdf(x), d:icdf { 0.1, 0.5, 0.9 }, d:log_cdf(M), d:mean(), d:variance(),
                d:entropy(), peri().Uniform(0, { 1, 2 }):cdf(0.5), peri().Exponential { 1, 2 }:isf(0.5))
  end },
  { "samples", function ()
    local p, g = peri(), peri().rng(7)
    p.seed(5)
    return text(p.Normal(0, 1):sample(), p.Normal(0, 1):sample(nil, g), p.Normal({ 0, 9 }, 1):sample(2, g),
                p.Uniform(0, 1):rsample({ 2, 2 }, g), p.Exponential { 1, 2 }:sample(3), g:state())
  end },
  { "rows", function ()
    local p, g = peri(), peri().rng(7)
    local d = p.MultivariateNormal({ 0, 1 }, { { 2, 1 }, { 1, 2 } })
    return text(d:log_prob { { 1, 0 }, { 0, 1 } }, d:sample(2, g), d, p.Dirichlet { 1, 2, 3 }:sample(2, g),
                p.Categorical { 1, 2 }:sample(3, g), p.Multinomial(5, { 1, 2 }):sample(nil, g))
  end },
  { "transforms and wrappers", function ()
    local p = peri()
    local d = p.TransformedDistribution(p.Normal(0, 1), p.transforms.Exp())
    return text(d, d:log_prob(2), p.biject_to(p.constraints.simplex) { 0.5, 1 }, p.Independent(p.Normal({ 0, 1 }, 1), 1)
                :log_prob { 0, 0 }, p.Truncated(p.Normal(0, 1), 0, 1):cdf(0.5))
  end },

  -- Gradients
  { "gradients", function ()
    local p = peri()
    local w = p.param { 1, 2, 3 }
    local loss = (w * w):sum() + p.cat({ w, w }):logsumexp() + w[1] * w:prod() + p.softmax(w):max()
    loss:backward { retain = true }
    loss:backward()
    return text(w.grad, loss, w:detach(), p.no_grad(function () return w + 1 end),
                p.grad(function (x) return p.sin(x) * x end)(2))
  end },
  { "gradients of draws and divergences", function ()
    local p = peri()
    local value, grad = p.value_and_grad(function (t)
      local q = p.Normal(t.loc, p.exp(t.log_scale))
      return q:rsample(4, p.rng(1)):sum() + p.kl_divergence(q, p.Normal(0, 1))
    end) { loc = 0.5, log_scale = 0.1 }
    return text(value, grad.loc, grad.log_scale)
  end },
  { "a trace", function ()
    local p = peri()
    local w, x, rng = p.param { 0.5, 1.5 }, p.linspace(0, 1, 600), p.rng(2)
    local trace = p.trace(function ()
      local rows = p.cat { w, p.Normal(w, 1):rsample(nil, rng), p.Normal(0, 1):rsample(2, rng) }
      return p.Normal(w[1], 2):log_prob(x):sum() - rows:logsumexp() + p.where(w:gt(1), w, 0):sum()
    end)
    local value = trace:backward()
    return text(value, w.grad, trace(), trace, (pcall(p.trace, function () return p.item(w:sum()) end)))
  end },
  { "a recurrence", function ()
    local p = peri()
    local w, x = p.param { 0.5, 1.5 }, p.linspace(0, 1, 6)
    local m = p.param { { 0.5, 0.1 }, { 0.2, 0.3 } }
    local function loss ()
      local all, last = p.scan(function (s, t) return { a = w[1] * s.a + t:exp(), b = s.a } end, { a = w[2], b = 0 }, x)
      local sums = p.scan(function (s, t) return m:matmul(s) + t, s:logsumexp() end, { 1, 2 }, x)
      return all.a:sum() * last.b + sums:sum()
    end
    local trace = p.trace(loss)
    local value = trace:backward()
    loss():backward()
    return text(value, w.grad, m.grad, trace(), p.scan(function (s, t) return s * t end, 1, 5),
                (pcall(p.scan, function (s) return p.item(s) end, 0, 3)))
  end },
  { "a formula in one pass", function ()
    local p = peri()
    local x = p.linspace(0, 1, 5000)
    local y = require "perilune.core".fused(function () return (x * 2 + 1) * x - p.exp(x) end)
    return text(y[1], y[5000], y:sum())
  end },
  { "an optimiser", function ()
    local p = peri()
    local w = p.param { 1, 2 }
    local optimiser = p.optim.Adam({ w }, { lr = 0.1 })
    for _ = 1, 2 do
      optimiser:zero_grad();
      (w * w):sum():backward()
      optimiser:step()
    end
    return text(w)
  end },

  { "generators", function ()
    local g = peri().rng(11)
    local saved = g:state()
    local first = g:uniform(3)
    local children = g:split(3)
    local restored = g:restore(saved)
    return text(first, g:uniform { 3 }, g:normal(), g:exponential(2, 2), g:split(), children[3]:normal(2), restored,
                g:state(), g:restore "nonsense", (select(2, g:restore(nil))))
  end },

  -- Classes and divergences
  { "kl_divergence", function ()
    local p = peri()
    local a, b = p.Normal(0, 1), p.Normal({ 1, 2 }, 3)
    return text(p.kl_divergence(a, p.Normal(1, 2)), p.kl_divergence(a, b), p.kl_divergence(b, a), a:cross_entropy(b))
  end },
  { "first dispatch of new classes", function ()
    local p = peri()
    local A = p.Normal:extend "A"
    local B = setmetatable({ __name = "B" }, { __index = p.Normal })
    B.__index = B
    local b = setmetatable(p.Normal(2, 2), B)
    return text(p.kl_divergence(A(1, 2), b), p.kl_divergence(b, A(1, 2)), A, A(1, 2), A(0, { 1, 2 }):cdf(0))
  end },
  { "register_kl", function ()
    local p = peri()
    local A, B = p.Normal:extend "A", p.Normal:extend "B"
    local inherited = p.kl_divergence(A(0, 1), B(1, 2))
    p.register_kl(A, B, function (a, b) return a.loc + b.scale end)
    local own = p.kl_divergence(A(0, 1), B(1, 2))
    p.register_kl(A, B, function () return 42 end, { override = true })
    return text(inherited, own, p.kl_divergence(A(0, 1), B(1, 2)), p.kl_divergence(B(0, 1), A(1, 2)))
  end },
  { "register_kl as a whole", function ()   -- not at all or entirely, whatever is in the way
    local p = peri()
    local A, B = p.Normal:extend "A", p.Normal:extend "B"
    local function answer () return 42 end
    local inherited = p.kl_divergence(A(0, 1), B(1, 2))
    if not pcall(p.register_kl, A, B, answer) then pcall(p.register_kl, A, B, answer) end
    return text(inherited, p.kl_divergence(A(0, 1), B(1, 2)))
  end },
  { "a class of one's own", function ()
    local p = peri()
    local Wave = p.Distribution:extend("Wave", {
      params = { { "rate", p.constraints.positive, default = 1 } }, support = p.constraints.real })
    function Wave:log_prob (x) return -self.rate * x end
    return text(Wave(2), Wave { rate = { 1, 2 } }:log_prob(3), Wave():prob(0), (pcall(Wave, -1)))
  end },
  { "validate", function ()
    local p = peri()
    p.validate(false)
    local lax = p.Normal(0, { -1, 1 })
    p.validate(true)
    return text(lax, (pcall(p.Normal, 0, { -1, 1 })))
  end, after = function () peri().validate(true) end },

  -- Models: what failed on the way can be asked for again
  { "sites, asked again", function ()
    local p = peri()
    local posed = p.model(function (m) m.a = p.Normal(0, 1) end) {}
    pcall(posed.sites, posed)
    return text(#posed:sites(), posed)
  end },
  { "log_joint, asked again", function ()
    local p = peri()
    local posed = p.model(function (m) m.a = p.Normal(0, 1) m.y = p.Normal(m.a, 1) end) { y = 2 }
    pcall(posed.log_joint, posed, { a = 1 })
    return text(posed:log_joint { a = 1 }, (pcall(p.Normal, 0, -1)))
  end },

  -- Threads: large enough for the pool to be asked
  { "set_threads", function ()
    local p = peri()
    p.set_threads(2)
    local x = p.arange(70000)
    local shared = text(p.Normal(0, 3e4):log_prob(x):sum(), x:sum(), x:reshape(700, 100):softmax():sum(),
                        p.Normal(0, 1):sample(70000, p.rng(3)):max())
    p.set_threads(3)
    p.set_threads(1)
    return shared
  end, after = function () peri().set_threads(1) end },
}
