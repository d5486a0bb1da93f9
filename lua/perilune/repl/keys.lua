--- Keys from the bytes that a terminal sends: "a", "left", "ctrl-a", "alt-b", "paste" with its text.
local terminal = require "perilune.terminal"

local Keys = {}
Keys.__index = Keys

local PATIENCE = 60   -- milliseconds for the rest of an escape sequence

local CONTROLS = { [8] = "backspace", [9] = "tab", [10] = "enter", [13] = "enter", [31] = "ctrl-_",
                   [127] = "backspace" }

local FINAL = { A = "up", B = "down", C = "right", D = "left", H = "home", F = "end", Z = "shift-tab" }
local TILDE = { ["1"] = "home", ["3"] = "delete", ["4"] = "end", ["7"] = "home", ["8"] = "end" }
local MODIFIERS = { ["3"] = "alt-", ["5"] = "ctrl-", ["7"] = "ctrl-" }

function Keys.new () return setmetatable({ bytes = "" }, Keys) end

-- Waits for more bytes; false if none came in time, nil at the end.
local function more (self, patience)
  local bytes = terminal.read(patience)
  if bytes == nil then return nil end
  self.bytes = self.bytes .. bytes
  return bytes ~= ""
end

-- Takes n bytes away.
local function take (self, n)
  local taken = self.bytes:sub(1, n)
  self.bytes = self.bytes:sub(n + 1)
  return taken
end

-- What was pasted: up to the sequence that ends it.
local function paste (self)
  while true do
    local first, last = self.bytes:find("\27[201~", 1, true)
    if first then
      local text = take(self, last):sub(1, first - 1)
      return "paste", (text:gsub("\r\n?", "\n"))
    end
    if more(self) == nil then return "paste", take(self, #self.bytes) end
  end
end

-- A sequence ESC [ parameters letter, or ESC O letter; nil if it is not all there.
local function sequence (self)
  local parameters, final, after = self.bytes:match "^\27%[([%d;?]*)([%a~])()"
  if not final then parameters, final, after = self.bytes:match "^\27O(%d*)(%a)()" end
  if not final then return nil end
  take(self, after - 1)
  if final == "~" and parameters == "200" then return paste(self) end
  local number, modifier = parameters:match "^(%d*);?(%d*)"
  local name = final == "~" and TILDE[number] or FINAL[final]
  return name and (MODIFIERS[modifier] or "") .. name or "unknown"
end

local function escape (self)
  while self.bytes == "\27" or self.bytes:find "^\27[%[O][%d;?]*$" do
    if not more(self, PATIENCE) then break end
  end
  local key, text = sequence(self)
  if key then return key, text end
  take(self, 1)
  if self.bytes == "" then return "escape" end
  if self.bytes:find "^\27" then return "escape" end
  local second = self:next()
  return "alt-" .. tostring(second)
end

local LENGTHS = { { 0xC2, 0xDF, 2 }, { 0xE0, 0xEF, 3 }, { 0xF0, 0xF4, 4 } }

-- One character of UTF-8; a byte that is none becomes a question mark.
local function character (self)
  local first, n = self.bytes:byte(), 1
  for _, range in ipairs(LENGTHS) do
    if first >= range[1] and first <= range[2] then n = range[3] end
  end
  while #self.bytes < n and more(self, PATIENCE) do end   -- luacheck: ignore 542
  local text = take(self, n)
  return utf8.len(text) and text or "?"
end

--- Waits for the next key: its name, or the character itself. "resize" if nothing was typed but a signal came, nil at
-- the end of the input.
function Keys:next ()
  if self.bytes == "" then
    local got = more(self)
    if got == nil then return nil end
    if not got then return "resize" end
  end
  local byte = self.bytes:byte()
  if byte == 27 then return escape(self) end
  if byte >= 32 and byte ~= 127 then return character(self) end
  take(self, 1)
  return CONTROLS[byte] or "ctrl-" .. string.char(byte + 96)
end

--- Takes what has come already of plain characters, so that long lines are not put together one by one.
function Keys:plain () return take(self, self.bytes:match "^[ -~]*()" - 1) end

--- Is there more that was typed?
function Keys:is_waiting () return self.bytes ~= "" end

return Keys
