--- lazy(name): the module perilune.<name>, loaded when a field of it is first asked for.
--
-- For what few need of those who load a file: numerical methods, say.
return function (name)
  return setmetatable({}, {
    __index = function (self, key)
      local value = require("perilune." .. name)[key]
      self[key] = value
      return value
    end,
  })
end
