--- Elementwise functions: one for every kernel in src/kernel/op, by its name.
-- Each takes numbers, tables or tensors; numbers give a number.
local core   = require "perilune.core"
local errors = require "perilune.errors"

local operands = { { "x" }, { "x", "y" }, { "x", "y", "z" }, { "x", "y", "z", "w" } }   -- of so many

--@ peri.special
-- The functions of each element, which are peri's own fields too: peri.special.lgamma is peri.lgamma. Each takes
-- numbers, tables or tensors, broadcasts shapes, and gives a number for numbers.
-- > special.lgamma == lgamma
-- true
local functions = {}
for _, file in ipairs(core.kernel_files "op") do
  for name, n_in in core.each_kernel(file) do
    local names = operands[n_in]
    functions[name] = core.bind(file, name, name, names, names)
  end
end

return errors.module("special", functions)
