--- Entries of the help as plain text.
local texts = require "perilune.plot.texts"

local length, shortened = texts.length, texts.shorten

local render = {}

-- Words over lines of at most `width` columns; a list of lines. A word that is longer has a line of its own.
local function wrapped (text, width)
  local lines, line = {}, ""
  for word in text:gmatch "%S+" do
    if line ~= "" and length(line) + 1 + length(word) > width then
      lines[#lines + 1], line = line, ""
    end
    line = line == "" and word or line .. " " .. word
  end
  lines[#lines + 1] = line
  return lines
end

local function append (lines, indent, text, width)
  for _, line in ipairs(wrapped(text, width - length(indent))) do lines[#lines + 1] = indent .. line end
end

-- A name to the left, words to its right, over as many lines as it takes.
local function append_row (lines, indent, column, name, words, width)
  local room = width - #indent - column
  if room < 20 then   -- words below the name
    lines[#lines + 1] = indent .. name
    return append(lines, indent .. "  ", words, width)
  end
  for i, line in ipairs(wrapped(words, room)) do
    local left = i == 1 and name or ""
    lines[#lines + 1] = indent .. left .. string.rep(" ", column - length(left)) .. line
  end
end

-- Rows { name, words, options }: options in lines of their own.
local function append_rows (lines, indent, rows, width)
  local column = 0
  for _, row in ipairs(rows) do column = math.max(column, length(row[1]) + 2) end
  column = math.min(column, math.max(8, math.floor(width / 3)))
  for _, row in ipairs(rows) do
    if row[3] then
      append_row(lines, indent, #row[1] + 2, row[1], "a table; defaults are in parentheses", width)
      append_rows(lines, indent .. "  ", row[3], width)
    elseif length(row[1]) + 2 > column then
      lines[#lines + 1] = indent .. row[1]
      append(lines, indent .. "  ", row[2], width)
    else append_row(lines, indent, column, row[1], row[2], width) end
  end
end

local function append_examples (lines, examples)
  for _, example in ipairs(examples) do
    lines[#lines + 1] = ""
    for line in (example[1] .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = "  > " .. line end
    for line in (example[2] .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = "  " .. line end
  end
end

-- "Tensor:exp" as it is called: "t:exp()"
local function other_name (name, arguments)
  local kind, method = name:match "^(%u%w*):(.+)$"
  if kind ~= "Tensor" then return name end
  return "t:" .. method .. "(" .. table.concat(arguments or {}, ", ", 2) .. ")"
end

--- An entry as text, without a newline at its end.
function render.entry (entry, width)
  local lines = {}
  for i, line in ipairs(wrapped(entry.signature, width - 4)) do lines[i] = (i > 1 and "    " or "") .. line end
  append(lines, "  ", entry.text, width)
  for _, rows in ipairs { entry.params or {}, entry.facts or {} } do
    if #rows > 0 then
      lines[#lines + 1] = ""
      append_rows(lines, "  ", rows, width)
    end
  end
  if entry.also then
    local names = {}
    for i, name in ipairs(entry.also) do names[i] = other_name(name, entry.arguments) end
    lines[#lines + 1] = ""
    append(lines, "  ", "also " .. table.concat(names, ", "), width)
  end
  append_examples(lines, entry.examples or {})
  local picture = entry.draw and entry.draw(width - 2)
  if picture then lines[#lines + 1] = "\n  " .. picture:gsub("\n", "\n  ") end
  return table.concat(lines, "\n")
end

--- What help.find gives, a line each.
function render.list (found, width)
  local lines, column = {}, 0
  for _, one in ipairs(found) do column = math.max(column, #one.name + 2) end
  column = math.min(column, 30)
  for _, one in ipairs(found) do
    local name = one.name .. string.rep(" ", column - #one.name)
    lines[#lines + 1] = shortened(name .. (#one.name >= column and "  " or "") .. one.sentence, width)
  end
  return table.concat(lines, "\n")
end

-- Names by what they belong to: { { "Tensor:", { "at", "copy" } }, ... }.
local function by_owner (names)
  local groups, of = {}, {}
  for _, name in ipairs(names) do
    local owner, last = name:match "^(.-)([^%.:]+)$"
    owner = owner == "peri." and "" or owner:gsub("^peri%.", "")
    if not of[owner] then
      of[owner] = {}
      groups[#groups + 1] = { owner, of[owner] }
    end
    table.insert(of[owner], last)
  end
  return groups
end

--- Chapters and their names.
function render.overview (overview, width)
  local lines = {}
  for _, chapter in ipairs(overview.chapters) do
    if #chapter.names > 0 then lines[#lines + 1] = chapter.title end
    for _, group in ipairs(by_owner(chapter.names)) do
      local start = #lines + 1
      append(lines, group[1] == "" and "  " or "    ", group[1] .. " " .. table.concat(group[2], " "), width)
      if group[1] ~= "" then lines[start] = lines[start]:gsub("^    ", "  ") end
    end
  end
  lines[#lines + 1] = 'help "name" says more; help.find "word" looks for words.'
  return table.concat(lines, "\n")
end

return render
