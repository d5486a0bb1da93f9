--- perilune: probabilistic modelling for Lua. This is its face: tensors come
-- with it, every other name is loaded on first use.
local core   = require "perilune.core"
local errors = require "perilune.errors"
require "perilune.tensor"   -- any function may make one

local peri = { _VERSION = "perilune scm" }

-- Where lower-case names come from, small modules first; classes are found by their own name.
local modules = { "functions", "tensor", "gradient", "kl_div", "kl", "divergences" }

local direct = {
  special     = function () return require "perilune.functions" end,
  constraints = function () return require "perilune.constraints" end,
  transforms  = function () return require "perilune.transforms" end,
  biject_to    = function () return require "perilune.transforms".biject_to end,
  transform_to = function () return require "perilune.transforms".transform_to end,
  Distribution = function () return require "perilune.distribution" end,
  validate    = function () return require "perilune.construct".validate end,
  optim       = function () return require "perilune.optim" end,
  vi          = function () return require "perilune.vi" end,
  KLDivLoss   = function () return require "perilune.kl_div".KLDivLoss end,
}
for _, name in ipairs { "rng", "seed", "set_threads" } do
  direct[name] = function () return core[name] end
end

--- peri.distributions(): the names of all distributions.
function direct.distributions () return core.classes end

local find   -- below

--- peri.has(name): is there such a field? Others are errors.
function direct.has ()
  return function (name) return rawget(peri, name) ~= nil or type(name) == "string" and find(name) ~= nil end
end

local function find_class (name)
  local module = "perilune.distributions." .. name
  local ok, c = pcall(require, module)
  if ok then return c end
  local missing = type(c) == "string" and c:find("module '" .. module .. "' not found", 1, true)
  if not missing then error(c, 0) end
end

local function look_up (name)
  if direct[name] then return direct[name]() end
  if name:find("^%u") then return find_class(name) end
  for _, module in ipairs(modules) do
    local value = rawget(require("perilune." .. module), name)
    if value ~= nil then return value end
  end
end

function find (name)
  local value = look_up(name)
  rawset(peri, name, value)
  return value
end

local function all_names ()
  local names = core.classes()
  for name in pairs(direct) do names[#names + 1] = name end
  for _, module in ipairs(modules) do
    for name in pairs(require("perilune." .. module)) do names[#names + 1] = name end
  end
  return names
end

return errors.module("perilune", peri, find, all_names)
