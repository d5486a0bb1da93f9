--- What is typed becomes a function: expressions return their values, and locals of the top level persist.
--
-- A local is a cell that functions share, an upvalue. A text that mentions locals of earlier ones is compiled inside a
-- function that declares them, and its upvalues are then joined with their cells; where the text ends, a function that
-- refers to its own locals hands over their cells:
--
--   local a, b, KEEP return function (...)  <the text>  KEEP(function () return c end, "c", c) end
--
-- So scopes, closures, shadowing and speed are Lua's own, and lines keep their numbers.
local tokens_of = require "perilune.repl.tokens"

local KEEP = "_keep_the_locals_of_the_prompt"
local MOST = 150   -- earlier locals in one text: Lua has room for 200 locals in a function

local chunk = {}

-- The text's structure: names of its locals of the top level, and of those that persist; places where it is left, with
-- how many of the latter are known there; names that it mentions; tokens.
local function survey (text)
  local tokens = {}
  for _, token in ipairs(tokens_of(text)) do
    if token.kind ~= "comment" then tokens[#tokens + 1] = token end
  end
  local blocks, functions = {}, 0   -- open blocks; how many of them are functions
  local names, declared, exits, mentioned = {}, {}, {}, {}
  local i = 1
  local function read_names ()   -- of a local statement, the token after `local` being i
    if tokens[i] and tokens[i].text == "function" then
      names[#names + 1] = tokens[i + 1] and tokens[i + 1].text
      declared[#declared + 1] = names[#names]
      return
    end
    while tokens[i] and tokens[i].kind == "name" do
      local name, attribute = tokens[i].text, nil
      i = i + 1
      if tokens[i] and tokens[i].text == "<" then
        attribute, i = tokens[i + 1] and tokens[i + 1].text, i + 3
      end
      declared[#declared + 1] = name
      if attribute ~= "close" then names[#names + 1] = name end   -- those end with the text
      if not tokens[i] or tokens[i].text ~= "," then return end
      i = i + 1
    end
  end
  while tokens[i] do
    local token = tokens[i]
    local word = token.kind == "keyword" and token.text
    i = i + 1
    if token.kind == "name" then mentioned[token.text] = true end
    if word == "function" then
      blocks[#blocks + 1], functions = "function", functions + 1
    elseif word == "do" or word == "if" or word == "repeat" then
      blocks[#blocks + 1] = word
    elseif word == "end" or word == "until" then
      if table.remove(blocks) == "function" then functions = functions - 1 end
    elseif word == "local" and #blocks == 0 then
      read_names()
    elseif word == "return" and functions == 0 then
      exits[#exits + 1] = { at = token.first, names = #names, final = #blocks == 0 }
    elseif word == "goto" and functions == 0 then
      exits[#exits + 1] = { at = token.first, names = #names, label = tokens[i] and tokens[i].text }
    end
  end
  return { names = names, declared = declared, exits = exits, mentioned = mentioned, tokens = tokens }
end

-- Where the labels begin that end a text, and a set of their names. A goto to them leaves the text, and may pass
-- locals on its way as long as nothing follows.
local function last_labels (text, tokens)
  local first, labels, i = #text + 1, {}, #tokens
  while i > 0 do
    local is_label = i > 2 and tokens[i].text == "::" and tokens[i - 2].text == "::" and tokens[i - 1].kind == "name"
    if is_label then labels[tokens[i - 1].text] = true
    elseif tokens[i].text ~= ";" then break end
    i = i - (is_label and 3 or 1)
    if is_label then first = tokens[i + 1].first end
  end
  return first, labels
end

-- Each name once, of the first n.
local function unique (names, n)
  local list, seen = {}, {}
  for i = 1, n do
    if not seen[names[i]] then list[#list + 1], seen[names[i]] = names[i], true end
  end
  return list
end

-- The call that hands over the cells of locals. The values are there for constants, which have none.
local function handing_over (names)
  if #names == 0 then return "" end
  local list = table.concat(names, ", ")
  return string.format(" %s(function () return %s end, \"%s\", %s) ", KEEP, list, list, list)
end

-- The text with calls that hand over its locals wherever it is left.
local function with_exits (text, found)
  local names, parts, at, ends = found.names, {}, 1, true
  local last, labels = last_labels(text, found.tokens)
  for _, exit in ipairs(found.exits) do
    if not exit.label or labels[exit.label] then
      parts[#parts + 1] = text:sub(at, exit.at - 1)
      parts[#parts + 1] = handing_over(unique(names, exit.names))
      at, ends = exit.at, not exit.final
    end
  end
  parts[#parts + 1] = text:sub(at, last - 1) .. "\n"
  if ends then parts[#parts + 1] = handing_over(unique(names, #names)) end
  parts[#parts + 1] = text:sub(last) .. "\n"
  return table.concat(parts)
end

-- The earlier locals that a text mentions.
local function earlier (cells, mentioned)
  local names = {}
  for name in pairs(mentioned) do
    if cells[name] then names[#names + 1] = name end
  end
  return names
end

-- The upvalues of f: { name = its number }.
local function upvalues (f)
  local numbers = {}
  for i = 1, math.huge do
    local name = debug.getupvalue(f, i)
    if not name then return numbers end
    numbers[name] = i
  end
end

-- A cell that holds a value: a function whose first upvalue it is.
local function cell_of (value) return function () return value end end

local function keeper (cells)
  return function (f, names, ...)
    local numbers, i = upvalues(f), 0
    for name in names:gmatch "[^, ]+" do
      i = i + 1
      local cell = cell_of((select(i, ...)))
      if numbers[name] then debug.upvaluejoin(cell, 1, f, numbers[name]) end
      cells[name] = cell
    end
  end
end

--- The text as a function whose locals go to `cells` ([name] = a function whose upvalue is the local); or nil and why
-- it does not compile. The second result is the names of its locals.
function chunk.compile (text, name, cells, env)
  local found = survey(text)
  local before = earlier(cells, found.mentioned)
  if #before > MOST then
    return nil, string.format("this mentions %d locals of earlier inputs, and at most %d are possible", #before, MOST)
  end
  before[#before + 1] = KEEP
  local make, message = load(string.format("local %s return function (...) %s end", table.concat(before, ", "),
                                           with_exits(text, found)), name, "t", env)
  if not make then return nil, message end
  local f = make()
  for known, i in pairs(upvalues(f)) do
    local cell = known == KEEP and cell_of(keeper(cells)) or known ~= "_ENV" and cells[known]
    if cell then debug.upvaluejoin(f, i, cell, 1) end
  end
  return f, found.declared
end

-- Functions of a text that was left by an error refer to its locals: cells become theirs.
local function join_functions (cells, names)
  for name in pairs(names) do
    local f = chunk.get(cells[name])
    for known, i in pairs(type(f) == "function" and upvalues(f) or {}) do
      if names[known] then debug.upvaluejoin(cells[known], 1, f, i) end
    end
  end
end

--- Keeps the locals of a text that an error has stopped, its function being at `level` of the stack: those that were
-- reached, and come first.
function chunk.rescue (level, declared, cells)
  local names = {}
  for i, name in ipairs(declared) do
    local found, value = debug.getlocal(level + 1, i)
    if found ~= name then break end
    cells[name], names[name] = cell_of(value), true
  end
  join_functions(cells, names)
end

--- A local's value; and sets it.
function chunk.get (cell) return (select(2, debug.getupvalue(cell, 1))) end
function chunk.set (cells, name, value) cells[name] = cell_of(value) end

-- Is more to come, after a text that does not compile? A string in quotes ends with its line, unless a backslash
-- precedes the break.
local function is_unfinished (message, last)
  if last and last.open then return last.text:find "^[%-%[]" ~= nil or last.text:find "\\z?$" ~= nil end
  return message:find "<eof>%S?$" ~= nil
end

local MOST_TRIED = 100   -- lines from the end

--- The same with `return` before its last line or statement, if that is an expression whose values are to be shown.
function chunk.returning (text)
  local tokens, tried = survey(text).tokens, 0
  for i = #tokens, 2, -1 do
    local token, before = tokens[i], tokens[i - 1]
    if before.line < token.line or before.text == ";" then
      local rest = "return " .. text:sub(token.first)
      if token.kind == "name" and load(rest) then
        local first = text:sub(1, token.first - 1)
        if load(first) then return first .. rest end
      end
      tried = tried + 1
      if tried > MOST_TRIED then break end
    end
  end
  return text
end

--- What a text is: a "statement" or an "expression", or "unfinished", or nil and what is wrong with it.
function chunk.kind (text, name)
  if load("return " .. text, name, "t") then return "expression" end
  local ok, message = load(text, name, "t")
  if ok or load(chunk.returning(text), name, "t") then return "statement" end
  local _, as_expression = load("return " .. text, name, "t")
  local tokens = tokens_of(text)
  local last = tokens[#tokens]
  if is_unfinished(message, last) or is_unfinished(as_expression, last) then return "unfinished" end
  return nil, message
end

--- Does the text end with a semicolon? Then its values are not shown.
function chunk.is_silent (text)
  local tokens = survey(text).tokens
  return #tokens > 0 and tokens[#tokens].text == ";"
end

return chunk
