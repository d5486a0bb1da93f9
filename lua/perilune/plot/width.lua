--- What is known of the terminal: whether there is one, how wide it is, and whether it shows more than ASCII. A host
-- without `os`, or without the module for terminals, is asked nothing.
local width = {}

local USUAL, LEAST, MOST = 80, 20, 400

local function variable (name) return os and os.getenv and os.getenv(name) or nil end

local function terminal ()
  local found, module = pcall(require, "perilune.terminal")
  return found and type(module) == "table" and module or nil
end

--- Is standard output (1) or error (2) a terminal?
function width.is_terminal (descriptor)
  local module = terminal()
  return module ~= nil and module.is_terminal(descriptor)
end

--- Columns: what COLUMNS says, those of the terminal, or 80.
function width.columns ()
  local columns = math.tointeger(tonumber(variable "COLUMNS"))
  if not columns and width.is_terminal(1) then columns = terminal().size() end
  return math.max(LEAST, math.min(MOST, columns or USUAL))
end

--- Does the locale want UTF-8? One that is not set at all says nothing against it.
function width.is_utf8 ()
  for _, name in ipairs { "LC_ALL", "LC_CTYPE", "LANG" } do
    local value = variable(name)
    if value and value ~= "" then return value:lower():find "utf%-?8" ~= nil end
  end
  return true
end

return width
