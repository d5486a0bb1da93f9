--- Numbers and tables as Lua text that reads back as the same.
local text = {}

local NAMED = { [math.huge] = "math.huge", [-math.huge] = "-math.huge", [math.mininteger] = "math.mininteger" }

function text.number (x)
  if x ~= x then return "0/0" end
  if NAMED[x] then return NAMED[x] end
  if math.type(x) == "integer" then return string.format("%d", x) end
  local short = string.format("%.15g", x)
  if tonumber(short) ~= x then short = string.format("%.17g", x) end
  return short:find("[.e]") and short or short .. ".0"
end

--- A number, string, boolean, or a table of them.
function text.value (x)
  if type(x) == "number" then return text.number(x) end
  if type(x) ~= "table" then return string.format(type(x) == "string" and "%q" or "%s", tostring(x)) end
  local parts, names = {}, {}
  for i, part in ipairs(x) do parts[i] = text.value(part) end
  for key in pairs(x) do names[#names + 1] = type(key) == "string" and key or nil end
  table.sort(names)
  for _, name in ipairs(names) do parts[#parts + 1] = name .. " = " .. text.value(x[name]) end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

return text
