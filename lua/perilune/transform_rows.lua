--- Transforms of rows and matrices, each by the three kernels of a file of src/kernel/row.
local core      = require "perilune.core"
local raise     = require "perilune.errors".raise
local show      = require "perilune.show"
local transform = require "perilune.transform"

local transform_rows = {}

-- A function that gives kernels of a file; messages say `name`.
local function kernels_of (name, file)
  return function (kernel, operands) return core.bind("row/" .. file, kernel, name, operands, operands) end
end

--- A kind whose three functions are row kernels on one operand.
function transform_rows.kind (name, file, kind)
  local bind = kernels_of(name, file)
  kind.forward, kind.inverse = transform.plain(bind("forward", { "x" })), transform.plain(bind("inverse", { "y" }))
  kind.log_det = transform.plain(bind("log_det", { "x" }))
  return transform.kind(name, kind)
end

--- A kind whose result has another size than its argument.
function transform_rows.resizing_kind (name, file, kind)
  local bind = kernels_of(name, file)
  local forward, inverse = bind("forward", { "x", "size" }), bind("inverse", { "y", "size" })
  function kind:forward (x) return forward(x, core.zeros(self:forward_shape(core.shape(x))[transform.rank(x)])) end
  function kind:inverse (y)
    local shape = self:inverse_shape(core.shape(y))
    return inverse(y, core.zeros(shape[#shape]))
  end
  kind.log_det = transform.plain(bind("log_det", { "x" }))
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
