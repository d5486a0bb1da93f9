--- Options of the ways to a posterior: checked in one place, by tables of { name, default, rule in words, rule }.
local errors = require "perilune.errors"
local show   = require "perilune.show"

local options = {}

function options.is_count (x) return type(x) == "number" and math.tointeger(x) ~= nil and x > 0 end
function options.is_enough (x) return options.is_count(x) and x >= 4 end   -- draws: halves of them have a variance
function options.is_positive (x) return type(x) == "number" and x > 0 and x < math.huge end
function options.is_boolean (x) return type(x) == "boolean" end
function options.is_callable (x)
  return type(x) == "function" or type(x) ~= "string" and (getmetatable(x) or {}).__call ~= nil
end

local function is_table_or_false (x) return x == false or type(x) == "table" end

--- What every way takes.
options.COMMON = {
  { "rng", false, "a generator (see peri.rng)", function (x) return x == false or type(x) == "userdata" end },
  { "seed", false, "an integer", function (x) return x == false or math.type(x) == "integer" end },
  { "progress", false, "true, false or a function (info)",
    function (x) return options.is_boolean(x) or options.is_callable(x) end },
  { "noncentred", "auto", '"auto", false or a list of names',
    function (x) return x == "auto" or is_table_or_false(x) end },
  { "init", false, "a table of values by name", is_table_or_false },
}

--- Raises if a value is not what the row of an option allows.
function options.check (who, row, value)
  if not row[4](value) then errors.raise("%s: %s must be %s, got %s", who, row[1], row[3], show.value(value)) end
end

--- `given` with the defaults of these rows, of `more`, and of those that all ways take; raises for what is not allowed.
function options.read (who, given, rows, more)
  if type(given) ~= "table" then errors.raise("%s: takes a table of options, got %s", who, show.value(given)) end
  local all, names, found = {}, {}, {}
  for _, list in ipairs { options.COMMON, rows, more } do
    for _, row in ipairs(list) do all[#all + 1], names[#names + 1] = row, row[1] end
  end
  errors.check_options(who, given, names)
  for _, row in ipairs(all) do
    local name, value = row[1], given[row[1]]
    if value == nil then value = row[2] end
    if type(value) == "number" then value = math.tointeger(value) or value end   -- 1e4 is a count
    options.check(who, row, value)
    found[name] = value
  end
  if found.rng and found.seed then errors.raise("%s: give rng or seed, not both", who) end
  found.rng = found.rng or found.seed and require "perilune.core".rng(found.seed) or nil
  return found
end

--- A generator for a fit that got none: it follows from the default one, hence from peri.seed.
function options.own_rng ()
  local core, Uniform = require "perilune.core", require "perilune.distributions.Uniform"
  return core.rng(math.floor(Uniform(0, 2 ^ 52):sample()))
end

return options
