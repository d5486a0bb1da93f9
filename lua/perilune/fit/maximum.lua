--- The maximum of a likelihood: L-BFGS from several starts on a part of the data, then Newton steps with the curvature
-- that differences of gradients give.
local core   = require "perilune.core"
local lbfgs  = require "perilune.inference.lbfgs"
local tensor = require "perilune.tensor"

local GRID     = { -3, -1, 0, 1, 3 }   -- values of each free number to start from,
local GRID_MAX = 4       -- where there are no more of them
local TRIED    = 3       -- starts that are followed
local SMALL    = 60      -- free numbers, two gradients for each of which are a Newton step:
local NEWTON   = 60      -- Newton steps where there are no more of them,
local FEW      = 4       -- and where there are
local SETTLED  = 1e-13   -- what is left to gain, in nats, that ends them

local maximum = {
  RISING = 0.3   -- slope of the log likelihood along a free number that does not end yet
}

local function is_finite (x) return x - x == 0 end

-- For minimisers: minus the log likelihood, and its gradient.
local function objective (likelihood)
  return function (u)
    local value, gradient = likelihood:at(u)
    return -value, -gradient
  end
end

-- Rows of free numbers to start from: a grid about each row of `starts`, or few points where there are many numbers.
local function grid (starts, k)
  local rows = {}
  local function extend (row, at)
    if at > k then rows[#rows + 1] = row return end
    for _, step in ipairs(GRID) do
      local longer = { table.unpack(row) }
      longer[at] = step
      extend(longer, at + 1)
    end
  end
  if k <= GRID_MAX then extend({}, 1)
  else
    for _, step in ipairs(GRID) do rows[#rows + 1] = core.full({ k }, step):totable() end
  end
  local offsets, all = core.tensor(rows), {}
  for i, start in ipairs(starts) do all[i] = start + offsets end
  return tensor.cat(all)
end

-- The rows with the largest values, the best first.
local function best_rows (rows, values, count)
  local order = (-values):argsort()   -- NaN last
  local best = {}
  for i = 1, core.numel(order) do
    local at = math.tointeger(order[i])
    if #best < count and is_finite(values[at]) then best[#best + 1] = rows[at] end
  end
  return best
end

-- One Newton step uphill, with so much added to the curvature; the gain that it promises. nil where the curvature is
-- not that of a maximum.
local function newton_step (h, g, added)
  local l = (added * core.public.eye(core.shape(h)[1]) - h):cholesky()
  local step = l:cholesky_solve(g)
  local gain = (step * g):sum() / 2
  if not is_finite(gain) then return nil end
  return step, gain
end

-- Newton steps from u on until they gain nothing, at most so many: u, value, what is left to gain, and whether the
-- curvature is that of a maximum.
local function polish (self, u, most)
  local value, g = self:at(u)
  local added, gain = 0, math.huge
  for _ = 1, most do
    local h = self:curvature(u)
    local scale = h:diagonal():abs():max()
    local step
    step, gain = newton_step(h, g, added)
    while not step and added < 1e6 * scale do
      added = math.max(10 * added, 1e-6 * scale)
      step, gain = newton_step(h, g, added)
    end
    if not step then return u, value, math.huge, false end
    if added == 0 and gain < SETTLED then return u, value, gain, true end
    local near = u + step
    local next_value, next_g = self:at(near)
    local tolerance = 1e-12 * (1 + math.abs(value))
    if is_finite(next_value) and next_value >= value - tolerance and is_finite((next_g * next_g):sum()) then
      local is_done = added == 0 and gain < tolerance and next_value <= value
      u, value, g, added = near, next_value, next_g, added > 1e-9 * scale and added / 10 or 0
      if is_done then return u, value, gain, true end
    else
      added = math.max(10 * added, 1e-6 * scale)
      if added > 1e9 * scale then return u, value, gain, false end
    end
  end
  return u, value, gain, added == 0
end

local function is_avoided (self, u) return self.is_avoided ~= nil and self.is_avoided(self:plain_values(u)) end

-- Followed to the end from row `start`, which is the maximum of a part of the data.
local function climb (self, start)
  local is_small = self.size <= SMALL
  local u, value, gain, is_peak
  if is_small then u, value, gain, is_peak = polish(self, start, NEWTON) end
  if not is_peak then
    local found = lbfgs.minimise(objective(self), start, { iterations = is_small and 200 or 2000, gain = 1e-10 })
    u, value, gain, is_peak = polish(self, found.x, is_small and NEWTON or FEW)
  end
  is_peak = is_peak and is_finite(value) and not is_avoided(self, u)
  local _, gradient = self:at(u)
  local is_level = is_peak
                   or is_finite(value) and gradient:abs():max() < maximum.RISING and not is_avoided(self, u)
  return { u = u, value = value, gain = gain, is_peak = is_peak, is_level = is_level, gradient = gradient }
end

--- Which of two ends is to be preferred: a maximum, or where the likelihood becomes flat, before one where it rises on;
-- then the higher one.
function maximum.is_better (a, b)
  if a.is_level ~= b.is_level then return a.is_level end
  return a.value > b.value
end

--- The best end of several climbs: { u, value, gradient, gain = what Newton's step would still add, is_peak = is the
-- curvature that of a maximum?, is_level = or the slope next to none? }, or nil where no start has a finite likelihood;
-- and an end that is higher and rises on, if one was met. `starts` has tables of parameters by name: all but the first
-- are followed whatever is met about others.
function maximum.of (self, starts)
  if self.size == 0 then
    local terms = self:distribution(core.zeros(0)):log_prob(self.x)
    return { u = core.zeros(0), value = (self.w and self.w * terms or terms):sum(), gain = 0, is_peak = true,
             is_level = true }
  end
  local first, some = {}, self:part()
  for i, start in ipairs(starts) do first[i] = self:free(start) end
  first[#first + 1] = core.zeros(self.size)
  local rows = tensor.cat { tensor.stack(first), grid(first, self.size) }
  local ends, tried = {}, best_rows(rows, some:heights(rows), TRIED)
  for i = 2, #starts do tried[#tried + 1] = first[i] end
  for _, row in ipairs(tried) do
    ends[#ends + 1] = lbfgs.minimise(objective(some), row, { iterations = 100 }).x
  end
  local best, highest
  for i, row in ipairs(ends) do
    local is_new = true
    for j = 1, i - 1 do is_new = is_new and (row - ends[j]):abs():max() > 1e-3 end
    if is_new then
      local found = climb(self, row)
      if not best or maximum.is_better(found, best) then best = found end
      if not highest or found.value > highest.value then highest = found end
    end
  end
  return best, highest and highest.value > best.value + 1e-6 and highest or nil
end

return maximum
