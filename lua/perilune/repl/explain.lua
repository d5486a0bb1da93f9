--- Errors as the prompt shows them: one line, that names what was probably meant.
local core      = require "perilune.core"
local members   = require "perilune.repl.members"
local tokens_of = require "perilune.repl.tokens"
local readable  = require "perilune.readable"

local explain = {}

-- What an object is called: "Gamma", "Tensor", "a string".
local function kind_of (x, written)
  local meta = debug.getmetatable(x)
  if type(x) == "string" then return "a string" end
  local name = type(x) == "table" and rawget(x, "__name") or type(meta) == "table" and rawget(meta, "__name")
  return type(name) == "string" and name:gsub("^perilune%.", "") or written or "it"
end

-- The object whose method was called at `level` and is not there: behind the nil that was called on the stack of that
-- function comes the object itself.
local function called_object (level, name)
  local found, before_is_nil
  for i = 1, math.huge do
    local known, x = debug.getlocal(level + 1, i)
    if not known then return found end
    if before_is_nil and x ~= nil and type(x) ~= "number" and members.get(x, name) == nil then found = x end
    before_is_nil = x == nil
  end
end

-- The object before .name in a line of text, if it is a chain of names that `look_up` knows; and that chain.
local function written_object (line, name, look_up)
  local tokens = tokens_of(line)
  for i = #tokens, 3, -1 do
    if tokens[i].text == name and tokens[i - 1].text:find "^[.:]$" and tokens[i - 2].kind == "name" then
      local first = i - 2
      while first > 2 and tokens[first - 1].text == "." and tokens[first - 2].kind == "name" do first = first - 2 end
      local x = look_up(tokens[first].text)
      for k = first + 2, i - 2, 2 do
        if x ~= nil then x = members.get(x, tokens[k].text) end
      end
      if x ~= nil and members.get(x, name) == nil then
        return x, line:sub(tokens[first].first, tokens[i - 2].last)
      end
    end
  end
end

-- "Gamma has no log_porb; did you mean log_prob?", or nil if there is nothing to be said.
local function missing (x, name, written)
  local near = members.nearest(x, name)
  return string.format("%s has no %s%s", kind_of(x, written), name, near and "; did you mean " .. near .. "?" or "")
end

--- That there is no such variable, and which there is.
function explain.unknown (name, names)
  local near = #name > 1 and core.nearest(name, names)
  return string.format("there is no %s%s", name, near and "; did you mean " .. near .. "?" or "")
end

-- "attempt to index a number value (local 'x')": which variables are upvalues is nothing that was typed.
local function plainly (message)
  return (message:gsub("^(.-:%d+: attempt to .- value) %(upvalue '([%a_][%w_]*)'%)$", "%1 (local '%2')"))
end

--- Adds to Lua's message about a nil what was probably meant. For handlers of errors: `level` is where it was raised;
-- `context` has `line(source, number)`, the text of a line, `look_up(name)`, the value of a variable, and `names()`.
function explain.message (message, level, context)
  local where, rest = message:match "^(.-:%d+: )(attempt to .*)$"
  local kind, name = (rest or ""):match "a nil value %((%a+) '([%a_][%w_]*)'%)"
  if not kind then return plainly(message) end
  if kind == "global" then return where .. explain.unknown(name, context.names()) end
  local x, written
  if kind == "method" then x = called_object(level + 1, name) end
  if kind == "field" or kind == "method" then
    local source, number = where:match "^(.*):(%d+): $"
    local line, other = context.line(source, tonumber(number)), nil
    if line then other, written = written_object(line, name, context.look_up) end
    if x == nil then x = other elseif not rawequal(x, other) then written = nil end
  end
  if x ~= nil then return where .. missing(x, name, written) end
  return plainly(message)
end

--- Any value that was raised, as text.
function explain.text (raised)
  if type(raised) == "string" then return raised end
  local meta = debug.getmetatable(raised)
  if type(meta) == "table" and rawget(meta, "__tostring") then return tostring(raised) end
  return "an error that is no text: " .. readable.line(raised)
end

return explain
