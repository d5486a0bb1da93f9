--- Characters of UTF-8 (RFC 3629): hosts and older Luas may have no library for them. And blanks at the end of a text.
local characters = {}

-- The second bytes that may follow these first ones; others may be followed by any of 128 to 191.
local SECOND = { [0xE0] = { 0xA0, 0xBF }, [0xED] = { 0x80, 0x9F }, [0xF0] = { 0x90, 0xBF }, [0xF4] = { 0x80, 0x8F } }

--- Are these bytes, a first one from 128 on and others from 128 to 191, one character?
function characters.is_one (bytes)
  local first, second = bytes:byte(1, 2)
  if first < 0xC2 or first > 0xF4 then return false end
  local n = first >= 0xF0 and 4 or first >= 0xE0 and 3 or 2
  local range = SECOND[first]
  return #bytes == n and (not range or second >= range[1] and second <= range[2])
end

local function length (text)
  local n, at = 0, 1
  while at <= #text do
    local last = select(2, text:find("^[%z\1-\127]+", at))
    if last then
      n = n + last - at + 1
    else
      last = select(2, text:find("^[\128-\255][\128-\191]*", at))
      if not characters.is_one(text:sub(at, last)) then return nil, at end
      n = n + 1
    end
    at = last + 1
  end
  return n
end

--- How many characters a text has; or nil and the place of what is none. That of Lua 5.3 takes surrogates.
characters.length = utf8 and not utf8.len "\237\160\128" and utf8.len or length

--- The text without the blanks at its end. ("%s+$" would take time as the square of the number of blanks before others,
-- and in some locales take bytes of characters for blanks.)
function characters.trim_end (text) return text:match "^.*[^ \t\r\n]" or "" end

return characters
