--- How far data are from a distribution: the Kolmogorov-Smirnov distance and quantiles beside quantiles.
local attempt    = require "perilune.attempt"
local class      = require "perilune.class"
local core       = require "perilune.core"
local errors     = require "perilune.errors"
local functions  = require "perilune.functions"
local show       = require "perilune.show"

local POINTS = 500   -- of quantiles, where there are more data

local check = {}

-- Data in order, and the share of weight at or below each.
local function ordered (x, w)
  local sorted, order = x:sort()
  local n = core.numel(x)
  if not w then return sorted, core.public.arange(1, n + 1) / n end
  local below = w[order]:cumsum()
  return sorted, below / below[n]
end

local function is_discrete (d) return d.support ~= nil and d.support.is_discrete end

--- The largest difference between the cdf of d and that of the data; nil for laws without cdf.
function check.distance (d, x, w)
  if core.rank(x) ~= 1 or #d.event_shape > 0 then return nil end
  if not attempt.method(d, "cdf", x:narrow(1, 1, 1)) then return nil end
  local sorted, share = ordered(x, w)
  local n = core.numel(x)
  local before = core.zeros(n)
  if n > 1 then before:narrow(1, 2, n - 1):copy(share:narrow(1, 1, n - 1)) end
  local at = d:cdf(sorted)
  if not is_discrete(d) then return functions.maximum(share - at, at - before):max() end
  -- of steps, only the last of equal values counts above, and the first below
  local is_first, is_last = core.public.ones(n), core.public.ones(n)
  if n > 1 then
    local changes = sorted:narrow(1, 1, n - 1):ne(sorted:narrow(1, 2, n - 1))
    is_last:narrow(1, 1, n - 1):copy(changes)
    is_first:narrow(1, 2, n - 1):copy(changes)
  end
  local above = (share - at):abs() * is_last
  local below = (d:cdf(sorted - 1) - before):abs() * is_first
  return functions.maximum(above, below):max()
end


-- Quantiles beside quantiles -----------------------------------------------------------------------

local Check = { __name = "check of a distribution" }
Check.__index = Check

--- The picture: quantiles as points, and the line on which they would be equal.
function Check:plot ()
  local plot = require "perilune".plot(self.theoretical, self.observed, {
    title = "Q-Q plot", xlabel = "quantiles of " .. self.family, ylabel = "quantiles of the data", mark = "points",
  })
  local panel = plot.panels[1]
  local low, high = math.max(panel.x.low, panel.y.low), math.min(panel.x.high, panel.y.high)
  local line = { kind = "line", x = { low, high }, y = { low, high }, series = 0 }
  if low < high then table.insert(panel.marks, 1, line) end
  return plot
end

-- The same as text, where there is something that draws.
local function picture (self)
  return require "perilune".has "plot" and "\n" .. tostring(self:plot()) or ""
end

function Check:__tostring ()
  return string.format("%d values against %s\n  Kolmogorov-Smirnov distance %s, p %s %s\n"
                       .. "  p is too large where parameters were estimated from these data%s",
                       self.n, self.name, show.format("%.4f", self.ks), self.is_discrete and "at most" or "=",
                       show.format("%.4g", self.p), picture(self))
end

-- The data to look at: numbers, none of which is missing.
local function numbers (d, x)
  local who = class.name(class.of(d)) .. ":fit_check"
  if #d.batch_shape > 0 or #d.event_shape > 0 then
    errors.raise("%s: takes one distribution of single numbers, got shapes %s and %s", who, show.shape(d.batch_shape),
                 show.shape(d.event_shape))
  end
  local t = core.operand(x, who, "x")
  t = core.is_tensor(t) and t:detach():reshape(-1) or core.tensor { t }
  if core.numel(t) == 0 then errors.raise("%s: x is empty", who) end
  local bad = t:ne(t)
  if bad:max() == 1 then errors.raise("%s: x[%d] is NaN, a missing value", who, math.tointeger(bad:argmax())) end
  return t
end

local function compared (d, x)
  local n = core.numel(x)
  local count = math.min(n, POINTS)
  local sorted = x:sort()
  local share = (core.public.arange(1, count + 1) - 0.5) / count   -- Hazen's places
  local observed = count == n and sorted or x:quantile(share)
  local ks = core.item(check.distance(d, x) or d:cdf(x))   -- which says that there is none
  return setmetatable({
    n = n, ks = ks, p = require "perilune.fit.kolmogorov"(n, ks), name = tostring(d), family = class.name(class.of(d)),
    is_discrete = is_discrete(d), theoretical = d:icdf(share), observed = observed,
  }, Check)
end

--- d:fit_check(x): see distribution.lua. Nothing of it leads back to parameters.
function check.quantiles (d, x) return core.no_grad(compared, d, numbers(d, x)) end

return check
