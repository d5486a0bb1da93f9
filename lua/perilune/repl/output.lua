--- Shows the values of what was typed, and errors.
local colour   = require "perilune.repl.colour"
local readable = require "perilune.readable"

local output = {}

-- A text alone is shown as it is if it has several lines, and in quotes otherwise.
local function text_of (x)
  if type(x) == "string" and x:find "\n" and utf8.len(x) and not x:find "[\0-\8\11-\31\127]" then return x end
  return readable.text(x)
end

--- Values 2 to n of a table of results: side by side, or below each other if one has several lines. What io.write
-- returns is nothing that anybody asked for.
function output.values (results)
  if results.n == 2 and rawequal(results[2], io.stdout) then return end
  local texts, has_lines = {}, false
  for i = 2, results.n do
    texts[#texts + 1] = text_of(results[i])
    has_lines = has_lines or texts[#texts]:find "\n" ~= nil
  end
  if #texts > 0 then io.stdout:write(table.concat(texts, has_lines and "\n" or "\t"), "\n") end
end

--- An error, in one line, and below it the lines of files that led there. "interrupted" is none, and comes behind the
-- ^C of the terminal.
function output.error (message, frames, who)
  local is_error = message ~= "interrupted"
  io.stdout:flush()
  if is_error then io.stderr:write(colour.paint("error", who or "error: ", 2)) else io.stderr:write "\n" end
  io.stderr:write(message, "\n")
  for i = 2, #(frames or {}) do io.stderr:write("  called from ", frames[i], "\n") end
  io.stderr:flush()
end

--- How long something took: 3 digits.
function output.duration (seconds)
  for _, unit in ipairs { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "µs" } } do
    if seconds >= unit[1] or unit[2] == "µs" then
      io.stdout:write(colour.paint("faint", string.format("%.3g %s", seconds / unit[1], unit[2])), "\n")
      return
    end
  end
end

return output
