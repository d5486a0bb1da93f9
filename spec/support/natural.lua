--- Natural numbers of any size, for levels by exact arithmetic: arrays of digits of base 2^24, the lowest first.
-- Doubles hold whatever is computed of two digits.
local natural = {}

local BASE = 2.0 ^ 24

local function digits_above (n) return math.floor(n / BASE) end

local function trimmed (a)
  while #a > 0 and a[#a] == 0 do a[#a] = nil end
  return a
end

--- The natural number of an integer, 0 <= n.
function natural.of (n)
  local a = {}
  while n > 0 do a[#a + 1], n = n % BASE, digits_above(n) end
  return a
end

function natural.add (a, b)
  local sum, carry = {}, 0
  for i = 1, math.max(#a, #b) + 1 do
    local digit = (a[i] or 0) + (b[i] or 0) + carry
    sum[i], carry = digit % BASE, digits_above(digit)
  end
  return trimmed(sum)
end

--- a - b, a >= b.
function natural.subtract (a, b)
  local difference, borrow = {}, 0
  for i = 1, #a do
    local digit = a[i] - (b[i] or 0) - borrow
    difference[i], borrow = digit % BASE, digit < 0 and 1 or 0
  end
  return trimmed(difference)
end

function natural.multiply (a, b)
  local product = {}
  for i = 1, #a + #b do product[i] = 0 end
  for i = 1, #a do
    local carry = 0
    for j = 1, #b + 1 do
      local digit = product[i + j - 1] + a[i] * (b[j] or 0) + carry
      product[i + j - 1], carry = digit % BASE, digits_above(digit)
    end
  end
  return trimmed(product)
end

function natural.power (a, n)
  local product = natural.of(1)
  for _ = 1, n do product = natural.multiply(product, a) end
  return product
end

local function is_less (a, b)
  if #a ~= #b then return #a < #b end
  for i = #a, 1, -1 do
    if a[i] ~= b[i] then return a[i] < b[i] end
  end
  return false
end

--- n choose k, as a row of Pascal's triangle.
function natural.choose (n, k)
  local row = { [0] = natural.of(1) }
  for i = 1, n do
    for j = math.min(i, k), 1, -1 do row[j] = natural.add(row[j] or {}, row[j - 1]) end
  end
  return row[k] or {}
end

local function bits (a)
  local top, n = a[#a] or 0, 0
  while top > 0 do top, n = math.floor(top / 2), n + 1 end
  return 24 * math.max(#a - 1, 0) + n
end

--- The double nearest to a/b. Long division to 58 bits, the last of which stands for all after it; adding the lower
-- half to the upper one rounds to nearest.
function natural.ratio (a, b)
  local shift = 56 - (bits(a) - bits(b))
  local two, scale = natural.of(2), natural.power(natural.of(2), math.abs(shift))
  if shift > 0 then a = natural.multiply(a, scale) else b = natural.multiply(b, scale) end
  local parts, halves = { [0] = b }, { 0, 0 }
  for i = 1, 57 do parts[i] = natural.multiply(parts[i - 1], two) end
  for i = 57, 0, -1 do
    local half, bit = i >= 29 and 1 or 2, 2.0 ^ (i % 29)
    if not is_less(a, parts[i]) then a, halves[half] = natural.subtract(a, parts[i]), halves[half] + bit end
  end
  if #a > 0 and halves[2] % 2 == 0 then halves[2] = halves[2] + 1 end
  return (halves[1] * 2.0 ^ 29 + halves[2]) * 2.0 ^ -shift
end

return natural
