--- Supports that contain more than the values that there are.
--
-- A support with the flag is_wide is known to contain all values, and maybe others that are none.
local constraints = require "perilune.constraints"

local hulls = {}

--- A support that is discrete, or wide, as its own kind is not: for rows and matrices their parts are.
function hulls.marked (support, is_discrete, is_wide)
  if support.dims then
    return constraints.independent(hulls.marked(support.base, is_discrete, is_wide), support.dims)
  end
  local copy = {}
  for key, value in pairs(support) do copy[key] = value end
  copy.is_discrete, copy.is_wide = is_discrete or support.is_discrete, is_wide
  return setmetatable(copy, getmetatable(support))
end

--- Is a support, which may be nil, more than the values that there are?
function hulls.is_wide (support) return support ~= nil and (support.base or support).is_wide or false end

return hulls
