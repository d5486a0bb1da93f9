--- The functions of Lua 5.2 and 5.3 that perilune uses, for LuaJIT, Lua 5.1 and 5.2: added to the libraries where they
-- are missing. There an integer is a number without a fraction.
local EXACT = 2^53

local function is_integer (x)
  return type(x) == "number" and x % 1 == 0 and x >= -EXACT and x <= EXACT
end

local function type_of (x)
  if type(x) ~= "number" then return nil end
  local is_minus_zero = x == 0 and 1 / x < 0
  return is_integer(x) and not is_minus_zero and "integer" or "float"
end

local function move (from, first, last, at, to)
  to = to or from
  local step, begin, stop = 1, 0, last - first
  if to == from and at > first then step, begin, stop = -1, stop, begin end   -- parts may overlap
  for i = begin, stop, step do to[at + i] = from[first + i] end
  return to
end

local function add (library, functions)
  for name, f in pairs(functions) do
    if library[name] == nil then library[name] = f end
  end
end

-- Lua 5.1 takes no base.
if math.log(8, 2) ~= 3 then
  local log, log10, frexp = math.log, rawget(math, "log10"), rawget(math, "frexp")
  rawset(math, "log", function (x, base)
    if base == nil then return log(x) end
    if base == 10 then return log10(x) end
    if base ~= 2 then return log(x) / log(base) end
    local fraction, exponent = frexp(x)   -- exact for powers of 2
    return exponent - 1 + log(2 * fraction) / log(2)
  end)
end

add(_G, { rawlen = function (x) return #x end })   -- # of a table is raw there
add(math, {
  type = type_of, tointeger = function (x) return is_integer(x) and x + 0 or nil end,
  maxinteger = EXACT, mininteger = -EXACT,
})
add(table, {
  unpack = rawget(_G, "unpack"), move = move,
  pack = function (...) return { n = select("#", ...), ... } end,
})
