--- Variances of numbers on the line, also of directions (classes that say `is_circular`), which have another one.
local functions = require "perilune.functions"

local line_moments = {}

--- E (X - mean)^2, as an integral.
function line_moments.spread (d)
  local mean = d:mean()
  return (d:expectation(function (x) return (x - mean) ^ 2 end))
end

--- The same by what a law knows of it.
function line_moments.variance (d)
  return d.is_circular and line_moments.spread(d) or (d:variance())
end

--- Its root.
function line_moments.stddev (d)
  return d.is_circular and functions.sqrt(line_moments.spread(d)) or (d:stddev())
end

return line_moments
