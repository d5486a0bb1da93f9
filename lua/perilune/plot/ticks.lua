--- Ticks: where an axis is marked, and what is written there.
--
-- An axis is { low =, high =, log =, integer =, at = { values }, texts = { ... } }, low < high, both finite. Steps of
-- linear axes are 1, 2 or 5 times a power of ten; those of logarithmic ones powers of ten.
local ticks = {}

local LARGEST  = 8e307    -- differences of numbers within stay finite
local SMALLEST = 1e-290   -- ends are further apart
local MANTISSAS = { 1, 2, 5, 10 }

local floor, ceil, max, min, abs = math.floor, math.ceil, math.max, math.min, math.abs

--- A number in as few characters as tell it from those that are more than `within` away: 0.25, 1000000, 2.5e8, 1e-7.
function ticks.text (x, within)
  if x ~= x then return "nan" end
  if abs(x) <= (within or 0) then return "0" end
  if x == math.huge or x == -math.huge then return x > 0 and "inf" or "-inf" end
  within = within or abs(x) * 1e-9
  local short
  for digits = 1, 17 do
    short = string.format("%." .. digits - 1 .. "e", x):gsub(",", ".")
    if abs(tonumber(short) - x) <= within then break end
  end
  local mantissa, exponent = short:match "^(.-)e(.*)$"
  exponent = math.tointeger(tonumber(exponent))
  if mantissa:find("%.") then mantissa = mantissa:gsub("0+$", ""):gsub("%.$", "") end
  if exponent >= 7 or exponent < -4 then return mantissa .. "e" .. exponent end
  local decimals = max(0, #mantissa:gsub("[-.]", "") - 1 - exponent)
  return (string.format("%." .. decimals .. "f", x):gsub(",", "."))
end

--- The smallest step of the form 1, 2, 5 times a power of ten that is at least x; or the largest that is at most x.
local function nice_step (x, at_most)
  local power, below = 10.0 ^ floor(math.log(x, 10)), x
  if power == 0 then return x end   -- subnormal
  for _, mantissa in ipairs(MANTISSAS) do
    local step = mantissa * power
    if at_most and step > x * (1 + 1e-9) then return below end
    if not at_most and step >= x * (1 - 1e-9) then return step end
    below = step
  end
  return at_most and below or 20 * power   -- the logarithm was rounded down
end

ticks.nice_step = nice_step

--- Ends that can be drawn: finite, in order and apart. A single value gets room on both sides.
function ticks.ends (low, high)
  if low ~= low or high ~= high then return 0, 1 end
  low, high = max(-LARGEST, min(LARGEST, low)), max(-LARGEST, min(LARGEST, high))
  if low > high then low, high = high, low end
  if high - low > max(SMALLEST, 1e-12 * max(abs(low), abs(high))) then return low + 0.0, high + 0.0 end
  local room = low == 0 and high == 0 and 1 or max(SMALLEST, max(abs(low), abs(high)) * 0.5)
  return max(-LARGEST, low - room), min(LARGEST, high + room)
end

-- Multiples of a step within the ends, a little rounding allowed.
local function multiples (low, high, step)
  local found, slack = {}, 1e-9 * (high - low)
  local first = ceil((low - slack) / step)
  for i = 0, 100 do
    local x = (first + i) * step
    if x > high + slack then break end
    found[#found + 1] = x
  end
  return found
end

--- Ends moved outwards to ticks, about `count` steps apart, whole ones if they are to be integers.
function ticks.widen (low, high, count, integer)
  low, high = ticks.ends(low, high)
  local step = nice_step((high - low) / count)
  if integer then step = max(1, step) end
  local first, last = floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step
  if last - first < math.huge and first >= -LARGEST and last <= LARGEST then return first, last end
  return low, high
end

-- Texts that are of two kinds, 9996000 beside 1e7, or long, 1.0004e7, are better written in full.
local function is_mixed (texts)
  local with, without = 0, 0
  for _, text in ipairs(texts) do
    if text:find "e" then with = with + (#text > 5 and 100 or 1) elseif text ~= "0" then without = without + 1 end
  end
  return with >= 100 or with > 0 and without > 0
end

local function linear (axis, count)
  local step = nice_step((axis.high - axis.low) / max(1, count))
  if axis.integer then step = max(1, step) end
  local found = multiples(axis.low, axis.high, step)
  local texts = {}
  for i, x in ipairs(found) do texts[i] = ticks.text(x, step * 1e-6) end
  local size = max(abs(axis.low), abs(axis.high))
  if size >= 1e4 and size < 1e10 and step >= 1e-5 and is_mixed(texts) then
    local pattern = "%." .. max(0, ceil(-math.log(step, 10) - 1e-9)) .. "f"
    for i, x in ipairs(found) do texts[i] = string.format(pattern, x):gsub(",", ".") end
  end
  return found, texts
end

-- Powers of ten, every n-th if there are many; between few of them twice and five times as well.
local function logarithmic (axis, count)
  local low, high = math.log(axis.low, 10), math.log(axis.high, 10)
  local every = max(1, ceil((high - low) / max(1, count)))
  local factors = high - low < 0.6 * count and { 1, 2, 5 } or { 1 }
  if every > 1 then factors = { 1 } end
  local found, texts = {}, {}
  for k = floor(low / every) * every, high + 1e-9, every do
    for _, factor in ipairs(factors) do
      local x = tonumber(factor .. "e" .. math.tointeger(k))
      if x >= axis.low * (1 - 1e-9) and x <= axis.high * (1 + 1e-9) and x > 0 then
        found[#found + 1], texts[#texts + 1] = x, ticks.text(x)
      end
    end
  end
  if #found >= 2 then return found, texts end
  return linear(axis, count)
end

--- Where an axis has ticks, `count` of them at most or so, and their texts.
function ticks.of (axis, count)
  if axis.at then
    local texts = axis.texts or {}
    for i = #texts + 1, #axis.at do texts[i] = ticks.text(axis.at[i]) end
    return axis.at, texts
  end
  if axis.log then return logarithmic(axis, count) end
  return linear(axis, count)
end

--- The place of x along an axis, from 0 to 1 within it. Ends so near that their logarithms are the same have a linear
-- axis between them.
function ticks.place (axis, x)
  if axis.log then
    local low, high = math.log(axis.low), math.log(axis.high)
    if x <= 0 then return -math.huge end
    if low < high then return (math.log(x) - low) / (high - low) end
  end
  return (x - axis.low) / (axis.high - axis.low)
end

return ticks
