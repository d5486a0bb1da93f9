--- posed:vi {}: variational inference.
local options = require "perilune.inference.options"
local recipe  = require "perilune.inference.recipe"

local GUIDES = { meanfield = true, fullrank = true }

local ROWS = {
  { "guide", false, '"meanfield" or "fullrank"', function (x) return x == false or GUIDES[x] ~= nil end },
  { "starts", false, "a positive integer", function (x) return x == false or options.is_count(x) end },
}

return function (posed, given)
  local read = options.read("vi", given, ROWS)
  read.report = options.reporter(read.progress)
  return recipe.fit(posed, read)
end
