--- Colours, on a terminal that has them, unless NO_COLOR is set (no-color.org).
local terminal  = require "perilune.terminal"
local tokens_of = require "perilune.repl.tokens"

local colour = {}

local CODES = { prompt = "1;34", keyword = "35", string = "32", number = "36", comment = "90", error = "31",
                faint = "90", match = "4" }

local function is_coloured (fd)
  local setting, term = os.getenv "NO_COLOR", os.getenv "TERM"
  return (setting == nil or setting == "") and term ~= nil and term ~= "dumb" and terminal.is_terminal(fd)
end

local ON = { [1] = is_coloured(1), [2] = is_coloured(2) }

--- The text in the colour of a kind, for standard output or (fd 2) errors.
function colour.paint (kind, text, fd)
  if not ON[fd or 1] or not CODES[kind] or text == "" then return text end
  return "\27[" .. CODES[kind] .. "m" .. text .. "\27[0m"
end

--- The kind of every byte of a text in Lua, as an array; nil where there are no colours.
function colour.kinds (text)
  if not ON[1] then return nil end
  local kinds = {}
  for _, token in ipairs(tokens_of(text)) do
    if CODES[token.kind] then
      for i = token.first, token.last do kinds[i] = token.kind end
    end
  end
  return kinds
end

return colour
