--- bits(x): what a double is made of.
local core   = require "perilune.core"
local errors = require "perilune.errors"
local show   = require "perilune.show"

local function number (name, x)
  if core.is_tensor(x) and core.numel(x) == 1 then x = core.item(x) end
  if type(x) ~= "number" then errors.raise("bits: %s must be a number, got %s", name, show.value(x)) end
  return math.type(x) == "integer" and x + 0.0 or x
end

-- How many doubles lie between two, one end counted.
local function steps (x, y)
  if x ~= x or y ~= y then return core.nan end
  return core.steps(x, y)
end

-- "+1.6 * 2^-4"
local function in_words (x, exponent)
  if x ~= x then return "nan" end
  if x - x ~= 0 then return x > 0 and "+inf" or "-inf" end
  local power = math.max(exponent, 1) - 1023
  if x == 0 then return 1 / x > 0 and "+0" or "-0" end
  local low = power < -1000 and 1000 or 0   -- 2^1074 is no double
  local mantissa = x * 2.0 ^ low * 2.0 ^ (-power - low)
  return string.format("%s * 2^%d%s", show.format("%+.17g", mantissa), power, exponent == 0 and ", subnormal" or "")
end

-- As C's "%a", which is not in all Luas, and not the same in all C libraries.
local function hexadecimal (x, digits, exponent)
  local fraction = digits:sub(13):gsub("....", function (four) return string.format("%x", tonumber(four, 2)) end)
  fraction = fraction:gsub("0+$", "")
  return string.format("%s0x%d%s%sp%+d", digits:sub(1, 1) == "1" and "-" or "", exponent > 0 and 1 or 0,
                       fraction ~= "" and "." or "", fraction, x == 0 and 0 or math.max(exponent, 1) - 1023)
end

local bits = {}

--@ peri.bits(x, y) -> text, or a number of steps
-- The bits of a double: in hexadecimal, as mantissa and exponent, and as sign, exponent and fraction. Of two numbers:
-- how many steps from one double to the next (ulps) it is from x to y.
--   x  a number
--   y  a second one
-- > bits(0.1)
-- 0x1.999999999999ap-4 = +1.6000000000000001 * 2^-4: 0 01111111011 1001100110011001100110011001100110011001100110011010
-- > bits(0.1 + 0.2, 0.3)
-- 1
function bits.bits (x, y, ...)
  errors.no_more("bits(x, y)", ...)
  x = number("x", x)
  if y ~= nil then return steps(x, number("y", y)) end
  local digits, exponent = core.binary(x)
  local hex = x - x == 0 and hexadecimal(x, digits, exponent) .. " = " or ""
  return string.format("%s%s: %s %s %s", hex, in_words(x, exponent), digits:sub(1, 1), digits:sub(2, 12),
                       digits:sub(13))
end

return bits
