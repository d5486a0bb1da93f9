--- Likelihood: the log likelihood of a family on data as a function of free numbers u, and its maximum.
--
-- Every parameter that is not known is a stretch of u, brought to its constraint as sites of models are. The sum of log
-- densities is traced once; values and gradients are replays in C. It is maximised by L-BFGS, from several starts on a
-- part of the data, and then by Newton steps with the curvature that differences of gradients give.
local attempt     = require "perilune.attempt"
local class       = require "perilune.class"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local raise       = require "perilune.errors".raise
local functions   = require "perilune.functions"
local lbfgs       = require "perilune.inference.lbfgs"
local space       = require "perilune.model.space"
local tensor      = require "perilune.tensor"

local PART     = 512     -- data on which starts are compared
local GRID     = { -3, -1, 0, 1, 3 }   -- values of each free number to start from,
local GRID_MAX = 4       -- where there are no more of them
local TRIED    = 3       -- starts that are followed
local STEP     = 6e-6    -- of differences of gradients, cube root of the precision
local SMALL    = 60      -- free numbers, two gradients for each of which are a Newton step:
local NEWTON   = 60      -- Newton steps where there are no more of them,
local FEW      = 4       -- and where there are
local RISING   = 0.3     -- slope of the log likelihood along a free number that does not end yet
local SETTLED  = 1e-13   -- what is left to gain, in nats, that ends them

local Likelihood = { RISING = RISING }
Likelihood.__index = Likelihood

local function is_finite (x) return x - x == 0 end

local function joined (a, b)
  local all = {}
  for name, value in pairs(a) do all[name] = value end
  for name, value in pairs(b) do all[name] = value end
  return all
end


-- Parameters -------------------------------------------------------------------------------

--- Parameters that stand for each other, such as probs and logits, in the order of the class: lists of
-- { name, constraint, ... }.
function Likelihood.groups (c)
  local groups, seen = {}, {}
  for _, param in ipairs(c.params) do
    if not seen[param[1]] then
      local group = { param }
      for _, other in ipairs(c.params) do
        if other ~= param and param.gives and param.gives[other[1]] then group[#group + 1] = other end
      end
      for _, member in ipairs(group) do seen[member[1]] = true end
      groups[#groups + 1] = group
    end
  end
  return groups
end

-- The member of a group that is varied: what kernels read, but for rows of logits, one of which would be free to move.
local function varied (c, group)
  if group[1].event == 1 and group[1].gives then return group[1], constraints.simplex end
  local found = group[1]
  for _, param in ipairs(group) do
    for _, operand in ipairs(c.operands) do
      if operand == param[1] then found = param end
    end
  end
  if found.event == 2 then
    return found, found[1]:find "tril$" and constraints.lower_cholesky or constraints.positive_definite
  end
  return found, found[2]
end

-- The constraint of a parameter, given those before it.
local function support_of (site, values)
  local c = site.constraint
  return type(c) == "function" and c(values) or c
end

-- A parameter as a site that begins at place `at` of u; k is the length of an event.
local function site_of (c, group, constraint, k, at)
  local param, own = varied(c, group)
  constraint = constraint or own
  local support = type(constraint) == "function" and constraints.positive or constraint   -- a single number, too
  if support.is_discrete then
    raise("fit: %s: %s is an integer, which is not estimated: give it, as in fixed = { %s = 10 }", class.name(c),
          param[1], param[1])
  end
  local shape = {}
  for d = 1, param.event or 0 do shape[d] = k end
  local site = space.site(param[1], support, shape, at, "fit")
  site.constraint, site.reported = constraint, group[1][1]
  return site
end

--- The likelihood of class c on x, n events along its first dimension, with weights w (or nil). `known` has values of
-- parameters by name, and `rules` constraints of some; length(k) is the length of rows of parameters for events of k.
function Likelihood.new (c, x, w, known, rules, length)
  local self = setmetatable({ class = c, x = x, w = w, known = known, rules = rules, length = length, sites = {},
                              size = 0 }, Likelihood)
  local shape = core.shape(x)
  local k = length and length(shape[#shape]) or shape[#shape]
  for _, group in ipairs(Likelihood.groups(c)) do
    local is_known = false
    for _, param in ipairs(group) do is_known = is_known or known[param[1]] ~= nil end
    if not is_known then
      local site = site_of(c, group, rules and rules[group[1][1]], k, self.size + 1)
      self.sites[#self.sites + 1], self.size = site, self.size + site.size
    end
  end
  return self
end

--- The same with more parameters known.
function Likelihood:with (more)
  return Likelihood.new(self.class, self.x, self.w, joined(self.known, more), self.rules, self.length)
end

--- All parameters at u, by name.
function Likelihood:values (u)
  local values = joined(self.known, {})
  for _, site in ipairs(self.sites) do values[site.name] = space.value(site, support_of(site, values), u) end
  return values
end

--- The same at plain numbers u, with plain numbers where there is one.
function Likelihood:plain_values (u)
  local values = self:values(u)
  for name, value in pairs(values) do
    if core.is_tensor(value) and core.rank(value) == 0 then values[name] = core.item(value) end
  end
  return values
end

local function distribution (c, values)
  values.validate = false
  local d = c(values)
  values.validate = nil
  return d
end

--- The distribution at u, unchecked.
function Likelihood:distribution (u) return distribution(self.class, self:values(u)) end

--- The distribution of parameters by name, those of the likelihood that are known among them.
function Likelihood:complete (given)
  return distribution(self.class, joined(self.known, given))
end

--- The free numbers of parameters, by name; what is not given is taken to be 0.
function Likelihood:free (given)
  local parts, values = {}, joined(self.known, {})
  for i, site in ipairs(self.sites) do
    local value = given[site.name]
    if value == nil and given[site.reported] ~= nil then
      value = self:complete(given)[site.name]
    end
    local support = support_of(site, values)
    if value == nil then parts[i] = core.zeros(site.size)
    else parts[i] = space.inverse(site, support, core.is_tensor(value) and value or core.tensor(value)) end
    values[site.name] = space.value(site, support, parts[i], 1)
  end
  return #parts > 0 and tensor.cat(parts) or core.zeros(0)
end


-- Values and gradients -----------------------------------------------------------------------

-- The trace of the log likelihood.
local function traced (self)
  local x, w = self.x, self.w
  local u = core.param(core.zeros(self.size))
  local ok, trace = attempt.call("does not depend on any parameter", nil, core.trace, function ()
    local terms = self:distribution(u):log_prob(x)
    return (w and w * terms or terms):sum()
  end)
  if not ok then raise("fit: %s: its log_prob does not depend on %s", class.name(self.class), self.sites[1].name) end
  return { u = u, trace = trace, size = self.size }
end

local function whole (self)
  self.trace = self.trace or traced(self)
  return self.trace
end

-- Parameters that are known, for some of n events: those with a value for each of them.
local function known_of (self, n, index)
  local known = joined(self.known, {})
  for _, param in ipairs(self.class.params) do
    local value = known[param[1]]
    local is_each = core.is_tensor(value) and core.rank(value) == 1 + (param.event or 0) and core.shape(value)[1] == n
    if is_each then known[param[1]] = value[index] end
  end
  return known
end

-- Of every so many-th event, where there are many.
local function part (self)
  local n = core.shape(self.x)[1]
  if n <= PART then return whole(self) end
  local step = n // PART
  local index = {}
  for i = 1, PART do index[i] = (i - 1) * step + 1 end
  if core.rank(self.x) == 1 then index[1], index[PART] = self.x:argmin(), self.x:argmax() end   -- for laws with ends
  local x, w = self.x[index], self.w and self.w[index]
  return whole(Likelihood.new(self.class, x, w, known_of(self, n, index), self.rules, self.length))
end

local function values_at (t, rows)
  local values = core.zeros(core.shape(rows)[1])
  t.trace:rows(t.u, rows:contiguous(), values)
  return values
end

local function gradients_at (t, rows)
  local values, gradients = core.zeros(core.shape(rows)[1]), core.zeros(core.shape(rows))
  t.trace:rows(t.u, rows:contiguous(), values, gradients)
  return values, gradients
end

-- For minimisers: minus the log likelihood, and its gradient.
local function objective (t)
  return function (u)
    local values, gradients = gradients_at(t, u:reshape(1, t.size))
    return -values[1], -gradients[1]
  end
end

--- The log likelihood at u, and its gradient.
function Likelihood:at (u)
  local values, gradients = gradients_at(whole(self), u:reshape(1, self.size))
  return values[1], gradients[1]
end

--- The second derivatives at u.
function Likelihood:curvature (u)
  local k = self.size
  local steps = core.public.eye(k) * (STEP * (1 + u:abs()))
  local _, up = gradients_at(whole(self), u + steps)
  local _, down = gradients_at(whole(self), u - steps)
  local h = (up - down) / (2 * STEP * (1 + u:abs())):unsqueeze(2)
  return (h + h:transpose(1, 2)) / 2
end

-- d reported/du of the parameters of a site, a row for each of its elements, as users see them.
local function slopes (self, u, site)
  local p, rows = core.param(u), {}
  local function reported ()
    local d = self:distribution(p)
    local value = d[site.reported]
    return core.rank(value) == 0 and value:unsqueeze(1) or value:reshape(-1)
  end
  for i = 1, core.numel(reported()) do
    p.grad = nil
    reported():select(1, i):backward()
    rows[i] = p.grad
  end
  return tensor.stack(rows)
end

--- The standard errors of the parameters at a maximum, by the names that users see, and those of u; nil where the
-- curvature is not that of a maximum. `held` has places of u that are taken to be known.
function Likelihood:errors (u, held)
  local free = {}
  for i = 1, self.size do free[#free + 1] = not (held and held[i]) and i or nil end
  if #free == 0 then return {}, core.zeros(self.size) end
  local l = (-self:curvature(u)):index_select(1, free):index_select(2, free):cholesky()
  local root = l:solve_triangular(core.public.eye(self.size)[free])   -- root^T root is the covariance of u
  if not is_finite((root * root):sum()) then return nil end
  local se = {}
  for _, site in ipairs(self.sites) do
    local variance = functions.square(root:matmul(slopes(self, u, site):transpose(1, 2))):sum(1)
    local value = self:distribution(u)[site.reported]
    se[site.reported] = functions.sqrt(core.rank(value) == 0 and variance[1] or variance:reshape(core.shape(value)))
  end
  return se, functions.sqrt(functions.square(root):sum(1))
end


-- The maximum --------------------------------------------------------------------------------

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

-- Followed to the end from row `start`, which is the maximum of a part of the data.
local function climb (self, start)
  local is_small = self.size <= SMALL
  local u, value, gain, is_peak
  if is_small then u, value, gain, is_peak = polish(self, start, NEWTON) end
  if not is_peak then
    local found = lbfgs.minimise(objective(whole(self)), start, { iterations = is_small and 200 or 2000, gain = 1e-10 })
    u, value, gain, is_peak = polish(self, found.x, is_small and NEWTON or FEW)
  end
  is_peak = is_peak and is_finite(value)
  local _, gradient = self:at(u)
  local is_level = is_peak or is_finite(value) and gradient:abs():max() < RISING
  return { u = u, value = value, gain = gain, is_peak = is_peak, is_level = is_level, gradient = gradient }
end

--- Which of two ends is to be preferred: a maximum, or where the likelihood becomes flat, before one where it rises on;
-- then the higher one.
function Likelihood.is_better (a, b)
  if a.is_level ~= b.is_level then return a.is_level end
  return a.value > b.value
end

--- The best end of several climbs: { u, value, gradient, gain = what Newton's step would still add, is_peak = is the
-- curvature that of a maximum?, is_level = or the slope next to none? }, or nil where no start has a finite likelihood;
-- and an end that is higher and rises on, if one was met. `starts` has parameters by name.
function Likelihood:maximise (starts)
  if self.size == 0 then
    local terms = self:distribution(core.zeros(0)):log_prob(self.x)
    return { u = core.zeros(0), value = (self.w and self.w * terms or terms):sum(), gain = 0, is_peak = true,
             is_level = true }
  end
  local first, some = {}, part(self)
  for i, start in ipairs(starts) do first[i] = self:free(start) end
  first[#first + 1] = core.zeros(self.size)
  local rows = tensor.cat { tensor.stack(first), grid(first, self.size) }
  local ends = {}
  for _, row in ipairs(best_rows(rows, values_at(some, rows), TRIED)) do
    ends[#ends + 1] = lbfgs.minimise(objective(some), row, { iterations = 100 }).x
  end
  local best, highest
  for i, row in ipairs(ends) do
    local is_new = true
    for j = 1, i - 1 do is_new = is_new and (row - ends[j]):abs():max() > 1e-3 end
    if is_new then
      local found = climb(self, row)
      if not best or Likelihood.is_better(found, best) then best = found end
      if not highest or found.value > highest.value then highest = found end
    end
  end
  return best, highest and highest.value > best.value + 1e-6 and highest or nil
end

return Likelihood
