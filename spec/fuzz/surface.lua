--- What there is to call: every public name, found where the library itself looks them up.
local peri   = require "perilune"
local core   = require "perilune.core"
local public = require "docs.names"

local surface = {}

-- The first table among what a function holds, or what functions held by it hold, that has this key.
local function held_table (fn, key, depth)
  for i = 1, 20 do
    local name, value = debug.getupvalue(fn, i)
    if not name then return nil end
    if type(value) == "table" and rawget(value, key) ~= nil then return value end
    local found = type(value) == "function" and depth > 0 and held_table(value, key, depth - 1)
    if found then return found end
  end
end

local function sorted_names (t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = type(name) == "string" and name or nil end
  table.sort(names)
  return names
end

local function callable (x) return type(x) == "function" or (debug.getmetatable(x) or {}).__call ~= nil end

-- The names of a table that can be called.
local function functions_of (t)
  local names = {}
  for _, name in ipairs(sorted_names(t)) do
    if callable(t[name]) then names[#names + 1] = name end
  end
  return names
end

local lookup = getmetatable(peri).__index

-- What changes more than a case can put right, or is made for hosts.
local APART = { set_threads = true, validate = true, kl_fallback = true, seed = true, register_kl = true }

-- Functions of peri itself, but for the elementwise ones: its own, those of tensors, and fields of modules.
local function face ()
  local names, listed = { "distributions", "has" }, {}
  for _, t in ipairs { held_table(lookup, "biject_to", 3), require "perilune.tensor" } do
    for name in pairs(t) do listed[name] = true end
  end
  for _, name in ipairs(sorted_names(listed)) do
    if callable(peri[name]) and not rawget(peri.special, name) and not APART[name] then names[#names + 1] = name end
  end
  return names
end

surface.face         = face()
surface.elementwise  = functions_of(peri.special)
surface.methods      = functions_of(held_table(debug.getmetatable(peri.zeros(1)).__index, "reshape", 1))
surface.generator    = functions_of(debug.getmetatable(peri.rng(1)).__index)
surface.classes      = peri.distributions()
surface.constraints  = sorted_names(peri.constraints)
surface.transforms   = sorted_names(peri.transforms)
surface.optimisers   = {}
for _, name in ipairs(sorted_names(peri.optim)) do
  if name:find("^%u") then surface.optimisers[#surface.optimisers + 1] = name end
end

--- How many operands an elementwise function has, by its name.
surface.operands = {}
for _, file in ipairs(core.kernel_files()) do
  local kernels = core.kernels(file)
  for _, kernel in ipairs(file:find("^op/") and kernels or {}) do surface.operands[kernel.name] = kernel.n_in end
end

-- The methods of a class, its parents' too.
local function all_methods (class)
  local seen, names = {}, {}
  while class do
    for _, name in ipairs(sorted_names(class)) do
      if type(rawget(class, name)) == "function" and not name:find("^__") and not public.inside[name]
        and not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
    class = class.super
  end
  table.sort(names)
  return names
end

--- The public methods of objects, by kind: Model, Posterior, Fit and so on.
surface.objects = {}
for kind, tables in pairs(public.kinds()) do
  local listed = {}
  for _, t in ipairs(tables) do
    for _, name in ipairs(functions_of(t)) do
      local is_internal = (" " .. (public.internal[kind] or "") .. " "):find(" " .. name .. " ", 1, true)
      if not name:find "^_" and not is_internal then listed[name] = true end
    end
  end
  surface.objects[kind] = sorted_names(listed)
end

--- The kinds that objects.lua makes, and calls all methods of.
surface.made = { "Model", "Posterior", "Fit", "Sampling", "Plot", "Help", "Trace", "Rows" }

local methods = { [peri.Distribution] = all_methods(peri.Distribution) }
for _, name in ipairs(surface.classes) do methods[peri[name]] = all_methods(peri[name]) end

--- The methods of a class as it was before any case; of one made since, those that all classes have.
function surface.methods_of (class) return methods[class] or methods[peri.Distribution] end

--- Is a public name, as docs/names.lua writes it, one of those that statements pick from?
function surface.is_picked (path)
  local kind, name = path:match "^([%w.]+)[.:]([^.:]+)$"
  local lists = {
    peri = { surface.face, surface.elementwise, surface.classes }, ["peri.constraints"] = { surface.constraints },
    ["peri.transforms"] = { surface.transforms }, ["peri.optim"] = { surface.optimisers }, Tensor = { surface.methods },
    Rng = { surface.generator }, Distribution = { methods[peri.Distribution] },
  }
  for _, class in ipairs(surface.classes) do lists[class] = { methods[peri[class]] } end
  for _, object in ipairs(surface.made) do lists[object] = { surface.objects[object] } end
  for _, list in ipairs(lists[kind] or {}) do
    for _, listed in ipairs(list) do
      if listed == name then return true end
    end
  end
  return false
end

return surface
