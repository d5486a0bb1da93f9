--- For busted under LuaJIT (make luajit): what specs use of Lua 5.3 and later, and those that cannot hold there
-- (docs/platforms.md says why).
require "perilune.compat"
local busted = require "busted"
local core   = require "perilune.core"

-- One number or one integer, eight bytes.
rawset(string, "pack", string.pack or function (format, x)
  if format == "<d" then return core.double_word(x) end
  if format == "<i8" then return core.integer_word(x) end
  error("no string.pack for " .. format)
end)

-- There is one kind of collector; its pace can be set as that of an incremental one.
local collect = collectgarbage
rawset(_G, "collectgarbage", function (option, pause, step)
  if option ~= "incremental" and option ~= "generational" then return collect(option, pause) end
  if option == "incremental" and pause then collect("setpause", pause) end
  if option == "incremental" and step then collect("setstepmul", step) end
  return "incremental"
end)

-- Names, or how they begin where a star ends them.
local CANNOT_HOLD = {
  ["integers are no type of their own"] = {
    "gives numbers from rank 1, rows from above", "refuses t[mininteger]", "refuses narrow beyond all integers",
    "2^53 + 1 in a table", "2^53 + 1 alone",
    "gives all states and the last one",
    "makes uniform numbers of the top 52 bits of its words, eight of four blocks",
  },
  ["% is a - floor(a/b) b, with rounding"] = { "of mod agrees with the model, for random shapes and strides" },
  ["functions in C do not yield"] = {
    "methods may yield, in what a caller gives them and in methods of a class of one's own",
  },
  ["tables have no finalizers"] = {
    "says so when a finalizer differentiates the same nodes, or sets a gradient",
  },
  ["only tensors are compared with tensors"] = {
    "t < 1", "< and <= order tensors of one element", "branches on values",
  },
  ["__len and __pairs of tables are not asked, nor is __index by ipairs"] = {
    "ends for ipairs", "extended copies metamethods, and inherits those of the description",
    "an element of an optimiser's betas", "README.md: *", "docs/*", "are all listed by pairs*",
    "passes nothing on where nothing comes from above",
  },
  ["# of a list with holes is another one"] = {
    "a hole", "Normal:log_prob: x must be a list without other keys, got 4",
  },
  ["Lua's own messages"] = {
    "a request that no memory can hold, as an ordinary error", "bad argument #1 to 'math.sin'*",
    "more than fits", "runs in coroutines, which may not yield from within",
  },
  ["the compiler allocates"] = { "allocates nothing in a replay" },
  ["__index is followed a hundred times"] = { "a chain of ninety classes is walked, of many more ended" },
}

local function is_named (name, listed)
  local start = listed:match("^(.*)%*$")
  return name == listed or start and name:sub(1, #start) == start
end

local skipped = 0
busted.subscribe({ "register", "it" }, function (name)
  for _, list in pairs(CANNOT_HOLD) do
    for _, listed in ipairs(list) do
      if is_named(name, listed) then
        skipped = skipped + 1
        return nil, false
      end
    end
  end
  return nil, true
end, { priority = 1 })

busted.subscribe({ "suite", "end" }, function ()
  print(("\n%d specs that cannot hold in LuaJIT were left out (spec/support/luajit.lua)"):format(skipped))
  return nil, true
end)
