--- finalized(t, act): an object after which act(t) is called when nobody has it any more. It is the table itself or,
-- where tables have no finalizers (Lua 5.1, LuaJIT), a userdata.
local newproxy = rawget(_G, "newproxy")

return function (t, act)
  if not newproxy then return setmetatable(t, { __gc = act }) end
  local proxy = newproxy(true)
  getmetatable(proxy).__gc = function () act(t) end
  return proxy
end
