--- What the documents show, runs.
local function blocks (file)
  local text = assert(io.open(file)):read("a")
  local list = {}
  for code in text:gmatch("```lua\n(.-)```") do list[#list + 1] = code end
  return list
end

-- Drawn on every machine alike: below the first block is what it prints.
for _, file in ipairs { "README.md", "docs/data.md" } do describe(file, function ()
  it("shows what its first block prints", function ()
    local text = assert(io.open(file)):read "a"
    local code, shown = text:match "```lua\n(.-)```\n\n```\n(.-)```"
    local printed = {}
    local function text_of (x)
      local is_plot = type(x) == "table" and rawget(x, "panels") ~= nil
      return is_plot and x:text { width = 80, ascii = false } or tostring(x)
    end
    local env = setmetatable({ print = function (x) printed[#printed + 1] = text_of(x) end }, { __index = _G })
    assert(load(code, file, "t", env))()
    local found, n = table.concat(printed, "\n"), 0
    for line in shown:gmatch "[^\n]+" do
      if line ~= "..." then
        n = n + 1
        assert(found:find(line, 1, true), line)
      end
    end
    assert.is_true(n > 5)
  end)
end) end

for _, file in ipairs { "README.md", "docs/adding.md", "docs/kl.md", "docs/inference.md", "docs/gradients.md",
                        "docs/models.md", "docs/plots.md", "docs/sampling.md", "docs/tensors.md", "docs/data.md",
                        "docs/distributions.md" } do
  describe(file, function ()
    for i, code in ipairs(blocks(file)) do
      if code:find('require "perilune"', 1, true) then   -- complete programs only
        it("runs its block " .. i, function ()
          local printed = {}
          local env = setmetatable({ print = function (...) printed[#printed + 1] = select("#", ...) end },
                                   { __index = _G })
          assert(load(code, file, "t", env))()
          assert.is_true(#printed > 0)
        end)
      end
    end
  end)
end
