--- What is left of a mixture that is cut, transformed, or both, and of a law that is folded and then cut.
--
-- Quantiles of a mixture or of |X| are a search, and those of what is made of it are searches within searches. So
-- whatever is cut and transformed on the way is traced back to the mixture itself, whose components are cut one by
-- one, or to X, which is cut to as many intervals.
local Categorical  = require "perilune.distributions.Categorical"
local Mixture      = require "perilune.distributions.MixtureSameFamily"
local MixtureOfAny = require "perilune.distributions.MixtureDistribution"
local Transformed  = require "perilune.distributions.TransformedDistribution"
local Truncated    = require "perilune.distributions.Truncated"
local SideBySide   = require "perilune.side_by_side"
local batches      = require "perilune.batches"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local ends         = require "perilune.ends"
local functions    = require "perilune.functions"
local mixture      = require "perilune.mixture"
local tensor       = require "perilune.tensor"
local transforms   = require "perilune.transforms"
local truncation   = require "perilune.truncation"

local any = batches.any
local where, maximum, minimum, exp = functions.where, functions.maximum, functions.minimum, functions.exp
local gt, le, eq = functions.gt, functions.le, functions.eq
local INF = math.huge

local truncated_mixture = {}

-- Intervals { low, high } of x with images under map in the given ones, of which it may reach a part or nothing. 0 is
-- in one of them only: it may have mass.
local function preimages (map, intervals)
  local list = {}
  local least, most = ends.of(map.codomain)
  for _, interval in ipairs(intervals) do
    local from, to = maximum(interval[1], least), minimum(interval[2], most)
    local is_left = any(le(from, to))
    if is_left and getmetatable(map) == transforms.Abs then
      list[#list + 1], list[#list + 2] = { from, to }, { -to, minimum(-from, -5e-324) }
    elseif is_left then
      local low, high, rises = map:inverse(from), map:inverse(to), gt(map.sign, 0)
      list[#list + 1] = { where(rises, low, high), where(rises, high, low) }
    end
  end
  return list
end

local function as_tensor (x) return core.is_tensor(x) and x or core.tensor(x) end

local function is_mixture (law) return class.of(law) == Mixture or class.of(law) == MixtureOfAny end

-- The least and the largest value of each component of a mixture, in lists.
local function extremes (law)
  local parts, low, high = law.component_distribution, {}, {}
  for k, d in ipairs(parts.list or {}) do low[k], high[k] = d:icdf(0), d:icdf(1) end
  if parts.list then return low, high end
  local from, to = parts:icdf(0), parts:icdf(1)
  for k = 1, law.mixture_distribution.support.high do low[k], high[k] = from:select(-1, k), to:select(-1, k) end
  return low, high
end

-- A mixture without those components that are single points, the logarithm of its weight, and these points,
-- { x =, log_weight = } each. nil for a mixture of nothing else; one family has all or none.
local function without_points (law)
  local points, others, weights, list = {}, {}, {}, law.component_distribution.list
  local low, high = extremes(law)
  for k, x in ipairs(low) do
    local weight = law.log_weights:select(-1, k)
    if any(functions.ne(x, high[k])) then
      others[#others + 1], weights[#weights + 1] = list and list[k] or law, weight
    else
      points[#points + 1] = { x = x, log_weight = weight }
    end
  end
  if #others == 0 then return nil, -INF, points end
  if #points == 0 or not list then return law, 0, {} end
  local logits = tensor.stack(weights, -1)
  return MixtureOfAny(Categorical { logits = logits }, others), logits:logsumexp(-1), points
end

-- Can the law, or its components one by one, be cut? Single points cannot.
local function is_divisible (law)
  local parts = is_mixture(law) and law.component_distribution or law
  return not (law.support and law.support.is_discrete) and not law.lost_slopes and #law.event_shape == 0
         and not any(eq(parts:icdf(0), parts:icdf(1)))
end

-- The mixture or folded law that self is left of, a list of the transforms on the way, first to last, the intervals of
-- it that are left, and what is `cut` on the way: laws, by how many transforms follow.
local function traced (self)
  local law, maps, intervals, cut = self.base, {}, { { self.first, self.last } }, { [0] = { self } }
  while class.of(law) == Truncated or class.of(law) == Transformed do
    if class.of(law) == Truncated then
      cut[#maps] = cut[#maps] or {}
      table.insert(cut[#maps], law)
      for _, interval in ipairs(intervals) do
        interval[1], interval[2] = maximum(interval[1], law.first), minimum(interval[2], law.last)
      end
    end
    for i = #(law.transforms or {}), 1, -1 do
      intervals = preimages(law.transforms[i], intervals)
      table.insert(maps, 1, law.transforms[i])
    end
    law = law.base or law.base_dist
  end
  return law, maps, intervals, cut
end

-- Components of a mixture cut to an interval, with the logarithms of their masses: together, or of different families
-- one by one.
local function cut_components (component, low, high, shape)
  if not component.list then
    local cut = truncation.assemble(Truncated, component, low, high, shape)
    return cut, cut.log_mass
  end
  local list, masses, batch = {}, {}, { table.unpack(shape, 1, #shape - 1) }
  low, high = low:expand(shape), high:expand(shape)
  for k, d in ipairs(component.list) do
    list[k] = truncation.assemble(Truncated, d, low:select(-1, k), high:select(-1, k), batch)
    masses[k] = list[k].log_mass
  end
  return SideBySide.of(list, batch), tensor.stack(masses, -1)
end

-- A mixture cut to an interval, as a mixture of components that are, and the logarithm of the mass there. Components
-- that have no part in it have no weight, and stay whole; the mixture is within the interval.
local function piece (law, low, high, batch)
  local within = constraints.interval(minimum(low, high), maximum(low, high))   -- or in one that is nothing
  local shape, component = { table.unpack(batch) }, law.component_distribution
  shape[#shape + 1] = law.mixture_distribution.support.high
  local is_open = as_tensor(gt(high, low)):unsqueeze(-1)
  low  = where(is_open, as_tensor(low):unsqueeze(-1), -INF)
  high = where(is_open, as_tensor(high):unsqueeze(-1), INF)
  local cut, masses = cut_components(component, low, high, shape)
  local weights = law.log_weights + where(is_open * gt(masses, -INF), masses, -INF)
  local top = weights:max(-1, true)
  local dead = 1 - gt(exp(weights - top), 0)
  if any(dead) then
    cut = cut_components(component, where(dead, -INF, low), where(dead, INF, high), shape)
    weights = where(dead, -INF, weights)
  end
  local mixing = Categorical { logits = where(eq(top, -INF), 0, weights) }
  local left = mixture.assemble(component.list and MixtureOfAny or Mixture, mixing, cut, batch)
  left.support = within
  return left, weights:logsumexp(-1)
end

-- A law cut to an interval, and the logarithm of the mass there; where there is none it stays whole.
local function stretch (law, low, high, batch)
  local is_open = gt(high, low)
  local cut = truncation.assemble(Truncated, law, where(is_open, low, -INF), where(is_open, high, INF), batch)
  local dead = 1 - is_open * gt(cut.log_mass, -INF)
  if not any(dead) then return cut, cut.log_mass end
  local mass = where(dead, -INF, cut.log_mass)
  return truncation.assemble(Truncated, law, where(dead, -INF, low), where(dead, INF, high), batch), mass
end

-- Pieces of the law in the intervals, { law =, maps =, log_mass = } each.
local function pieces (self, law, maps, intervals)
  local list, batch = {}, self.batch_shape
  for i, interval in ipairs(intervals) do
    local part, mass
    if is_mixture(law) then part, mass = piece(law:expand(batch), interval[1], interval[2], batch)
    else part, mass = stretch(law, interval[1], interval[2], rawget(self, "batch_shape")) end
    list[i] = { law = part, maps = maps, log_mass = mass }
  end
  return list
end

-- Is a point left wherever the law is cut on the way? Its images are compared with ends, which were found so too.
local function is_left (x, maps, cut)
  local inside = 1
  for i = 0, #maps do
    x = i > 0 and maps[i]:forward(x) or x
    for _, law in ipairs(cut[#maps - i] or {}) do
      inside = inside * functions.ge(x, law.first) * functions.le(x, law.last)
    end
  end
  return inside
end

-- Adds to the list what is left of single points, { point =, maps =, log_mass = } each.
local function add_points (list, points, maps, cut)
  for _, point in ipairs(points) do
    local mass = where(is_left(point.x, maps, cut), point.log_weight, -INF)
    list[#list + 1] = { point = point.x, maps = maps, log_mass = mass }
  end
end

-- Shares of the mass that is left.
local function with_shares (list)
  local total = -INF
  for _, part in ipairs(list) do total = functions.logaddexp(total, part.log_mass) end
  for _, part in ipairs(list) do part.share = exp(part.log_mass - total) end
  return list
end

-- Is this a mixture on the line, of which single points may be taken apart?
local function may_have_points (law)
  return is_mixture(law) and #law.event_shape == 0 and not law.lost_slopes
         and not (law.support and law.support.is_discrete)
end

--- The law as that of mixtures or laws after a list of transforms, { law =, maps =, share = } each, with their shares
-- of the mass, or with `point` in place of law for a component that is a single point; nil for laws that are not left
-- of such, or where the whole is needed for derivatives of weights that are 0.
function truncated_mixture.parts (self)
  if class.of(self) ~= Truncated then return nil end
  local law, maps, intervals, cut = traced(self)
  if not (is_mixture(law) or #intervals > 1) then return nil end
  local rest, log_weight, points = law, 0, {}
  if may_have_points(law) then rest, log_weight, points = without_points(law) end
  if rest and not is_divisible(rest) then return nil end
  local list = rest and pieces(self, rest, maps, intervals) or {}
  for _, part in ipairs(list) do part.log_mass = part.log_mass + log_weight end
  add_points(list, points, maps, cut)
  return with_shares(list)
end

-- Values that rounding has moved out of the interval are moved back before f sees them.
local function within (self, f) return function (x) return f(minimum(maximum(x, self.first), self.last)) end end

-- f at a point after the maps.
local function value_at (self, f, part)
  local x = part.point
  for _, map in ipairs(part.maps) do x = map:forward(x) end
  local value = f(batches.rows(self, 1, x))
  return batches.rows(self, 1, value):select(1, 1)
end

--- E[f(X)] and its error, from each component; nil for laws that are left of none. With opts.pieces from those parts.
function truncated_mixture.expectation (self, f, opts)
  local list = opts.pieces or truncated_mixture.parts(self)
  if not list then return nil end
  local options, sum, error = {}, 0, 0
  for key, value in pairs(opts) do options[key] = value end
  options.pieces = nil   -- of this law alone
  if opts.parts then options.parts = { inner = within(self, opts.parts.inner), outer = opts.parts.outer } end
  local purse = opts.purse or require "perilune.expectation".purse(self)
  for i, part in ipairs(list) do
    if any(part.share) then
      local value, its_error
      options.purse = purse:share(1 / (#list - i + 1))
      if part.point then value, its_error = value_at(self, within(self, f), part), 0
      else
        part.whole = part.whole or Transformed(part.law, part.maps)
        value, its_error = part.whole:expectation(within(self, f), options)
      end
      local dead = eq(part.share, 0)
      sum, error = sum + where(dead, 0, part.share * value), error + where(dead, 0, part.share * its_error)
    end
  end
  return sum, error
end

return truncated_mixture
