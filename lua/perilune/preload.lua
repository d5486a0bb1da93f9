--- Loading ahead of time, for those who must not wait when a name is first used.
local core   = require "perilune.core"
local errors = require "perilune.errors"

local UNUSED = { "^help/", "^repl" }   -- text, and the prompt, which no computation needs

local function is_unused (file)
  for _, pattern in ipairs(UNUSED) do
    if file:find(pattern) then return true end
  end
  return file == "init"
end

local function load_all ()
  for _, file in ipairs(core.all_modules()) do
    if not is_unused(file) then require("perilune." .. file:gsub("/init$", ""):gsub("/", ".")) end
  end
end

-- Loads what stands for a name: a field of peri, or a way to a posterior.
local function load_name (peri, ways, name)
  if type(name) ~= "string" then errors.raise("preload: names must be strings, got %s", core.describe(name)) end
  if ways[name] then require("perilune.inference." .. name) end
  if not ways[name] or peri.has(name) then local _ = peri[name] end   -- raises if there is none
end

-- What the files loaded so far would load later, and what these would.
local function load_lazy ()
  local made, before, loaded = core.keep("lazy modules", {}), {}
  repeat
    loaded = false
    local names = {}
    for name in pairs(made) do names[#names + 1] = name end   -- loading adds to `made`
    for _, name in ipairs(names) do
      if not before[name] then
        require("perilune." .. name)
        before[name], loaded = true, true
      end
    end
  until not loaded
end

--@ peri.preload(names) -> nothing
-- Loads what stands for these names, with what it would load when first called: otherwise the first call of a function
-- reads some files, which may take milliseconds. What depends on arguments, such as a transform to a support, is loaded
-- only without names: then all of the library is.
--   names  list of strings: fields of peri, and ways to a posterior ("nuts"); everything unless told
-- > preload { "Normal", "kl_divergence", "vi" }
local function preload (names, ...)
  errors.no_more("preload(names)", ...)
  if names == nil then return load_all() end
  if core.table_kind(names) ~= "data" then
    errors.raise("preload: names must be a list of strings, got %s", core.describe(names))
  end
  local peri, ways = require "perilune", require "perilune.model".methods
  for _, name in ipairs(core.check_list("preload", "names", names)) do load_name(peri, ways, name) end
  load_lazy()
end

return { preload = preload }
