--- Transforms: maps from one set of values to another, with inverses and determinants (transform.lua). Each kind is a
-- file of transforms/, loaded when it is first asked for; torch's names (ExpTransform) are found as well.
local core   = require "perilune.core"
local errors = require "perilune.errors"

--@ peri.transforms
-- Transforms: maps from one set of values to another, with inverses and determinants. torch's names (ExpTransform) are
-- found as well.
-- > transforms.ExpTransform == transforms.Exp
-- true

--@ peri.transforms.identity -> Transform
-- The transform that changes nothing.
-- > transforms.identity(3)
-- 3
local transforms = {}

local finders = {   -- [name] = function that gives what is no kind
  identity     = function () return transforms.Compose {} end,
  biject_to    = function () return require "perilune.unconstrained".biject_to end,
  transform_to = function () return require "perilune.unconstrained".transform_to end,
}
for _, name in ipairs(core.modules "transforms") do
  finders[name] = function () return require("perilune.transforms." .. name) end
end

local function find (name)
  if not finders[name] then name = name:match("^(.+)Transform$") or name:match("^(.+)_transform$") end
  if not finders[name] then return nil end
  local value = rawget(transforms, name) or finders[name]()
  transforms[name] = value
  return value
end

local function all_names (list)
  for name in pairs(finders) do list[#list + 1] = name end
end

return core.keep("transforms", errors.module("transforms", transforms, find, all_names))
