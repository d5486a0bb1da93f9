--- The sessions in docs/prompt.md: what is typed there, and what is shown.
local tour = {}

-- Blocks between ``` lines that have prompts; visit(lines) may return others.
local function each_block (text, visit)
  return (text:gsub("```\n(> .-)```", function (block)
    local changed = visit(block)
    return changed and "```\n" .. changed .. "```"
  end))
end

-- A block as a list of { input, output }.
local function steps (block)
  local list = {}
  for line in block:gmatch "([^\n]*)\n" do
    local typed, more = line:match "^> (.*)$", line:match "^%. ?(.*)$"
    local last = list[#list]
    if typed then list[#list + 1] = { typed, "" }
    elseif more and last[2] == "" then last[1] = last[1] .. "\n" .. more
    else last[2] = last[2] .. line .. "\n" end
  end
  return list
end

local function joined (list)
  local parts = {}
  for _, step in ipairs(list) do
    parts[#parts + 1] = "> " .. step[1]:gsub("\n", "\n. ") .. "\n" .. step[2]
  end
  return table.concat(parts)
end

--- The document with what `type_all(inputs)` gives for its inputs, a list of outputs.
function tour.typed (text, type_all)
  local inputs, at = {}, 0
  each_block(text, function (block)
    for _, step in ipairs(steps(block)) do inputs[#inputs + 1] = step[1] end
  end)
  local outputs = type_all(inputs)
  return each_block(text, function (block)
    local list = steps(block)
    for _, step in ipairs(list) do
      at = at + 1
      step[2] = outputs[at]
    end
    return joined(list)
  end)
end

return tour
