--- Transforms of rows and matrices by kernels of src/kernel/row/transform.c.
local core      = require "perilune.core"
local raise     = require "perilune.errors".raise
local show      = require "perilune.show"
local transform = require "perilune.transform"

local transform_rows = {}

local function row_kernel (name, operands)
  return core.bind("row/transform", name, name, operands, operands)
end

--- A kind whose three functions are row kernels on one operand.
function transform_rows.kind (name, kernel, kind)
  local forward, inverse = row_kernel(kernel, { "x" }), row_kernel(kernel .. "_inverse", { "y" })
  local log_det = row_kernel(kernel .. "_log_det", { "x" })
  kind.forward, kind.inverse = transform.plain(forward), transform.plain(inverse)
  kind.log_det = transform.plain(log_det)
  return transform.kind(name, kind)
end

--- A kind whose result has another size than its argument.
function transform_rows.resizing_kind (name, kernel, kind)
  local operands = { "x", "size" }
  local forward, inverse = row_kernel(kernel, operands), row_kernel(kernel .. "_inverse", operands)
  local log_det = row_kernel(kernel .. "_log_det", { "x" })
  function kind:forward (x) return forward(x, core.zeros(self:forward_shape(core.shape(x))[transform.rank(x)])) end
  function kind:inverse (y)
    local shape = self:inverse_shape(core.shape(y))
    return inverse(y, core.zeros(shape[#shape]))
  end
  kind.log_det = transform.plain(log_det)
  return transform.kind(name, kind)
end

--- A shape with n in the place of its last dimension, and of `drop` more.
function transform_rows.with_last (shape, n, drop)
  local changed = { table.unpack(shape, 1, #shape - 1 - (drop or 0)) }
  changed[#changed + 1] = n
  return changed
end

--- The last dimension of a shape of n dimensions at least.
function transform_rows.last_of (self, shape, n)
  if #shape >= n then return shape[#shape] end
  raise("%s: a shape must have at least %d dimension%s, got %s", self.name, n, n == 1 and "" or "s", show.shape(shape))
end

return transform_rows
