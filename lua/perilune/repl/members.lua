--- The names that an object answers to, for completion and for those who misspell one.
--
-- Metatables may say them: `__names(x)` gives a list. Others are found by following __index. Of objects with much
-- that is their own business, the reference says what is public.
local attempt = require "perilune.attempt"
local class   = require "perilune.class"
local core    = require "perilune.core"

local members = {}

local DEEPEST = 100   -- steps along __index

local function add_keys (set, t)
  for key in next, t do
    if type(key) == "string" then set[key] = true end
  end
end

local function add (set, x, depth)
  local meta = debug.getmetatable(x)
  if type(x) == "table" then add_keys(set, x) end
  if type(meta) ~= "table" or depth > DEEPEST then return end
  local list, index = rawget(meta, "__names"), rawget(meta, "__index")
  if list then
    for _, name in ipairs(list(x)) do set[name] = true end
  end
  if type(index) == "table" and index ~= x then return add(set, index, depth + 1) end
  if type(index) == "function" and meta ~= x and not list then   -- a class that looks further itself
    return add(set, meta, depth + 1)
  end
end

local PUBLIC = { posterior = "Posterior", ["posed model"] = "Model" }   -- by __name, as the reference calls them

-- Adds what the reference has of a kind, behind a dot or a colon; of fields those that this object has.
local function add_public (set, x, kind, link)
  for _, entry in ipairs(require "perilune.help".find(kind)) do
    local joint, name = entry.name:match("^" .. kind .. "([.:])([%w_]+)$")
    local is_there = joint == ":" or name and (rawget(x, name) ~= nil or name:find "^log_evidence")
    if is_there and joint ~= (link == ":" and "." or nil) then set[name] = true end
  end
end

-- Is it something that can be called?
local function is_callable (value)
  local meta = debug.getmetatable(value)
  return type(value) == "function" or type(meta) == "table" and meta.__call and not class.is_class(value)
end

local function add_all (set, x, link)
  add(set, x, 1)
  for name in pairs(set) do
    local is_hidden = name:find "^__" or link == ":" and not is_callable(members.get(x, name))
    if is_hidden then set[name] = nil end
  end
end

--- A list of names; after a colon (`link`) of those that can be called. Names that begin with two underscores are
-- Lua's.
function members.of (x, link)
  local set, names, meta = {}, {}, debug.getmetatable(x)
  local kind = type(x) == "table" and type(meta) == "table" and PUBLIC[rawget(meta, "__name")]
  if kind then add_public(set, x, kind, link) else add_all(set, x, link) end
  for name in pairs(set) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- x[name] without errors, as far as it can be known without running what a user wrote.
function members.get (x, name)
  local ok, value = attempt.any(function () return x[name] end)
  if ok then return value end
end

-- Something that has the methods of a kind of objects, as the reference knows them.
local function stand_in (kind, help)
  local methods = {}
  for _, entry in ipairs(help.find(kind)) do
    local name = entry.name:match("^" .. kind .. ":([%w_]+)$")
    if name then methods[name] = function () end end
  end
  return setmetatable({}, { __index = methods })
end

--- Something that answers as the results of a function do, if that is known: of those whose help says that they give
-- tensors, or objects with methods.
function members.result_of (f)
  local found, help = pcall(require, "perilune.help")
  local name = type(f) == "function" and require "perilune.readable".name(f)
  local entry = found and name and help.entry((name:gsub("^peri%.", "")))
  local kind = type(entry) == "table" and entry.signature:match "%->%s*(%u%w*)"
  if kind == "Tensor" then return core.tensor { 0 } end
  if kind then return stand_in(kind, help) end
end

--- Which of the names of x was meant, or nil.
function members.nearest (x, name) return core.nearest(name, members.of(x)) end

return members
