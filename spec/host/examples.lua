--- The examples of the reference as snippets: there is one for every public name. See snippets.lua.
local text = require "spec.host.text"

package.path = package.path .. ";lua/?.lua;lua/?/init.lua"   -- for examples.lua

-- What an example gives. Faults are no answer of an example's.
local function run (code)
  local found = require "spec.support.examples".run(code)
  for _, fault in ipairs { "not enough memory", "stack overflow", "over budget" } do
    if found:find(fault, 1, true) then error(found, 0) end
  end
  return text(found)
end

local function peri () return require "perilune" end

local snippets = {}

-- Whole fits take their time: fits.lua has short ones of every kind, and LONG asks for these as well.
local WAYS = { ":fit", ":vi", ":nuts", ":hmc", ":smc", ":random_walk", ":laplace", ":pathfinder", ":map", "vi.", "sbc" }

local function is_long (code)
  for _, way in ipairs(WAYS) do
    if code:find(way .. "%f[^%w_]") then return true end
  end
  return false
end

local is_asked = (os.getenv "LONG" or "") ~= ""

local function add (name, fn)
  snippets[#snippets + 1] = { name, fn, after = function () peri().validate(true) end }
end

for _, entry in ipairs(require "perilune.help.entries") do
  for i, example in ipairs(entry.examples) do
    if is_asked or not is_long(example[1]) then
      add(entry.name .. (i > 1 and " " .. i or ""), function () return run(example[1]) end)
    end
  end
end

for _, name in ipairs(peri().distributions()) do
  add(name, function () return run(peri()[name].help.example[1]) end)
end

return snippets
