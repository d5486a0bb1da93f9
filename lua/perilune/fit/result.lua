--- What peri.fit returns: estimates, and comparisons of several.
local class = require "perilune.class"
local core  = require "perilune.core"
local frame = require "perilune.data.frame"
local show  = require "perilune.show"
local texts = require "perilune.plot.texts"

local MOST_ROWS = 20   -- of parameters that are shown

local result = {}

local function number (x) return show.format("%.6g", x) end

-- A sentence over as many lines as it takes, all but the first indented.
local function sentence (text, indent)
  local width = show.width()
  local lines = texts.wrap(text, math.max(20, width - #indent))
  return table.concat(lines, "\n" .. indent)
end

-- Rows of a table for a parameter: one for each of its elements.
local function add_rows (rows, name, value, se, is_fixed)
  if is_fixed or not core.is_tensor(value) then
    rows[#rows + 1] = { name, is_fixed and show.parameter(value) or number(value), is_fixed and "fixed" or number(se) }
    return
  end
  local shape = core.shape(value)
  local flat = value:reshape(-1)
  local flat_se = core.is_tensor(se) and se:reshape(-1)
  for i = 1, core.numel(flat) do
    local place = tostring(i)
    if #shape == 2 then place = string.format("%d, %d", math.floor((i - 1) / shape[2]) + 1, (i - 1) % shape[2] + 1) end
    local is_mirrored = #shape == 2 and (i - 1) % shape[2] > math.floor((i - 1) / shape[2])   -- above the diagonal
    if #rows > MOST_ROWS then
      if rows[#rows][1] ~= "..." then rows[#rows + 1] = { "...", "", "" } end
      return
    end
    if not is_mirrored then
      rows[#rows + 1] = { string.format("%s[%s]", name, place), number(flat[i]),
                          number(flat_se and flat_se[i] or math.abs(0 / 0)) }
    end
  end
end

local Estimate = { __name = "estimate" }
Estimate.__index = Estimate

function Estimate:__tostring ()
  local rows = { { "name", "estimate", "se" } }
  for _, name in ipairs(self.names) do
    add_rows(rows, name, self.params[name], self.se[name], self.fixed[name])
  end
  local lost = self.missing > 0 and string.format(", %d missing left out", self.missing) or ""
  local head = string.format("%s fitted to %s value%s%s: %s", class.name(class.of(self.distribution)),
                             show.number(self.n), self.n == 1 and "" or "s", lost, self.verdict)
  local lines = { sentence(head, "  "), frame.aligned(rows, { [2] = true, [3] = true }),
                  string.format("  log likelihood %s, AIC %s", show.format("%.8g", self.log_lik),
                                show.format("%.8g", self.aic)) }
  for _, note in ipairs(self.notes) do lines[#lines + 1] = "  " .. sentence(note, "    ") end
  return table.concat(lines, "\n")
end

--- An Estimate of what estimate.lua has found. Its verdict is "converged", or what is wrong; notes are sentences too.
function result.fit (found)
  found.verdict = #found.reasons == 0 and "converged" or table.concat(found.reasons, "; ")
  return setmetatable(found, Estimate)
end

--- Is this what result.fit gives?
function result.is_fit (x) return type(x) == "table" and getmetatable(x) == Estimate end


local Comparison = { __name = "comparison of fits" }
Comparison.__index = Comparison

function Comparison:__tostring ()
  local rows, lines = { { "family", "AIC", "difference", "log likelihood", "KS distance" } }, {}
  for _, row in ipairs(self.rows) do
    local fit = row.fit
    rows[#rows + 1] = fit and { row.name, show.format("%.8g", fit.aic), show.format("%.4g", fit.aic - self.best.aic),
                                show.format("%.8g", fit.log_lik), row.ks and show.format("%.4f", row.ks) or "" }
                      or { row.name, "", "", "", "" }
    local what = not fit and row.problem   -- which names the family
                 or #fit.reasons > 0 and row.name .. ": " .. table.concat(fit.reasons, "; ")
    if what then lines[#lines + 1] = "  " .. sentence(what, "    ") end
  end
  local head = string.format("%d families, the best first: %s", #self.rows, tostring(self.best.distribution))
  table.insert(lines, 1, frame.aligned(rows, { [2] = true, [3] = true, [4] = true, [5] = true }))
  table.insert(lines, 1, sentence(head, "  "))
  return table.concat(lines, "\n")
end

local function is_before (a, b)
  if not (a.fit and b.fit) then
    if a.fit or b.fit then return a.fit ~= nil end
    return a.name < b.name
  end
  if a.fit.aic ~= b.fit.aic then return a.fit.aic < b.fit.aic end
  return a.name < b.name
end

--- A Comparison of { name, fit or problem, ks }: its rows with the smallest AIC first, `best`, and fits by name.
function result.comparison (rows)
  table.sort(rows, is_before)
  if not rows[1].fit then
    require "perilune.errors".raise("fit: none of the families can be fitted; %s", rows[1].problem)
  end
  local self = { rows = rows, best = rows[1].fit, fits = {} }
  for _, row in ipairs(rows) do self.fits[row.name] = row.fit end
  return setmetatable(self, Comparison)
end

return result
