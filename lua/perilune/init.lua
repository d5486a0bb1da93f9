--- perilune: probabilistic modelling for Lua. This is its face: tensors come
-- with it, every other name is loaded on first use.
local core = require "perilune.core"
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

local function find_class (name)
  local module = "perilune.distributions." .. name
  local ok, c = pcall(require, module)
  if ok then return c end
  local missing = type(c) == "string" and c:find("module '" .. module .. "' not found", 1, true)
  if not missing then error(c, 0) end
end

local function find (name)
  if direct[name] then return direct[name]() end
  if name:find("^%u") then return find_class(name) end
  for _, module in ipairs(modules) do
    local value = require("perilune." .. module)[name]
    if value ~= nil then return value end
  end
end

return setmetatable(peri, {
  __index = function (self, name)
    if type(name) ~= "string" then return nil end
    local value = find(name)
    rawset(self, name, value)
    return value
  end,
})
