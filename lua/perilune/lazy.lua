--- lazy(name): the module perilune.<name>, loaded when a field of it is first asked for; lazy(name, part): a table that
-- it has, or none.
--
-- For what few need of those who load a file: numerical methods, say.
local core = require "perilune.core"

local made = core.keep("lazy modules", {})   -- the names, for peri.preload

return function (name, part)
  made[name] = true
  local function found ()
    local module = require("perilune." .. name)
    return part and (module[part] or {}) or module
  end
  return setmetatable({}, {
    __index = function (self, key)
      local value = found()[key]
      self[key] = value
      return value
    end,
    __pairs = function () return pairs(found()) end,
  })
end
