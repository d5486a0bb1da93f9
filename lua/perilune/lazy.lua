--- lazy(name): the module perilune.<name>, loaded when a field of it is first asked for.
--
-- For what few need of those who load a file: numerical methods, say.
local core = require "perilune.core"

local made = core.keep("lazy modules", {})   -- the names, for peri.preload

return function (name)
  made[name] = true
  return setmetatable({}, {
    __index = function (self, key)
      local value = require("perilune." .. name)[key]
      self[key] = value
      return value
    end,
  })
end
