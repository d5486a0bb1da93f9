--- The tokens of a text in Lua, also of one that is not finished.
--
-- A token is { kind, text, first, last, line }: "name", "keyword", "number", "string", "comment", "symbol", or "other".
-- Comments are among them; `open` is true of a string or comment that does not end.
local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true until
               while]]):gmatch "%a+" do
  keywords[word] = true
end

-- Where a long bracket that begins at `first` ends; nil if it does not, false if there is none.
local function long_end (text, first)
  local level = text:match("^%[(=*)%[", first)
  if not level then return false end
  local _, last = text:find("]" .. level .. "]", first + #level + 2, true)
  return last
end

-- Where a string in quotes ends, or nil: at its quote that no backslash precedes.
local function quoted_end (text, first)
  local quote, at = text:sub(first, first), first + 1
  while true do
    at = text:find("[\\\n" .. quote .. "]", at)
    local c = at and text:sub(at, at)
    if c == quote then return at end
    if not at or c == "\n" then return nil end
    at = at + 2
    if text:sub(at - 1, at - 1) == "z" then at = text:find("%S", at) or #text + 1 end
  end
end

local function line_end (text, first) return (text:find("\n", first, true) or #text + 1) - 1 end

-- Kind, last position, and whether it is open, of the token that begins at `first`.
local function token_at (text, first)
  local c = text:sub(first, first)
  if c:find "[%a_]" then
    local word, last = text:match("^([%w_]+)()", first)
    return keywords[word] and "keyword" or "name", last - 1
  end
  if c:find "%d" or text:find("^%.%d", first) then
    local exponent = text:find("^0[xX]", first) and "[pP]" or "[eE]"
    local last = first
    while text:find("^[%w_.]", last) or text:find("^[+-]", last) and text:find("^" .. exponent, last - 1) do
      last = last + 1
    end
    return "number", last - 1
  end
  if c == '"' or c == "'" then
    local last = quoted_end(text, first)
    return "string", last or line_end(text, first), not last
  end
  if text:find("^%-%-", first) then
    local last = long_end(text, first + 2)
    if last == false then return "comment", line_end(text, first) end
    return "comment", last or #text, not last
  end
  if c == "[" then
    local last = long_end(text, first)
    if last ~= false then return "string", last or #text, not last end
  end
  for _, symbol in ipairs { "^%.%.%.", "^[=~<>]=", "^//", "^::", "^<<", "^>>", "^%.%." } do
    local _, last = text:find(symbol, first)
    if last then return "symbol", last end
  end
  return c:find "[%+%-%*/%%%^#&~|<>=%(%){}%[%];:,%.]" and "symbol" or "other", first
end

return function (text)
  local list, line, at = {}, 1, 1
  while true do
    local first = text:find("%S", at)
    local _, breaks = text:sub(at, (first or #text + 1) - 1):gsub("\n", "")
    line = line + breaks
    if not first then return list end
    local kind, last, open = token_at(text, first)
    local token = { kind = kind, text = text:sub(first, last), first = first, last = last, line = line, open = open }
    list[#list + 1] = token
    _, breaks = token.text:gsub("\n", "")
    line, at = line + breaks, last + 1
  end
end
