--- What is known of the terminal: how wide it is, and whether it shows more than ASCII. A host without `os` is asked
-- nothing.
local width = {}

local USUAL, LEAST, MOST = 80, 20, 400

local function variable (name) return os and os.getenv and os.getenv(name) or nil end

--- Columns of the terminal, or 80.
function width.columns ()
  local columns = math.tointeger(tonumber(variable "COLUMNS" or USUAL)) or USUAL
  return math.max(LEAST, math.min(MOST, columns))
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
