--- Statements that call: { weight, function (source) -> text of an expression, or nil } by what they call.
--
-- Names come from `surface`; what is known about arguments stands in tables here. A name without an entry
-- is called with anything, so that a new function is tried before somebody writes its entry.
local surface = require "spec.fuzz.surface"

-- Arguments of functions and methods, by kind: see Source. "?" marks what may be missing.
local ARGUMENTS = {
  -- of peri
  tensor = { "numbers" }, zeros = { "shape" }, ones = { "shape" }, full = { "shape", "number" },
  arange = { "integer", "integer?", "positive?" }, linspace = { "number", "number", "extent" }, eye = { "extent" },
  cat = { "tensors", "integer?" }, stack = { "tensors", "integer?" }, param = { "numbers" },
  is_tensor = { "tensor" }, item = { "number" }, allclose = { "operand", "operand", "positive?" },
  matmul = { "tensor", "tensor" }, softmax = { "tensor", "dim?" }, log_softmax = { "tensor", "dim?" },
  logsumexp = { "tensor", "dims?" }, cholesky = { "tensor" }, sort = { "tensor", "dim?" },
  argsort = { "tensor", "dim?" }, quantile = { "tensor", "level", "dim?", "boolean?" },
  median = { "tensor", "dim?", "boolean?" }, one_hot = { "tensor", "extent" }, cumsum = { "tensor", "dim?" },
  cumprod = { "tensor", "dim?" }, flip = { "tensor", "dim?" }, diag = { "tensor" }, diagonal = { "tensor" },
  diag_embed = { "tensor" }, tril = { "tensor", "integer?" }, triu = { "tensor", "integer?" }, logdet = { "tensor" },
  solve_triangular = { "tensor", "tensor" }, cholesky_solve = { "tensor", "tensor" }, equal = { "operand", "operand" },
  grad = { "callback" }, value_and_grad = { "callback" }, no_grad = { "callback", "tensor" }, trace = { "callback" },
  scan = { "callback", "operand", "operand" },
  func = { "func" }, rng = { "seed" }, kl_div = { "operand", "operand", "kl_div_options?" },
  KLDivLoss = { "kl_div_options?" }, kl_divergence = { "distribution", "distribution", "kl_options?" },
  kl_explain = { "distribution", "distribution", "kl_options?" },
  cross_entropy = { "distribution", "distribution" }, jeffreys = { "distribution", "distribution" },
  js_divergence = { "distribution", "distribution" }, wasserstein = { "distribution", "distribution", "positive?" },
  renyi_divergence = { "distribution", "distribution", "positive" }, biject_to = { "constraint" },
  transform_to = { "constraint" }, kl_pairs = {}, distributions = {},
  model = { "body" }, fit = { "class", "vector", "fit_options?" }, sbc = { "model", "sbc_options" },
  compare = { "posteriors" }, load = { "saved", "posed?" }, pack = { "anything" }, unpack = { "saved" },
  read_csv = { "csv" }, read_json = { "json" }, write_csv = { "frame", "path?" }, describe = { "operand" },
  rows = { "operand", "row_options?" }, write_rows = { "operand", "path", "row_options?" },
  map_file = { "path", "row_options?" }, convert_csv = { "path", "path" },
  bits = { "number" }, plot = { "plotted", "plot_options?" }, hist = { "vector", "plot_options?" },
  preload = { "names" },
  -- of tensors
  totable = {}, numel = {}, clone = {}, contiguous = {}, detach = {}, flatten = {}, backward = {},
  select = { "dim", "integer" }, narrow = { "dim", "integer", "integer" }, transpose = { "dim", "dim" },
  permute = { "dim", "dim", "dim?" }, expand = { "shape" }, reshape = { "shape" }, at = { "integer", "integer?" },
  copy = { "operand" }, sum = { "dims?", "boolean?" }, mean = { "dims?", "boolean?" }, prod = { "dims?", "boolean?" },
  std = { "dims?", "boolean?" }, var = { "dims?", "boolean?" }, all = { "dims?" }, any = { "dims?" },
  max = { "dim?", "boolean?" }, min = { "dim?", "boolean?" }, argmax = { "dim?" }, argmin = { "dim?" },
  squeeze = { "dim?" }, unsqueeze = { "dim" },
  -- of distributions
  sample = { "shape?", "rng?" }, rsample = { "shape?", "rng?" }, is_a = { "class" }, batched = { "number" },
  with_batch = { "shape" }, expectation = { "callback" }, extend = { "word" },
  fit_check = { "vector" }, kl = { "distribution" }, moment = { "extent" }, icdf_log = { "level" },
  isf_log = { "level" },
  filter = { "operand" }, smooth = { "operand" }, posterior = { "operand" }, viterbi = { "operand" },
  skewness = {}, kurtosis = {}, pdf = { "operand" },
  mode = {}, variance = {}, stddev = {}, entropy = {}, enumerate_support = {}, logits = {},
  -- of generators
  state = {}, restore = { "state" }, split = { "extent" }, uniform = { "shape?" }, normal = { "shape?" },
  exponential = { "shape?" },
}
local OF_POINTS = { log_prob = true, prob = true, cdf = true, sf = true, log_cdf = true, log_sf = true }
local OF_LEVELS = { icdf = "level", isf = "level" }
local OF_DISTRIBUTION = { mean = {}, median = {}, expand = { "shape" } }   -- where tensors have the same name
local TENSOR_FIRST = {}
for name in ([[allclose matmul softmax log_softmax logsumexp cholesky equal sort argsort quantile median one_hot cumsum
               cumprod flip diag diagonal diag_embed tril triu logdet solve_triangular cholesky_solve]]):gmatch "%S+" do
  TENSOR_FIRST[name] = true
end

local WORDS = { "'My'", "'Normal'", "''" }

local KINDS = {}   -- more kinds of arguments

function KINDS:tensors ()
  local parts = {}
  for i = 1, self.random:once_in(6) and 10 or self.random:integer(1, 3) do parts[i] = self:operand() end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

function KINDS:func ()
  return "{ forward = " .. self:callback() .. ", backward = " .. self:callback() .. " }"
end

function KINDS:kl_div_options ()
  return string.format("{ reduction = %s, logits = %s }",
                       self.random:pick { "'mean'", "'sum'", "'none'", "'batchmean'", "'x'" }, self:boolean())
end

function KINDS:kl_options ()
  return self.random:pick { "{ samples = 50 }", "{ fallback = false }", "{ rng = peri.rng(1), samples = 20 }", "{}" }
end

function KINDS:word () return self.random:pick(WORDS) end

function KINDS:state () return self:rng() .. ":state()" end

for name, kind in pairs(KINDS) do require "spec.fuzz.values"[name] = kind end


-- Of an elementwise function, its operands.
local function operands (name)
  local kinds = {}
  for i = 1, surface.operands[name] do kinds[i] = "operand" end
  return kinds
end

local function anything (source)
  local kinds = {}
  for i = 1, source.random:integer(0, 3) do kinds[i] = "anything" end
  return kinds
end

local WRITES = { write_csv = true, write_rows = true, convert_csv = true }   -- to a place of ours, whatever the case

local function face (source)
  local name, wildness = source.random:pick(surface.face), source.wildness
  if WRITES[name] then source.wildness = 0 end
  local arguments = source:arguments(ARGUMENTS[name] or anything(source))
  source.wildness = wildness
  return "peri." .. name .. "(" .. arguments .. ")"
end

local HELP = { "peri.help(%s)", "peri.help.entry(%s)", "peri.help.find(%s)", "tostring(peri.help(%s))" }

local function help (source)
  local name = source.random:unit() < source.wildness and source:anything() or source:public_name()
  return source.random:pick(HELP):format(name)
end

-- Laws made of others by arithmetic.
local function algebra (source)
  local d, other = source:distribution(), source:argument(source.random:pick { "number", "distribution" })
  return string.format(source.random:pick { "%s + %s", "%s - %s", "%s * %s", "%s / %s", "-(%s + %s)", "2 * %s + %s" },
                       d, other)
end

local function elementwise (source)
  local name = source.random:pick(surface.elementwise)
  local prefix = source.random:pick { "peri.", "peri.special." }
  return prefix .. name .. "(" .. source:arguments(operands(name)) .. ")"
end

-- What follows the tensor itself.
local function rest (kinds) return { table.unpack(kinds, 2) } end

local function method_arguments (source, name)
  if surface.operands[name] then return rest(operands(name)) end
  local kinds = ARGUMENTS[name]
  if not kinds then return anything(source) end
  return TENSOR_FIRST[name] and rest(kinds) or kinds
end

local function of_tensor (source)
  local ref, t = source:ref "tensor"
  if not ref then return nil end
  local name = source.random:pick(surface.methods)
  return ref .. ":" .. name .. "(" .. source:arguments(method_arguments(source, name), t) .. ")"
end

local function operator (source)
  local ref = source:ref "tensor"
  if not ref then return nil end
  local a, b = ref, source:argument "operand"
  if source.random:once_in(3) then a, b = b, a end
  return string.format("%s %s %s", a, source.random:pick { "+", "-", "*", "/", "^", "%", "..", "<", "<=", "==" }, b)
end

local function index (source)
  local ref = source:ref "tensor"
  return ref and source.random:pick { "%s[%s]", "#%s, %s", "-%s, %s" }:format(ref, source:argument "integer")
end

local function construct (source)
  local name = source.random:pick(surface.classes)
  if source.random:unit() >= source.wildness then return source:of_class(name) end
  return "peri." .. name .. "(" .. source:arguments(anything(source)) .. ")"
end

local function of_distribution (source)
  local ref, d = source:ref "distribution"
  if not ref then return nil end
  local name = source.random:pick(surface.methods_of(getmetatable(d)))
  local call = ref .. ":" .. name .. "("
  if OF_POINTS[name] then
    local x = source.random:unit() < source.wildness and source:anything() or source:point(ref)
    return call .. x .. ")"
  end
  if OF_LEVELS[name] then return call .. source:argument(OF_LEVELS[name]) .. ")" end
  if name == "cross_entropy" then return call .. source:argument "distribution" .. ")" end
  return call .. source:arguments(OF_DISTRIBUTION[name] or ARGUMENTS[name] or anything(source)) .. ")"
end

local function field (source)
  local ref = source:ref(source.random:pick { "distribution", "tensor", "transform", "constraint" })
  return ref and ref .. "." .. source.random:pick { "shape", "grad", "support", "probs", "logits", "loc", "x",
                                                    "batch_shape", "event_shape", "domain", "low" }
end

local function of_rng (source)
  local name = source.random:pick(surface.generator)
  return source:rng() .. ":" .. name .. "(" .. source:arguments(ARGUMENTS[name] or anything(source)) .. ")"
end

local TRANSFORM_METHODS = {
  "%s:inverse_shape({ 2, 3 }), %s", "%s(%s)", "%s:inv()", "%s:inv()(%s)", "%s:log_abs_det_jacobian(%s)", "%s .. %s",
  "%s:forward_shape({ 2, 3 }), %s",
  "%s:image(%s)", "%s == %s", "%s:inv():inv()(%s)",
}

local function of_transform (source)
  local ref = source:ref "transform"
  if not ref or source.random:once_in(3) then return source:transform() end
  local form = source.random:pick(TRANSFORM_METHODS)
  local other = form:find("%.%.") and "transform" or form:find("image") and "constraint" or "operand"
  return form:format(ref, source:argument(other))
end

local function of_constraint (source)
  local ref = source:ref "constraint"
  if not ref or source.random:once_in(3) then return source:constraint() end
  return source.random:pick { "%s:check(%s)", "%s:violation(%s)", "%s:holds(%s)", "%s == %s", "%s:rule(), %s" }
         :format(ref, source:argument "operand")
end

local calls = {
  { 10, face }, { 8, elementwise }, { 20, of_tensor }, { 6, operator }, { 3, index }, { 14, construct },
  { 20, of_distribution }, { 3, field }, { 4, of_rng }, { 6, of_transform }, { 4, of_constraint }, { 1, help },
  { 2, algebra },
}

return calls
