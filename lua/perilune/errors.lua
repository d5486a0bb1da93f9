--- Errors: what is refused, and how it is said.
--
-- A message has the form "who: argument must be rule, got value", and begins with the line of whoever called the
-- library, from however deep within it: no caller counts levels.
local core = require "perilune.core"

core.library "errors"   -- this file is one of the library's, and so is what lies beside it

local errors = {}

--- Raises a message, made as string.format makes it.
function errors.raise (...) core.raise(string.format(...)) end

return errors
