--- perilune: probabilistic modelling for Lua. This is its face: tensors come
-- with it, every other name is loaded on first use.
if not (math.type and table.move) then require "perilune.compat" end   -- before Lua 5.3

local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local tensor    = require "perilune.tensor"   -- any function may make one

local peri = { _VERSION = "perilune " .. core.version }

-- Names that stand for a whole module.
local modules = {
  Distribution = "distribution", constraints = "constraints", help = "help", optim = "optim", special = "functions",
  transforms = "transforms", vi = "vi",
}

-- Fields of modules. Those of `functions` and `tensor`, which are loaded, are all names of ours too, what C offers
-- among them.
local module_of = {
  validate = "construction",
  bits = "data.bits",
  read_csv = "data.csv", write_csv = "data.csv",
  describe = "data.describe",
  read_json = "data.json",
  convert_csv = "data.row_files", write_rows = "data.row_files",
  map_file = "data.rows", rows = "data.rows",
  cross_entropy = "divergences", jeffreys = "divergences", js_divergence = "divergences",
  renyi_divergence = "divergences",
  fit = "fit",
  func = "gradient", grad = "gradient", no_grad = "gradient", param = "gradient", trace = "gradient",
  value_and_grad = "gradient",
  kl_divergence = "kl", kl_explain = "kl", kl_fallback = "kl", kl_pairs = "kl", register_kl = "kl",
  kl_div = "kl_div", KLDivLoss = "kl_div",
  compare = "inference.loo",
  load = "inference.saved",
  sbc = "inference.sbc",
  model = "model",
  pack = "pack", unpack = "pack",
  plot = "plot", hist = "plot",
  preload = "preload",
  scan = "scan",
  biject_to = "unconstrained", transform_to = "unconstrained",
  wasserstein = "wasserstein",
}

local function find (name)
  local value = rawget(functions, name) or tensor[name]
  if modules[name] then value = require("perilune." .. modules[name])
  elseif module_of[name] then value = require("perilune." .. module_of[name])[name]
  elseif value == nil and core.is_module("distributions", name) then value = require("perilune.distributions." .. name)
  end
  rawset(peri, name, value)
  return value
end

--@ peri.distributions() -> table
-- The names of all distributions, a list of strings in alphabetical order.
-- > distributions()[1]
-- AsymmetricLaplace
function peri.distributions (...)
  return require "perilune.show".listed(core.classes(...))
end

--@ peri.has(name) -> boolean
-- Is there such a field of peri? To ask for others raises, and names the nearest.
--   name  string
-- > has("Normal"), has("Norml")
-- true  false
function peri.has (name, ...)
  errors.no_more("has(name)", ...)
  return rawget(peri, name) ~= nil or type(name) == "string" and find(name) ~= nil
end

-- Nothing is loaded to list them.
local function other_names (list)
  for _, names in ipairs { modules, module_of, functions, tensor } do
    for name in next, names do list[#list + 1] = name end
  end
  table.move(core.classes(), 1, #core.classes(), #list + 1, list)
end

return errors.module("perilune", peri, find, other_names)
