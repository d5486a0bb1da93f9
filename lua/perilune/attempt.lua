--- Calls that may be refused.
--
-- A refusal is a message that says so. Whatever else is raised goes on as it is: to be interrupted or out of memory
-- is no answer, and neither is a mistake in a method.
local attempt = {}

--- As pcall(fn, ...), for errors whose message contains one of two texts; others are raised.
function attempt.call (text, other, fn, ...)
  local ok, result = pcall(fn, ...)
  if ok then return true, result end
  local refused = type(result) == "string" and (result:find(text, 1, true) or other and result:find(other, 1, true))
  if not refused then error(result, 0) end
  return false, result
end

--- What d's method of this name returns, or nil where there is none or it refuses: "Normal has no mode", or
-- "Multinomial:mode: why not".
function attempt.method (d, name, ...)
  local ok, value = attempt.call(" has no ", ":" .. name .. ": ", d[name], d, ...)
  return ok and value or nil
end

--- As pcall(fn, ...), for what a user wrote, which may fail in any way. To be interrupted or out of memory is raised.
function attempt.any (fn, ...)
  local ok, result = pcall(fn, ...)
  local is_text = not ok and type(result) == "string"
  if is_text and (result:find("interrupted", 1, true) or result:find("not enough memory", 1, true)) then
    error(result, 0)
  end
  return ok, result
end

return attempt
