--- Statements about models, fits, posteriors, pictures, data and help: objects are made, and each of their public
-- methods is called.
local surface = require "spec.fuzz.surface"
local values  = require "spec.fuzz.values"

local function set (source, expression)
  return string.format("set(%d, function () return %s end)", source:next(), expression)
end


-- Kinds of arguments ----------------------------------------------------------------------------

local KINDS = {}

-- Distributions of sites that are easy to fit, and now and then any.
local SITES = { "peri.Normal(0, 1)", "peri.Gamma(2, 1)", "peri.Beta(2, 2)", "peri.Normal(0, 1):expand(2)",
                "peri.HalfCauchy(1)", "peri.Dirichlet { 1, 2, 3 }", "peri.Bernoulli(0.3)", "peri.Flat()",
                "peri.LKJCholesky(2, 1)", "2 * peri.Normal(0, 1) + 1", "peri.Poisson(3)" }

function KINDS:site ()
  return self.random:once_in(6) and self:new_distribution() or self.random:pick(SITES)
end

-- What a body does beside its sites: raise, yield, re-enter, break rules.
local DEEDS = {
  "m.d = peri.mul(m.a, 2)", "m:factor('f', total(m.a))", "m:factor(1, m.a)", "error(own_error, 0)", "coroutine.yield()",
  "collectgarbage 'step'", "m.a = 1", "m.b = m.c", "m.e = peri.trace(function () return total(m.a) end)()",
  "m:plate('p', 3, 2, function (i) m.y = peri.Normal(total(m.a), 1) end)", "v[%d] = m", "v[%d] = m.a", "v[%d]:sites()",
  "v[%d]:map { init = { a = 1 } }", "peri.set_threads(2)", "m.factor = 1",
  "m:plate('q', 2, function () error(own_error, 0) end)",
  "m[1] = 2", "setmetatable(m, nil)", "peri.model(function (k) k.a = peri.Normal(0, 1) end) {}:laplace()",
  "m.w = peri.scan(function (s, t) return s * 0.5 + t end, total(m.a), { 1, 2 })", "total(m.a):backward()",
  "if peri.item(m.a) > 0 then m.z = peri.Normal(0, 1) end",
}

function KINDS:body ()
  if self.random:once_in(12) then return self:callback() end
  local parts = { "m.a = " .. self:site() }
  for _ = 1, self.random:integer(0, 2) do
    parts[#parts + 1] = self.random:once_in(2) and self.random:pick(DEEDS):format(self.random:integer(1, self.last + 1))
                        or "m.b" .. #parts .. " = " .. self:site()
  end
  parts[#parts + 1] = self.random:pick { "m.y = peri.Normal(total(m.a), 1)",
                                         "m.y = peri.Poisson(peri.exp(total(m.a)))", "" }
  return "function (m, d) " .. table.concat(parts, " ") .. " end"
end

function KINDS:model () return "peri.model(" .. self:body() .. ")" end

function KINDS:data ()
  return self.random:pick { "{ y = { 1, 2, 3 } }", "{ y = 1 }", "{}", "{ y = peri.tensor { 1, 0, 2 } }", "{ y = {} }",
                            "{ y = 'x' }", "{ y = { 0/0, 1, 2 } }", "{ y = { 1, 2, 3 }, a = 0.5 }" }
end

function KINDS:posed ()
  return not self.random:once_in(4) and self:ref "posed model" or self:model() .. " " .. self:data()
end

local GUIDES = {
  "'meanfield'", "'fullrank'", "'lowrank'", "'flow'", "'x'",
  "function (g) g.a = peri.Normal(g:param('loc', 0), g:param('scale', 1, peri.constraints.positive)) end",
  "function (g) g:param('x', 1) end", "function () error(own_error, 0) end",
  "function (g) g.a = peri.Delta(g:param('at', 0)) end",
  "function (g) g:plate('p', 3, 2, function () end) g.a = peri.Normal(0, g:param('s', 1)) end",
}

-- Options of a way, such that it takes little time; now and then one is odd.
local FEW = {
  map = "progress = false", laplace = "progress = false", pathfinder = "progress = false", fit = "seconds = 0.01",
  nuts = "chains = 1, warmup = 5, draws = 4",
  hmc = "chains = 2, warmup = 5, draws = 4, steps = 3", smc = "particles = 20, moves = 1",
  random_walk = "chains = 1, warmup = 5, draws = 5",
}
local RUNNING = { vi = true, nuts = true, hmc = true, smc = true, random_walk = true }
local OPTIONS = { "init", "noncentred", "progress", "seed", "target", "metric", "run", "guide", "ess", "start", "lr",
                  "tolerance", "objective", "rank", "starts", "x", "on_step" }

function KINDS:way_options (way)
  local parts = { "rng = peri.rng(" .. self:seed() .. ")" }
  parts[2] = FEW[way] or "guide = " .. self.random:pick(GUIDES) .. ", steps = " .. self.random:integer(1, 3)
  if self.random:once_in(3) and RUNNING[way] then parts[3] = "run = false" end
  if self.random:unit() < self.wildness then
    parts[#parts + 1] = self.random:pick(OPTIONS) .. " = " .. self:anything()
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

function KINDS:posterior ()
  return self:ref "posterior" or string.format("(%s):%s { rng = peri.rng(1) }", self:posed(),
                                               self.random:pick { "map", "laplace" })
end

function KINDS:posteriors () return "{ a = " .. self:posterior() .. ", b = " .. self:posterior() .. " }" end

-- A text that was saved, whole or changed.
function KINDS:saved ()
  local text = self.random:pick { "peri.pack { 1, x = 2 }", self:posterior() .. ":save()", "peri.rng(1):state()" }
  if self:ref "running fit" then text = self:ref "running fit" .. ":state()" end
  if self:ref "sampling" and self.random:once_in(2) then text = self:ref "sampling" .. ":state()" end
  return self.random:once_in(3) and string.format("changed(%s, %d)", text, self.random:integer(1, 5000)) or text
end

function KINDS:csv ()
  return self.random:pick { "{ text = 'a,b\\n1,x\\n2,y' }", "{ text = 'a;b\\n1;2' }", "{ text = '' }",
                            "{ text = 'a,a\\n1,2' }",
                            "{ text = 'a\\n\"1' }", "'no such file'", "{ text = odd.nul }", "{ text = odd.long }" }
end

function KINDS:json ()
  return self.random:pick { "{ text = '[{\"a\": 1}]' }", "{ text = '[1, 2' }", "{ text = ('['):rep(1000) }",
                            "{ text = '{}' }",
                            "{ text = '[{\"a\": [1, [2]]}]' }", "{ text = '\"\\\\ud800\"' }", "{ text = odd.nul }" }
end

function KINDS:frame ()
  return self.random:pick { "peri.read_csv { text = 'a,b\\n1,x\\n2,y' }", "{ x = { 1, 2 }, y = { 'a', 'b' } }",
                            "odd.ragged",
                            "{ x = peri.zeros(2, 2) }", "{ x = {}, y = { 1 } }" }
end

function KINDS:row_options ()
  return self.random:pick { "{ dtype = 'f32' }", "{ dtype = 'f64' }", "{ shape = { 2, 2 } }", "{ head = false }",
                            "{ names = { 'a', 'b' } }", "{ x = 1 }" }
end

function KINDS.path () return "folder .. '/picture.svg'" end

function KINDS:plotted ()
  local kind = self.random:pick { "distribution", "vector", "callback", "posterior", "tensor" }
  return self[kind](self)
end

function KINDS:plot_options ()
  return self.random:pick { "{ title = 'x' }", "{ bins = 3 }", "{ from = 0, to = 1 }", "{ x = 1 }", "{ bins = 2^40 }",
                            "{}",
                            "{ range = { 1, 0 } }", "{ title = odd.nul, xlabel = odd.long }" }
end

function KINDS:size ()
  return self.random:pick { "{ width = 30, height = 5 }", "{ width = 1 }", "{}", "{ width = -1 }", "{ colour = true }" }
end

function KINDS:public_name ()
  return string.format("%q", self.random:once_in(5) and "log_prop" or self.random:pick(surface.face))
end

function KINDS:site_values ()
  return self.random:pick { "{ a = 0.5 }", "{ a = { 0.5, 1 } }", "{}", "{ a = 'x' }", "{ b = 1 }" }
end

function KINDS:names () return "{ " .. self:public_name() .. " }" end

-- (Twenty fits take their time: the method gives what there is.)
function KINDS:sbc_options ()
  local odd, post = "", self:ref "posterior"
  local method = post and "function () return " .. post .. " end" or self:callback()
  if self.random:unit() < self.wildness then
    odd = ", " .. self.random:pick { "data", "options", "draws" } .. " = " .. self:anything()
  end
  return "{ n = 20, draws = 19, method = " .. method .. ", data = { y = 1 }, rng = peri.rng(1)" .. odd .. " }"
end

function KINDS:fit_options ()
  return self.random:pick { "{}", "{ weights = { 1, 2, 1 } }", "{ start = { loc = 1 } }", "{ missing = 'drop' }",
                            "{ fixed = { scale = 2 } }",
                            "{ x = 1 }", "{ outcomes = 5 }" }
end

for name, kind in pairs(KINDS) do values[name] = kind end


-- Methods ---------------------------------------------------------------------------------------

-- The kind of an object, as Source:ref knows it, and how one is made.
local MADE = {
  Model     = { "posed model", function (source) return source:model() .. " " .. source:data() end },
  Posterior = { "posterior", function (source) return source:posterior() end },
  Fit       = { "running fit", function (source)
    return string.format("(%s):vi { guide = %s, run = false, rng = peri.rng(1) }", source:posed(),
                         source.random:pick(GUIDES))
  end },
  Sampling  = { "sampling", function (source)
    local way = source.random:pick { "nuts", "hmc", "smc", "random_walk" }
    return string.format("(%s):%s { %s, run = false, rng = peri.rng(1) }", source:posed(), way, FEW[way])
  end },
  Plot      = { "Plot", function (source) return "peri.plot(" .. source:plotted() .. ")" end },
  Help      = { "help", function (source) return "peri.help(" .. source:public_name() .. ")" end },
  Trace     = { "trace", function (source)
    return "peri.trace(function () return total(peri.exp(" .. source:tensor() .. ")) end)"
  end },
  Rows      = { "Rows", function (source)
    return source.random:pick { "peri.rows(peri.arange(12):reshape(4, 3))", "peri.rows({ 1, 2, 3 }, { dtype = 'f32' })",
                                "peri.map_file(" .. source:path() .. ")" }
  end },
}

-- Arguments of methods, by kind.
local ARGUMENTS = {
  ["Model:log_joint"] = { "site_values" }, ["Model:prior"] = { "extent", "rng" }, ["Model:sites"] = {},
  ["Posterior:quantile"] = { "level" }, ["Posterior:interval"] = { "level?" }, ["Posterior:mcse"] = { "level?" },
  ["Posterior:sample"] = { "extent", "rng?" }, ["Posterior:predict"] = { "data", "extent", "rng?" },
  ["Posterior:plot"] = { "word?", "plot_options?" }, ["Posterior:draws"] = {}, ["Posterior:save"] = {},
  ["Posterior:loo"] = {}, ["Posterior:waic"] = {}, ["Posterior:covariance"] = {}, ["Posterior:log_lik"] = {},
  ["Fit:step"] = { "extent?" }, ["Fit:restore"] = { "saved" }, ["Fit:state"] = {}, ["Fit:result"] = {},
  ["Fit:restart"] = {},
  ["Sampling:step"] = { "extent?" }, ["Sampling:restore"] = { "saved" }, ["Sampling:state"] = {},
  ["Sampling:result"] = {},
  ["Sampling:progress"] = {}, ["Plot:save"] = { "path" }, ["Plot:text"] = { "size?" }, ["Plot:svg"] = { "size?" },
  ["Plot:spark"] = {}, ["Help:render"] = { "extent" }, ["Trace:value"] = {}, ["Trace:backward"] = {},
  ["Rows:read"] = { "extent", "extent?" }, ["Rows:blocks"] = { "extent?" }, ["Rows:batches"] = { "extent", "rng?" },
  ["Rows:columns"] = { "names" }, ["Rows:column"] = { "extent" },
  ["Trace:rows"] = { "tensor", "tensor", "tensor", "tensor?", "tensor?", "tensor?" },
}

local function anything (source)
  local kinds = {}
  for i = 1, source.random:integer(0, 2) do kinds[i] = "anything" end
  return kinds
end

local PATH_FIRST = { ["Plot:save"] = true }   -- what is written goes to a place of ours

local function call (source, kind, name, object)
  local full = kind .. ":" .. name
  if kind == "Model" and (FEW[name] or name == "vi") then
    return object .. ":" .. name .. "(" .. source:way_options(name) .. ")"
  end
  local wildness = source.wildness
  if PATH_FIRST[full] then source.wildness = 0 end
  local arguments = source:arguments(ARGUMENTS[full] or anything(source))
  source.wildness = wildness
  return object .. ":" .. name .. "(" .. arguments .. ")"
end

local function of_object (source)
  local kind = source.random:once_in(4) and "Model" or source.random:pick(surface.made)
  local ref = source:ref(MADE[kind][1])
  if not ref or source.random:once_in(6) then return set(source, MADE[kind][2](source)) end
  return set(source, call(source, kind, source.random:pick(surface.objects[kind]), ref))
end

-- A transform for constraints that nobody else has.
local function register (source)
  return set(source, string.format("peri.%s:register(%s, %s)", source.random:pick { "biject_to", "transform_to" },
                                   source.random:pick { "odd.class", "1", "nil", "peri.Normal", "odd.fn" },
                                   source:callback()))
end

return { { 12, of_object }, { 1, register } }
