--- How well a model predicts: leave-one-out cross-validation by PSIS (Vehtari, Gelman and Gabry 2017), and WAIC.
--
--   elpd_i = log sum_s w_s p(y_i | draw s),   w = PSIS of 1/p(y_i | draw s), summing to 1
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local Posterior = require "perilune.inference.posterior"
local psis      = require "perilune.inference.psis"
local show      = require "perilune.show"
local tensor    = require "perilune.tensor"

local loo = {}

local HEAVY = 0.7   -- k-hat above which an observation is named

-- The log likelihoods of all observations as columns, and their names.
local function columns_of (post)
  local by_name, names, columns, labels = post:log_lik(), {}, {}, {}
  for name in pairs(by_name) do names[#names + 1] = name end
  table.sort(names)
  if #names == 0 then errors.raise("loo: the model has no observed site; what a factor adds is no observation") end
  local element_name = Posterior.element_name
  for i, name in ipairs(names) do
    local shape = core.shape(by_name[name])
    local n = table.remove(shape, 1)
    columns[i] = by_name[name]:reshape(n, -1)
    for j = 1, core.shape(columns[i])[2] do labels[#labels + 1] = element_name(name, shape, j) end
  end
  return tensor.cat(columns, 2), labels
end

-- Sums over observations with standard errors.
local function total (pointwise)
  local n = core.numel(pointwise)
  local sum = pointwise:sum()
  return sum, n > 1 and math.sqrt(n * (pointwise - sum / n):pow(2):sum() / (n - 1)) or core.nan
end

local Result = {}
Result.__index = Result

function Result:__tostring ()
  local lines = { string.format("%s  %.2f +- %.2f, %s %.2f, from %d draws and %d observations", self.name, self.elpd,
                                self.se, self.p_name, self.p, self.draws, core.numel(self.pointwise)) }
  for _, reason in ipairs(self.reasons) do lines[#lines + 1] = "  - " .. reason end
  return table.concat(lines, "\n")
end

-- A result under the names that R and ArviZ give its parts as well.
local function result_of (kind, pointwise, p, fields)
  local elpd, se = total(pointwise)
  local p_total = p:sum()
  fields.name, fields.p_name, fields.elpd, fields.se, fields.p = "elpd_" .. kind, "p_" .. kind, elpd, se, p_total
  fields["elpd_" .. kind], fields["se_elpd_" .. kind], fields["p_" .. kind] = elpd, se, p_total
  fields[kind == "loo" and "looic" or kind] = -2 * elpd
  fields.pointwise = pointwise
  return setmetatable(fields, Result)
end

-- Of a column of log likelihoods: log of the mean likelihood.
local function log_mean (ll) return ll:logsumexp() - math.log(core.numel(ll)) end

--- Of log likelihoods, draws in rows and observations in columns: elpd and k-hat of each observation, and its log mean
-- likelihood. `r_eff` is the share of draws that count.
function loo.pointwise (columns, r_eff)
  local n = core.shape(columns)[2]
  local elpd, khat, lppd = {}, {}, {}
  for i = 1, n do
    local ll = columns:select(2, i):contiguous()
    local lw, k = psis.smooth(-ll, r_eff)
    elpd[i], khat[i], lppd[i] = (lw + ll):logsumexp(), k, log_mean(ll)
  end
  return core.tensor(elpd), core.tensor(khat), core.tensor(lppd)
end

--- post:loo()
function loo.loo (post)
  local columns, names = columns_of(post)
  local elpd, khat, lppd = loo.pointwise(columns, post.r_eff)
  local heavy, reasons = {}, {}
  for i = 1, #names do
    if khat[i] > HEAVY and khat[i] < math.huge then heavy[#heavy + 1] = names[i] end
  end
  if #heavy > 0 then
    reasons[1] = string.format("k-hat above %s for %d of %d observations (%s%s): their part is not to be trusted",
                               show.number(HEAVY), #heavy, #names, table.concat(heavy, ", ", 1, math.min(5, #heavy)),
                               #heavy > 5 and ", ..." or "")
  end
  return result_of("loo", elpd, lppd - elpd, { pareto_k = khat, khat = khat, names = names, reasons = reasons,
                                               draws = core.shape(columns)[1] })
end

--- post:waic()
function loo.waic (post)
  local columns, names = columns_of(post)
  local draws, n = core.shape(columns)[1], #names
  local p = columns:var(1)
  local lppd = {}
  for i = 1, n do lppd[i] = log_mean(columns:select(2, i)) end
  local large = p:gt(0.4):sum()
  local reasons = {}
  if large > 0 then
    reasons[1] = string.format("p_waic above 0.4 for %d of %d observations: use loo", math.tointeger(large), n)
  end
  return result_of("waic", core.tensor(lppd) - p, p, { names = names, reasons = reasons, draws = draws })
end


-- Comparing -----------------------------------------------------------------------------------

local Comparison = {}
Comparison.__index = Comparison

function Comparison:__tostring ()
  local lines = { string.format("%-16s %10s %8s %10s %8s", "model", "elpd_diff", "se", "elpd_loo", "p_loo") }
  for _, row in ipairs(self) do
    lines[#lines + 1] = string.format("%-16s %10.2f %8.2f %10.2f %8.2f", row.name, row.elpd_diff, row.se_diff,
                                      row.elpd_loo, row.p_loo)
  end
  for _, row in ipairs(self) do
    for _, reason in ipairs(row.loo.reasons) do lines[#lines + 1] = "  - " .. row.name .. ": " .. reason end
  end
  return table.concat(lines, "\n")
end

--@ peri.compare(posteriors) -> table
-- Models of the same data by how well they predict: the best first, with differences of elpd and their standard
-- errors. It prints as a table.
--   posteriors  table of posteriors, or of what their loo() gave, by name
-- > line = model(function (m, d) m.a = Normal(0, 5); m.y = Normal(m.a * d.x, 1) end)
-- > level = model(function (m, d) m.a = Normal(0, 5); m.y = Normal(m.a, 1) end)
-- > data = { x = { 1, 2, 3, 4 }, y = { 2, 4, 6, 8 } }
-- > compare({ line = line(data):vi { seed = 1 }, level = level { y = data.y } :vi { seed = 1 } })[1].name
-- line
function loo.compare (posteriors, ...)
  errors.no_more("compare(posteriors)", ...)
  if type(posteriors) ~= "table" or next(posteriors) == nil then
    errors.raise("compare: takes a table of posteriors by name, got %s", show.value(posteriors))
  end
  local rows = setmetatable({}, Comparison)
  for name, post in next, posteriors do
    local is_result = getmetatable(post) == Result
    if not is_result and getmetatable(post) ~= Posterior then
      errors.raise("compare: %s must be a posterior, or what loo() of one gave, got %s", tostring(name),
                   show.value(post))
    end
    local found = is_result and post or loo.loo(post)
    rows[#rows + 1] = { name = tostring(name), loo = found, elpd_loo = found.elpd, p_loo = found.p }
  end
  table.sort(rows, function (a, b)
    if a.elpd_loo ~= b.elpd_loo then return a.elpd_loo > b.elpd_loo end
    return a.name < b.name
  end)
  local best = rows[1].loo.pointwise
  for _, row in ipairs(rows) do
    if core.numel(row.loo.pointwise) ~= core.numel(best) then
      errors.raise("compare: %s has %d observations, and %s %d: only models of the same data compare", row.name,
                   core.numel(row.loo.pointwise), rows[1].name, core.numel(best))
    end
    local _, se = total(row.loo.pointwise - best)
    row.elpd_diff, row.se_diff = row.elpd_loo - rows[1].elpd_loo, row == rows[1] and 0 or se
  end
  return rows
end

return loo
