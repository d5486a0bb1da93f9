--- Tensors printed in aligned columns, as wide as the window.
local core = require "perilune.core"
local show = require "perilune.show"

local MOST   = 1000   -- elements that are all shown; a tensor of more is cut
local EDGE   = 4      -- rows kept at each end of one that is cut,
local WIDE_EDGE = 20  -- columns if they fit,
local SLICES = 3      -- and matrices of rank 3 or more
local INDENT, GAP = "  ", 2

local FEWEST_DIGITS, MOST_DIGITS = 5, 17
local LONGEST_INTEGER = 1e15   -- whole numbers below it are written out


-- Which elements ---------------------------------------------------------------------------------

-- Positions 1..n, with false where the middle is left out but `edge` at each end.
local function positions (n, edge)
  local list = {}
  if not edge or n <= 2 * edge + 2 then
    for i = 1, n do list[i] = i end
    return list
  end
  for i = 1, edge do list[i] = i end
  list[edge + 1] = false
  for i = n - edge + 1, n do list[#list + 1] = i end
  return list
end

-- The elements of a matrix at these positions, false where one is false.
local function elements (t, rows, columns)
  local grid = {}
  for r, i in ipairs(rows) do
    grid[r] = {}
    for c, j in ipairs(columns) do grid[r][c] = i and j and t:at(i, j) or false end
  end
  return grid
end


-- How they are written -----------------------------------------------------------------------------

local function is_whole (x)
  return x ~= x or math.abs(x) == math.huge or x == math.floor(x) and math.abs(x) < LONGEST_INTEGER
end

local function each (grids, visit)
  for _, grid in ipairs(grids) do
    for r, row in ipairs(grid) do
      for c, x in ipairs(row) do
        if x then visit(x, row[c + 1], grid[r + 1] and grid[r + 1][c]) end
      end
    end
  end
end

-- As many digits as it takes to write the largest without an exponent, and one behind the point; within limits.
local function first_digits (grids)
  local largest = 0
  each(grids, function (x)
    if math.abs(x) < math.huge then largest = math.max(largest, math.abs(x)) end
  end)
  if largest >= 1e9 or largest < 1 then return FEWEST_DIGITS end
  return math.max(FEWEST_DIGITS, 1 + #string.format("%.0f", largest))
end

local written = show.format

-- Do all neighbours that differ look different?
local function tells_apart (grids, pattern)
  local all = true
  each(grids, function (x, beside, below)
    for _, y in ipairs { beside or x, below or x } do
      if x < y or x > y then all = all and written(pattern, x) ~= written(pattern, y) end
    end
  end)
  return all
end

-- The pattern that all elements are written by.
local function pattern_for (grids)
  local whole = true
  each(grids, function (x) whole = whole and is_whole(x) end)
  if whole then return "%.0f" end
  local digits = first_digits(grids)
  while digits < MOST_DIGITS and not tells_apart(grids, "%." .. digits .. "g") do digits = digits + 1 end
  return "%." .. digits .. "g"
end

-- Elements become texts.
local function write_all (grids)
  local pattern = pattern_for(grids)
  for _, grid in ipairs(grids) do
    for _, row in ipairs(grid) do
      for c, x in ipairs(row) do row[c] = x and written(pattern, x) or "..." end
    end
  end
end

-- The width of the widest text.
local function widest_of (grids)
  local widest = 0
  for _, grid in ipairs(grids) do
    for _, row in ipairs(grid) do
      for _, text in ipairs(row) do widest = math.max(widest, #text) end
    end
  end
  return widest
end

-- Texts first to last of a row, aligned.
local function line (row, first, last, widest)
  local cells = {}
  for c = first, last do cells[#cells + 1] = string.rep(" ", widest - #row[c]) .. row[c] end
  return table.concat(cells, string.rep(" ", GAP))
end

-- How many columns fit.
local function columns_in (width, widest) return math.max(1, (width + GAP) // (widest + GAP)) end


-- Rows of texts of a matrix with n columns, so many at each end or all; and how many columns of them fit.
local function written_rows (t, rows, n, edge, width)
  local grid = elements(t, rows, positions(n, edge))
  write_all { grid }
  return grid, columns_in(width, widest_of { grid })
end

-- The same, with as many columns as fit. Fewer columns may need fewer digits, so that there is room for more.
local function fitted_rows (t, rows, n, width)
  local edge = WIDE_EDGE
  local grid, fit = written_rows(t, rows, n, edge, width)
  while #grid[1] > fit and edge > 1 do
    edge = math.max(1, math.min(edge - 1, (fit - 1) // 2))
    grid, fit = written_rows(t, rows, n, edge, width)
  end
  while edge < WIDE_EDGE do
    local more, most = written_rows(t, rows, n, edge + 1, width)
    if #more[1] > most then break end
    grid, edge = more, edge + 1
  end
  return grid
end


-- Shapes -------------------------------------------------------------------------------------------

-- One row, over as many lines as it takes: each begins with the position of its first element.
local function vector (t, n, is_cut)
  local width = show.width() - #INDENT
  t = t:unsqueeze(1)
  local grid = is_cut and fitted_rows(t, { 1 }, n, width) or written_rows(t, { 1 }, n, nil, width)
  local row, widest = grid[1], widest_of { grid }
  if #row <= columns_in(width, widest) then return INDENT .. line(row, 1, #row, widest) end
  local label, lines = #tostring(n) + 2, {}
  local fit = columns_in(width - label - 1, widest)
  for first = 1, #row, fit do
    local head = string.format("%" .. label .. "s ", "[" .. first .. "]")
    lines[#lines + 1] = INDENT .. head .. line(row, first, math.min(first + fit - 1, #row), widest)
  end
  return table.concat(lines, "\n")
end

-- Rows of texts, in blocks of as many columns as fit.
local function blocks (grid, widest, width)
  local fit, n, lines = columns_in(width - #INDENT, widest), #grid[1], {}
  for first = 1, n, fit do
    local last = math.min(first + fit - 1, n)
    if fit < n then lines[#lines + 1] = string.format("columns %d to %d", first, last) end
    for _, row in ipairs(grid) do lines[#lines + 1] = INDENT .. line(row, first, last, widest) end
  end
  return lines
end

local function matrix (t, rows, columns, is_cut)
  local width = show.width()
  local shown, inner = positions(rows, is_cut and EDGE), width - #INDENT
  local grid = is_cut and fitted_rows(t, shown, columns, inner) or written_rows(t, shown, columns, nil, inner)
  return table.concat(blocks(grid, widest_of { grid }, width), "\n")
end

-- The indices before the last two of slice number k, and their text.
local function slice_index (shape, k)
  local index = {}
  for d = #shape - 2, 1, -1 do
    index[d] = (k - 1) % shape[d] + 1
    k = (k - 1) // shape[d] + 1
  end
  return index, "[" .. table.concat(index, ", ") .. ", :, :]"
end

-- Lines of several blocks, each { head, lines }, next to each other.
local function side_by_side (list, block_width)
  local lines = {}
  for r = 0, #list[1].lines do
    local cells = {}
    for i, block in ipairs(list) do
      local text = r == 0 and block.head or block.lines[r]
      cells[i] = text .. string.rep(" ", i < #list and block_width - #text or 0)
    end
    lines[#lines + 1] = table.concat(cells, "  ")
  end
  return lines
end

-- The matrices of a tensor that are shown: { number, head, grid }, or an empty table where some are left out.
local function shown_slices (t, shape, is_cut)
  local rows, columns = positions(shape[#shape - 1], is_cut and EDGE), positions(shape[#shape], is_cut and EDGE)
  local count, list, grids = 1, {}, {}
  for d = 1, #shape - 2 do count = count * shape[d] end
  for n, k in ipairs(positions(count, is_cut and SLICES)) do
    list[n] = {}
    if k then
      local index, head = slice_index(shape, k)
      local slice = t
      for _, i in ipairs(index) do slice = slice:select(1, i) end
      list[n] = { number = k, head = head, grid = elements(slice, rows, columns) }
      grids[#grids + 1] = list[n].grid
    end
  end
  write_all(grids)
  return list, widest_of(grids)
end

-- The matrices of a tensor of rank 3 or more, each under its indices, as many side by side as fit. Where an index
-- before the last three changes a new line begins.
local function slices (t, shape, is_cut)
  local list, widest = shown_slices(t, shape, is_cut)
  local width, block_width, lines, group = show.width(), 0, {}, {}
  for _, block in ipairs(list) do
    block.lines = block.grid and blocks(block.grid, widest, width) or {}
    for _, text in ipairs { block.head, table.unpack(block.lines) } do block_width = math.max(block_width, #text) end
  end
  local function flush ()
    if group[1] then table.move(side_by_side(group, block_width), 1, #group[1].lines + 1, #lines + 1, lines) end
    group = {}
  end
  local across = math.max(1, (width + 2) // (block_width + 2))
  for _, block in ipairs(list) do
    local begins = block.number and #shape > 3 and (block.number - 1) % shape[#shape - 2] == 0
    if #group == across or begins or not block.number then flush() end
    if block.number then group[#group + 1] = block else lines[#lines + 1] = "..." end
  end
  flush()
  return table.concat(lines, "\n")
end

--- A tensor with its shape on the first line; a single number, which is no Lua number, behind it.
return function (t)
  local _, is_param = core.tracked(t)
  t = core.detach(t)   -- elements are plain numbers
  local shape = core.shape(t)
  local head = "Tensor" .. show.shape(shape) .. (is_param and " param" or "")
  if #shape == 0 then return head .. " " .. show.number(core.item(t)) end
  if core.numel(t) == 0 then return head end
  local is_cut = core.numel(t) > MOST
  if #shape == 1 then return head .. "\n" .. vector(t, shape[1], is_cut) end
  if #shape == 2 then return head .. "\n" .. matrix(t, shape[1], shape[2], is_cut) end
  return head .. "\n" .. slices(t, shape, is_cut)
end
