--- Texts in pictures: what they may hold, how many columns they take, how they are cut and wrapped.
local characters = require "perilune.characters"

local texts = {}

-- Is this a character of UTF-8 that XML allows?
local function is_allowed (bytes) return characters.is_one(bytes) and not bytes:find "^\239\191[\190\191]" end

--- The text on one line of valid UTF-8, without control characters.
function texts.clean (text)
  text = text:gsub("[%z\1-\31\127]", " ")
  text = text:gsub("[\128-\255][\128-\191]*", function (bytes)
    return not is_allowed(bytes) and "?" or nil
  end)
  return text
end

--- Columns that a text takes, without those codes that colour it.
function texts.length (text) return #text:gsub("\27%[[%d;]*m", ""):gsub("[\128-\191]", "") end

--- What fits into n columns, cut off with dots.
function texts.shorten (text, n)
  if texts.length(text) <= n then return text end
  local dots = n > 3 and "..." or ""
  local kept, columns = {}, 0
  for character in text:gmatch "[%z\1-\127\194-\244][\128-\191]*" do
    if columns >= n - #dots then break end
    kept[#kept + 1], columns = character, columns + 1
  end
  return table.concat(kept) .. dots
end

--- Lines of words, at most n columns each unless a word is longer.
function texts.wrap (text, n)
  local lines, line = {}, ""
  for word in text:gmatch "%S+" do
    if line ~= "" and texts.length(line) + 1 + texts.length(word) > n then
      lines[#lines + 1], line = line, ""
    end
    line = line == "" and word or line .. " " .. word
  end
  if line ~= "" then lines[#lines + 1] = line end
  return lines
end

return texts
