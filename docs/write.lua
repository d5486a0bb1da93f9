--- Writes those passages of the documents that list what there is, and the files that are generated from the entries
-- beside the code (docs/reference.lua): `make docs`. Loaded with an argument it returns them instead, and the spec
-- compares. A passage stands between <!-- name --> and <!-- end of name -->.
package.path = "./?.lua;" .. package.path
local peri      = require "perilune"
local reference = require "docs.reference"

reference.load_classes()   -- before one is asked for

local WIDTH = 122

-- "- **title**: names." over as many lines as it takes
local function bullet (title, names, after)
  local lines, line = {}, "- **" .. title .. "**" .. (after or "") .. ":"
  for i, name in ipairs(names) do
    local word = " " .. name .. (i < #names and "," or ".")
    if #line + #word > WIDTH then
      lines[#lines + 1], line = line, " "
    end
    line = line .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- What the example of a class's help begins with: a distribution.
local function example_of (name)
  local text = peri[name].help.example[1]:match "^(.-[)}]):%l"
  return assert(load("local peri = require 'perilune'; return peri." .. text), name)()
end

local function kind_of (name)
  local class = peri[name]
  if class.construct and not class.params[1] then return "Made of others" end
  local d = example_of(name)
  if #d.event_shape > 0 then return "Rows and matrices" end
  local counts = d.support.is_discrete or class.enumerate_support ~= peri.Distribution.enumerate_support
  return counts and "Discrete" or "Continuous"
end

local function names_in (module, is_listed)
  local names = {}
  for name, value in pairs(module) do
    if is_listed(name, value) then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function distributions ()
  local kinds = {}
  for _, name in ipairs(peri.distributions()) do
    local kind = kind_of(name)
    kinds[kind] = kinds[kind] or {}
    table.insert(kinds[kind], name)
  end
  local bullets = {}
  for _, kind in ipairs { "Continuous", "Discrete", "Rows and matrices", "Made of others" } do
    bullets[#bullets + 1] = bullet(kind, kinds[kind])
    kinds[kind] = nil
  end
  assert(next(kinds) == nil)
  return "\n" .. table.concat(bullets, "\n") .. "\n"
end

local function transforms ()
  local function is_class (name) return name:find "^%u" end
  return "\n" .. bullet("Transforms", names_in(peri.transforms, is_class), " (`peri.transforms`)") .. "\n"
end

local function constraints ()
  local makes = { cat = true, independent = true, stack = true }   -- functions that give one
  local function is_one (name, value) return makes[name] or name:find "^%l" and type(value) == "table" end
  return "\n" .. bullet("Constraints", names_in(peri.constraints, is_one), " (`peri.constraints`)") .. "\n"
end

-- Kernels are elementwise functions; the rest of what `peri` says of tensors is its module's.
local function functions ()
  local elsewhere = { rng = true, seed = true, set_threads = true }
  local special, tensor = require "perilune.functions", require "perilune.tensor"
  local function is_one (name, value) return type(value) == "function" and not elsewhere[name] end
  return "\n" .. bullet("Of tensors", names_in(tensor, is_one)) .. "\n"
         .. bullet("Of each element", names_in(special, is_one)) .. "\n"
end

-- A line for each P, with all of its Q.
local function kl_pairs ()
  local own = { Distribution = true }   -- names of our own classes; this one is any
  for _, name in ipairs(peri.distributions()) do own[name] = true end
  local lines, last, seen = {}, nil, {}
  for _, pair in ipairs(peri.kl_pairs()) do
    local P, Q = pair[1], pair[2]
    if own[P] and own[Q] and not seen[P .. Q] then
      seen[P .. Q] = true
      lines[#lines] = P == last and lines[#lines] .. ", " .. Q or lines[#lines]
      if P ~= last then lines[#lines + 1] = "| " .. P .. " | " .. Q end
      last = P
    end
  end
  return "\n| P | Q |\n|---|---|\n" .. table.concat(lines, " |\n") .. " |\n"
end

local passages = {
  { "README.md",  "count",         function () return #peri.distributions() .. " distributions" end },
  { "README.md",  "distributions", distributions },
  { "README.md",  "transforms",    transforms },
  { "README.md",  "constraints",   constraints },
  { "docs/kl.md", "pairs",         kl_pairs },
  { "docs/tensors.md", "functions", functions },
}

local function read (file)
  local stream = assert(io.open(file))
  local text = stream:read "a"
  stream:close()
  return text
end

-- The text of a file before a passage, the passage, and the text after it.
local function parts (file, name)
  local text, open, close = read(file), "<!-- " .. name .. " -->", "<!-- end of " .. name .. " -->"
  local _, first = text:find(open, 1, true)
  local last = text:find(close, 1, true)
  assert(first and last, file .. " has no place for " .. name)
  return text:sub(1, first), text:sub(first + 1, last - 1), text:sub(last)
end

local function write (file, ...)
  local stream = assert(io.open(file, "w"))
  stream:write(...)
  stream:close()
end

local list = {}
for i, passage in ipairs(passages) do
  local file, name, text_of = table.unpack(passage)
  local before, is, after = parts(file, name)
  list[i] = { file = file, name = name, is = is, should = text_of() }
  if not ... and list[i].is ~= list[i].should then write(file, before, list[i].should, after) end
end

-- What each program of a document prints stands below it, all of it.
local function with_output (text, file)
  return (text:gsub("(```lua\n(.-)```\n\n```\n)(.-)(```)", function (before, code, _, after)
    local printed = {}
    local env = setmetatable({ print = function (...)
      local words = table.pack(...)
      for i = 1, words.n do words[i] = tostring(words[i]) end
      printed[#printed + 1] = table.concat(words, "\t") .. "\n"
    end }, { __index = _G })
    assert(load(code, file, "t", env))()
    return before .. table.concat(printed) .. after
  end))
end

for _, file in ipairs { "docs/sampling.md" } do
  local is = read(file)
  list[#list + 1] = { file = file, name = "what programs print", is = is, should = with_output(is, file) }
  if not ... and is ~= list[#list].should then write(file, list[#list].should) end
end

for _, made in ipairs(reference.files()) do
  local file, should = table.unpack(made)
  local stream = io.open(file)
  local is = stream and stream:read "a"
  if stream then stream:close() end
  list[#list + 1] = { file = file, name = "all of it", is = is or "", should = should }
  if not ... and is ~= should then write(file, should) end
end
return list
