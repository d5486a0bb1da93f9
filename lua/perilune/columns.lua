--- Tensors printed in aligned columns.
local core = require "perilune.core"
local show = require "perilune.show"

local EDGE = 4        -- rows or columns kept at each end of a long dimension
local LONG = 10       -- and what counts as long
local SLICES = 6      -- matrices shown of a tensor of rank 3 or more

-- Positions 1..n, with false where a long dimension is cut.
local function shown (n)
  local positions = {}
  if n <= LONG then
    for i = 1, n do positions[i] = i end
    return positions
  end
  for i = 1, EDGE do positions[i] = i end
  positions[EDGE + 1] = false
  for i = n - EDGE + 1, n do positions[#positions + 1] = i end
  return positions
end

-- Lines of aligned columns; `element(i, j)` is a number.
local function grid (rows, columns, element)
  local lines, width = {}, 0
  for r, i in ipairs(rows) do
    lines[r] = {}
    for c, j in ipairs(columns) do
      local text = "..."
      if i and j then text = show.format("%.5g", element(i, j)) end
      lines[r][c] = text
      width = math.max(width, #text)
    end
  end
  for r, cells in ipairs(lines) do
    for c, text in ipairs(cells) do cells[c] = string.rep(" ", width - #text) .. text end
    lines[r] = "  " .. table.concat(cells, "  ")
  end
  return table.concat(lines, "\n")
end

local function matrix (t, shape)
  return grid(shown(shape[1]), shown(shape[2]), function (i, j) return t:at(i, j) end)
end

-- Appends the matrices of a tensor of rank 3 or more, each under its indices.
local function append_slices (lines, t, shape, prefix)
  if #shape == 2 then
    lines[#lines + 1] = "[" .. prefix .. ":, :]\n" .. matrix(t, shape)
    return
  end
  local rest = { table.unpack(shape, 2) }
  for i = 1, shape[1] do
    if #lines > SLICES then
      lines[#lines + 1] = "..."
      return
    end
    append_slices(lines, t[i], rest, prefix .. i .. ", ")
  end
end

--- A tensor with its shape on the first line; a single number, which is no Lua number, behind it.
return function (t)
  t = core.detach(t)   -- elements are plain numbers
  local shape = core.shape(t)
  if #shape == 0 then return "Tensor() " .. show.number(core.item(t)) end
  local head = "Tensor" .. show.shape(shape)
  if core.numel(t) == 0 then return head end
  if #shape == 1 then
    return head .. "\n" .. grid({ 1 }, shown(shape[1]), function (_, j) return t[j] end)
  end
  if #shape == 2 then return head .. "\n" .. matrix(t, shape) end
  local lines = { head }
  append_slices(lines, t, shape, "")
  return table.concat(lines, "\n")
end
