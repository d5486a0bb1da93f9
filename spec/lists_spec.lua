--- Documents that list or quote the project say what is there.
local function text_of (file)
  local stream = assert(io.open(file))
  local text = stream:read("a")
  stream:close()
  return text
end

describe("what `make docs` writes", function ()
  for _, passage in ipairs(assert(loadfile "docs/write.lua")("compare")) do
    it(passage.file .. ": " .. passage.name .. " is as it should be (run make docs)", function ()
      if passage.name == "all of it" then assert(passage.should == passage.is, "run make docs")   -- too long to show
      else assert.equal(passage.should, passage.is) end
      assert(#passage.is > 10)
    end)
  end
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
