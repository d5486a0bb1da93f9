--- Classes as plain Lua metatables.
--
-- A class table is its instances' metatable; its parent is the `__index` of its
-- own metatable. Nothing else is assumed, so a class made by hand with
-- setmetatable is as good as one made by `extend`.
local class = {}

local DEEPEST = 100   -- a chain longer than this is a cycle

--- The class of an instance, or nil.
function class.of (instance)
  if type(instance) ~= "table" then return nil end
  local meta = getmetatable(instance)
  return type(meta) == "table" and meta or nil
end

--- Is this a class, or a kind of transforms or constraints, where an instance belongs?
function class.is_class (x) return type(x) == "table" and rawget(x, "__index") ~= nil end

--- The parent of a class, or nil.
function class.parent (c)
  local meta = getmetatable(c)
  local parent = type(meta) == "table" and rawget(meta, "__index")
  return type(parent) == "table" and parent or nil
end

--- The class and its ancestors, nearest first.
function class.chain (c)
  local chain = {}
  while c and #chain < DEEPEST do
    chain[#chain + 1] = c
    c = class.parent(c)
  end
  return chain
end

--- Is `ancestor` the class c or one of its ancestors?
function class.descends (c, ancestor)
  local depth = 0
  while c and c ~= ancestor and depth < DEEPEST do c, depth = class.parent(c), depth + 1 end
  return c ~= nil and c == ancestor
end

--- Is x an instance of `ancestor`, or of a class that descends from it?
function class.is_instance (x, ancestor)
  local c = class.of(x)
  return c ~= nil and class.descends(c, ancestor)
end

--- A name for messages.
function class.name (c)
  local name = type(c) == "table" and rawget(c, "__name")
  return type(name) == "string" and name or "a class without __name"
end

return class
