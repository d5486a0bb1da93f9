--- For busted under LuaJIT and Lua 5.1 to 5.3 (make luajit, make lua5.1, ...): what specs use of later Luas, and those
-- that cannot hold there (docs/platforms.md says why).
require "perilune.compat"
local busted = require "busted"
local core   = require "perilune.core"

local VERSION = tonumber(_VERSION:match "%d+%.%d+")
local IS_JIT  = rawget(_G, "jit") ~= nil


-- What specs use ---------------------------------------------------------------------------

-- One number or one integer, eight bytes.
rawset(string, "pack", string.pack or function (format, x)
  if format == "<d" then return core.double_word(x) end
  if format == "<i8" then return core.integer_word(x) end
  error("no string.pack for " .. format)
end)

-- There is one kind of collector; its pace can be set as that of an incremental one. A step of 2^30 bytes is a whole
-- cycle.
local collect, WHOLE_CYCLE = collectgarbage, VERSION < 5.2 and 0 or 1000000
rawset(_G, "collectgarbage", function (option, pause, speed, step)
  if option ~= "incremental" and option ~= "generational" then return collect(option, pause) end
  if option == "incremental" and pause then collect("setpause", pause) end
  if option == "incremental" and speed then collect("setstepmul", step == 30 and WHOLE_CYCLE or speed) end
  return "incremental"
end)

-- Formats of files without a star.
local file = getmetatable(io.stdout).__index
local read = file.read
rawset(file, "read", function (self, ...)
  local formats = { ... }
  for i, format in ipairs(formats) do formats[i] = type(format) == "string" and format:gsub("^%a", "*%0") or format end
  return read(self, table.unpack(formats))
end)

-- Chunks that are strings; chunks with an environment.
if not pcall(load, "") then
  local load_function, load_string, load_file = load, rawget(_G, "loadstring"), loadfile
  local function within (env, chunk, why)
    return chunk and env and rawget(_G, "setfenv")(chunk, env) or chunk, why
  end
  rawset(_G, "load", function (chunk, name, _, env)
    return within(env, (type(chunk) == "string" and load_string or load_function)(chunk, name))
  end)
  rawset(_G, "loadfile", function (path, _, env) return within(env, load_file(path)) end)
end


-- What cannot hold -------------------------------------------------------------------------

-- Where, why, and names of specs, or how they begin where a star ends them.
local CANNOT_HOLD = {
  { VERSION < 5.3, "integers are no type of their own",
    "gives numbers from rank 1, rows from above", "refuses t[mininteger]", "refuses narrow beyond all integers",
    "2^53 + 1 in a table", "2^53 + 1 alone",
    "gives all states and the last one",
    "makes uniform numbers of the top 52 bits of its words, eight of four blocks", "docs/reference.md: *" },
  { VERSION < 5.4, "% of floats is rounded in another way",
    "of mod agrees with the model, for random shapes and strides",
    "% is Lua's, for every combination of signs and sizes" },
  { VERSION < 5.2, "only tensors are compared with tensors",
    "t < 1", "< and <= order tensors of one element", "branches on values" },
  { VERSION < 5.2, "__len and __pairs of tables are not asked",
    "extended copies metamethods, and inherits those of the description",
    "are what entries are of, once each", "name the parameters of constraints and transforms",
    "have as many parameters as their functions",
    "README.md: *", "docs/*", "are all listed by pairs*" },
  { VERSION < 5.3, "__index is not asked by ipairs and table.unpack",
    "ends for ipairs", "an element of an optimiser's betas", "passes nothing on where nothing comes from above" },
  { VERSION < 5.3, "functions in C do not yield",
    "methods may yield, in what a caller gives them and in methods of a class of one's own" },
  { VERSION < 5.3, "# of a list with holes is another one",
    "a hole", "Normal:log_prob: x must be a list without other keys, got 4" },
  { VERSION < 5.4, "Lua's own messages",
    "a request that no memory can hold, as an ordinary error", "bad argument #1 to 'math.sin'*",
    "more than fits", "runs in coroutines, which may not yield from within" },
  { VERSION < 5.3 and not IS_JIT, "%s of string.format ends at a zero byte", "a name with a zero in a fit" },
  { VERSION < 5.2 and not IS_JIT, "the constants 0 and -0 of a function are one",
    "the sign of zero survives", "floor, ceil, round and sign of -0.3" },
  { VERSION < 5.3, "string.pack is not there to write files with",
    "reads numbers as they are in the file, without a head", "are held in 32 bits and read in 64",
    "writes what map_file reads, names and all" },
  { VERSION < 5.2, "what is written to a file gives true, not the file",
    "raises where the file has become shorter, and goes on where it is whole again" },
  { VERSION < 5.2 and not IS_JIT, "debug.getupvalue, which finds the methods of tensors, knows no functions in C",
    "lua/perilune/help/entries.lua: *", "library/perilune.d.lua: *" },
  { VERSION < 5.2 and not IS_JIT, "the collector does as much for a large block as for a small one",
    "does not fill with large results that nobody has" },
  { IS_JIT, "the compiler allocates", "allocates nothing in a replay", "allocates nothing once it ran",
    "keeps a bounded number of windows" },
  { IS_JIT, "string.format rounds 0.25 up", "has pictures that are drawn so" },
  { VERSION < 5.4, "__index is followed a hundred times", "a chain of ninety classes is walked, of many more ended" },
}

local function is_named (name, listed)
  local start = listed:match("^(.*)%*$")
  return name == listed or start and name:sub(1, #start) == start
end

local function cannot_hold (name)
  for _, entry in ipairs(CANNOT_HOLD) do
    for i = 3, #entry do
      if entry[1] and is_named(name, entry[i]) then return true end
    end
  end
  return false
end

local skipped = 0
busted.subscribe({ "register", "it" }, function (name)
  if not cannot_hold(name) then return nil, true end
  skipped = skipped + 1
  return nil, false
end, { priority = 1 })

busted.subscribe({ "suite", "end" }, function ()
  print(("\n%d specs that cannot hold in %s were left out (spec/support/older.lua)"):format(
        skipped, IS_JIT and "LuaJIT" or _VERSION))
  return nil, true
end)
