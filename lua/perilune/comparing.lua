--- Tensors compared as a whole.
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local operands  = require "perilune.operands"
local tensor    = require "perilune.tensor"

local as_tensor, no_more = operands.tensor, errors.no_more

local comparing = {}

--@ peri.equal(a, b) -> boolean
-- Have they the same shape and the same elements? NaN equals nothing. Of two tensors == says the same.
--   a  number, table or tensor
--   b  number, table or tensor
-- > equal({ 1, 2 }, tensor { 1, 2 })
-- true
function comparing.equal (a, b, ...)
  no_more("equal(a, b)", ...)
  a, b = as_tensor("equal", a), as_tensor("equal", b)
  local sa, sb = core.shape(a), core.shape(b)
  if #sa ~= #sb then return false end
  for d = 1, #sa do if sa[d] ~= sb[d] then return false end end
  return core.item(tensor.all(a:eq(b))) == 1
end

--@ peri.allclose(a, b, rtol, atol) -> boolean
-- Do all elements differ by at most atol + rtol |b|?
--   a     number, table or tensor
--   b     number, table or tensor
--   rtol  number; 1e-9 unless told
--   atol  number; 0 unless told
-- > allclose({ 1, 2 }, { 1, 2.001 }, 0.01)
-- true
function comparing.allclose (a, b, rtol, atol, ...)
  no_more("allclose(a, b, rtol, atol)", ...)
  return core.item(tensor.all(functions.isclose(a, b, rtol or 1e-9, atol or 0))) == 1
end

--- One-element tensors compare as their numbers do.
function comparing.number (x)
  if type(x) == "number" then return x end
  if core.is_tensor(x) and core.numel(x) == 1 then return core.item(x) end
  errors.raise("only numbers and tensors of one element can be ordered; t:lt(u) compares element by element")
end

return comparing
