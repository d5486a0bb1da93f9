--- What functions of tensors ask of their arguments.
local core  = require "perilune.core"
local raise = require "perilune.errors".raise

local operands = {}

local function fail (who, ...) raise("%s: %s", who, string.format(...)) end

operands.fail = fail

--- A number, table or tensor as a tensor.
function operands.tensor (who, x)
  if core.is_tensor(x) then return x end
  x = core.operand(x, who, "the operand")
  return core.is_tensor(x) and x or core.tensor(x)
end

--- A dimension of n counted from 1, or from -1 backwards.
function operands.dimension (who, dim, n)
  if math.type(dim) ~= "integer" or dim == 0 or dim > n or dim < -n then
    fail(who, "dim must be an integer between 1 and %d (or -1 and -%d), got %s", n, n, core.describe(dim))
  end
  return dim > 0 and dim or dim + n + 1
end

return operands
