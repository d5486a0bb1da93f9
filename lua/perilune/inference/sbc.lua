--- peri.sbc(model, {}): simulation-based calibration, whether a way to the posterior is right for a model.
--
-- S. Talts, M. Betancourt, D. Simpson, A. Vehtari and A. Gelman, "Validating Bayesian inference algorithms with
-- simulation-based calibration" (2018). Values are drawn from the prior, data from the model with them, and the
-- posterior of these data is drawn from: then the rank of a value among its draws is uniform. The log likelihood is
-- ranked as well, since the prior instead of the posterior would pass otherwise (Modrak and others 2023).
--
-- Ranks are compared with the uniform law by a chi-square test, and by the band in which their cumulative frequencies
-- lie at once (Saeilynoja, Buerkner and Vehtari 2022).
local attempt   = require "perilune.attempt"
local Binomial  = require "perilune.distributions.Binomial"
local Chi2      = require "perilune.distributions.Chi2"
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local handlers  = require "perilune.model.handlers"
local options   = require "perilune.inference.options"
local origin    = require "perilune.inference.origin"
local Posterior = require "perilune.inference.posterior"
local progress  = require "perilune.inference.progress"
local run       = require "perilune.model.run"
local shared    = require "perilune.inference.shared"
local show      = require "perilune.show"
local ways      = require "perilune.model"
local Uniform   = require "perilune.distributions.Uniform"

local raise = errors.raise

local MOST_BINS   = 20
local PER_BIN     = 5        -- expected ranks
local SIMULATED   = 1000     -- uniform samples that the band comes from
local LIKELIHOOD  = "log likelihood"
local MOST_ROWS   = 24       -- of a printed table
local BAD, DOUBTFUL = 0.01, 0.05
local BLOCKS      = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }
local MOST_BAD    = 0.05     -- share of fits whose own verdict is bad

local CHAINS = { nuts = true, hmc = true, random_walk = true }   -- ways that draw ten times what is ranked

local ROWS = {
  { "method", "nuts", "the name of a way to the posterior, or a function (posed, rng)",
    function (x) return type(x) == "string" or options.is_callable(x) end },
  { "n", 100, "an integer from 20", function (x) return options.is_count(x) and x >= 20 end },
  { "draws", 99, "an integer from 19", function (x) return options.is_count(x) and x >= 19 end },
  { "data", false, "a table of named values, those of observed sites among them",
    function (x) return x == false or type(x) == "table" end },
  { "options", false, "a table of options of the method", function (x) return x == false or type(x) == "table" end },
  shared.ROW,
}


-- Simulating ----------------------------------------------------------------------------------

-- Raises for models of which data cannot be simulated.
local function check (posed)
  for _, site in ipairs(posed:sites()) do
    if site.kind == "factor" then
      raise("sbc: %s is a factor, which cannot be simulated; write it as a distribution of what is observed", site.name)
    end
  end
  local improper = origin.improper(posed)
  if improper then raise("sbc: %s is Flat: there is no prior to draw from", improper) end
  if not next(posed:observed_names()) then
    raise("sbc: nothing is observed: data must have a value for each observed site, of which the shape counts")
  end
end

-- The data with the i-th simulation of what is observed.
local function data_of (posed, simulated, i)
  local data = {}
  for name, value in pairs(posed.data.values) do data[name] = value end
  for name in pairs(posed:observed_names()) do data[name] = simulated[name][i] end
  return data
end

-- The values of unobserved sites in the i-th simulation.
local function truth_of (posed, simulated, i)
  local values = {}
  for _, site in ipairs(posed.latents) do values[site.name] = simulated[site.name][i] end
  return values
end

local function log_likelihood (posed, values)
  local total = run.body(posed.body, posed.data, handlers.scored(values)).total
  return core.is_tensor(total) and core.item(total) or total
end


-- Fitting ---------------------------------------------------------------------------------------

local function method_options (read, rng)
  local given = {}
  if CHAINS[read.method] then given.chains, given.warmup, given.draws = 2, 500, 5 * (read.draws + 1) end
  for name, value in pairs(read.options or {}) do given[name] = value end
  given.rng = rng
  return given
end

local function fit (posed, read, rng)
  if type(read.method) ~= "string" then return read.method(posed, rng) end
  return posed[read.method](posed, method_options(read, rng))
end

-- `n` of `total` rows, evenly spread.
local function spread (n, total)
  return ((core.arange(0, n) + 0.5) * (total / n)):floor() + 1
end

-- Draws by name of a table that a user's function returned, and their log likelihoods.
local function draws_of_table (posed, found, n)
  local draws, lists = {}, {}
  for _, site in ipairs(posed.latents) do
    local x = found[site.name]
    local is_enough = core.is_tensor(x) and core.rank(x) == #site.shape + 1 and core.shape(x)[1] >= n
    if not is_enough then
      raise("sbc: method must return a posterior, or at least %d draws of each site as a tensor; %s is %s", n,
            site.name, show.value(x))
    end
    draws[site.name] = x[spread(n, core.shape(x)[1])]
  end
  for i = 1, n do lists[i] = log_likelihood(posed, truth_of(posed, draws, i)) end
  return draws, core.tensor(lists)
end

-- n draws of a posterior by name, and their log likelihoods.
local function draws_of (posed, found, n, rng)
  if getmetatable(found) ~= Posterior then
    if type(found) ~= "table" then
      raise("sbc: method must return a posterior, or draws by name, got %s", show.value(found))
    end
    return draws_of_table(posed, found, n)
  end
  local index = found:rows(n, rng)
  local draws, total = {}, core.zeros(n)
  for _, site in ipairs(posed.latents) do
    local values = found.values[site.name]
    if not values or core.rank(values) ~= #site.shape + 1 then
      raise("sbc: method must return a posterior of the model that it is given; that of %s is missing", site.name)
    end
    draws[site.name] = values[index]
  end
  for _, value in pairs(found.density:likelihood(found.u[index])) do total = total + value:reshape(n, -1):sum(2) end
  return draws, total
end


-- Ranks -----------------------------------------------------------------------------------------

-- How many of x are less than each number, of those equal a random share.
local function ranks_of (x, truth, rng)
  local less, equal = x:lt(truth):sum(1), x:eq(truth):sum(1)
  local share = Uniform(0, 1):sample({ core.numel(truth) }, rng)
  return less + ((equal + 1) * share):floor()
end

-- The ranks of one simulation, as a list in the order of `names`.
local function rank_one (posed, simulated, i, found, n, rng)
  local draws, likelihoods = draws_of(posed, found, n, rng)
  local truth, list = truth_of(posed, simulated, i), {}
  local function add (x, value)
    for _, rank in ipairs(ranks_of(x:reshape(n, -1), core.tensor(value):reshape(-1), rng):totable()) do
      list[#list + 1] = rank
    end
  end
  for _, site in ipairs(posed.latents) do add(draws[site.name], truth[site.name]) end
  add(likelihoods, log_likelihood(posed, truth))
  return list
end

local function names_of (posed)
  local names = {}
  for _, site in ipairs(posed.latents) do
    local size = 1
    for _, n in ipairs(site.shape) do size = size * n end
    for j = 1, size do names[#names + 1] = Posterior.element_name(site.name, site.shape, j) end
  end
  names[#names + 1] = LIKELIHOOD
  return names
end


-- Tests of uniformity -----------------------------------------------------------------------------

-- Frequencies of ranks 0, ..., draws in bins, and the probability of as large a chi-square.
local function chi_square (ranks, draws)
  local n = #ranks
  local bins = math.max(2, math.min(MOST_BINS, math.floor(n / PER_BIN), draws + 1))
  local counts, sizes, chi2 = {}, {}, 0
  local function bin_of (rank) return math.floor(rank * bins / (draws + 1)) + 1 end
  for i = 1, bins do counts[i], sizes[i] = 0, 0 end
  for rank = 0, draws do sizes[bin_of(rank)] = sizes[bin_of(rank)] + 1 end
  for _, rank in ipairs(ranks) do
    local bin = math.tointeger(bin_of(rank))
    counts[bin] = counts[bin] + 1
  end
  for i = 1, bins do
    local expected = n * sizes[i] / (draws + 1)
    chi2 = chi2 + (counts[i] - expected) ^ 2 / expected
  end
  return counts, Chi2(bins - 1):sf(chi2)
end

-- tails[rank + 1][count + 1]: how improbable it is that so few, or so many, of n ranks are at most `rank`.
local function tails_of (n, draws)
  local p = (core.arange(1, draws + 1) / (draws + 1)):reshape(draws, 1)
  local counts = core.arange(0, n + 1):reshape(1, n + 1)
  local law = Binomial(n, p)
  return functions.minimum(law:cdf(counts), law:sf(counts - 1)):totable()
end

-- The smallest of these over all ranks.
local function farthest (ranks, draws, tails)
  local counts, sum, least = {}, 0, 1
  for _, rank in ipairs(ranks) do
    rank = math.tointeger(rank)
    counts[rank] = (counts[rank] or 0) + 1
  end
  for rank = 0, draws - 1 do
    sum = sum + (counts[rank] or 0)
    least = math.min(least, tails[rank + 1][sum + 1])
  end
  return least
end

-- Of uniform samples, in ascending order.
local function band_of (n, draws, tails)
  local found, rng = {}, core.rng(1)
  for i = 1, SIMULATED do
    local ranks = (Uniform(0, draws + 1):sample({ n }, rng)):floor()
    found[i] = farthest(ranks:totable(), draws, tails)
  end
  table.sort(found)
  return found
end

-- The probability that cumulative frequencies leave the band as far: by the samples, or, where none is as far, at most
-- the sum over ranks.
local function ecdf_test (ranks, draws, tails, band)
  local least, below = farthest(ranks, draws, tails), 0
  for _, x in ipairs(band) do below = below + (x <= least and 1 or 0) end
  return math.min((below + 1) / (SIMULATED + 1), 2 * draws * least)
end

-- What is wrong, in words: where ranks lie too often.
local function shape_of (ranks, draws)
  local u = (core.tensor(ranks) + 0.5) / (draws + 1)
  local n = #ranks
  local shift = (u:mean() - 0.5) * math.sqrt(12 * n)
  local width = (12 * ((u - 0.5) ^ 2):mean() - 1) / math.sqrt(0.8 / n)
  if math.abs(shift) > math.abs(width) then return shift > 0 and "lie too low" or "lie too high" end
  return width > 0 and "are too narrow" or "are too wide"
end


-- The result ------------------------------------------------------------------------------------

local Result = { __name = "calibration" }
Result.__index = Result

-- Tests of each name; p is corrected for two tests, and for the number of names.
local function test (names, ranks, draws)
  local tests, n = {}, #ranks[1]
  local tails = tails_of(n, draws)
  local band = band_of(n, draws, tails)
  for j, name in ipairs(names) do
    local counts, chi2 = chi_square(ranks[j], draws)
    local ecdf = ecdf_test(ranks[j], draws, tails, band)
    tests[j] = { name = name, counts = counts, chi2 = chi2, ecdf = ecdf,
                 p = math.min(1, 2 * #names * math.min(chi2, ecdf)), shape = shape_of(ranks[j], draws) }
  end
  return tests
end

local function reasons_of (tests, fits)
  local list, least = {}, 1
  for _, one in ipairs(tests) do
    least = math.min(least, one.p)
    if one.p < DOUBTFUL then
      local shape = one.name ~= LIKELIHOOD and " (draws " .. one.shape .. ")" or ""
      list[#list + 1] = string.format("%s is off%s: by chance its ranks were as uneven with probability %.2g", one.name,
                                      shape, one.p)
    end
  end
  if fits.failed > 0 then
    list[#list + 1] = string.format("%d of %d fits failed: %s", fits.failed, fits.n, fits.why)
  end
  if fits.bad > MOST_BAD * fits.n then
    list[#list + 1] = string.format("%d of %d fits call themselves bad", fits.bad, fits.n)
  end
  if fits.few > MOST_BAD * fits.n then
    list[#list + 1] = string.format("in %d of %d fits fewer draws were independent than are ranked: more draws, in "
                                    .. "options", fits.few, fits.n)
  end
  if least < BAD then return "bad", list end
  return #list == 0 and "ok" or "doubtful", list
end

-- The frequencies as a picture, and their least and largest.
local function row_of (one)
  local blocks, least, most = {}, math.huge, 0
  for _, count in ipairs(one.counts) do least, most = math.min(least, count), math.max(most, count) end
  for i, count in ipairs(one.counts) do blocks[i] = BLOCKS[1 + math.floor(count / most * (#BLOCKS - 1) + 0.5)] end
  return string.format("%8.3g  %8.3g  %s  %d to %d", one.chi2, one.ecdf, table.concat(blocks), least, most)
end

function Result:__tostring ()
  local lines = { string.format("%s: ranks of %d simulations among %d draws by %s", self.verdict, self.n, self.draws,
                                self.method) }
  local width = #"name"
  for _, reason in ipairs(self.reasons) do lines[#lines + 1] = "  - " .. reason end
  for _, one in ipairs(self.tests) do width = math.max(width, #one.name) end
  local left = "%-" .. width .. "s  %s"
  local bins = #self.tests[1].counts
  lines[#lines + 1] = string.format(left, "name", string.format(
    " p(chi2)   p(ecdf)  ranks in %d bins, %.3g expected in each", bins, self.n / bins))
  for i, one in ipairs(self.tests) do
    if i <= MOST_ROWS then lines[#lines + 1] = string.format(left, one.name, row_of(one)) end
  end
  if #self.tests > MOST_ROWS then lines[#lines + 1] = string.format("... and %d more", #self.tests - MOST_ROWS) end
  return table.concat(lines, "\n")
end

-- Counts what a fit says of itself.
local function note (fits, found, draws)
  if getmetatable(found) ~= Posterior then return end
  if found.verdict == "bad" then fits.bad = fits.bad + 1 end
  local ess = found.findings and (found.findings.ess_bulk or found.findings.ess)
  if ess and ess < draws then fits.few = fits.few + 1 end
end

-- The ranks of simulations first, ..., first + n - 1 of `read.n`, by their number, and what the fits say of themselves.
local function fit_all (model, posed, read, rngs, first, n)
  local simulated, report = posed:prior(read.n, rngs[read.n + 1]), progress.reporter(read.progress, "sbc")
  local ranks, fits, draws = {}, { n = read.n, failed = 0, bad = 0, few = 0 }, read.draws
  for i = first, first + n - 1 do
    local done = i - first + 1
    report({ text = string.format("sbc: %d of %d", done, n), done = done, of = n }, done == n)
    local one = model(data_of(posed, simulated, i))
    one:start()
    local ok, found = attempt.call("finite", nil, fit, one, read, rngs[i])
    if ok then
      note(fits, found, draws)
      ranks[i] = rank_one(one, simulated, i, found, draws, rngs[i])
    else fits.failed, fits.why = fits.failed + 1, found end
  end
  return { ranks = ranks, fits = fits }
end

-- The same of all, by several processes.
local function fit_shares (comm, model, posed, read, rngs)
  local first, n = comm:share(read.n)
  local found = shared.together(comm, fit_all, model, posed, read, rngs, first, n)
  local all = { ranks = {}, fits = { n = read.n, failed = 0, bad = 0, few = 0 } }
  for _, part in ipairs(comm:allgather(found)) do
    for i, list in pairs(part.ranks) do all.ranks[i] = list end
    for _, name in ipairs { "failed", "bad", "few" } do all.fits[name] = all.fits[name] + part.fits[name] end
    all.fits.why = part.fits.why or all.fits.why
  end
  return all
end

local function calibrate (model, read)
  local posed, n, comm = model(read.data or {}), read.n, read.comm
  check(posed)
  if type(read.method) == "string" and not ways.methods[read.method] then
    raise("sbc: method must be the name of a way to the posterior, got %s", show.value(read.method))
  end
  if comm then read.rng, read.progress = shared.rng(comm, read.rng), progress.of_rank(read.progress, comm) end
  local rngs = (read.rng or core.rng(math.floor(Uniform(0, 1):sample() * 2 ^ 53))):split(n + 1)
  local found = comm and fit_shares(comm, model, posed, read, rngs) or fit_all(model, posed, read, rngs, 1, n)
  local names, ranks = names_of(posed), {}
  for j in ipairs(names) do ranks[j] = {} end
  for i = 1, n do
    for j, rank in ipairs(found.ranks[i] or {}) do ranks[j][#ranks[j] + 1] = rank end
  end
  if #ranks[1] == 0 then raise("sbc: every fit failed: %s", found.fits.why) end
  return names, ranks, found.fits
end

--@ peri.sbc(model, options) -> table
-- Simulation-based calibration: values are drawn from the prior, data from the model with them, and the ranks of the
-- values among draws of the posterior must be uniform. Fields: verdict, reasons, ranks and p by name, tests, fits. It
-- prints as a table.
--   model    model (peri.model), not posed
--   options  method = name of a way to the posterior, or a function (posed, rng) that gives a posterior or draws by
--            name ("nuts"); n = simulations (100); draws = of each posterior that are ranked (99); data = table of
--            named values, of observed sites only their shapes count; options = of the method; comm = world of
--            perilune.mpi: its ranks share the simulations; rng; seed; progress; noncentred; init
-- > line = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end)
-- > sbc(line, { method = "laplace", n = 20, draws = 19, data = { y = 0 }, seed = 1 }).verdict
-- ok
local function sbc (model, given, ...)
  errors.no_more("sbc(model, options)", ...)
  if type(model) ~= "table" or type(rawget(model, "body")) == "nil" or model.data then
    raise("sbc: model must be a model (peri.model), got %s", show.value(model))
  end
  local read = options.read("sbc", given == nil and {} or given, ROWS)
  local names, ranks, fits = calibrate(model, read)
  local tests = test(names, ranks, read.draws)
  local by_name, p = {}, {}
  for j, name in ipairs(names) do by_name[name], p[name] = core.tensor(ranks[j]), tests[j].p end
  local word, reasons = reasons_of(tests, fits)
  return setmetatable({ verdict = word, reasons = reasons, ranks = by_name, p = p, tests = tests, n = #ranks[1],
                        draws = read.draws, fits = fits,
                        method = type(read.method) == "string" and read.method or "a function" }, Result)
end

return { sbc = sbc }
