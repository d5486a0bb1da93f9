--- lazy(name): the module perilune.<name>, loaded when a field of it is first asked for; lazy(name, part): a table that
-- it has, or none.
--
-- For what few need of those who load a file: numerical methods, say.
return function (name, part)
  return setmetatable({}, {
    __index = function (self, key)
      local module = require("perilune." .. name)
      local value = part and (module[part] or {})[key]
      if not part then value = module[key] end
      self[key] = value
      return value
    end,
  })
end
