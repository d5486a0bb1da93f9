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
local fields = {
  construction  = "validate",
  ["data.bits"] = "bits",
  ["data.csv"]  = "read_csv write_csv",
  ["data.describe"] = "describe",
  ["data.json"] = "read_json",
  ["data.row_files"] = "convert_csv write_rows",
  ["data.rows"] = "map_file rows",
  divergences   = "cross_entropy jeffreys js_divergence renyi_divergence",
  fit           = "fit",
  gradient      = "func grad no_grad param trace value_and_grad",
  kl            = "kl_divergence kl_explain kl_fallback kl_pairs register_kl",
  kl_div        = "kl_div KLDivLoss",
  ["inference.loo"] = "compare",
  ["inference.saved"] = "load",
  ["inference.sbc"] = "sbc",
  model         = "model",
  pack          = "pack unpack",
  plot          = "plot hist",
  preload       = "preload",
  scan          = "scan",
  unconstrained = "biject_to transform_to",
  wasserstein   = "wasserstein",
}

local field_of = {}   -- name -> the module that has it
for module, names in pairs(fields) do
  for name in names:gmatch("%S+") do field_of[name] = module end
end

local function find (name)
  local value = rawget(functions, name) or tensor[name]
  if modules[name] then value = require("perilune." .. modules[name])
  elseif field_of[name] then value = require("perilune." .. field_of[name])[name]
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
  for _, names in ipairs { modules, field_of, functions, tensor } do
    for name in next, names do list[#list + 1] = name end
  end
  table.move(core.classes(), 1, #core.classes(), #list + 1, list)
end

return errors.module("perilune", peri, find, other_names)
