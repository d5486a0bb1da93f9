--- What the documents show, runs.
local function blocks (file)
  local text = assert(io.open(file)):read("a")
  local list = {}
  for code in text:gmatch("```lua\n(.-)```") do list[#list + 1] = code end
  return list
end

for _, file in ipairs { "README.md", "docs/adding.md", "docs/kl.md", "docs/inference.md", "docs/gradients.md",
                        "docs/models.md", "docs/tensors.md" } do
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
