--- What a word may become: variables, fields and methods, keywords, names of files in strings, names to ask about.
local class     = require "perilune.class"
local members   = require "perilune.repl.members"
local terminal  = require "perilune.terminal"
local tokens_of = require "perilune.repl.tokens"

local KEYWORDS = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
                   "local", "nil", "not", "or", "repeat", "return", "then", "time", "true", "until", "while" }

-- The index of the bracket that opens what closes at token `i`, or nil.
local OPENING = { [")"] = "(", ["]"] = "[", ["}"] = "{" }
local function opening (tokens, i)
  local depth = 0
  while i > 0 do
    local text = tokens[i].kind == "symbol" and tokens[i].text
    if OPENING[text] then depth = depth + 1
    elseif text == "(" or text == "[" or text == "{" then depth = depth - 1 end
    if depth == 0 then return i end
    i = i - 1
  end
end

local value_before

-- What a call that ends at token i gives, if that can be said without calling: an instance of a class answers as its
-- class does.
local function call_result (session, tokens, i)
  local first = tokens[i].kind == "string" and i or opening(tokens, i)
  if not first or first == 1 then return nil end
  local callee = tokens[first - 1]
  if callee.kind ~= "name" and callee.text ~= ")" and callee.text ~= "]" then return nil end
  local f = value_before(session, tokens, first - 1)
  if type(f) == "table" and class.is_class(f) then return f end
  return members.result_of(f)
end

-- The value of the expression that ends at token i, if it is a chain of names or a constructor; nil otherwise.
function value_before (session, tokens, i)
  local token = tokens[i]
  if not token then return nil end
  local before = tokens[i - 1]
  if token.kind == "name" then
    if before and (before.text == "." or before.text == ":") then
      local x = value_before(session, tokens, i - 2)
      if x ~= nil then return members.get(x, token.text) end
      return nil
    end
    return session:look_up(token.text)
  end
  if token.text == ")" or token.text == "}" or token.kind == "string" then
    local result = call_result(session, tokens, i)
    if result ~= nil then return result end
    if token.kind == "string" then return "" end
    if token.text == ")" and opening(tokens, i) == i - 2 then return value_before(session, tokens, i - 1) end
  end
end

local function starting (names, start)
  local list, seen = {}, {}
  for _, name in ipairs(names) do
    if name:sub(1, #start) == start and not seen[name] then list[#list + 1], seen[name] = name, true end
  end
  table.sort(list)
  return list
end

-- Those whose first character is one that hides them, unless it is typed, are left out.
local function without_hidden (names, start, hides)
  local list = {}
  for _, name in ipairs(names) do
    if name:sub(1, 1) ~= hides or start:sub(1, 1) == hides then list[#list + 1] = name end
  end
  return list
end

-- How many bytes of a path are folders, and the names in there that begin as its end does.
local function files (path)
  local folder, start = path:match "^.*/" or "", path:match "^.*/(.*)" or path
  local place = folder == "" and "." or folder:gsub("^~/", (os.getenv "HOME" or "~") .. "/")
  return #folder, without_hidden(starting(terminal.names(place), start), start, ".")
end

--- Where the word before the cursor begins, and what it may become.
return function (session, text, cursor)
  local asked = text:sub(1, cursor - 1):match "^%s*%?%s*()"
  local tokens = tokens_of(text:sub(1, cursor - 1))
  local last = tokens[#tokens]
  if not last then return cursor, {} end
  if last.open and last.kind == "string" then
    local path = last.text:match "^[\"'](.*)$"
    if not path then return cursor, {} end
    local before, names = files(path)
    return last.first + 1 + before, names
  end
  if last.kind == "comment" then return cursor, {} end
  local is_word = (last.kind == "name" or last.kind == "keyword") and last.last == cursor - 1
  local start = is_word and last.text or ""
  local i = is_word and #tokens - 1 or #tokens
  local first = cursor - #start
  local link = tokens[i] and tokens[i].text
  if link == "." or link == ":" then
    local x = value_before(session, tokens, i - 1)
    if x == nil then return first, {} end
    return first, without_hidden(starting(members.of(x, link), start), start, "_")
  end
  if not is_word and not asked then return cursor, {} end
  local names = session:names()
  if not asked then table.move(KEYWORDS, 1, #KEYWORDS, #names + 1, names) end
  return first, starting(names, start)
end
