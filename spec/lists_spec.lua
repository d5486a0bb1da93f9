--- Documents that list or quote the project say what is there.
local peri = require "perilune"

local function text_of (file)
  local stream = assert(io.open(file))
  local text = stream:read("a")
  stream:close()
  return text
end

-- The names after "- **title**" in the README, up to a full stop or semicolon, as a sorted list.
local function listed (title)
  local names = {}
  local list = assert(text_of("README.md"):match("\n%- %*%*" .. title .. "%*%*[^:]*:%s*([^.;]+)[.;]"), title)
  for name in list:gmatch("[%w_]+") do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function sorted (list)
  table.sort(list)
  return list
end

describe("README.md lists", function ()
  it("every distribution", function ()
    local names = {}
    for _, title in ipairs { "Continuous", "Discrete", "Rows and matrices", "Made of others" } do
      for _, name in ipairs(listed(title)) do names[#names + 1] = name end
    end
    assert.same(sorted { table.unpack(peri.distributions()) }, sorted(names))
    assert.truthy(text_of("README.md"):find(#names .. " distributions", 1, true))
  end)

  it("each under its kind", function ()
    for _, name in ipairs(listed "Discrete") do
      local support = peri[name].support
      assert(name == "Delta" or not support or support.is_discrete, name)
    end
    for _, name in ipairs(listed "Continuous") do
      local support = peri[name].support
      assert(not support or not support.is_discrete and support.event_dim == 0, name)
    end
  end)

  it("every transform", function ()
    local names = {}
    for name in pairs(peri.transforms) do
      if name:find("^%u") then names[#names + 1] = name end
    end
    assert.same(sorted(names), listed "Transforms")
  end)

  it("every constraint", function ()
    local names = {}
    for name, value in pairs(peri.constraints) do
      if name:find("^%l") and type(value) == "table" or name == "cat" or name == "stack" or name == "independent" then
        names[#names + 1] = name
      end
    end
    assert.same(sorted(names), listed "Constraints")
  end)
end)

describe("docs/adding.md quotes", function ()
  local quotes = {}
  for file, code in text_of("docs/adding.md"):gmatch("%*%*`([%w_/.]+)`%*%*.-\n   ```%l+\n(.-)   ```") do
    quotes[file] = code:gsub("\n   ", "\n"):gsub("^   ", "")
  end

  for _, file in ipairs { "src/kernel/exponential.c", "lua/perilune/distributions/Exponential.lua",
                          "spec/distributions/Exponential_spec.lua" } do
    it(file .. " as it is", function ()
      local text, at = text_of(file), 1
      for part in (assert(quotes[file]) .. "...\n"):gmatch("(.-)%.%.%.\n") do
        part = part:match("^%s*(.-)%s*$")
        local first, last = text:find(part, at, true)
        assert(first, "not in " .. file .. " as quoted:\n" .. part)
        at = last + 1
      end
    end)
  end
end)
