--- The entry of a class of distributions: from its declaration, the `help` that it has, and the registry of KL pairs.
local Distribution = require "perilune.distribution"
local attempt      = require "perilune.attempt"
local class        = require "perilune.class"
local core         = require "perilune.core"
local show         = require "perilune.show"

local of_class = {}

-- What a class says of itself, as far as it has the form that it should have.
local FORMS = { summary = "string", formula = "string", params = "table", arguments = "table", example = "table" }

local function about_of (c)
  local about = {}
  for key, form in pairs(FORMS) do
    local value = type(c.help) == "table" and c.help[key]
    if type(value) == form then about[key] = value end
  end
  if about.example and type(about.example[1]) ~= "string" then about.example = nil end
  return about
end

-- What a text gives in which the class has its name; nil where that is an error.
local function evaluated (c, text)
  local _, chunk = pcall(load, "local peri, " .. class.name(c) .. " = ...; return " .. text, "=help", "t",
                         { require = require, math = math })   -- there may be no load, or none for strings
  local ok, value = attempt.any(chunk, require "perilune", c)
  return ok and value or nil
end

-- What an example gives, or what it says that it would.
local function value_of (c, example)
  local value = evaluated(c, example[1])
  if value == nil then value = example[2] end
  return tostring(value)
end

-- The distribution with which the example of a class begins, or nil.
local function instance_of (c)
  local example = about_of(c).example
  local made = example and example[1]:match "^(.-[)}]):%l"
  return made and evaluated(c, made)
end

-- The parameters of an instance that are numbers no other one is.
local function distinct (d, names)
  local count, found = {}, {}
  for _, name in ipairs(names) do
    local value = d and rawget(d, name)
    if type(value) == "number" then count[value] = (count[value] or 0) + 1 end
  end
  for _, name in ipairs(names) do
    local value = d and rawget(d, name)
    if count[value] == 1 then found[#found + 1] = { name, show.number(value) } end
  end
  return found
end

-- "greater than 1" of an instance whose `low` is 1: "greater than low".
local function by_name (rule, d, names)
  for _, param in ipairs(distinct(d, names)) do
    local name, text = param[1], param[2]:gsub("%p", "%%%0")
    rule = rule:gsub("%f[%w%.%-]" .. text .. "%f[^%w%.]", function () return name end)
  end
  return rule
end

-- What a parameter must be, in words.
local ROWS = { "a row", "a matrix" }   -- by the dimensions of a parameter's events

local function rule_of (param, d, before)
  local constraint, form = param[2], ROWS[param.event]
  if type(constraint) ~= "function" then
    local rule = constraint:rule()
    if form and rule == "a real number" then return form end
    return form and form .. "; " .. rule or rule
  end
  local ok, found = attempt.any(constraint, d)
  return ok and type(found) == "table" and by_name(found:rule(), d, before) or "as the others allow"
end

-- Parameters that another one before them stands for: probs for logits.
local function alternatives (c)
  local first = {}
  for _, param in ipairs(c.params) do
    for other in pairs(param.gives or {}) do
      if not first[param[1]] then first[other] = first[other] or param[1] end
    end
  end
  return first
end

local function sorted_keys (t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- { "concentration", "rate = 1" }
local function arguments_of (c)
  local parts, instead = {}, alternatives(c)
  for _, param in ipairs(c.params) do
    if not instead[param[1]] then
      parts[#parts + 1] = param[1] .. (param.default and " = " .. show.parameter(param.default) or "")
    end
  end
  local about = about_of(c)
  return #parts > 0 and parts or about.arguments or sorted_keys(about.params or {})
end

--- "peri.Gamma(concentration, rate = 1)"
function of_class.signature (c) return "peri." .. class.name(c) .. "(" .. table.concat(arguments_of(c), ", ") .. ")" end

-- { name, words } for each parameter.
local function params_of (c, d)
  local rows, before, words, instead = {}, {}, about_of(c).params or {}, alternatives(c)
  for i, param in ipairs(c.params) do
    local name = param[1]
    local text = rule_of(param, d, before)
    if instead[name] then text = "instead of " .. instead[name] .. ": " .. text end
    if param.default then text = text .. ", " .. show.parameter(param.default) .. " unless told" end
    local more = words[name] and words[name]:gsub(", instead$", ""):gsub(", or instead of it:$", "")
    rows[i] = { name, text .. (more and "; " .. more or "") }
    before[i] = name
  end
  if #rows == 0 then
    for i, name in ipairs(about_of(c).arguments or sorted_keys(words)) do rows[i] = { name, words[name] or "" } end
  end
  return rows
end

-- Names of the fields that the support may depend on.
local function param_names (c)
  local names = { table.unpack(about_of(c).arguments or {}) }
  for i, param in ipairs(c.params) do names[i] = param[1] end
  return names
end

-- In words, of the class, or else of the distribution d of its example; nil where it is that of its parts.
local function support_of (c, d)
  local support = d and d.support or c.support
  if type(support) ~= "table" or not support.rule then return nil end
  if c.support then return support:rule() end
  local rule = by_name(support:rule(), d, param_names(c))
  if rule:find "%d[^%[]*%]" and rule == support:rule() then return rule .. " in the example" end
  return (#c.params > 0 or rule ~= support:rule()) and rule or nil
end

-- Methods that the class gives itself, and others of its own that have an entry.
local function methods_of (c, index)
  local names = {}
  for name, method in pairs(Distribution) do
    local own = c[name]
    if type(method) == "function" and own ~= method and index.paths["Distribution:" .. name] then
      names[#names + 1] = name
    end
  end
  for name, value in pairs(c) do
    if type(value) == "function" and index.paths[class.name(c) .. ":" .. name] then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

-- [name] = true for the class and its ancestors but Distribution.
local function lineage (c)
  local names = {}
  for _, link in ipairs(class.chain(c)) do
    if link ~= Distribution then names[class.name(link)] = true end
  end
  return names
end

-- Names of classes of the library q with a registered KL(c || q), and p with KL(p || c).
local function partners (c)
  local own, known, to, from = lineage(c), { Distribution = true }, {}, {}
  for _, name in ipairs(core.classes()) do known[name] = true end
  for _, pair in ipairs(require "perilune.kl".kl_pairs()) do
    if own[pair[1]] then to[pair[2]] = known[pair[2]] end
    if own[pair[2]] then from[pair[1]] = known[pair[1]] end
  end
  return sorted_keys(to), sorted_keys(from)
end

-- Is a name a part of another: Normal of HalfNormal?
local function is_part (part, name)
  return name ~= part and (name:find(part .. "$") or name:find("^" .. part .. "%u")) ~= nil
end

-- Classes that have a formula for each other in both directions, of their own: one is a case of the other.
local function formulas_both_ways (name, add)
  local kl_pairs, uses, seen = require "perilune.kl_pairs", {}, {}
  for _, list in ipairs { kl_pairs.formulas, kl_pairs.conditional } do
    for _, pair in ipairs(list) do uses[pair[#pair]] = (uses[pair[#pair]] or 0) + 1 end
    for _, pair in ipairs(list) do seen[pair[1] .. " " .. pair[2]] = uses[pair[#pair]] == 1 or nil end
  end
  for key in pairs(seen) do
    local p, q = key:match "(%S+) (%S+)"
    if p == name and q ~= name and seen[q .. " " .. p] then add(q) end
  end
end

-- Classes that descend from it or that it descends from; whose names have its name in them; whose law is computed by
-- the same code, as the includes of the kernels say; that are a case of it.
local function relatives (c, index)
  local name, found = class.name(c), {}
  local function add (other) found[other] = other ~= name or nil end
  for other in pairs(lineage(c)) do add(other) end
  for _, other in ipairs(core.classes()) do
    if is_part(name, other) or is_part(other, name) then add(other) end
    local C = require("perilune.distributions." .. other)
    if class.descends(C, c) then add(other) end
  end
  for _, other in ipairs(index.list.laws[name] or {}) do add(other) end
  formulas_both_ways(name, add)
  return sorted_keys(found)
end

-- A function that draws a small picture as wide as told, where there is something that draws.
local function drawer_of (d)
  local peri = require "perilune"
  if not d or #d.event_shape > 0 or not peri.has "plot" then return nil end
  return function (width)
    local ok, text = attempt.any(function ()
      return peri.plot(d):text { width = math.min(width, 60), height = 6, colour = false }
    end)
    return ok and text or nil
  end
end

local function append_fact (facts, name, list)
  if type(list) == "table" then list = #list > 0 and table.concat(list, ", ") or nil end
  if list then facts[#facts + 1] = { name, list } end
end

--- The entry of a class: fields as those of other entries, and `facts`, rows that are printed below the parameters.
function of_class.entry (c, index)
  local about, d, facts = about_of(c), instance_of(c), {}
  local to, from = partners(c)
  append_fact(facts, "support", support_of(c, d))
  append_fact(facts, "formula", about.formula)
  append_fact(facts, "methods", methods_of(c, index))
  append_fact(facts, "exact KL to", to)
  append_fact(facts, "exact KL from", from)
  append_fact(facts, "relatives", relatives(c, index))
  local example = about.example
  return {
    name = "peri." .. class.name(c), signature = of_class.signature(c), arguments = arguments_of(c), kind = "class",
    text = about.summary and about.summary:gsub("^%l", string.upper) .. "." or "", params = params_of(c, d),
    facts = facts, support = support_of(c, d), formula = about.formula,
    examples = example and { { example[1], value_of(c, example) } } or {},
    draw = drawer_of(d),
  }
end

return of_class
