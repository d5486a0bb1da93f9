--- Help: an entry for every public name. Those of functions and methods were read from the comments beside their code
-- (docs/entries.lua); a class of distributions says of itself what there is to say (help/class.lua).
local class  = require "perilune.class"
local core   = require "perilune.core"
local Entry  = require "perilune.help.entry"
local errors = require "perilune.errors"
local render = require "perilune.help.render"
local show   = require "perilune.show"

local help = {}

-- What there is ---------------------------------------------------------------------------

-- Once loaded: list (what entries.lua has), paths[path] = entry, by_last[last part of a path] = list of entries.
local index

local function last_part (path) return path:match "^.*[%.:]([^%.:]+)$" or path:match "^[^%.:]+$" end

local function add (path, entry)
  index.paths[path] = index.paths[path] or entry
  local last = last_part(path)
  local list = index.by_last[last] or {}
  if list[#list] ~= entry then list[#list + 1] = entry end   -- once, though peri.exp is t:exp too
  index.by_last[last] = list
end

local function owner_of (path) return path:match "^(.+)[%.:][^%.:]+$" end

-- Modules and kinds of objects list what they have.
local function add_members ()
  local members = {}
  for path in pairs(index.paths) do
    local owner = owner_of(path)
    members[owner or ""] = members[owner or ""] or {}
    table.insert(members[owner or ""], last_part(path))
  end
  for owner, list in pairs(members) do
    local entry = index.paths[owner]
    if entry then
      table.sort(list)
      entry.facts = { { "has", table.concat(list, " ") } }
    end
  end
end

-- Entries of the same last name refer to each other.
local function add_others ()
  for last, list in pairs(index.by_last) do
    for _, entry in ipairs(list) do
      local others = {}
      for _, other in ipairs(list) do
        if other ~= entry and last_part(other.name) == last then others[#others + 1] = other.name end
      end
      if #others > 0 and last_part(entry.name) == last then entry.see = others end
    end
  end
end

-- Entries as objects, by all of their names.
local function load_index ()
  if index then return index end
  local data = require "perilune.help.entries"
  index = { list = data, paths = {}, by_last = {} }
  for _, entry in ipairs(data) do
    setmetatable(entry, Entry)
    add(entry.name, entry)
    for _, other in ipairs(entry.also or {}) do add(other, entry) end
  end
  add_members()
  add_others()
  return index
end

local function entry_of_class (c) return setmetatable(require "perilune.help.class".entry(c, load_index()), Entry) end

-- One that makes distributions; their parent has an entry of its own.
local function is_distribution_class (x)
  local Distribution = require "perilune.distribution"
  return class.is_class(x) and x ~= Distribution and class.descends(x, Distribution) and rawget(x, "__name") ~= nil
end

local function class_named (name)
  return core.is_module("distributions", name) and require("perilune.distributions." .. name) or nil
end


-- From what is asked to an entry ------------------------------------------------------------

-- What documents call an object of a kind.
local KINDS = {
  t = "Tensor", x = "Tensor", tensor = "Tensor", d = "Distribution", p = "Distribution", q = "Distribution",
  rng = "Rng", posed = "Model", model = "Model", post = "Posterior", posterior = "Posterior", m = "Sites", g = "Guide",
  opt = "Optimiser", optimiser = "Optimiser", fit = "Fit", sampling = "Sampling", trace = "Trace",
  constraint = "Constraint", transform = "Transform", optimizer = "Optimiser",
}

local LONGEST = 10000   -- of a name with arguments; "%b()" takes time as the square of the number of open parentheses

-- "peri.Normal(0, 1):cdf(x)" -> "Normal:cdf"
local function plain_name (name)
  if #name > LONGEST then return name end
  name = name:gsub("%b()", ""):gsub("%b{}", ""):gsub("%s", "")
  return (name:gsub("^perilune%.", ""):gsub("^peri%.", ""))
end

-- An entry by its last part alone: of several the first, in the order of chapters.
local function of_last (name) return index.by_last[name] and index.by_last[name][1] end

-- By the method's name alone where nothing is known of the object.
local function of_method (object, method)
  local kind, paths = KINDS[object] or object, index.paths
  local c = class_named(kind)
  local found = paths[kind .. ":" .. method] or paths[kind .. "." .. method] or paths["peri." .. kind .. "." .. method]
                or c and (paths["Distribution:" .. method] or paths["Distribution." .. method])
                or kind == "special" and paths["peri." .. method]
  if found or c or paths[kind] or paths["peri." .. kind] then return found or nil end
  return of_last(method)
end

local function of_name (name)
  load_index()
  name = plain_name(name)
  local c = class_named(name)
  if c then return entry_of_class(c) end
  local object, method = name:match "^(.-)[:%.]([^:%.]+)$"
  return index.paths["peri." .. name] or index.paths[name] or KINDS[name] and index.paths[KINDS[name]]
         or object and of_method(object, method) or not object and of_last(name) or nil
end

-- The path of a function or table that is a field of `peri` or of one of its modules.
local function path_of (value)
  local peri = require "perilune"
  for path, entry in pairs(index.paths) do
    local rest = path:match "^peri%.(.+)$"
    if rest then
      local found = peri
      for part in rest:gmatch "[^%.]+" do found = type(found) == "table" and rawget(found, part) end
      if rawequal(found, value) then return entry end
    end
  end
end

-- Objects that know the name of their kind.
local function of_object (value)
  local meta = debug and debug.getmetatable(value)
  if core.is_tensor(value) then return of_name "Tensor" end
  if value == require "perilune.distribution" then return of_name "Distribution" end
  local c = class.of(value)
  if c and is_distribution_class(c) then return entry_of_class(c) end
  if type(meta) ~= "table" then return nil end
  local paths = index.paths
  local name = type(value) == "table" and rawget(value, "name") or rawget(meta, "name")
  if type(name) == "string" then
    return paths["peri.constraints." .. name] or paths["peri.transforms." .. name] or paths["peri.optim." .. name]
           or paths[value.violation and "Constraint" or value.log_abs_det_jacobian and "Transform"]
  end
  name = rawget(meta, "__name")
  if type(name) ~= "string" then return nil end
  return paths["peri." .. name] or paths[KINDS[name:match "^.*[^%w_](.*)" or name]]   -- "optim.Adam", "perilune.rng"
end

--@ peri.help.entry(name) -> help or nil
-- What peri.help gives, or nil where there is no such name.
--   name  string, or what is asked about: a class, a distribution, a function, a tensor, ...
-- > help.entry("expm1").name, help.entry("nothing of the kind")
-- peri.expm1  nil
function help.entry (name, ...)
  errors.no_more("help.entry(name)", ...)
  load_index()
  if type(name) == "string" then return of_name(name) end
  if is_distribution_class(name) then return entry_of_class(name) end
  local kind = type(name)
  if kind ~= "table" and kind ~= "function" and kind ~= "userdata" then return nil end
  return path_of(name) or of_object(name)
end


-- Looking for words -----------------------------------------------------------------------

local function first_sentence (text) return text:match "^(.-[%.!?])%s" or text end

-- Is a word the name of an option?
local function is_option (word, params)
  for _, param in ipairs(params or {}) do
    for _, option in ipairs(param[3] or {}) do
      if option[1]:lower() == word then return true end
    end
  end
  return false
end

-- How well a name, a text and the options of an entry fit a word in lower case; 0: not at all.
local function relevance (word, name, text, params)
  local last = last_part(name):lower()
  if last == word then return name:find "^peri%.[^%.]+$" and 101 or 100 end
  if last:sub(1, #word) == word then return 80 - #last / 100 end
  for part in last:gmatch "[^_]+" do
    if part == word then return 70 - #last / 100 end
  end
  if last:find(word, 1, true) then return 60 - #last / 100 end
  if name:lower():find(word, 1, true) then return 40 - #last / 100 end
  if is_option(word, params) then return 30 end
  for part in text:lower():gmatch "[%w_]+" do
    if part == word then return 20 end
  end
  return text:lower():find(word, 1, true) and 10 or 0
end

-- All names with their texts, of distributions too.
local function each_name (fn)
  for _, entry in ipairs(load_index().list) do fn(entry.name, entry.signature, entry.text, entry.params) end
  for _, name in ipairs(core.classes()) do
    local c = class_named(name)
    local about = rawget(c, "help") or {}
    fn("peri." .. name, require "perilune.help.class".signature(c), about.summary or "")
  end
end

--@ peri.help.find(word) -> list
-- What has a word in its name, or else among its options or in its text, the most relevant first: a list of
-- { name =, signature =, sentence = }, which prints as a table as wide as the window. Several words must all be there.
--   word  string
-- > help.find("kl_exp")[1].name
-- peri.kl_explain
-- > #help.find("no such word")
-- 0
function help.find (word, ...)
  errors.no_more("help.find(word)", ...)
  if type(word) ~= "string" then errors.raise("help.find: word must be a string, got %s", core.describe(word)) end
  local words, found = {}, {}
  for part in word:lower():gmatch "%S+" do words[#words + 1] = part end
  each_name(function (name, signature, text, params)
    local least = #words > 0 and math.huge or 0
    for _, part in ipairs(words) do least = math.min(least, relevance(part, name, text, params)) end
    if least > 0 then
      found[#found + 1] = { name = name, signature = signature, sentence = first_sentence(text), score = least }
    end
  end)
  table.sort(found, function (a, b)
    if a.score ~= b.score then return a.score > b.score end
    return a.name < b.name
  end)
  for _, one in ipairs(found) do one.score = nil end
  return setmetatable(found, { __tostring = function (self) return render.list(self, show.width()) end })
end


-- All of it -----------------------------------------------------------------------------------

-- Names near one that is not there.
local function nearest (name)
  local names = core.classes()
  for last in pairs(load_index().by_last) do names[#names + 1] = last end
  return core.nearest(last_part(plain_name(name)) or name, names)
end

-- Chapters with their names, classes of distributions first.
local function overview ()
  local chapters = {}
  for i, title in ipairs(load_index().list.chapters) do chapters[i] = { title = title, names = {} } end
  for _, name in ipairs(core.classes()) do table.insert(chapters[1].names, "peri." .. name) end
  for _, entry in ipairs(index.list) do table.insert(chapters[entry.chapter].names, entry.name) end
  return setmetatable({ name = "help", chapters = chapters }, {
    __index = Entry, __name = "help", __tostring = function (self) return render.overview(self, show.width()) end,
  })
end

--@ peri.help(name) -> help
-- The entry of a name, which prints as text: signature, sentences, parameters, examples; of a distribution also
-- support, formula, KL pairs and relatives. Without a name, the chapters of the reference. Raises where there is no
-- such name, and says which is near.
--   name  string ("log_prob", "Tensor:sum", "t:sum", "optim.Adam"), or what is asked about: peri.Gamma,
--         peri.Gamma(1, 1), peri.exp; nothing: all chapters
-- > help("t:sum").name, help("optim.Adam").name, help(Gamma(1, 1)).name
-- peri.sum  peri.optim.Adam  peri.Gamma
local function call (_, name, ...)
  errors.no_more("help(name)", ...)
  if name == nil then return overview() end
  local entry = help.entry(name)
  if entry then return entry end
  if type(name) ~= "string" then errors.raise("help: there is no entry for %s", core.describe(name)) end
  local near = nearest(name)
  errors.raise("help: there is no entry for %s%s; help.find(word) looks for words", name,
               near and "; did you mean " .. near .. "?" or "")
end

errors.module("help", help)
getmetatable(help).__call = call
getmetatable(help).__tostring = function () return tostring(overview()) end

return help
