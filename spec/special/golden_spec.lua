--- Special functions against the reference table: every line, by its rule.
local peri   = require "perilune"
local golden = require "spec.support.golden"

local functions = {}   -- in the order of the table
for _, line in ipairs(golden.lines "special") do
  if not functions[line.fn] then
    functions[line.fn] = {}
    functions[#functions + 1] = line.fn
  end
  table.insert(functions[line.fn], line)
end

describe("peri.special", function ()
  for _, name in ipairs(functions) do
    it(name .. " passes every line", function ()
      local function compute (line)
        local args = {}
        for i, x in ipairs(line.args) do args[i] = golden.number(x) end
        return peri.special[name](table.unpack(args))
      end
      assert.equal("", golden.failures(functions[name], compute, function (line)
        return name .. "(" .. table.concat(line.args, ", ") .. ")"
      end))
    end)
  end
end)
