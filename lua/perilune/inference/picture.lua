--- Pictures of posteriors, as text: post:plot(name).
--
-- A single number is a histogram; a vector or matrix a line for each element, with its 50 % and 90 % intervals and its
-- median.
local core     = require "perilune.core"
local errors   = require "perilune.errors"
local weighted = require "perilune.inference.weighted"

local WIDTH, HEIGHT, MOST = 60, 6, 40
local BLOCKS = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }

local picture = {}

local function is_finite (x) return x - x == 0 end

local function text_of (x) return string.format("%.3g", x) end

-- A line of numbers below a picture: its two ends, and something in the middle.
local function axis (low, middle, high, width)
  local left, right = text_of(low), text_of(high)
  local gap = width - #left - #right - #middle
  local before = math.max(1, gap // 2)
  return left .. string.rep(" ", before) .. middle .. string.rep(" ", math.max(1, gap - before)) .. right
end

-- The part of a row of blocks at height h, of a column that is `share` of the picture high.
local function block (share, h)
  local filled = share * HEIGHT - (h - 1)
  if filled <= 0 then return " " end
  return BLOCKS[math.max(1, math.min(8, math.floor(filled * 8 + 0.5)))]
end

--- A histogram of a vector with weights.
function picture.histogram (name, x, w)
  local q = weighted.quantiles(x, w, { 0.001, 0.5, 0.999 })
  local low, high = q[1], q[3]
  if not is_finite(high - low) then return name .. ": not all draws are finite" end
  if low == high then return string.format("%s = %s in every draw", name, text_of(low)) end
  local counts, most = {}, 0
  for i = 1, WIDTH do counts[i] = 0 end
  local places = ((x - low) / (high - low) * WIDTH):floor():totable()
  for i, weight in ipairs(w:totable()) do
    local at = math.floor(places[i]) + 1
    if at >= 1 and at <= WIDTH then counts[at] = counts[at] + weight end
  end
  for i = 1, WIDTH do most = math.max(most, counts[i]) end
  local lines = {}
  for h = HEIGHT, 1, -1 do
    local row = {}
    for i = 1, WIDTH do row[i] = block(counts[i] / most, h) end
    lines[#lines + 1] = (table.concat(row):gsub(" +$", ""))
  end
  lines[#lines + 1] = axis(low, name .. ", median " .. text_of(q[2]), high, WIDTH)
  return table.concat(lines, "\n")
end

-- One line of a forest: a thin line over 90 %, a thick one over 50 %, a point at the median.
local function stripe (q, low, high)
  if not is_finite(q[5] - q[1]) then return "not all draws are finite" end
  local row = {}
  local function place (x) return 1 + math.floor((x - low) / (high - low) * (WIDTH - 1) + 0.5) end
  for i = 1, WIDTH do row[i] = " " end
  for i = place(q[1]), place(q[5]) do row[i] = "─" end
  for i = place(q[2]), place(q[4]) do row[i] = "━" end
  row[place(q[3])] = "●"
  return table.concat(row)
end

--- A line for each column of a matrix with weights.
function picture.forest (labels, columns, w)
  local all, low, high, widest = {}, math.huge, -math.huge, 0
  local n = math.min(#labels, MOST)
  for j = 1, n do
    all[j] = weighted.quantiles(columns:select(2, j):contiguous(), w, { 0.05, 0.25, 0.5, 0.75, 0.95 })
    if is_finite(all[j][5] - all[j][1]) then low, high = math.min(low, all[j][1]), math.max(high, all[j][5]) end
    widest = math.max(widest, #labels[j])
  end
  if low > high then low, high = -1, 1 end   -- nothing is finite
  if low == high then low, high = low - 1, high + 1 end
  local lines = {}
  for j = 1, n do
    lines[j] = labels[j] .. string.rep(" ", widest - #labels[j]) .. "  " .. stripe(all[j], low, high)
  end
  lines[n + 1] = string.rep(" ", widest + 2) .. axis(low, "", high, WIDTH)
  if #labels > n then lines[n + 2] = string.format("... and %d more", #labels - n) end
  return table.concat(lines, "\n")
end

--- A picture of the site `name` of a posterior.
function picture.of (post, name)
  local values = post.values[name]
  if values == nil then
    local names = {}
    for known in pairs(post.values) do names[#names + 1] = known end
    errors.unknown("plot", "site", name, names)
  end
  local shape = core.shape(values)
  local rows = table.remove(shape, 1)
  local columns = values:reshape(rows, -1)
  if core.shape(columns)[2] == 1 then return picture.histogram(name, columns:reshape(-1), post.weights) end
  local labels = {}
  for j = 1, core.shape(columns)[2] do labels[j] = post.element_name(name, shape, j) end
  return picture.forest(labels, columns, post.weights)
end

return picture
