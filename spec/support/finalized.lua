--- An object with a finalizer: the table itself or, where tables have none (Lua 5.1, LuaJIT), a userdata that is alone in
-- knowing it. finalized(t, act): act(t) runs when nobody has what is returned.
local newproxy = rawget(_G, "newproxy")

return function (t, act)
  if not newproxy then return setmetatable(t, { __gc = act }) end
  local proxy = newproxy(true)
  getmetatable(proxy).__gc = function () act(t) end
  return proxy
end
