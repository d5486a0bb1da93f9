--- Entries of the help as objects, which print as text.
local core   = require "perilune.core"
local errors = require "perilune.errors"
local render = require "perilune.help.render"
local show   = require "perilune.show"

local MOST = 80   -- columns: longer lines are hard to read

local Entry = { __name = "help" }
Entry.__index = Entry

--@ Help:render(width) -> string
-- The entry as text for a terminal of so many columns; tostring takes those of the window, 80 at most.
--   width  integer from 20; those of the window unless told, 80 at most
-- > help("expm1"):render(40)
-- peri.expm1(x) -> number or Tensor
--   exp(x) - 1, without loss of digits
--   near 0.
--
--   x  number, table or tensor; shapes are
--      broadcast
--
--   also t:expm1()
--
--   > expm1(1e-10)
--   1.00000000005e-10
function Entry:render (width)
  if width ~= nil and not (math.type(width) == "integer" and width >= 20) then
    errors.raise("render: width must be an integer from 20, got %s", core.describe(width))
  end
  return render.entry(self, width or math.min(show.width(), MOST))
end

function Entry:__tostring () return self:render() end

errors.count_arguments("help", Entry, "render")

return Entry
