--- Examples of the reference: run in an environment that has all names of `peri`, and what they give as text.
local peri = require "perilune"

local examples = {}

local function environment ()
  return setmetatable({ peri = peri }, { __index = function (_, name)
    if peri.has(name) then return peri[name] end
    return _G[name]
  end })
end

-- The function that a text is, or nil and why it is none; raises where there is no memory for it.
local function compiled (text)
  local chunk, why = load(text, "=example", "t", environment())
  if not chunk and why:find "not enough memory" then error(why, 0) end
  return chunk, why
end

-- The last line is an expression, those before are statements; or all of it is one expression.
local function compile (code)
  local before, last = code:match "^(.*\n)(.-)$"
  return compiled((before or "") .. "return " .. (last or code)) or compiled("return " .. code) or compiled(code)
end

local function trimmed (text) return (text:gsub("[ \t]+\n", "\n"):gsub("%s+$", "")) end

--- What an example gives: all values, separated by two spaces, and the first alone; or nil and why not. An error is
-- given as "error: message", for examples that show one.
function examples.run (code)
  local chunk, why = compile(code)
  if not chunk then return nil, why or "it cannot be compiled" end
  peri.seed(0)
  local results = table.pack(pcall(chunk))
  if not results[1] then return "error: " .. tostring(results[2]):gsub("^example:%d+: ", "") end
  local parts = {}
  for i = 2, results.n do parts[i - 1] = tostring(results[i]) end
  return trimmed(table.concat(parts, "  ")), trimmed(parts[1] or "")
end

return examples
