--- Elementwise functions: one for every kernel in src/kernel/op, by its name.
-- Each takes numbers, tables or tensors; numbers give a number.
local core   = require "perilune.core"
local errors = require "perilune.errors"

--@ peri.special
-- The functions of each element, which are peri's own fields too: peri.special.lgamma is peri.lgamma. Each takes
-- numbers, tables or tensors, broadcasts shapes, and gives a number for numbers.
-- > special.lgamma == lgamma
-- true
local functions = {}
for _, file in ipairs(core.kernel_files "op") do core.bind_functions(functions, file) end

return errors.module("special", functions)
