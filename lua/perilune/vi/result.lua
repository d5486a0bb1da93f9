--- What a fit found: means and standard deviations of the parameters, draws, and the trace of the ELBO.
--
--   result.mean.mu, result.sd.mu      numbers, or tensors of the parameter's shape
--   result:sample(n, rng)             { mu = (n, ...), ... }; without n one draw
--   result.elbo                       the estimate of every step; result.elbo_mean, result.elbo_error from fresh draws
--   result.steps, result.converged
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local show      = require "perilune.show"

local EDGE, GRID = 14, 281     -- a rule for expectations under a standard normal: step 0.1 between -14 and 14
local DRAWS      = 10000       -- for constraints of rows and matrices, from a generator of their own
local MOST_ROWS  = 24          -- of a printed table

local Result = {}
Result.__index = Result

local function plain (x) return #core.shape(x) == 0 and core.item(x) or x end

-- Mean and standard deviation over the first dimension of y with weights that sum to 1.
local function weighted_moments (y, weights)
  local mean = (weights * y):sum(1)
  local from_mean = y - mean
  return mean, functions.sqrt((weights * from_mean * from_mean):sum(1))
end

local function as_column (t, shape)
  local column = { core.shape(t)[1] }
  for i = 1, #shape do column[i + 1] = 1 end
  return t:reshape(column)
end

-- Of a parameter whose elements are transformed one by one: by the trapezoidal rule, whose error is far below rounding
-- for smooth transforms.
local function elementwise_moments (site, loc, scale)
  local z = core.linspace(-EDGE, EDGE, GRID)
  local weights = (z * z * -0.5):exp()
  weights = as_column(weights / weights:sum(), site.shape)
  local free = loc:reshape(site.shape) + scale:reshape(site.shape) * as_column(z, site.shape)
  return weighted_moments(site.transform and site.transform:forward(free) or free, weights)
end

local function set_moments (self)
  local loc, scale = self.guide:moments()
  local draws
  for _, site in ipairs(self.space) do
    local mean, sd
    if site.constraint.event_dim == 0 then
      mean, sd = elementwise_moments(site, loc:narrow(1, site.at, site.size), scale:narrow(1, site.at, site.size))
    else
      draws = draws or self:sample(DRAWS, core.rng(1))
      mean, sd = weighted_moments(draws[site.name], 1 / DRAWS)
    end
    self.mean[site.name], self.sd[site.name] = plain(mean), plain(sd)
  end
end

function Result.new (fit, elbo, standard_error)
  local self = setmetatable({
    mean = {}, sd = {}, elbo = table.move(fit.elbo, 1, #fit.elbo, 1, {}), elbo_mean = elbo, elbo_error = standard_error,
    steps = #fit.elbo, converged = fit.converged, guide = fit.guide:copy(), space = fit.space,
  }, Result)
  set_moments(self)
  return self
end

--- n draws of every parameter, or a single one, by name.
function Result:sample (n, rng)
  if n ~= nil and (math.type(n) ~= "integer" or n < 1) then
    errors.raise("vi: sample takes a positive integer, got %s", show.value(n))
  end
  return core.no_grad(function ()
    local draws = self.guide:draw(self.guide:noise(rng, n or 1))
    local sampled = {}
    for _, site in ipairs(self.space) do
      local values = self.space.value(site, draws)
      sampled[site.name] = n and values or plain(core.select(values, 1, 1))
    end
    return sampled
  end)
end

-- Appends a line for every element of a parameter.
local function append_elements (lines, name, mean, sd)
  if type(mean) == "number" then
    lines[#lines + 1] = { name, show.number(tonumber(string.format("%.5g", mean))),
                          show.number(tonumber(string.format("%.5g", sd))) }
    return
  end
  local index = name:sub(-1) == "]" and name:sub(1, -2) .. ", " or name .. "["
  for i = 1, core.shape(mean)[1] do append_elements(lines, index .. i .. "]", mean[i], sd[i]) end
end

local function aligned (lines)
  local widths, text = { 0, 0, 0 }, {}
  for _, line in ipairs(lines) do
    for c = 1, 3 do widths[c] = math.max(widths[c], #line[c]) end
  end
  for i, line in ipairs(lines) do
    local function padding (c) return string.rep(" ", widths[c] - #line[c]) end   -- %-9s refuses names with zeros
    text[i] = line[1] .. padding(1) .. "  " .. padding(2) .. line[2] .. "  " .. padding(3) .. line[3]
  end
  return text
end

--- A table of means and standard deviations under a line about the fit.
function Result:__tostring ()
  local lines = { { "parameter", "mean", "sd" } }
  for _, site in ipairs(self.space) do append_elements(lines, site.name, self.mean[site.name], self.sd[site.name]) end
  local hidden = #lines - 1 - MOST_ROWS
  for i = #lines, MOST_ROWS + 2, -1 do lines[i] = nil end
  local text = aligned(lines)
  if hidden > 0 then text[#text + 1] = string.format("... and %d more", hidden) end
  local head = string.format("%s guide, %d steps%s, ELBO %.3f +- %.3f", self.guide.kind, self.steps,
                             self.converged and "" or " (not converged)", self.elbo_mean, self.elbo_error)
  return head .. "\n" .. table.concat(text, "\n")
end

errors.count_arguments("result", Result, "sample")

return Result
