--- Values as texts show them: numbers, shapes, parameters. (Whole tensors: columns.lua.)
local core = require "perilune.core"

local show = {}

--- As string.format for one number; printf may write a sign before nan, and a comma for the point in some locales.
function show.format (pattern, x)
  return x ~= x and "nan" or (string.format(pattern, x):gsub(",", "."))
end

--- How wide lines may be: what COLUMNS says, or else the window on a terminal; in files, pipes and hosts 80.
function show.width () return require "perilune.plot.width".columns() end

function show.number (x) return show.format("%.14g", x) end

--- "(2, 3)"
function show.shape (shape) return "(" .. table.concat(shape, ", ") .. ")" end

local contents = { __tostring = function (t) return require "perilune.readable".contents(t) end }

--- The table, which tostring shows from now on with its contents.
function show.listed (t) return setmetatable(t, contents) end

--- A value as error messages show it.
show.value = core.describe

--- A parameter inside a line: a number, a short list, or only a shape.
function show.parameter (x)
  if type(x) == "number" then return show.number(x) end
  if not core.is_tensor(x) then return tostring(x) end
  local shape = core.shape(x)
  if #shape > 1 or (shape[1] or 0) > 6 then return "Tensor" .. show.shape(shape) end
  if #shape == 0 then return show.number(core.item(x)) end
  local numbers = {}
  for i, v in ipairs(x:totable()) do numbers[i] = show.number(v) end
  return "{" .. table.concat(numbers, ", ") .. "}"
end

return show
