--- Variances of numbers on the line, also of directions (classes that say `is_circular`), which have another one.
local functions = require "perilune.functions"

local line_moments = {}

--- E (X - mean)^2.
function line_moments.variance (d)
  if not d.is_circular then return (d:variance()) end
  local mean = d:mean()
  return (d:expectation(function (x) return (x - mean) ^ 2 end))
end

--- Its root.
function line_moments.stddev (d)
  return d.is_circular and functions.sqrt(line_moments.variance(d)) or (d:stddev())
end

return line_moments
