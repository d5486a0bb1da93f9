--- Elementwise functions: one for every kernel in src/kernel/op, by its name.
-- Each takes numbers, tables or tensors; numbers give a number.
local core   = require "perilune.core"
local errors = require "perilune.errors"

local operands = { { "x" }, { "x", "y" }, { "x", "y", "z" }, { "x", "y", "z", "w" } }   -- of so many

local functions = {}
for _, file in ipairs(core.kernel_files()) do
  if file:find("^op/") then
    for _, kernel in ipairs(core.kernels(file)) do
      local names = operands[kernel.n_in]
      functions[kernel.name] = core.bind(file, kernel.name, kernel.name, names, names)
    end
  end
end

return errors.module("special", functions)
