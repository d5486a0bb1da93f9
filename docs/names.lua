--- Every public name there is, found by walking what the library holds: names.all() -> { [path] = value }.
local peri = require "perilune"

local names = {}

-- Methods and fields of objects that only the library itself calls.
names.internal = {
  Distribution = "operands",
  Posterior    = "new rows element_name columns",
  Model        = "start culprit describe latent_names simulate prior_rows observed_names",
  Fit          = "new run",
  Sampling     = "new of way own_rng finish",
  Optimiser    = "rules kind numbers count_step",
  Transform    = "params",
  Constraint   = "params new",
}

local function methods_of (x)
  local index = debug.getmetatable(x).__index
  if type(index) == "table" then return index end
  local _, methods = debug.getupvalue(index, 1)   -- of a tensor: a function in C
  return methods
end

local function upvalue (f, wanted)
  for i = 1, 60 do
    local name, value = debug.getupvalue(f, i)
    if name == wanted then return value end
  end
end

-- Objects of every kind, as tables of what they know.
function names.kinds ()
  local posed = peri.model(function (m) m.x = peri.Normal(0, 1) end) {}
  for name in pairs(require "perilune.model".methods) do assert(posed[name]) end   -- loads them
  local w = peri.param(1)
  local run = require "perilune.model.run"
  return {
    Constraint   = { peri.constraints.Constraint, getmetatable(peri.constraints.positive) },
    Distribution = { peri.Distribution },
    Fit          = { (require "perilune.inference.running") },
    Guide        = { run.methods.guide },
    Help         = { (require "perilune.help.entry") },
    Model        = { getmetatable(posed) },
    Optimiser    = { require "perilune.optim.optimiser", { step = peri.optim.SGD.step } },
    Plot         = peri.has "plot" and { getmetatable(peri.plot({ 0, 1 })).__index } or nil,
    Posterior    = { (require "perilune.inference.posterior") },
    Registry     = { getmetatable(peri.biject_to).__index },
    Rng          = { methods_of(peri.rng(1)) },
    Rows         = { require "perilune.data.rows".methods },
    Sampling     = { require "perilune.inference.sampling", upvalue(require "perilune.inference.smc", "Smc") },
    Sites        = { run.methods.model },
    Tensor       = { methods_of(w) },
    Trace        = { methods_of(peri.trace(function () return w * w end)) },
    Transform    = { getmetatable(getmetatable(peri.transforms.Exp())).__index },
  }
end

local function is_internal (kind, name)
  return (" " .. (names.internal[kind] or "") .. " "):find(" " .. name .. " ", 1, true) ~= nil
end

-- Is it one that errors.module made?
local function is_module (x)
  local meta = type(x) == "table" and getmetatable(x)
  return type(meta) == "table" and type(meta.__index) == "function" and rawget(x, "__index") == nil
end

-- All fields of a module, and of modules in it; `special` has no functions but peri's.
local function add_module (found, path, module)
  for name, value in pairs(module) do
    local is_public = type(name) == "string" and not name:find "^_"
    if is_public then found[path .. "." .. name] = value end
    if is_public and is_module(value) and name ~= "special" then add_module(found, path .. "." .. name, value) end
  end
end

-- Methods that one class of distributions has beside those of all, unless they serve its construction.
names.inside = { init = true, construct = true, complete = true, outcomes = true, finite_df = true,
                 finite_mean = true, affine = true, moments_below = true }
local function add_classes (found)
  for _, class_name in ipairs(peri.distributions()) do
    for name, value in pairs(peri[class_name]) do
      if type(value) == "function" and not name:find "^__" and peri.Distribution[name] == nil
        and not names.inside[name] then
        found[class_name .. ":" .. name] = value
      end
    end
  end
end

--- All of them. Methods are "Kind:name"; fields that are no functions are left out, as objects have them only
-- when they have been made.
function names.all ()
  local found = {}
  add_module(found, "peri", peri)
  for kind, tables in pairs(names.kinds()) do
    for _, methods in ipairs(tables) do
      for name, value in pairs(methods) do
        local is_method = type(value) == "function" and not name:find "^_"
        if is_method and not is_internal(kind, name) then found[kind .. ":" .. name] = value end
      end
    end
  end
  add_classes(found)
  return found
end

return names
