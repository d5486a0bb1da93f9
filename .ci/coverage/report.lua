--- lua5.4 report.lua BUILD: lines that were run, by file, and those that were not, beside left.txt.
-- Fails if one is neither run nor in left.txt, if left.txt names one that is not there, or below LEAST percent.
local LEAST = 97

local build = assert(arg[1], "usage: report.lua BUILD")

local function each_line (command, visit)
  local pipe = assert(io.popen(command))
  for line in pipe:lines() do visit(line) end
  assert(pipe:close(), command)
end

local function read_lines (path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  return lines
end

-- files[path][line] = was it run?
local files = {}

local function note (path, line, run)
  local lines = files[path] or {}
  files[path] = lines
  lines[line] = lines[line] or run
end

-- What gcov says of every object: a header has the lines that some object has, run if it was run in one. A brace that
-- ends a function counts as a return, which those that raise errors never reach.
local function read_c ()
  local path
  each_line("find " .. build .. "/src " .. build .. "/baseline " .. build .. "/perilune -name '*.gcno' | " ..
            "xargs gcov -t 2>/dev/null", function (text)
    local count, line, rest = text:match "^%s*([^:]+):%s*(%d+):(.*)$"
    if not count then return end
    if line == "0" then path = rest:match "^Source:(.*)$" or path
    elseif count ~= "-" and path:match "^src/" and rest ~= "}" then note(path, tonumber(line), not count:match "^[#=]") end
  end)
end

-- The lines that have instructions. The last one of a function is a return that every function has, as is one after
-- a tail call; and lines that consist of `end` or `else` have jumps only.
local function read_lua_lines (path)
  local texts, last, before = read_lines(path), nil, nil
  local function take ()
    if last and not texts[last]:match "^%s*e[nl][ds]e?[%s%)},;]*$" then note(path, last, false) end
  end
  each_line("luac5.4 -l -p " .. path, function (text)
    local line, operation = text:match "^\t%d+\t%[(%d+)%]\t(%u+)"
    if text:match "^%l+ <" then last = nil
    elseif line then
      take()
      local never = operation == "VARARGPREP" or operation == "RETURN" and before == "TAILCALL"
      last, before = not never and tonumber(line) or nil, operation
    end
  end)
end

local function read_lua ()
  each_line("find lua/perilune -name '*.lua'", read_lua_lines)
  each_line("cat " .. build .. "/lines/* | sort -u", function (text)
    local path, line = text:match "^(%S+) (%d+)$"
    line = tonumber(line)
    if files[path] and files[path][line] ~= nil then files[path][line] = true end
  end)
end

-- left[path][text] = reason. A file at the margin, below it its lines, and below these, indented more, their reason.
local function read_left (name)
  local left, path, waiting = {}, nil, {}
  for text in io.lines(name) do
    local margin, words = text:match "^( *)(.-)%s*$"
    if words == "" or words:sub(1, 2) == "--" then goto continue end
    if #margin == 0 then
      path, waiting = words, {}
      left[path] = left[path] or {}
    elseif #margin == 2 then
      if waiting.reason then waiting = {} end
      waiting[#waiting + 1] = words
    else
      waiting.reason = words
      for _, line in ipairs(waiting) do left[path][line] = words end
    end
    ::continue::
  end
  return left
end

local function sorted_keys (t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local report = assert(io.open(build .. "/report.txt", "w"))
local left = read_left ".ci/coverage/left.txt"
local languages = { C = { all = 0, run = 0, excused = 0 }, Lua = { all = 0, run = 0, excused = 0 } }
local problems = {}

local function problem (...) problems[#problems + 1] = string.format(...) end

-- One file's part of the report; reasons that are used are taken away.
local function write_file (path)
  local texts, lines, reasons = read_lines(path), files[path], left[path] or {}
  local sums = languages[path:match "%.lua$" and "Lua" or "C"]
  local all, run, missing, used = 0, 0, {}, {}
  for _, line in ipairs(sorted_keys(lines)) do
    local text = texts[line]:match "^%s*(.-)%s*$"
    all = all + 1
    if lines[line] then run = run + 1
    else
      local reason = reasons[text]
      missing[#missing + 1] = string.format("  %5d %s %s", line, reason and "-" or "#", texts[line])
      if reason then sums.excused = sums.excused + 1
      else problem("%s:%d: not run: %s", path, line, text) end
    end
  end
  for _, text in ipairs(texts) do used[text:match "^%s*(.-)%s*$"] = true end
  for text in pairs(reasons) do
    if not used[text] then problem("left.txt: %s has no line: %s", path, text) end
  end
  sums.all, sums.run = sums.all + all, sums.run + run
  report:write(string.format("%6.2f %%  %5d of %5d  %s\n", 100 * run / all, run, all, path))
  for _, text in ipairs(missing) do report:write(text, "\n") end
end

read_c()
read_lua()
for _, path in ipairs(sorted_keys(files)) do write_file(path) end
for path in pairs(left) do
  if not files[path] then problem("left.txt: no file %s", path) end
end

for _, name in ipairs { "C", "Lua" } do
  local sums = languages[name]
  local percent = 100 * sums.run / sums.all
  local text = string.format("%s: %d of %d lines are run, %.2f %%; %d of the others have a reason", name, sums.run,
                             sums.all, percent, sums.excused)
  print(text)
  report:write(text, "\n")
  if percent < LEAST then problem("%s: below %d %%", name, LEAST) end
end
report:close()

for i = 1, math.min(#problems, 40) do print(problems[i]) end
if #problems > 0 then
  print(string.format("coverage: %d problems; see %s/report.txt", #problems, build))
  os.exit(1)
end
