-- A strict reader of the XML that pictures are made of: elements, attributes, texts, the five entities. It says what is
-- wrong, or gives the tree: { name =, attributes = { ... }, element or text ... }.
local characters = require "perilune.characters"

local xml = {}

local ENTITIES = { amp = "&", lt = "<", gt = ">", quot = '"', apos = "'" }

local function fail (pattern, ...) error({ message = string.format(pattern, ...) }) end

local function plain (text, where)
  if not characters.length(text) then fail("no UTF-8 in %s", where) end
  local is_forbidden = text:find "[%z\1-\8\11\12\14-\31]" or text:find "\239\191[\190\191]"
  if is_forbidden then fail("a forbidden character in %s", where) end
  if text:find "<" then fail("a < in %s", where) end
  return (text:gsub("&([^;]*);?", function (name)
    return ENTITIES[name] or fail("an unknown entity &%s in %s", name, where)
  end))
end

local function attributes_of (text, name)
  local found, rest = {}, text
  while rest:find "%S" do
    local key, quote, after = rest:match "^%s+([%a_][%w_:.-]*)=([\"'])()"
    if not key then fail("bad attributes of %s: %s", name, rest) end
    local stop = rest:find(quote, after, true)
    if not stop then fail("an attribute of %s does not end", name) end
    if found[key] then fail("%s has %s twice", name, key) end
    found[key] = plain(rest:sub(after, stop - 1), name .. "/" .. key)
    rest = rest:sub(stop + 1)
  end
  return found
end

local function parse (text)
  local root = { name = "document" }
  local stack, at = { root }, 1
  while true do
    local top = stack[#stack]
    local open = text:find("<", at, true)
    local between = plain(text:sub(at, (open or 0) - 1), top.name)
    if between:find "%S" then
      if top == root then fail("text outside of the root") end
      top[#top + 1] = between
    end
    if not open then break end
    local close = text:find(">", open, true) or fail("a tag does not end")
    local slash, name, rest, empty = text:sub(open + 1, close - 1):match "^(/?)([%a_][%w_:.-]*)(.-)(/?)$"
    if not name then fail("no tag: %s", text:sub(open, close)) end
    if slash == "/" then
      if top.name ~= name or #stack == 1 then fail("</%s> where <%s> is open", name, top.name) end
      stack[#stack] = nil
    else
      local element = { name = name, attributes = attributes_of(rest, name) }
      if top == root and #root > 0 then fail("two roots") end
      top[#top + 1] = element
      if empty == "" then stack[#stack + 1] = element end
    end
    at = close + 1
  end
  if #stack > 1 then fail("<%s> does not end", stack[#stack].name) end
  return root[1] or fail("there is no element")
end

--- The tree of a text; nil and what is wrong with it.
function xml.parse (text)
  local ok, result = pcall(parse, text)
  if ok then return result end
  return nil, type(result) == "table" and result.message or result
end

--- Calls visit(element) for every element.
function xml.each (element, visit)
  visit(element)
  for _, child in ipairs(element) do
    if type(child) == "table" then xml.each(child, visit) end
  end
end

return xml
