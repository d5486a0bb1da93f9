--- Constraints of matrices.
local constraint = require "perilune.constraint"
local core       = require "perilune.core"
local rows       = require "perilune.constraint_rows"
local show       = require "perilune.show"

local with, is_nan = rows.with, rows.is_nan

local function each_element (event, look)
  for i, row in ipairs(event:totable()) do
    for j, v in ipairs(row) do
      local text = look(i, j, v)
      if text then return text end
    end
  end
end

local function above (event)
  return each_element(event, function (i, j, v)
    return j > i and v ~= 0 and string.format("a matrix with %s above the diagonal", show.number(v))
  end)
end

local function diagonal (event)
  return each_element(event, function (i, j, v)
    return i == j and v <= 0 and string.format("a matrix with %s on the diagonal", show.number(v))
  end)
end

local function long_row (event)
  for i = 1, #event do
    local norm = core.item((event[i] * event[i]):sum()) ^ 0.5
    if math.abs(norm - 1) > 1e-6 then return "a matrix with a row of length " .. show.number(norm) end
  end
end

local function asymmetry (event)
  local room = 1e-6 * core.item(event:abs():max())
  return each_element(event, function (i, j, v)
    local w = event:at(j, i)
    return math.abs(v - w) > room
           and string.format("a matrix with %s and %s across the diagonal", show.number(w), show.number(v))
  end)
end

local function always (text) return function () return text end end

local lower_triangular = rows.kind("lower_triangular", 2, "a lower-triangular matrix", { with(is_nan), above })()
local lower_cholesky   = rows.kind("lower_cholesky", 2, "a lower-triangular matrix with positive diagonal",
                                  { with(is_nan), above, diagonal })()
local corr_cholesky    = rows.kind("corr_cholesky", 2,
                                  "a lower-triangular matrix with positive diagonal and rows of length 1",
                                  { with(is_nan), above, diagonal, long_row })()
local symmetric        = rows.kind("symmetric", 2, "a symmetric matrix", { with(is_nan), asymmetry })()

local positive_definite = rows.kind("positive_definite", 2, "a positive-definite matrix",
  { with(is_nan), asymmetry, always "a symmetric matrix that is not" })()
local positive_semidefinite = rows.kind("positive_semidefinite", 2, "a positive-semidefinite matrix",
  { with(is_nan), asymmetry, always "a symmetric matrix that is not" })()

local square = constraint.kind("square", {
  event_dim = 2,
  rule = function () return "a square matrix" end,
  holds = function (self, x)
    local shape = core.shape(constraint.as_tensor(x))
    local answer, batch = rows.misfit(self, shape) and 0 or 1, { table.unpack(shape, 1, #shape - 2) }
    return #batch == 0 and answer or core.full(batch, answer)
  end,
  violation = function (self, x) return rows.misfit(self, core.shape(constraint.as_tensor(x))) end,
})()

return {
  square = square, symmetric = symmetric, lower_triangular = lower_triangular, lower_cholesky = lower_cholesky,
  corr_cholesky = corr_cholesky, positive_definite = positive_definite, positive_semidefinite = positive_semidefinite,
}
