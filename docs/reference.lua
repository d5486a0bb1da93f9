--- What is made of the entries (docs/entries.lua): { { file, text }, ... }.
local entries = require "docs.entries"
local names   = require "docs.names"
local peri    = require "perilune"

local reference = {}

local list, of_classes   -- all entries, completed; what the help of each class is

-- "peri.exp" also serves Tensor:exp where tensors have that method, and no entry of their own for it.
local function add_other_names (public)
  local known = {}
  for _, entry in ipairs(list) do known[entry.name] = true end
  for _, entry in ipairs(list) do
    local name = entry.name:match "^peri%.([%w_]+)$"
    local method = name and "Tensor:" .. name
    if method and public[method] and not known[method] then entry.also = { method } end
  end
end

--- All entries, with the other names that they serve.
function reference.entries ()
  if not list then
    list, of_classes = entries.read()
    add_other_names(names.all())
  end
  return list
end


-- lua/perilune/help/entries.lua -------------------------------------------------------------

-- A value as Lua source, in one line.
local function source (x)
  if type(x) == "string" then return (string.format("%q", x):gsub("\\\n", "\\n")) end
  if type(x) ~= "table" then return math.type(x) == "float" and string.format("%.17g", x) or tostring(x) end
  local parts = {}
  for i = 1, #x do parts[i] = source(x[i]) end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

-- Classes whose kernels include the header of the same law, by name: what gamma.c and chi2.c share.
local function laws ()
  local sharing, by_class, file_of = {}, {}, {}
  for _, name in ipairs(peri.distributions()) do file_of[name] = rawget(peri[name], "kernels") end
  for name, file in pairs(file_of) do
    local stream = io.open("src/kernel/" .. file .. ".c")
    for header in (stream and stream:read "a" or ""):gmatch '#include "kernel/([%w_]+)%.h"' do
      local is_law = header:find "law$"
      for _, other in pairs(file_of) do is_law = is_law or other == header end
      if is_law then
        sharing[header] = sharing[header] or {}
        table.insert(sharing[header], name)
      end
    end
    if stream then stream:close() end
  end
  for _, group in pairs(sharing) do
    for _, name in ipairs(group) do
      by_class[name] = by_class[name] or {}
      for _, other in ipairs(group) do if other ~= name then by_class[name][other] = true end end
    end
  end
  return by_class
end

local function sorted_keys (t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- lua/perilune/help/classes.lua
local function classes_file ()
  reference.entries()
  local lines = {
    "--- The help of each class. Generated from the comments that open their files by `make docs`: do not edit.",
    "-- luacheck: ignore 631", "return {",
  }
  for _, name in ipairs(sorted_keys(of_classes)) do
    local about, params, fields = of_classes[name], {}, {}
    for i, param in ipairs(about.arguments) do params[i] = param .. " = " .. source(about.params[param]) end
    for i, key in ipairs { "summary", "arguments", "formula", "example" } do
      fields[i] = key .. " = " .. source(about[key])
    end
    fields[#fields + 1] = "params = { " .. table.concat(params, ", ") .. " }"
    lines[#lines + 1] = string.format("  %s = {\n    %s },", name, table.concat(fields, ",\n    "))
  end
  lines[#lines + 1] = "}\n"
  return table.concat(lines, "\n")
end

local FIELDS = { "name", "signature", "chapter", "also", "arguments", "result", "text", "params", "examples" }

local function data_file ()
  local lines = {
    "--- The entries of the help. Generated from the comments beside the code by `make docs`: do not edit.",
    "-- luacheck: ignore 631", "return {",
  }
  local titles = {}
  for i, chapter in ipairs(entries.chapters) do titles[i] = chapter[1] end
  lines[#lines + 1] = "  chapters = " .. source(titles) .. ","
  lines[#lines + 1] = "  laws = {   -- classes whose law is computed by the same code"
  local by_class = laws()
  for _, name in ipairs(sorted_keys(by_class)) do
    if next(by_class[name]) then
      lines[#lines + 1] = string.format("    %s = %s,", name, source(sorted_keys(by_class[name])))
    end
  end
  lines[#lines + 1] = "  },"
  for _, entry in ipairs(reference.entries()) do
    local fields = {}
    for _, key in ipairs(FIELDS) do
      local value = entry[key]
      if value ~= nil then fields[#fields + 1] = key .. " = " .. source(value) end
    end
    lines[#lines + 1] = "  { " .. table.concat(fields, ",\n    ") .. " },"
  end
  lines[#lines + 1] = "}\n"
  return table.concat(lines, "\n")
end

--- Has classes say what their files say now.
function reference.load_classes () package.loaded["perilune.help.classes"] = assert(load(classes_file()))() end


-- docs/reference.md ---------------------------------------------------------------------------

-- What GitHub makes of headings: in lower case, without punctuation, and numbered where several are alike.
local anchors, used = {}, {}
local function add_anchor (key, heading)
  local slug = heading:lower():gsub("[^%w_ %-]", ""):gsub(" ", "-")
  anchors[key] = used[slug] and slug .. "-" .. used[slug] or slug
  used[slug] = (used[slug] or 0) + 1
end

local function escaped (s) return (s:gsub("|", "\\|"):gsub("<", "&lt;")) end

local function append_params (lines, params)
  for _, param in ipairs(params) do
    if param[3] then
      lines[#lines + 1] = "- `" .. param[1] .. "`: a table of"
      for _, option in ipairs(param[3]) do lines[#lines + 1] = "  - `" .. option[1] .. "`: " .. escaped(option[2]) end
    else lines[#lines + 1] = "- `" .. param[1] .. "`: " .. escaped(param[2]) end
  end
  if #params > 0 then lines[#lines + 1] = "" end
end

local function append_example (lines, code, gives)
  lines[#lines + 1] = "```lua"
  for line in (code .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = "> " .. line end
  lines[#lines + 1] = gives .. "\n```\n"
end

local function heading_of (entry) return (entry.name:gsub("^peri%.", "")) end

local function append_entry (lines, entry)
  lines[#lines + 1] = "### " .. heading_of(entry) .. "\n"
  local also = entry.also and ", `" .. table.concat(entry.also, "`, `") .. "`" or ""
  lines[#lines + 1] = "`" .. entry.signature .. "`" .. also .. "\n"
  lines[#lines + 1] = escaped(entry.text) .. "\n"
  append_params(lines, entry.params)
  for _, example in ipairs(entry.examples) do append_example(lines, example[1], example[2]) end
end

-- Entries of classes as peri.help gives them.
local function class_entries ()
  local found = {}
  for i, name in ipairs(peri.distributions()) do found[i] = peri.help(name) end
  return found
end

local function append_class (lines, entry)
  lines[#lines + 1] = "### " .. heading_of(entry) .. "\n"
  lines[#lines + 1] = "`" .. entry.signature .. "`\n"
  lines[#lines + 1] = escaped(entry.text) .. "\n"
  append_params(lines, entry.params)
  for _, fact in ipairs(entry.facts) do
    local words = fact[1] == "formula" and "`" .. fact[2] .. "`" or escaped(fact[2])
    lines[#lines + 1] = "- " .. fact[1] .. ": " .. words
  end
  lines[#lines + 1] = ""
  for _, example in ipairs(entry.examples) do append_example(lines, example[1], example[2]) end
end

local function links (of)
  local parts = {}
  for i, entry in ipairs(of) do parts[i] = "[" .. heading_of(entry) .. "](#" .. anchors[entry.name] .. ")" end
  return table.concat(parts, " ")
end

local function reference_file ()
  local by_chapter = {}
  for _, entry in ipairs(reference.entries()) do
    by_chapter[entry.chapter] = by_chapter[entry.chapter] or {}
    table.insert(by_chapter[entry.chapter], entry)
  end
  local classes = class_entries()
  anchors, used = {}, {}
  for _, title in ipairs { "Reference", "Contents", "The families" } do add_anchor(title, title) end
  for _, entry in ipairs(classes) do add_anchor(entry.name, heading_of(entry)) end
  for i, chapter in ipairs(entries.chapters) do
    if by_chapter[i] then add_anchor(chapter[1], chapter[1]) end
    for _, entry in ipairs(by_chapter[i] or {}) do add_anchor(entry.name, heading_of(entry)) end
  end
  local lines = {
    "# Reference\n",
    "<!-- Generated from the comments beside the code by `make docs`: do not edit. -->\n",
    "Every public name with an example; `peri.help \"name\"` shows the same in a program. Examples have all names of",
    "`peri` in scope, and show what the last line gives. Numbers may be Lua numbers, tables of numbers or tensors;",
    "dimensions and positions count from 1; divergences are in nats.\n",
    "## Contents\n",
    "- **The families**: " .. links(classes),
  }
  for i, chapter in ipairs(entries.chapters) do
    if by_chapter[i] then
      lines[#lines + 1] = "- **[" .. chapter[1] .. "](#" .. anchors[chapter[1]] .. ")**: " .. links(by_chapter[i])
    end
  end
  lines[#lines + 1] = "\n## The families\n"
  for _, entry in ipairs(classes) do append_class(lines, entry) end
  for i, chapter in ipairs(entries.chapters) do
    if by_chapter[i] then
      lines[#lines + 1] = "## " .. chapter[1] .. "\n"
      for _, entry in ipairs(by_chapter[i]) do append_entry(lines, entry) end
    end
  end
  return (table.concat(lines, "\n"):gsub("\n+$", "\n"))
end


-- library/perilune.d.lua ------------------------------------------------------------------------

-- Types by words. What has no word here is `any`.
local TYPES = {
  number = "number", numbers = "number", integer = "integer", integers = "integer", string = "string",
  boolean = "boolean", ["true"] = "boolean", ["false"] = "boolean", ["function"] = "function",
  table = "table", list = "table", tensor = "perilune.Tensor", Tensor = "perilune.Tensor", ["nil"] = "nil",
  generator = "perilune.Rng", distribution = "perilune.Distribution", constraint = "perilune.Constraint",
  transform = "perilune.Transform", posterior = "perilune.Posterior",
}

local kinds = {}   -- [name of a kind of objects] = true

local function type_of_word (word)
  if kinds[word] then return "perilune." .. word end
  if peri.has(word) and type(peri[word]) == "table" and word:find "^%u" then return "perilune." .. word end
  return TYPES[word]
end

-- The union of all types that words name, if they begin with one; or `any`. Too wide is better than too narrow.
local function type_of (words)
  local seen, parts = {}, {}
  words = words:gsub("^%s+", ""):gsub("^an? ", ""):gsub("^positive ", "")
  local first = type_of_word(words:match "^[%a_]+" or "")
  if not first or first == "boolean" then return first or "any" end
  for word in words:gmatch "[%a_]+" do
    local t = type_of_word(word)
    if t and not seen[t] then
      seen[t] = true
      parts[#parts + 1] = t
    end
  end
  return #parts > 0 and table.concat(parts, "|") or "any"
end

local function is_optional (argument, words)
  return argument:find "=" ~= nil or words:find "unless told" ~= nil or words:find "may be left out" ~= nil
end

local KEYWORD = { ["end"] = "finish", ["function"] = "fn" }
local function lua_name (name) return KEYWORD[name] or name end

local function append_doc (lines, text)
  lines[#lines + 1] = ""
  lines[#lines + 1] = "---" .. text
end

-- A class for options, so that editors complete them.
local function options_class (lines, owner, options)
  local name = "perilune." .. owner:gsub("^peri%.", ""):gsub("[:%.]", "_") .. "_options"
  lines[#lines + 1] = ""
  lines[#lines + 1] = "---@class " .. name
  for _, option in ipairs(options) do
    local kind = type_of(option[2])
    if kind == "any" and option[2]:find "%([%d%.e%-]+%)$" then kind = "number" end   -- by its default
    lines[#lines + 1] = "---@field " .. option[1] .. "? " .. kind .. " " .. option[2]
  end
  return name
end

-- The types of what a function returns: "number or Tensor, string", "function (data) -> Model" or "nothing".
local function results_of (entry)
  local types = {}
  local argument, result = (entry.result or ""):match "^function %((%w+)%) %-> (.+)$"
  if argument then return { "fun(" .. argument .. ": any): " .. type_of(result) } end
  for words in (entry.result or ""):gmatch "[^,]+" do
    if words ~= "nothing" then types[#types + 1] = type_of(words) end
  end
  return types
end

local function append_function (lines, entry, path, arguments, params)
  local words_of, types, plain = {}, {}, {}
  for _, param in ipairs(params) do
    words_of[param[1]] = param[2]
    if param[3] then types[param[1]] = options_class(lines, path, param[3]) end
  end
  append_doc(lines, entry.text)
  for i, argument in ipairs(arguments) do
    local name = entries.argument_name(argument)
    local words = words_of[name] or ""
    local optional = (is_optional(argument, words) or types[name]) and "?" or ""
    plain[i] = lua_name(name)
    lines[#lines + 1] = "---@param " .. plain[i] .. (name == "..." and "" or optional) .. " "
                        .. (types[name] or type_of(words) .. " " .. words)
  end
  for _, result in ipairs(results_of(entry)) do lines[#lines + 1] = "---@return " .. result end
  lines[#lines + 1] = "function " .. path .. "(" .. table.concat(plain, ", ") .. ") end"
end

-- "peri.optim.Adam" as a path of the file's locals; nil for what is no part of a table there.
local function append_callable (lines, entry)
  append_function(lines, entry, entry.name, entry.arguments, entry.params)
  for _, other in ipairs(entry.also or {}) do
    local params = {}
    for i = 2, #entry.params do params[i - 1] = entry.params[i] end
    append_function(lines, entry, other, { table.unpack(entry.arguments, 2) }, params)
  end
end

local function append_field (lines, entry)
  append_doc(lines, entry.text)
  lines[#lines + 1] = "---@type " .. type_of(entry.result or "table")
  lines[#lines + 1] = entry.name:gsub(":", ".") .. " = nil"
end

-- Tables that entries are in: peri, peri.optim, Tensor, ...
local owners = {}

local function append_owners (lines)
  for _, entry in ipairs(reference.entries()) do
    for _, name in ipairs { entry.name, table.unpack(entry.also or {}) } do
      local owner = name:match "^(.*)[%.:][^%.:]+$"
      if owner then owners[owner] = true end
    end
  end
  for _, owner in ipairs(sorted_keys(owners)) do
    local kind = not owner:find "^peri" and owner
    local is_class = kind and peri.has(kind)
    if kind then kinds[kind] = true end
    lines[#lines + 1] = ""
    lines[#lines + 1] = "---@class perilune" .. (owner == "peri" and "" or "." .. owner:gsub("^peri%.", ""))
                        .. (is_class and kind ~= "Distribution" and ": perilune.Distribution" or "")
    for _, entry in ipairs(reference.entries()) do   -- one that can be called, such as peri.help
      if entry.name == owner and entry.arguments then
        local arguments = table.concat(entry.arguments, "?, ")
        lines[#lines + 1] = "---@overload fun(" .. arguments .. "?): " .. type_of(entry.result)
      end
    end
    if kind == "Tensor" then
      for _, operator in ipairs { "add", "sub", "mul", "div", "mod", "pow" } do
        lines[#lines + 1] = "---@operator " .. operator .. "(number|perilune.Tensor): perilune.Tensor"
      end
      lines[#lines + 1] = "---@operator unm: perilune.Tensor"
      lines[#lines + 1] = "---@operator len: integer"
    end
    lines[#lines + 1] = (owner:find "%." and "" or "local ") .. owner .. " = {}"
  end
end

-- A class of distributions: its parameters are fields, and calling it makes one.
local function append_distribution (lines, c, entry)
  local name = "perilune." .. entry.name:gsub("^peri%.", "")
  lines[#lines + 1] = ""
  lines[#lines + 1] = "---" .. entry.text .. (entry.formula and " " .. entry.formula or "")
  lines[#lines + 1] = "---@class " .. name .. ": perilune.Distribution"
  local arguments, all = {}, {}
  for _, param in ipairs(entry.params) do
    lines[#lines + 1] = "---@field " .. param[1] .. " any " .. param[2]
    all[#all + 1] = param[1] .. "?: any"
  end
  for _, argument in ipairs(entry.arguments) do
    arguments[#arguments + 1] = entries.argument_name(argument) .. (argument:find "=" and "?" or "") .. ": any"
  end
  lines[#lines + 1] = "---@overload fun(" .. table.concat(arguments, ", ") .. "): " .. name
  if #all > 0 then lines[#lines + 1] = "---@overload fun(params: { " .. table.concat(all, ", ") .. " }): " .. name end
  lines[#lines + 1] = "peri." .. c .. " = " .. (owners[c] and c or "{}")
end

local function library_file ()
  local lines = {
    "---@meta perilune", "-- For editors that read LuaCATS annotations: add this folder to Lua.workspace.library.",
    "-- Generated by `make docs`: do not edit.",
  }
  append_owners(lines)
  lines[#lines + 1] = "\nperi.Distribution = Distribution"
  for _, name in ipairs(peri.distributions()) do append_distribution(lines, name, peri.help(name)) end
  for _, entry in ipairs(reference.entries()) do
    local is_above = owners[entry.name] or not entry.name:find "[%.:]"
    if not is_above then (entry.arguments and append_callable or append_field)(lines, entry) end
  end
  lines[#lines + 1] = "\nperi.special = peri"
  lines[#lines + 1] = "\nreturn peri\n"
  return table.concat(lines, "\n")
end

--- The files that are generated: { { file, text }, ... }. From now on peri.help has these entries, whatever the file
-- has in which it found them before.
function reference.files ()
  local data, help = data_file(), classes_file()
  package.loaded["perilune.help.entries"], package.loaded["perilune.help"] = assert(load(data))(), nil
  rawset(peri, "help", nil)
  return {
    { "lua/perilune/help/classes.lua", help },
    { "lua/perilune/help/entries.lua", data },
    { "docs/reference.md", reference_file() },
    { "library/perilune.d.lua", library_file() },
  }
end

return reference
