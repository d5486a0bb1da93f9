--- Posterior: the same thing whatever made it.
--
--   post.verdict, post.reasons        "ok", "doubtful" or "bad", and sentences
--   post.mean.mu, post.sd.mu          numbers, or tensors of the site's shape; derived sites too
--   post:draws()                      by name, draws in front
local core     = require "perilune.core"
local errors   = require "perilune.errors"
local show     = require "perilune.show"
local tensor   = require "perilune.tensor"
local Uniform  = require "perilune.distributions.Uniform"
local weighted = require "perilune.inference.weighted"

local raise = errors.raise

local DRAWS     = 1000   -- of draws(), where they are to be resampled
local MOST_ROWS = 24     -- of a printed table,
local FEW_ELEMENTS = 6   -- and of each vector where there are more

local NAN = math.huge - math.huge

local Posterior = { __name = "posterior" }

-- The log evidence of chains is computed when it is first asked for, with its error; NaN where the draws are bad.
local function find_evidence (self)
  local value, deviation = NAN, NAN
  if self.verdict ~= "bad" then
    value, deviation = require "perilune.inference.bridge".log_evidence(self.density, self.u, self.chains, core.rng(1))
  end
  self.log_evidence, self.log_evidence_error = value, deviation
end

function Posterior:__index (name)
  local is_evidence = name == "log_evidence" or name == "log_evidence_error"
  if not is_evidence or not rawget(self, "chains") or not rawget(self, "density") then return Posterior[name] end
  find_evidence(self)
  return rawget(self, name)
end

local function plain (x) return core.is_tensor(x) and core.rank(x) == 0 and core.item(x) or x end

-- The values of a site, or of one derived, as rows of numbers.
local function flat (values) return values:reshape(core.shape(values)[1], -1) end

-- A row of numbers in the shape of a site.
local function shaped (row, values)
  local shape = core.shape(values)
  table.remove(shape, 1)
  return #shape == 0 and row[1] or row:reshape(shape)
end

--- From { posed, density, method, u (rows), log_weights or nil, verdict, reasons, ... }: those fields are kept.
function Posterior.new (fields)
  local self = setmetatable(fields, Posterior)
  local n = core.shape(self.u)[1]
  self.weights = self.log_weights and self.log_weights:exp() or core.full({ n }, 1 / n)
  self.values = self.values or self.density:report(self.u)
  self.mean, self.sd = {}, {}
  for name, values in pairs(self.values) do
    local mean, sd = weighted.moments(flat(values), self.weights)
    if self.verdict == "bad" or self.is_point then sd = sd * NAN end   -- withheld
    self.mean[name], self.sd[name] = plain(shaped(mean, values)), plain(shaped(sd, values))
  end
  return self
end


-- Draws -----------------------------------------------------------------------------------

-- n row numbers, in proportion to the weights, by one uniform number.
local function resampled (self, n, rng)
  local ends = self.weights:cumsum()
  local offset, total, picked, row = Uniform(0, 1):sample(nil, rng), core.numel(ends), {}, 1
  local limits = ends:totable()
  for i = 1, n do
    local at = (i - 1 + offset) / n * limits[total]
    while row < total and limits[row] < at do row = row + 1 end
    picked[i] = row
  end
  return core.tensor(picked)
end

local function rows_of (values, index)
  local all = {}
  for name, value in pairs(values) do all[name] = value[index] end
  return all
end

--- All draws, each counting the same: by name, draws in front.
function Posterior:draws ()
  if not self.log_weights then return rows_of(self.values, core.arange(1, core.shape(self.u)[1] + 1)) end
  self.resampled = self.resampled or resampled(self, DRAWS, core.rng(1))
  return rows_of(self.values, self.resampled)
end

local function check_count (who, n)
  if math.type(n) ~= "integer" or n < 1 then raise("%s: n must be a positive integer, got %s", who, show.value(n)) end
end

--- The numbers of n draws, in random order: evenly spread, or in proportion to the weights.
function Posterior:rows (n, rng)
  local index = resampled(self, n, rng)
  return index[Uniform(0, 1):sample({ n }, rng):argsort()]
end

--- n draws in random order.
function Posterior:sample (n, rng)
  check_count("sample", n)
  return rows_of(self.values, self:rows(n, rng))
end


-- Summaries ---------------------------------------------------------------------------------

-- For each element of each site fn(column); results in the shape of the site.
local function each_element (self, fn)
  local found = {}
  for name, values in pairs(self.values) do
    local columns, list = flat(values), {}
    for j = 1, core.shape(columns)[2] do list[j] = fn(columns:select(2, j)) end
    found[name] = plain(shaped(core.tensor(list), values))
  end
  return found
end

--- The quantile q of every site, by name.
function Posterior:quantile (q)
  if type(q) ~= "number" or not (q >= 0 and q <= 1) then
    raise("quantile: q must be between 0 and 1, got %s", show.value(q))
  end
  return each_element(self, function (x) return weighted.quantiles(x, self.weights, { q })[1] end)
end

--- Central intervals of this probability: { low, high } by name.
function Posterior:interval (probability)
  probability = probability == nil and 0.9 or probability
  if type(probability) ~= "number" or not (probability > 0 and probability < 1) then
    raise("interval: probability must be between 0 and 1, got %s", show.value(probability))
  end
  local low, high, found = self:quantile((1 - probability) / 2), self:quantile((1 + probability) / 2), {}
  for name in pairs(low) do found[name] = { low[name], high[name] } end
  return found
end

--- "theta", "theta[2]", "l[2, 1]": element j of a site, in row-major order.
function Posterior.element_name (name, shape, j)
  if #shape == 0 then return name end
  local places = {}
  for i = #shape, 1, -1 do
    places[i] = (j - 1) % shape[i] + 1
    j = (j - 1) // shape[i] + 1
  end
  return name .. "[" .. table.concat(places, ", ") .. "]"
end

--- The elements of unobserved sites, of values by name: a matrix of columns, and the elements' names.
function Posterior.columns (posed, values)
  local names, columns = {}, {}
  for _, site in ipairs(posed.latents) do
    local x = flat(values[site.name])
    columns[#columns + 1] = x
    for j = 1, core.shape(x)[2] do names[#names + 1] = Posterior.element_name(site.name, site.shape, j) end
  end
  return tensor.cat(columns, 2), names
end

--- The covariance matrix of all elements of unobserved sites, and their names in its order.
function Posterior:covariance ()
  local x, names = Posterior.columns(self.posed, self.values)
  return weighted.covariance(x, self.weights), names
end


-- Predictions and comparisons -----------------------------------------------------------------

--- n draws of the observed sites with these data (those of the fit unless told): by name, derived values too.
function Posterior:predict (data, n, rng)
  local posed = self.posed
  local given = data == nil and posed.data or require "perilune.model.data".new(data)
  n = n or DRAWS
  check_count("predict", n)
  local drawn, latents = self:sample(n, rng), posed.latents
  return posed:simulate(given:without(posed:observed_names()), n, rng, function (i)
    local values = {}
    for _, site in ipairs(latents) do values[site.name] = plain(drawn[site.name][i]) end
    return values
  end)
end

--- The log likelihood of every observation: by name, draws in front.
function Posterior:log_lik ()
  if not self.log_weights then return self.density:likelihood(self.u) end
  self:draws()
  return self.density:likelihood(self.u[self.resampled])
end

--- A picture of a site, as text.
function Posterior:plot (name) return require "perilune.inference.picture".of(self, name) end

function Posterior:loo () return require "perilune.inference.loo".loo(self) end
function Posterior:waic () return require "perilune.inference.loo".waic(self) end
function Posterior:save () return require "perilune.inference.saved".save(self) end


-- Printing ------------------------------------------------------------------------------------

local function digits (x) return x == x and show.number(tonumber(string.format("%.4g", x)) or x) or "-" end

-- The columns of the table: a heading, and a text for element j of a site whose values are `x`.
local function columns_of (self)
  if self.is_point then return { { "value", function (x) return digits(x[1]) end } } end
  local w = self.weights
  local function quantile (level) return function (x) return digits(weighted.quantiles(x, w, { level })[1]) end end
  local columns = {
    { "mean", function (x) return digits((w * x):sum()) end },
    { "sd", function (x)
      local _, sd = weighted.moments(x:reshape(-1, 1), w)
      return self.verdict == "bad" and "-" or digits(sd[1])
    end },
    { "5 %", quantile(0.05) }, { "50 %", quantile(0.5) }, { "95 %", quantile(0.95) },
  }
  for _, extra in ipairs(self.rhat and { { "R-hat", self.rhat }, { "ESS", self.ess_bulk } } or {}) do
    columns[#columns + 1] = { extra[1], function (_, name, j)
      local of = extra[2][name]
      return of and digits(core.is_tensor(of) and of:reshape(-1)[j] or of) or ""
    end }
  end
  return columns
end

-- How many elements of each vector are shown: all, if they are not too many.
local function shown_elements (self)
  local total = 0
  for _, values in pairs(self.values) do total = total + core.shape(flat(values))[2] end
  return total <= MOST_ROWS and MOST_ROWS or FEW_ELEMENTS
end

-- Lines of the table: sites in their order, those derived among them.
local function table_lines (self)
  local columns, most = columns_of(self), shown_elements(self)
  local lines = { { "name" } }
  for c, column in ipairs(columns) do lines[1][c + 1] = column[1] end
  for _, site in ipairs(self.posed:sites()) do
    local x = self.values[site.name] and flat(self.values[site.name])
    local n = x and core.shape(x)[2] or 0
    for j = 1, n <= most + 1 and n or most do
      local line = { self.element_name(site.name, site.shape, j) }
      for c, column in ipairs(columns) do line[c + 1] = column[2](x:select(2, j):contiguous(), site.name, j) end
      lines[#lines + 1] = line
    end
    if n > most + 1 then lines[#lines + 1] = { string.format("... %d more of %s", n - most, site.name) } end
  end
  return lines
end

-- Columns of equal width, names to the left.
local function aligned (lines)
  local widths, text = {}, {}
  for _, line in ipairs(lines) do
    for c, word in ipairs(line) do
      if #line > 1 then widths[c] = math.max(widths[c] or 0, #word) end
    end
  end
  for i, line in ipairs(lines) do
    local words = { #line == 1 and line[1] or line[1] .. string.rep(" ", widths[1] - #line[1]) }
    for c = 2, #line do words[c] = string.rep(" ", widths[c] - #line[c]) .. line[c] end
    text[i] = table.concat(words, "  ")
  end
  return text
end

function Posterior:__tostring ()
  local head = { self.verdict .. ": " .. self.how }
  for _, reason in ipairs(self.reasons) do head[#head + 1] = "  - " .. reason end
  for _, line in ipairs(aligned(table_lines(self))) do head[#head + 1] = line end
  return table.concat(head, "\n")
end

errors.count_arguments("posterior", Posterior,
                       "draws sample quantile interval covariance predict log_lik plot loo waic save")

return Posterior
