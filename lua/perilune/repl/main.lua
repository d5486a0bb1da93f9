--- The command `perilune`: files, code, and a prompt.
local characters = require "perilune.characters"
local core       = require "perilune.core"
local output     = require "perilune.repl.output"
local readable   = require "perilune.readable"
local Session    = require "perilune.repl.session"
local terminal   = require "perilune.terminal"

local USAGE = [=[
usage: perilune [options] [file [arguments]]

  file         runs a file of Lua, with all names of peri in scope; - is standard input
  -e code      evaluates code, and shows its value
  -i           gives a prompt afterwards
  -v, -h       version, this text

Without file and code there is a prompt, where standard input is a terminal; otherwise its lines are evaluated, up to
the first error. NO_COLOR is respected.
]=]

local HINTS = "?name explains, TAB completes, Ctrl-D leaves."
local PROMPT, CONTINUATION = "> ", ". "


-- One input --------------------------------------------------------------------------------------

-- Is `time` the word that asks for the time, and not a variable?
local function timed (session, text)
  local rest = text:match "^%s*time%s+(%S.*)$"
  if rest and not rest:find "^[=.,:%[]" and session:look_up "time" == nil then return rest end
end

-- Evaluates and shows; false if there was an error.
local function evaluate (session, text)
  local question = text:match "^%s*%?(.*)$"
  if question then
    local told, why = require "perilune.repl.ask".about(question, session.context.look_up)
    if told then io.stdout:write(told, "\n") else output.error(why) end
    return told ~= nil
  end
  local rest = timed(session, text)
  local began = core.clock()
  local results = session:evaluate(rest or text)
  local seconds = core.clock() - began
  if not results[1] then
    output.error(results[2], results.frames)
    return false
  end
  if not results.silent then
    local shown = session:protect(function () output.values(results) end)   -- tostring may be a user's
    if not shown[1] then output.error(shown[2]) end
  end
  if rest then output.duration(seconds) end
  io.stdout:flush()
  return true
end

-- The same: whatever fails or is interrupted on the way, also in texts of errors and in answers, ends this input only.
local function answer (session, text)
  local results = session:protect(function () return evaluate(session, text) end)
  if not results[1] then output.error(results[2]) end
  return results[1] and results[2]
end

local function is_whole (session, text)
  if text:find "^%s*%?" then return true end
  return session:is_whole(timed(session, text) or text)
end

local function leaves (text)
  local word = characters.trim_end(text):match "^%s*(%a+)%s*%(?%)?$"
  return word == "exit" or word == "quit"
end


-- Sources of input -------------------------------------------------------------------------------

local function is_dumb ()
  local term = os.getenv "TERM"
  return term == nil or term == "" or term == "dumb" or not terminal.is_terminal(1)
end

-- A text of lines from a pipe, or from a terminal without cursor; with a prompt, or without one.
local function read_lines (session, has_prompt)
  local text
  while true do
    if has_prompt then io.stdout:write(text and CONTINUATION or PROMPT):flush() end
    local line = io.read()
    if not line then return text end
    text = text and text .. "\n" .. line or line
    if is_whole(session, text) then return text end
  end
end

-- The same; Ctrl-C forgets what was typed.
local function line_reader (session, has_prompt)
  return function ()
    while true do
      local results = session:protect(function () return read_lines(session, has_prompt) end)
      if results[1] then return results[2] end
      output.error(results[2])
      io.stdin:seek "cur"   -- clears the error of the stream
    end
  end
end

local function editing_reader (session)
  local history = require "perilune.repl.history".open()
  local complete = require "perilune.repl.complete"
  local editor = require "perilune.repl.edit".new(history,
    function (text, cursor) return complete(session, text, cursor) end,
    function (text) return is_whole(session, text) end)
  return function ()
    local text = editor:read(PROMPT, CONTINUATION)
    if text then history:add(text) end
    return text
  end
end

-- The same as Lua's, but nan has no sign.
local function print_values (...)
  local texts = table.pack(...)
  for i = 1, texts.n do
    local x = texts[i]
    texts[i] = type(x) == "number" and readable.number(x) or tostring(x)
  end
  io.stdout:write(table.concat(texts, "\t"), "\n")
end

-- Coroutines that run are stopped by Ctrl-C as well: ours, and those of users, whose libraries are others
-- (bin/perilune).
local function follow_coroutines (library)
  local resume, create = terminal.following(library.resume), library.create
  local function finish (ok, ...)
    if not ok then error((...), 0) end
    return ...
  end
  library.resume = resume
  library.wrap = function (f)
    local thread = create(f)
    return function (...) return finish(resume(thread, ...)) end
  end
end

-- Evaluates what `read` gives, until its end or, if told, the first error. Is all well?
local function loop (session, read, stops)
  while true do
    local text = read()
    if not text or leaves(text) then return true end
    local ok = answer(session, text)
    if not ok and stops then return false end
  end
end

local function prompt (session, has_prompt)
  local is_edited = terminal.is_terminal(0) and not is_dumb()
  if not has_prompt and not terminal.is_terminal(0) then return loop(session, line_reader(session, false), true) end
  local name = require "perilune"._VERSION .. " on " .. _VERSION .. "."
  local gap = #name + 2 + #HINTS <= require "perilune.show".width() and "  " or "\n"
  io.stdout:write(name, gap, HINTS, "\n")
  return loop(session, is_edited and editing_reader(session) or line_reader(session, true), false)
end


-- The command ------------------------------------------------------------------------------------

-- What the words after `perilune` ask for; nil and a message if they cannot be understood.
local function parse (words)
  local plan, i = { code = {} }, 1
  while words[i] do
    local word = words[i]
    if word == "-e" then
      i = i + 1
      if not words[i] then return nil, "-e needs code" end
      plan.code[#plan.code + 1] = words[i]
    elseif word == "-i" then plan.interactive = true
    elseif word == "-v" or word == "--version" then plan.version = true
    elseif word == "-h" or word == "--help" then plan.help = true
    elseif word == "--" then i = i + 1 break
    elseif word == "-" or word:sub(1, 1) ~= "-" then break
    else return nil, "there is no option " .. word end
    i = i + 1
  end
  if words[i] then
    plan.file, plan.file_at = words[i], i
    plan.arguments = table.move(words, i + 1, #words, 1, {})
  end
  return plan
end

local function run_file (session, plan, words)
  local shifted = {}   -- as lua does: arg[0] is the file
  for i, word in pairs(words) do shifted[i - plan.file_at] = word end
  rawset(_G, "arg", shifted)
  local results = session:run_file(plan.file, table.unpack(plan.arguments))
  if not results[1] then output.error(results[2], results.frames, "perilune: ") end
  return results[1]
end

--- Does what the words of a command line say; the code to leave with.
return function (words)
  local plan, message = parse(words)
  if not plan then
    io.stderr:write("perilune: ", message, "\n", USAGE)
    return 2
  end
  if plan.help then io.stdout:write(USAGE) end
  if plan.version then io.stdout:write(require "perilune"._VERSION, "\n") end
  if plan.help or plan.version then return 0 end
  follow_coroutines(coroutine)
  if _G.coroutine ~= coroutine then follow_coroutines(_G.coroutine) end
  _G.print = print_values   -- luacheck: ignore 122
  local caller = debug.getinfo(2, "S")
  local session, ok = Session.new(caller and caller.short_src), true
  for _, code in ipairs(plan.code) do ok = ok and answer(session, code) end
  if ok and plan.file then ok = run_file(session, plan, words) end
  if plan.interactive or not plan.file and #plan.code == 0 then ok = prompt(session, plan.interactive) and ok end
  return ok and 0 or 1
end
