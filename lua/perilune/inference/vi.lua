--- posed:vi {}: variational inference.
local errors  = require "perilune.errors"
local options = require "perilune.inference.options"

local GUIDES = { meanfield = true, fullrank = true }

local ROWS = {
  { "guide", false, '"meanfield", "fullrank" or a function (g, d)',
    function (x) return x == false or GUIDES[x] ~= nil or options.is_callable(x) end },
  { "starts", false, "a positive integer", function (x) return x == false or options.is_count(x) end },
  { "steps", 2000, "a positive integer", options.is_count },
  { "lr", false, "positive", function (x) return x == false or options.is_positive(x) end },
  { "samples", false, "a positive integer", function (x) return x == false or options.is_count(x) end },
}

-- What a guide function has no use for.
local function check_guided (given)
  for _, name in ipairs { "init", "noncentred", "starts" } do
    if given[name] ~= nil then
      errors.raise("vi: %s is of no use with a guide function, which says where its parameters begin", name)
    end
  end
end

return function (posed, given)
  local read = options.read("vi", given, ROWS)
  read.report = options.reporter(read.progress)
  if GUIDES[read.guide] or not read.guide then return require "perilune.inference.recipe".fit(posed, read) end
  check_guided(given)
  read.rng = read.rng or options.own_rng()
  return require "perilune.inference.guided".fit(posed, read)
end
