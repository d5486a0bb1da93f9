--- Faults: what a case raises when a rule is broken.
--
-- They have a kind, by which a smaller case is compared with the one that it came from:
--   raw        a raw error of Lua from within the library
--   position   an error that carries a line of the library instead of the caller's
--   object     an error that is no string
--   slow, hang, memory, tostring, law
-- and, seen from outside: crash, timeout.
local fault = {}

local Fault = { __name = "fault" }
Fault.__index = Fault

function Fault:__tostring () return string.format("fault %s: %s", self.kind, self.text) end

-- Kinds that are not looked for.
local ignored = {}
for kind in (os.getenv "FUZZ_IGNORE" or ""):gmatch("%a+") do ignored[kind] = true end

function fault.raise (kind, ...)
  if ignored[kind] then return end
  error(setmetatable({ kind = kind, text = string.format(...) }, Fault), 0)
end

function fault.is (x) return getmetatable(x) == Fault end

--- The kind and the text of the fault in what a process wrote, or nil.
function fault.parse (output) return output:match("fault (%a+): (.*)") end

return fault
