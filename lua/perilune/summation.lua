--- Sums over integers of functions on tensors, for many functions at once.
--
-- The line is cut into blocks. One of up to 32 integers is summed as it is. A block of N = 2^e integers is
-- measured at 32 of them, which lie as the points of Clenshaw and Curtis do, both ends included, by the rule
-- that is exact for sums of polynomials of degree 31. With Gram's polynomials T_0 = 1, T_1 = s, ...,
--
--   (n + 1) T_(n+1) = (2 n + 1) s T_n - n (1 - n^2/N^2) T_(n-1),    s = (2 k - (N - 1))/N,
--
-- which are orthogonal on k = 0 ... N - 1, it sums what passes through the 32 values. The coefficients of the
-- last four of them say what is missing: they are as small as rounding where f is smooth, and as large as f
-- itself where it jumps or oscillates. Such a block is cut in two.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local tensor    = require "perilune.tensor"

local summation = {}

local where, maximum, minimum, abs, log = functions.where, functions.maximum, functions.minimum, functions.abs,
                                          functions.log
local INF      = math.huge
local POINTS   = 32            -- in a block
local UNIT     = 5             -- 2^UNIT integers are summed as they are
local SMALLEST = 9             -- the least e for which the 32 points are apart
local LARGEST  = 50            -- greater blocks have the points of this one, at a larger scale
local OPEN     = math.huge     -- size of blocks at an end where nothing happens
local STRETCH  = 3             -- a block as far from what happens as this part of its size is still smooth
local NEAR     = 8             -- units that are summed as they are on either side of a cut
local SHARES   = 8             -- by which the way to the nearest cut is divided beside a smooth one
local DOUBTS   = 4             -- coefficients that show what is missing
local ROOM     = 2 ^ 20        -- elements in one call of the function
local FAINT    = 1e-9          -- an error that stays when a block is cut is that of f, if it is no more than this
local OUTCOMES = 2 ^ 14        -- points of an element after which blocks are cut no more, unless told
local ROUNDING = 2.0 ^ -46     -- no sum is better than this part of that of |f|
local NOISE    = 2.0 ^ -41     -- what a power of the distance may be off by: the logarithms are of a size of 700


-- Rules -----------------------------------------------------------------------

-- The solutions of a x = b for each of the columns b, by elimination; both are changed.
local function solve (a, b)
  local n = #a
  for c = 1, n do
    local best = c
    for r = c + 1, n do if math.abs(a[r][c]) > math.abs(a[best][c]) then best = r end end
    a[c], a[best], b[c], b[best] = a[best], a[c], b[best], b[c]
    local top, right = a[c], b[c]
    for r = 1, n do
      local factor = r ~= c and a[r][c] / top[c] or 0
      if factor ~= 0 then
        local row, values = a[r], b[r]
        for k = c, n do row[k] = row[k] - factor * top[k] end
        for k = 1, #values do values[k] = values[k] - factor * right[k] end
      end
    end
  end
  for r = 1, n do
    for k = 1, #b[r] do b[r][k] = b[r][k] / a[r][r] end
  end
  return b
end

-- Gram's polynomials at these places of 0 ... n - 1: a row for each degree.
local function gram (places, n)
  local values = {}
  for degree = 0, POINTS - 1 do
    local row, before, last = {}, values[degree - 1], values[degree]
    for i, k in ipairs(places) do
      local s, m = (2 * k - (n - 1)) / n, degree - 1
      row[i] = degree == 0 and 1 or degree == 1 and s
               or ((2 * m + 1) * s * last[i] - m * (1 - (m / n) ^ 2) * before[i]) / degree
    end
    values[degree + 1] = row
  end
  return values
end

-- The points of a block of 2^e, and rows of weights: of the rule, and for the last coefficients times 2^e.
local function make_rule (e)
  local n, places, wanted = 2.0 ^ e, {}, {}
  for i = 1, POINTS do
    places[i] = math.floor(0.5 * (n - 1) * (1 - functions.cos(math.pi * (i - 1) / (POINTS - 1))) + 0.5)
    wanted[i] = {}
    for k = 0, DOUBTS do wanted[i][k + 1] = 0 end
  end
  wanted[1][1] = n
  for k = 1, DOUBTS do wanted[POINTS + 1 - k][k + 1] = n end
  return { points = core.tensor(places), weights = core.tensor(solve(gram(places, n), wanted)):transpose(1, 2) }
end

-- All of 32 integers: nothing is missing.
local function make_unit ()
  local weights = tensor.cat { core.ones(1, POINTS), core.zeros(DOUBTS, POINTS) }
  return { points = core.arange(0, POINTS), weights = weights }
end

local rules = setmetatable({}, { __index = function (self, e)
  self[e] = e == UNIT and make_unit() or make_rule(e)
  return self[e]
end })


-- Blocks ----------------------------------------------------------------------

-- Blocks of one element are lists by e of { start, scale, last, parent, ... }: points are start + scale k, none after
-- `last`. A scale other than 1 is for integers beyond 2^53, of which not all are doubles, and for blocks that
-- are larger than the largest rule. `parent` is the relative error of the block that it was cut from.
local function add (blocks, e, start, scale, last)
  local list = blocks[e]
  if not list then
    list = {}
    blocks[e] = list
  end
  local n = #list
  list[n + 1], list[n + 2], list[n + 3], list[n + 4] = start, scale, last, blocks.parent or INF
end

-- Doubles at x are at least 2^grain apart, and 1.
local function grain (x)
  x = math.abs(x)
  return x < 2.0 ^ 53 and 0 or math.floor(math.log(x, 2)) - 52
end

-- All integers between two, one by one; and how many blocks they are.
local function add_units (blocks, from, to)
  local count = 0
  while from <= to do
    local scale = 2.0 ^ grain(from)
    add(blocks, UNIT, from, scale, math.min(to, from + scale * (POINTS - 1)))
    from, count = from + scale * POINTS, count + 1
  end
  return count
end

-- 2^e integers.
local function add_block (blocks, e, start)
  local rule, next = math.min(e - grain(start), LARGEST), start + 2.0 ^ e
  add(blocks, rule, start, 2.0 ^ (e - rule), next - 2.0 ^ grain(next))
end

-- Adds blocks from both ends inwards while there is room for the next two; where they are, and the largest size 2^e,
-- afterwards.
local function add_inwards (blocks, first, last, left, right)
  local high = 2.0 ^ grain(last)
  while last - first >= 2.0 ^ left + 2.0 ^ right do
    if left <= right then
      add_block(blocks, left, first)
      first, left = first + 2.0 ^ left, left + 1
    else
      last, right = last - 2.0 ^ right, right + 1
      add_block(blocks, right - 1, last + high)
    end
  end
  return first, last, math.max(left, right)
end

-- The size of a block at this distance from the only end that counts: 2^e, about STRETCH times that.
local function size_from (distance, least)
  return distance > 0 and math.max(least, math.floor(math.log(STRETCH * distance, 2))) or least
end

-- The same from the lower end alone, the upper one being OPEN.
local function add_upwards (blocks, from, first, last, e)
  while last - first >= 2.0 ^ (e + 1) do
    add_block(blocks, e, first)
    first = first + 2.0 ^ e
    e = size_from(first - from, e)
  end
  return first, last, e + 1
end

-- The same from the upper end alone, the lower one being OPEN.
local function add_downwards (blocks, first, last, to, e)
  local high = 2.0 ^ grain(last)
  while last - first >= 2.0 ^ (e + 1) do
    last = last - 2.0 ^ e
    add_block(blocks, e, last + high)
    e = size_from(to - last, e)
  end
  return first, last, e + 1
end

-- Covers from ... to with blocks that double with their distance from either end, so that a function like |x - end|^a
-- is smooth in each. The first of them have 2^left and 2^right integers; or nil, for units that are summed as they are;
-- or one is OPEN, an end where nothing happens.
local function cover (blocks, from, to, left, right)
  local low, high = 2.0 ^ grain(from), 2.0 ^ grain(to)
  if to - from < 2 * NEAR * POINTS * math.max(low, high) then return add_units(blocks, from, to) end
  local first = left and from or from + NEAR * POINTS * low
  local last  = right and to or to - NEAR * POINTS * high
  add_units(blocks, from, first - low)
  add_units(blocks, last + high, to)
  local largest
  left, right = math.max(left or 0, SMALLEST + grain(from)), math.max(right or 0, SMALLEST + grain(to))
  if right == OPEN then first, last, largest = add_upwards(blocks, from, first, last, left)
  elseif left == OPEN then first, last, largest = add_downwards(blocks, first, last, to, right)
  else first, last, largest = add_inwards(blocks, first, last, left, right) end
  for e = largest, SMALLEST + grain(last), -1 do
    if last - first + high >= 2.0 ^ e then
      add_block(blocks, e, first)
      first = first + 2.0 ^ e
    end
  end
  add_units(blocks, first, last)
end

-- Both halves of a block, or its units where they are too small; and how many blocks that are.
local function halve (blocks, e, start, scale, last)
  local size = e + math.floor(math.log(scale, 2) + 0.5)
  if size - 1 < SMALLEST + grain(last) then return add_units(blocks, start, last) end
  add_block(blocks, size - 1, start)
  add_block(blocks, size - 1, start + 2.0 ^ (size - 1))
  return 2
end

-- How small blocks next to the i-th cut are: nil for units, and beside `smooth` cuts by their distance from others. The
-- last may be OPEN, or if that is not the first.
local function size_at (cuts, i)
  if i == #cuts and cuts.is_open_above then return OPEN end
  if i == 1 and cuts.is_open_below and not (#cuts == 2 and cuts.is_open_above) then return OPEN end
  if not (cuts.smooth and cuts.smooth[cuts[i]] and i > 1 and i < #cuts) then return nil end
  local near = math.min(cuts[i] - cuts[i - 1], cuts[i + 1] - cuts[i])
  return math.floor(math.log(near / SHARES, 2))
end

-- The blocks of an element whose integers, from the first of `cuts` to the last, are cut before each of them.
local function blocks_between (cuts)
  local blocks = {}
  for i = 1, #cuts - 1 do
    local next = cuts[i + 1]
    local to = i == #cuts - 1 and next or next - 2.0 ^ grain(next)
    cover(blocks, cuts[i], to, size_at(cuts, i), size_at(cuts, i + 1))
  end
  if #cuts == 1 then add_units(blocks, cuts[1], cuts[1]) end
  return blocks
end


-- Rounds ----------------------------------------------------------------------

-- Rows of blocks of one e each, with one block of every element, for all elements: { e =, start =, scale =,
-- last =, parent = }, the latter lists with a number for each element. Where an element has no more of them, its
-- scale is 0. Small blocks come first, each size in the order in which they were cut: sums hang on that.
local function rows_of (elements)
  local rows, longest, sizes = {}, {}, {}
  for _, blocks in ipairs(elements) do
    blocks.parent = nil
    for e, list in pairs(blocks) do
      if not longest[e] then sizes[#sizes + 1] = e end
      longest[e] = math.max(longest[e] or 0, #list)
    end
  end
  table.sort(sizes)
  for _, e in ipairs(sizes) do
    for k = 1, longest[e], 4 do
      local row = { e = e, start = {}, scale = {}, last = {}, parent = {} }
      for i, blocks in ipairs(elements) do
        local list, none = blocks[e], elements.inside[i]
        local start, scale, last, parent = none, 0, none, INF
        if list and list[k] then start, scale, last, parent = table.unpack(list, k, k + 3) end
        row.start[i], row.scale[i], row.last[i], row.parent[i] = start, scale, last, parent
      end
      rows[#rows + 1] = row
    end
  end
  return rows
end

-- A field of some rows, as { row, 1, element }.
local function field (rows, name)
  local list = {}
  for i, row in ipairs(rows) do list[i] = row[name] end
  return core.tensor(list):unsqueeze(2)
end

local function rules_of (rows, name)
  local list = {}
  for i, row in ipairs(rows) do list[i] = rules[row.e][name] end
  return tensor.stack(list)
end

-- The sums of rows: lists of { value =, error =, size = } for each function, as { row, element }. An infinite
-- term makes its sum infinite.
local function measure (terms, shape, rows)
  local start, scale, last = field(rows, "start"), field(rows, "scale"), field(rows, "last")
  local weights = rules_of(rows, "weights")
  local x = start + scale * rules_of(rows, "points"):unsqueeze(-1)
  local inside = x:le(last) * scale:gt(0)
  local found = {}
  local n = #rows * POINTS
  for i, values in ipairs { terms(minimum(x, last):reshape(n, table.unpack(shape)), n) } do
    values = where(inside, values:reshape(#rows, POINTS, -1), 0)
    local infinite = values:isinf()
    local finite = where(infinite, 0, values)
    local sums = weights:matmul(finite) * scale
    found[i] = {
      value = sums:select(2, 1) + where(infinite, values, 0):sum(2),
      error = abs(sums:detach():narrow(2, 2, DOUBTS)):max(2),
      size  = (weights:narrow(2, 1, 1):matmul(abs(finite:detach())) * scale):select(2, 1),
    }
  end
  return found
end

-- The same, with no more rows in a call than there is room for.
local function measure_all (terms, shape, rows, n)
  local at_once, parts = math.max(1, math.floor(ROOM / (POINTS * n))), {}
  for first = 1, #rows, at_once do
    local some = { table.unpack(rows, first, math.min(#rows, first + at_once - 1)) }
    parts[#parts + 1] = measure(terms, shape, some)
  end
  if #parts == 1 then return parts[1] end
  local found = {}
  for i in ipairs(parts[1]) do
    found[i] = {}
    for _, name in ipairs { "value", "error", "size" } do
      local list = {}
      for k, part in ipairs(parts) do list[k] = part[i][name] end
      found[i][name] = tensor.cat(list)
    end
  end
  return found
end

-- The error of each block as a part of its sum of |f|, and whether it is that of f itself: it is faint, and was
-- not left behind when a larger block was cut.
local function relative_error (found, parent)
  local part = where(found.size:gt(0), found.error / found.size, 0)
  return part, part:gt(0.2 * parent) * part:le(FAINT)
end

-- 1 for each block to be cut: one whose error is more than its share of what is tolerated, for an element
-- that is not yet good enough.
local function wanting (total, found, count, opts, enough)
  local size = total.size + found.size:sum(1)
  local tolerance = maximum(ROUNDING * size, (opts.rtol or 1e-13) * abs(total.value + found.value:sum(1)))
  tolerance = maximum(tolerance, opts.atol or 0)
  if enough then tolerance = maximum(tolerance, enough(total.value + found.value:sum(1))) end
  local short = functions.gt(total.error + found.error:sum(1), tolerance)
  return found.error:gt(tolerance / (2 * count)) * short
end

-- The pieces of the blocks of a round that are to be cut, by element, or nil. `split` is a list of flags for all
-- blocks of all rows; those that stay whole, because their element has had its share of points, are reset. `parts` are
-- their relative errors.
local function pieces (rows, split, parts, counts, most)
  local elements, any, i, planned = { inside = {} }, false, 0, { table.unpack(counts) }
  for k = 1, #counts do elements[k] = {} end
  for _, row in ipairs(rows) do
    for k = 1, #counts do
      i = i + 1
      if split[i] ~= 0 and row.scale[k] > 0 and planned[k] * POINTS < most then
        elements[k].parent = parts[i]
        planned[k] = planned[k] + halve(elements[k], row.e, row.start[k], row.scale[k], row.last[k])
        any = true
      else split[i] = 0 end
    end
  end
  return any and elements or nil
end

local function count_blocks (elements, counts)
  for k, blocks in ipairs(elements) do
    for _, list in pairs(blocks) do counts[k] = counts[k] + #list / 4 end
  end
end

-- Adds what is kept of a round; a NaN is kept in any case.
local function keep (total, found, kept)
  total.value = total.value + where(maximum(kept, found.value:isnan()), found.value, 0):sum(1)
  total.error = total.error + where(kept, found.error, 0):sum(1)
  total.size  = total.size + where(kept, found.size, 0):sum(1)
end

--- The sums of functions over integers, for each of a batch of this shape, a list of sizes. terms(x, n) takes
-- { n, batch... } integers and returns as many values of each of the functions. `cuts` has for each element
-- an increasing list of integers: the first and the last to be summed, and between them those before which
-- something happens: a kink, a jump, a peak; or nothing but that mass is near, for keys of its field `smooth`. Where it
-- `is_open_below` or `is_open_above` nothing happens at the first or the last.
-- Returns { value =, error =, size = } for each function, each a tensor of all elements: `size` is the sum of |f|.
-- opts: rtol, atol and outcomes, how many integers are looked at before blocks are cut no more; enough(value), errors
-- of the first function that do not matter.
function summation.sum (terms, shape, cuts, opts)
  local elements, counts, totals = { inside = {} }, {}, {}
  for k, list in ipairs(cuts) do elements[k], elements.inside[k], counts[k] = blocks_between(list), list[1], 0 end
  local inside = elements.inside
  repeat
    elements.inside = inside
    local rows = rows_of(elements)
    count_blocks(elements, counts)
    local found, parent = measure_all(terms, shape, rows, #cuts), field(rows, "parent"):select(2, 1)
    local split, parts = 0, 0
    for i, part in ipairs(found) do
      totals[i] = totals[i] or { value = 0, error = 0, size = 0 }
      local relative, is_noise = relative_error(part, parent)
      local flags = wanting(totals[i], part, core.tensor(counts), opts, i == 1 and opts.enough)
      split = maximum(split, flags * (1 - is_noise))
      parts = maximum(parts, relative)
    end
    local flags = split:reshape(-1):totable()
    elements = pieces(rows, flags, parts:reshape(-1):totable(), counts, opts.outcomes or OUTCOMES)
    local kept = 1 - core.tensor(flags):reshape(#rows, #cuts)
    for i, part in ipairs(found) do keep(totals[i], part, kept) end
  until not elements
  return totals
end

--- The same for the integers of each element between those of two tensors, one by one.
function summation.direct (terms, shape, from, to)
  local size = core.numel(from)
  local count = math.max(1, core.item((to - from):max()) + 1)   -- of a range that is empty none is inside
  local at_once, totals = math.max(1, math.floor(ROOM / size)), {}
  for first = 0, count - 1, at_once do
    local n = math.min(at_once, count - first)
    local x = from + core.arange(first, first + n):unsqueeze(-1)
    local inside = x:le(to)
    for i, values in ipairs { terms(minimum(x, to):reshape(n, table.unpack(shape)), n) } do
      values = where(inside, values:reshape(n, -1), 0)
      local total = totals[i] or { value = 0, error = 0, size = 0 }
      totals[i] = total
      total.value, total.size = total.value + values:sum(1), total.size + abs(values:detach()):sum(1)
    end
  end
  return totals
end


-- Beyond ----------------------------------------------------------------------

-- What follows after the last of three terms g at distances z - 2 s, z - s, z from the centre: a geometric
-- series, or a power of the distance, whichever they are closer to; and how far they are from it.
local function followed (g, z, s)
  local first, second, last = g:select(1, 1), g:select(1, 2), g:select(1, 3)
  local before, after = log(first / second), log(second / last)
  local power, earlier = after / log(z / (z - s)), before / log((z - s) / (z - 2 * s))
  local off_series, off_power = abs(1 - before / after), abs(1 - earlier / power)
  local endless = functions.sign(last) * INF
  local powers = where(functions.le(power, 1 + 1e-6), endless, last * z / (power - 1))   -- NaN where signs change
  local is_series = functions.le(off_series, off_power) * functions.gt(after, 1e-10)
  local drift = abs(earlier - power) / log(z / (z - s))   -- of the power, as by a logarithm among the terms
  local excess = maximum(power - 1, NOISE)
  off_power = maximum(off_power, 0.3 * drift / excess ^ 2) + NOISE / excess
  return where(is_series, last / functions.expm1(after / s), powers), where(is_series, off_series, off_power)
end

--- The sum of the first function over all integers beyond `last`, seen from `centre`, both a number for each
-- element, and its error: by the way in which the terms before it decay, in so far as that matters beside
-- `size`.
function summation.beyond (terms, shape, last, centre, size)
  local z = abs(last - centre)
  local s = maximum(1, functions.floor(z / 16))
  local step = functions.sign(last - centre) * s
  local x = tensor.stack({ last - 2 * step, last - step, last }, 1)
  local g = terms(x:reshape(3, table.unpack(shape)), 3):reshape(3, -1)
  local reach = abs(g:select(1, 3)) * (z + 1)
  local rest, off = followed(g, z, s)
  local matters = functions.gt(reach, 1e-17 * size) * functions.gt(z, 1)   -- there is no decay over one or two terms
  local known = matters * (1 - rest:isnan())
  local error = where(known, abs(rest) * (10 * off + 2 ^ -40), where(matters, INF, where(functions.gt(z, 1), reach, 0)))
  return where(known, rest, 0), error
end

return summation
