--- Runs scripts in processes of their own, and says how they ended.
local fault = require "spec.fuzz.fault"

local child = {}

local INTERPRETER = os.getenv "FUZZ_LUA" or "lua5.4"
local TIMED_OUT = { [124] = true, [137] = true }   -- as timeout(1) exits

-- What a sanitizer or the interpreter complained about, in a line.
local function complaint (output)
  return output:match("ERROR: (%a+Sanitizer:[^\n]*)") or output:match("[^\n]*runtime error:[^\n]*")
         or output:match("([^\n]+)\n*$") or ""
end

--- Runs a command line of Lua for at most so many seconds. Returns nil if all went well, else the kind of fault, a
-- text about it, and all that was written.
function child.run (arguments, seconds)
  local pipe = assert(io.popen(string.format("timeout -k 2 %d %s %s 2>&1", seconds, INTERPRETER, arguments)))
  local output = pipe:read "a"
  local ok, _, code = pipe:close()
  if ok then return nil end
  if TIMED_OUT[code] then return "timeout", string.format("no end within %d s", seconds), output end
  local kind, text = fault.parse(output)
  if kind then return kind, text, output end
  return "crash", string.format("exit code %d: %s", code, complaint(output)), output
end

return child
