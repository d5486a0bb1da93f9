--- Changes of a text, of its bytes or of the values in it.
local packed = require "perilune.packed"
local peri   = require "perilune"

local mutations = {}

local function replaced (text, at, length, new) return text:sub(1, at - 1) .. new .. text:sub(at + length) end

local WORDS = { ("\0"):rep(8), ("\255"):rep(8), ("\0"):rep(6) .. "\240\127", string.pack("<d", 0 / 0),
                string.pack("<i8", 1 << 40), string.pack("<i8", math.maxinteger), string.pack("<i8", -1),
                string.pack("<d", 1e308), string.pack("<i8", 3), string.pack("<d", 1.5) }

local BYTES = {
  function (random, text)   -- a bit
    local at = random:integer(1, #text)
    return replaced(text, at, 1, string.char(text:byte(at) ~ (1 << random:integer(0, 7))))
  end,
  function (random, text)   -- a byte
    return replaced(text, random:integer(1, #text), 1, string.char(random:integer(0, 255)))
  end,
  function (random, text)   -- a word
    return replaced(text, random:integer(1, #text), 8, random:pick(WORDS))
  end,
  function (random, text) return text:sub(1, random:integer(0, #text - 1)) end,
  function (random, text) return text:sub(random:integer(2, #text)) end,
  function (random, text)   -- a stretch copied over another one, or put in
    local from, to, n = random:integer(1, #text), random:integer(1, #text), random:integer(1, 40)
    return replaced(text, to, random:once_in(2) and n or 0, text:sub(from, from + n - 1))
  end,
  function (random, text)   -- a stretch left out
    return replaced(text, random:integer(1, #text), random:integer(1, 40), "")
  end,
}

--- Other bytes.
function mutations.of_bytes (random, text)
  for _ = 1, random:once_in(3) and random:integer(2, 5) or 1 do
    if #text > 0 then text = random:pick(BYTES)(random, text) end
  end
  return text
end


-- Values ------------------------------------------------------------------------------------

local VALUES = {
  0, 1, -1, 2, 3, 0.5, 1e308, 0 / 0, math.huge, -math.huge, 1 << 40, math.maxinteger, math.mininteger, true, false, "",
  "x", {}, { 1 }, { 1, 2 }, { { 1 } }, { x = 1 }, peri.zeros(0), peri.tensor { 1, 2 }, peri.tensor { 0 / 0, 1 },
  peri.tensor { { 1, 2 }, { 3, 4 } }, peri.zeros(3), peri.zeros(2, 1, 2),
  "philox4x32-10 0000000000000001 0000000000000000",
}

-- One of them; tables are new, since places in them may be changed.
local function some_value (random)
  local value = random:pick(VALUES)
  return type(value) == "table" and peri.unpack(peri.pack(value)) or value
end

-- All places in nested tables, as { table, key }.
local function places (t, found)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys, function (a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do
    found[#found + 1] = { t, key }
    if type(t[key]) == "table" then places(t[key], found) end
  end
  return found
end

-- A string in which bytes differ, a number near by, a tensor of which an element differs; or something else.
local function changed (random, x)
  if random:once_in(2) then
    if type(x) == "string" and #x > 0 then return mutations.of_bytes(random, x) end
    if peri.is_tensor(x) and x:numel() > 0 then
      local flat = x:clone():reshape(-1)
      flat[random:integer(1, #flat)] = random:pick { 0 / 0, math.huge, 0, -1, 1e300, 1.5 }
      return flat:reshape(table.unpack(x.shape))
    end
    if type(x) == "number" then return x + random:pick { 1, -1, 0.5, 1e10 } end
  end
  return some_value(random)
end

--- Other values in what a text of this kind holds, signed as if it were one of ours.
function mutations.of_values (random, kind, text)
  local whole = assert(packed.unpack(kind, text))
  for _ = 1, random:once_in(4) and 2 or 1 do
    local all = type(whole) == "table" and places(whole, {}) or {}
    local place = #all > 0 and random:pick(all)
    if not place or random:once_in(50) then whole = some_value(random)
    elseif random:once_in(5) then place[1][place[2]] = nil
    else place[1][place[2]] = changed(random, place[1][place[2]]) end
  end
  return packed.pack(kind, whole)
end

--- Other bytes, with the right sum.
function mutations.signed (random, text) return packed.signed(mutations.of_bytes(random, text:sub(1, -9))) end

return mutations
