--- The reference, read from the sources: an entry is a comment of a fixed form beside the code that it describes.
--
--   --@ peri.hist(x, options) -> Plot                             signature
--   -- A histogram of numbers.                                    sentences
--   --   x        tensor or list of numbers                       a parameter a line, continued further right
--   --   options  bins = number or edges; title = text; rng       options: name = words, separated by semicolons; or
--   --                                                             each in a line of its own, as if it were a parameter
--   -- > peri.hist({ 1, 2, 2, 3 }).n                             an example, and below it what it gives
--   -- 4
--
-- In C the same stands between /*@ and */. A parameter or option without words has those of SHARED. docs/write.lua
-- makes of them lua/perilune/help/entries.lua (for peri.help), docs/reference.md and library/perilune.d.lua.
--
-- The entry of a class of distributions opens its file. Its signature is the name alone, since the class declares
-- its parameters; a row `formula` follows them. They are in lua/perilune/help/classes.lua, which Class.help reads.
local entries = {}

-- Chapters, with patterns of "file path" that belong to them: the longest that fits counts.
entries.chapters = {
  { "Distributions", "/distribution%.lua", "/distributions/", "/expectation%.lua", "/enumeration", "/construction%.lua",
    "perilune/fit" },
  { "Divergences", "perilune/kl", "/divergences%.lua" },
  { "Tensors", " Tensor", "/tensor", "src/api/", "src/kernel/", "/along", "/indexing", "/joining", "/matri",
    "/ordering", "/products" },
  { "Functions of each element", "src/kernel/op/", "perilune/functions%.lua" },
  { "Random numbers", "src/api/random%.c" },
  { "Gradients", "/gradient", "perilune/scan", "src/engine/", "src/api/gradient", " Tensor:backward" },
  { "Optimisers", "perilune/optim" },
  { "Constraints", "perilune/constraint" },
  { "Transforms", "perilune/transform", "/unconstrained" },
  { "Models and inference", "perilune/model", "/inference/", "perilune/vi%.lua" },
  { "Posteriors", "/inference/posterior", "/inference/loo", "/inference/saved", " Posterior", " peri%.load" },
  { "Pictures", "/plot", "/picture" },
  { "Data", "/data", "/statistics" },
  { "The prompt", "/repl", "/prompt", "bin/" },
  { "The library", "." },
}

-- Words for parameters and options that mean the same everywhere.
entries.SHARED = {
  t     = "tensor, or a table of numbers",
  dim   = "integer: a dimension, from 1, or from -1 backwards",
  keep  = "true keeps the dimension, with size 1; false unless told",
  rng   = "generator (peri.rng); the default one unless told",
  d     = "distribution",
  p     = "distribution",
  q     = "distribution",
  seed  = "integer: a generator with this seed, instead of rng",
  progress   = "true shows a line on the standard error; a function is called with its text (false)",
  noncentred = 'sites of hierarchies to standardise: a list of names, false, or "auto": as far as it helps ("auto")',
  init  = "values by name where the search starts",
  run   = "false gives a running fit, for a host to drive (true)",
}

-- Operands of elementwise functions.
local OPERAND = "number, table or tensor; shapes are broadcast"


-- Reading -------------------------------------------------------------------------------

local function text_of (file)
  local stream = assert(io.open(file))
  local text = stream:read "a"
  stream:close()
  return text
end

local function trim (s) return (s:gsub("%s+$", ""):gsub("^%s+", "")) end

-- "a, b = {1, 2}, ..." -> { "a", "b = {1, 2}", "..." }
local function split_arguments (text)
  local list, depth, start = {}, 0, 1
  for i = 1, #text + 1 do
    local c = i > #text and "," or text:sub(i, i)
    if c:find "[%(%{%[]" then depth = depth + 1 elseif c:find "[%)%}%]]" then depth = depth - 1 end
    if c == "," and (depth == 0 or i > #text) then
      local part = trim(text:sub(start, i - 1))
      if part ~= "" then list[#list + 1] = part end
      start = i + 1
    end
  end
  return list
end

-- The signature's parts: path, list of arguments or nil, result or nil.
local function read_signature (line, where)
  local head, result = line:match "^(.-)%s*%->%s*(.+)$"
  head = trim(head or line)
  local path, arguments = head:match "^([%w_%.:]+)%s*(%b())$"
  path = path or head:match "^[%w_%.:]+$"
  if not path then error(where .. ": not a signature: " .. line) end
  return path, arguments and split_arguments(arguments:sub(2, -2)), result
end

-- "bins = number; title = text; rng" -> { { "bins", "number" }, ... }, or nil where there are no options.
local function read_options (words, where)
  if not words:find "^[%w_]+ = " and not entries.SHARED[words:match "^([%w_]+);"] then return nil end
  local list = {}
  for part in (words .. ";"):gmatch "%s*(.-)%s*;" do
    local name, meaning = part:match "^([%w_]+) = (.+)$"
    if not name and part ~= "" then
      name, meaning = part, entries.SHARED[part]
      if not meaning and list[1] then   -- a semicolon within words
        list[#list][2] = list[#list][2] .. "; " .. part
        name = nil
      elseif not meaning then error(where .. ": option without words: " .. part) end
    end
    if name then list[#list + 1] = { name, meaning } end
  end
  return list
end

-- Lines of an entry -> { name, signature, text, params, examples, ... }
local function read_entry (lines, file, number)
  local where = file .. ":" .. number
  local path, arguments, result = read_signature(lines[1], where)
  local entry = { name = path, signature = lines[1], arguments = arguments, result = result, file = file, line = number,
                  text = "", params = {}, examples = {} }
  local example
  for i = 2, #lines do
    local line = lines[i]
    local code = line:match "^> (.*)$"
    local name, words = line:match "^  (%S+)%s%s+(.*)$"
    if code then
      if not example or example.gives[1] then
        example = { code = {}, gives = {} }
        entry.examples[#entry.examples + 1] = example
      end
      example.code[#example.code + 1] = code
    elseif example then example.gives[#example.gives + 1] = line
    elseif name then entry.params[#entry.params + 1] = { name, trim(words) }
    elseif line:find "^   " and entry.params[1] then
      local param = entry.params[#entry.params]
      param[2] = param[2] .. " " .. trim(line)
    elseif entry.params[1] then error(where .. ": a sentence after parameters: " .. line)
    else entry.text = trim(entry.text .. " " .. trim(line)) end
  end
  for k, one in ipairs(entry.examples) do
    entry.examples[k] = { table.concat(one.code, "\n"), (table.concat(one.gives, "\n"):gsub("%s+$", "")) }
  end
  for _, param in ipairs(entry.params) do param[3] = read_options(param[2], where) end
  return entry
end

-- The name of an argument: "rate = 1" -> "rate".
function entries.argument_name (argument) return argument:match "^[%w_%.]+" end

-- The rows of an entry's parameters that are no arguments: options, if those have no row.
local function rest_of (entry, given)
  local rest = {}
  for _, param in ipairs(entry.params) do
    if given[param[1]] then rest[#rest + 1] = param end
  end
  return rest
end

-- Gives parameters without words those that are shared, in the order of the signature.
local function complete (entry)
  local given, list, takes_options = {}, {}, false
  for _, param in ipairs(entry.params) do given[param[1]] = param end
  for _, argument in ipairs(entry.arguments or {}) do
    local name = entries.argument_name(argument)
    local words = entry.file:find "kernel/op/" and OPERAND or entries.SHARED[name]
    takes_options = takes_options or name == "options" and not given.options
    list[#list + 1] = given[name] or words and { name, words } or name == "options" and { name, "a table" } or nil
    given[name] = nil
  end
  local rest = rest_of(entry, given)
  if takes_options and #rest > 0 then
    for _, param in ipairs(list) do
      if param[1] == "options" then param[3] = rest end
    end
    rest = {}
  end
  table.move(rest, 1, #rest, #list + 1, list)   -- of no argument: the spec says so
  entry.params = list
end

local function chapter_of (entry)
  local found, longest = nil, 0
  for i, chapter in ipairs(entries.chapters) do
    for k = 2, #chapter do
      local fits = (entry.file .. " " .. entry.name):find(chapter[k])
      if fits and #chapter[k] > longest then found, longest = i, #chapter[k] end
    end
  end
  return found
end

-- Lua: from --@ to the first line that is no comment of two dashes.
local function read_lua (file, add)
  local lines, start, number = nil, 0, 0
  local function finish ()
    if lines then add(lines, start) end
    lines = nil
  end
  for line in (text_of(file) .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    local signature, rest = line:match "^%s*%-%-@ (.*)$", line:match "^%s*%-%- ?(.*)$"
    if signature then
      finish()
      lines, start = { signature }, number
    elseif lines and rest and not line:find "^%s*%-%-%-" then lines[#lines + 1] = rest:gsub("%s+$", "")
    else finish() end
  end
  finish()
end

local function read_c (file, add)
  local text, at = text_of(file), 1
  while true do
    local first, last, body = text:find("/%*@ (.-)%s*%*/", at)
    if not first then return end
    local lines = {}
    for line in (body .. "\n"):gmatch "(.-)\n" do
      lines[#lines + 1] = #lines == 0 and line or (line:gsub("^%s*%*+ ?", ""))
    end
    local _, number = text:sub(1, first):gsub("\n", "")
    add(lines, number + 1)
    at = last + 1
  end
end

local function files ()
  local list = {}
  for _, find in ipairs { "find lua bin -name '*.lua' -o -path 'bin/*' -type f", "find src -name '*.[ch]'" } do
    local stream = assert(io.popen(find .. " 2>/dev/null"))
    for file in stream:lines() do list[#list + 1] = file end
    stream:close()
  end
  table.sort(list)
  return list
end

-- An entry as the field `help` of a class.
local function of_class (entry)
  local about = { summary = entry.text:gsub("%.$", ""), arguments = {}, params = {} }
  for _, param in ipairs(entry.params) do
    local name, words = param[1], param[2]
    if name == "formula" then about.formula = words
    else
      about.arguments[#about.arguments + 1] = name
      about.params[name] = words
    end
  end
  local example = entry.examples[1]
  about.example = example and { example[1], tonumber(example[2]) }
  return about
end

-- Takes the entries of classes out of a list: { [name] = what its help is }.
local function take_classes (list)
  local classes = {}
  for i = #list, 1, -1 do
    local name = list[i].file:match "^lua/perilune/distributions/(%w+)%.lua$"
    if name and list[i].name == "peri." .. name then classes[name] = of_class(table.remove(list, i)) end
  end
  return classes
end

--- All entries, in the order of chapters, then of names; those of classes of distributions in a second table.
function entries.read ()
  local list = {}
  for _, file in ipairs(files()) do
    local read = file:find "%.[ch]$" and read_c or read_lua
    if file ~= "lua/perilune/help/entries.lua" and file ~= "lua/perilune/help/classes.lua" then
      read(file, function (lines, number) list[#list + 1] = read_entry(lines, file, number) end)
    end
  end
  local classes = take_classes(list)
  for _, entry in ipairs(list) do
    complete(entry)
    entry.chapter = chapter_of(entry)
  end
  -- fields of peri come before those of its modules, and these before methods
  local function key (entry)
    local depth = entry.name:find "^peri%.[^%.]+$" and 1 or entry.name:find "^peri" and 2 or 3
    local owner, last = entry.name:match "^(.-)([^%.:]+)$"
    return string.format("%02d %d %s %s %s:%06d", entry.chapter, depth, owner == "" and last or owner:sub(1, -2),
                         owner == "" and "" or last:lower(), entry.file, entry.line)
  end
  table.sort(list, function (a, b) return key(a) < key(b) end)
  return list, classes
end

return entries
