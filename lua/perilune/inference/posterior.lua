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

local NAN = core.nan

--@ Posterior
-- What is known after the data, whatever way it was found. It prints its verdict with reasons, then a table. Sites
-- that are derived are reported too.
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > post = posed:vi { seed = 1 }
-- > string.format("%.2f", post.mean.mu), string.format("%.2f", post.sd.mu)
-- 1.00  0.71

--@ Posterior.verdict -> string
-- "ok" (means within 0.25 sd, sds within a factor of 1.25, unless a mode was missed), "doubtful" (something speaks
-- against it) or "bad" (do not use it; sds are withheld).
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > posed:vi({ seed = 1 }).verdict
-- ok

--@ Posterior.reasons -> table
-- Sentences that say why the verdict is not "ok", and what to try.
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > #posed:vi({ seed = 1 }).reasons
-- 0

--@ Posterior.mean -> table
-- Means by name: numbers, or tensors of the site's shape.
-- > posed = model(function (m) m.mu = Normal({ 0, 1 }, 1); m.y = Normal(m.mu, 1) end) { y = { 2, 3 } }
-- > #posed:vi({ seed = 1 }).mean.mu
-- 2

--@ Posterior.sd -> table
-- Standard deviations by name: numbers, or tensors of the site's shape; NaN where the verdict is "bad", and of map.
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > string.format("%.2f", posed:vi({ seed = 1 }).sd.mu)
-- 0.71

--@ Posterior.method -> string
-- The way that it was found.
-- > model(function (m) m.x = Normal(0, 1) end) {} :laplace({ seed = 1 }).method
-- laplace

--@ Posterior.how -> string
-- How it was found, as the first line of its print says.
-- > model(function (m) m.x = Normal(0, 1) end) {} :laplace({ seed = 1 }).how:match "^%a+ %a+"
-- Laplace approximation

--@ Posterior.khat -> number
-- Of vi, laplace and pathfinder: how heavy the tail of the importance weights is; from 0.7 on they cannot be trusted.
-- > model(function (m) m.x = Normal(0, 1) end) {} :vi({ seed = 1 }).khat < 0.7
-- true

--@ Posterior.elbo_mean -> number
-- Of vi: the evidence lower bound, in nats, with its error in elbo_error.
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > string.format("%.1f", posed:vi({ seed = 1 }).elbo_mean)
-- -2.3

--@ Posterior.elbo_error -> number
-- Of vi: the standard error of elbo_mean.
-- > model(function (m) m.x = Normal(0, 1) end) {} :vi({ seed = 1 }).elbo_error < 0.1
-- true

--@ Posterior.log_evidence -> number
-- log p(data), in nats: by importance weights (vi), particles (smc) or bridge sampling (nuts, hmc: computed when it is
-- first asked for).
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > string.format("%.1f", posed:vi({ seed = 1 }).log_evidence), Normal(0, math.sqrt(2)):log_prob(2)
-- -2.3  -2.2655121234846

--@ Posterior.log_evidence_error -> number
-- The standard error of log_evidence.
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > posed:smc({ seed = 1 }).log_evidence_error < 0.2
-- true

--@ Posterior.rhat -> table
-- Of chains: R-hat by name; above 1.01 the chains disagree.
-- > model(function (m) m.x = Normal(0, 1) end) {} :nuts({ seed = 1 }).rhat.x < 1.01
-- true

--@ Posterior.ess_bulk -> table
-- Of chains: how many independent draws the means are worth, by name.
-- > model(function (m) m.x = Normal(0, 1) end) {} :nuts({ seed = 1 }).ess_bulk.x > 400
-- true

--@ Posterior.ess_tail -> table
-- Of chains: how many independent draws the 5 % and 95 % quantiles are worth, by name.
-- > model(function (m) m.x = Normal(0, 1) end) {} :nuts({ seed = 1 }).ess_tail.x > 400
-- true

--@ Posterior.divergences -> integer
-- Of nuts and hmc: how many draws came from trajectories that left the surface of constant energy.
-- > model(function (m) m.x = Normal(0, 1) end) {} :nuts({ seed = 1 }).divergences
-- 0

--@ Posterior.stats -> table
-- Of chains: what each draw was like, tensors of shape (chains, draws) by name: log_density, energy, accept, step,
-- depth, leapfrogs, divergent.
-- > model(function (m) m.x = Normal(0, 1) end) {} :nuts({ seed = 1 }).stats.accept.shape[1]
-- 4

--@ Posterior.centring -> table
-- How far sites of hierarchies were centred, by name: 1 as written, 0 standardised.
-- > type(model(function (m) m.x = Normal(0, 1) end) {} :vi({ seed = 1 }).centring)
-- table

--@ Posterior.steps -> integer
-- Of vi with stochastic steps: how many were taken.
-- > model(function (m) m.x = Normal(0, 1) end) {} :vi({ seed = 1, steps = 100 }).steps
-- 100

--@ Posterior.converged -> boolean
-- Of vi with stochastic steps: did the fit come to rest?
-- > model(function (m) m.x = Normal(0, 1) end) {} :vi({ seed = 1, steps = 100 }).converged
-- false

--@ Posterior.elbo -> table
-- Of vi with stochastic steps: the history of the ELBO, means over windows of steps.
-- > type(model(function (m) m.x = Normal(0, 1) end) {} :vi({ seed = 1, steps = 100 }).elbo)
-- table

--@ Posterior.params -> table
-- Of vi with a guide function: the parameters found, by name.
-- > posed = model(function (m) m.x = Normal(3, 1) end) {}
-- > post = posed:vi { seed = 1, guide = function (g) g.x = Normal(g:param("loc", 0), 1) end }
-- > string.format("%.3f", post.params.loc)
-- 3.000

--@ Posterior.terms -> table
-- Of vi with a guide function: how the part of each site in the ELBO was computed, by name: "kl" (a registered
-- divergence), "path" or "score".
-- > posed = model(function (m) m.x = Normal(3, 1) end) {}
-- > posed:vi({ seed = 1, guide = function (g) g.x = Normal(g:param("loc", 0), 1) end }).terms.x
-- kl

--@ Posterior.tried -> table
-- Of fit: what was tried and how it ended, a list of sentences.
-- > model(function (m) m.x = Normal(0, 1) end) {} :fit({ seed = 1 }).tried[1]
-- vi: ok
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
  self.mean, self.sd = show.listed {}, show.listed {}
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
  local places = (core.arange(0, n) + offset) / n * limits[total]   -- an error at once where there is no room for them
  for i, at in ipairs(places:totable()) do
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

--@ Posterior:draws() -> table
-- All draws, each counting the same: tensors by name, draws in front; derived sites too. Weighted ones are resampled
-- to 1000.
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > #posed:vi({ seed = 1 }):draws().mu
-- 1000
function Posterior:draws ()
  if not self.log_weights then return rows_of(self.values, core.arange(1, core.shape(self.u)[1] + 1)) end
  self.resampled = self.resampled or resampled(self, DRAWS, core.rng(1))
  return rows_of(self.values, self.resampled)
end

local function check_count (who, n)
  if math.type(n) ~= "integer" or n < 1 then raise("%s: n must be a positive integer, got %s", who, show.value(n)) end
  if n > 2 ^ 53 then raise("%s: n must be at most 2^53, got %s", who, show.value(n)) end
end

--- The numbers of n draws, in random order: evenly spread, or in proportion to the weights.
function Posterior:rows (n, rng)
  local index = resampled(self, n, rng)
  return index[Uniform(0, 1):sample({ n }, rng):argsort()]
end

--@ Posterior:sample(n, rng) -> table
-- n draws in random order: tensors by name, draws in front.
--   n  integer
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > #posed:vi({ seed = 1 }):sample(10, rng(1)).mu
-- 10
function Posterior:sample (n, rng)
  check_count("sample", n)
  return rows_of(self.values, self:rows(n, rng))
end


-- Summaries ---------------------------------------------------------------------------------

-- For each element of each site fn(column); results in the shape of the site.
local function each_element (self, fn)
  local found = show.listed {}
  for name, values in pairs(self.values) do
    local columns, list = flat(values), {}
    for j = 1, core.shape(columns)[2] do list[j] = fn(columns:select(2, j)) end
    found[name] = plain(shaped(core.tensor(list), values))
  end
  return found
end

--@ Posterior:quantile(q) -> table
-- The quantile q of every site, by name.
--   q  number between 0 and 1
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > string.format("%.1f", posed:vi({ seed = 1 }):quantile(0.95).mu)
-- 2.2
function Posterior:quantile (q)
  if type(q) ~= "number" or not (q >= 0 and q <= 1) then
    raise("quantile: q must be between 0 and 1, got %s", show.value(q))
  end
  return each_element(self, function (x) return weighted.quantiles(x, self.weights, { q })[1] end)
end

--@ Posterior:interval(probability) -> table
-- Central intervals of this probability: { low, high } by name.
--   probability  number between 0 and 1; 0.9 unless told
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > string.format("%.1f", posed:vi({ seed = 1 }):interval().mu[1])
-- -0.2
function Posterior:interval (probability)
  probability = probability == nil and 0.9 or probability
  if type(probability) ~= "number" or not (probability > 0 and probability < 1) then
    raise("interval: probability must be between 0 and 1, got %s", show.value(probability))
  end
  local low, high, found = self:quantile((1 - probability) / 2), self:quantile((1 + probability) / 2), {}
  for name in pairs(low) do found[name] = { low[name], high[name] } end
  return found
end

local MCSE = { mean = "mcse_mean", sd = "mcse_sd" }

--@ Posterior:mcse(of) -> table
-- Of chains: the standard error that a mean, an sd or a quantile has because there are only so many draws, by name.
--   of  "mean" (unless told), "sd", or a number between 0 and 1: that quantile
-- > post = model(function (m) m.x = Normal(0, 1) end) {} :nuts { seed = 1 }
-- > post:mcse().x < 0.05, post:mcse(0.95).x < 0.1
-- true  true
function Posterior:mcse (of)
  if of == nil then of = "mean" end
  local is_level = type(of) == "number" and of > 0 and of < 1
  if not MCSE[of] and not is_level then
    raise('mcse: takes "mean", "sd" or a number between 0 and 1, got %s', show.value(of))
  end
  if not self.chains then raise("mcse: these draws are not those of chains") end
  local diagnostics = require "perilune.inference.diagnostics"
  local fn = is_level and function (x) return diagnostics.mcse_quantile(x, of) end or diagnostics[MCSE[of]]
  return each_element(self, function (x) return fn(x:reshape(self.chains, -1)) end)
end

--- "theta", "theta[2]", "l[2, 1]": element j of a site, in row-major order.
function Posterior.element_name (name, shape, j)
  if #shape == 0 then return name end
  local places = {}
  for i = #shape, 1, -1 do
    places[i] = (j - 1) % shape[i] + 1
    j = math.floor((j - 1) / shape[i]) + 1
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

--@ Posterior:covariance() -> Tensor, table
-- The covariance matrix of all elements of unobserved sites, and their names in its order.
-- > posed = model(function (m) m.mu = Normal({ 0, 1 }, 1); m.y = Normal(m.mu, 1) end) { y = { 2, 3 } }
-- > covariance, names = posed:vi({ seed = 1 }):covariance()
-- > covariance.shape[1], names[2]
-- 2  mu[2]
function Posterior:covariance ()
  local x, names = Posterior.columns(self.posed, self.values)
  return weighted.covariance(x, self.weights), names
end


-- Predictions and comparisons -----------------------------------------------------------------

--@ Posterior:predict(data, n, rng) -> table
-- n draws of the observed sites, by name, draws in front, with the values of as many draws; derived values too.
--   data  table of named values, as the model takes; those of the fit unless told
--   n     integer; 1000 unless told
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > #posed:vi({ seed = 1 }):predict(nil, 10, rng(1)).y
-- 10
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

--@ Posterior:log_lik() -> table
-- The log likelihood of every observation: by name, draws in front.
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = { 1, 2, 3 } }
-- > posed:vi({ seed = 1 }):log_lik().y.shape[2]
-- 3
function Posterior:log_lik ()
  if not self.log_weights then return self.density:likelihood(self.u) end
  self:draws()
  return self.density:likelihood(self.u[self.resampled])
end

--@ Posterior:plot(what, options) -> Plot
-- A picture: of the site `what`, or of all; "trace", "ranks" and "pairs" are pictures of chains and of draws.
--   what     name of a site, "trace", "ranks", "pairs", or nothing: a panel for each site
--   options  title = text; sites = name or list of names, of pictures of several; bins = number of them, or a list of
--            edges; range = {low, high} of a site; xlabel = text, of a site; ylabel = text, of a site
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > posed:vi({ seed = 1 }):plot("mu").kind
-- site
function Posterior:plot (what, options)
  if type(what) == "table" and options == nil then what, options = nil, what end
  local plot = require "perilune.plot"
  return require "perilune.plot.posterior".of(plot.new, self, what, options)
end

--@ Posterior:loo() -> table
-- How well it predicts: leave-one-out cross-validation by PSIS (Vehtari, Gelman and Gabry 2017). Fields: elpd, its
-- standard error se, p (effective parameters), pointwise, khat of each observation, names, reasons not to trust it.
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = { 1, 2, 3 } }
-- > string.format("%.1f", posed:vi({ seed = 1 }):loo().elpd)
-- -5.1
function Posterior:loo () return require "perilune.inference.loo".loo(self) end
--@ Posterior:waic() -> table
-- The same by the widely applicable information criterion; loo is more often right.
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = { 1, 2, 3 } }
-- > string.format("%.1f", posed:vi({ seed = 1 }):waic().elpd)
-- -5.1
function Posterior:waic () return require "perilune.inference.loo".waic(self) end
--@ Posterior:save() -> string
-- The posterior as a string with a version and a checksum, for peri.load. The model, a function, is not kept.
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > post = posed:vi { seed = 1 }
-- > load(post:save()).mean.mu == post.mean.mu
-- true
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
                       "draws sample quantile interval mcse covariance predict log_lik plot loo waic save")

return Posterior
