--- peri.model(function (m, d) ... end): a model, said once. With data it is a posed model, which knows the ways to a
-- posterior: posed:vi {}, posed:map {}, posed:fit {}, ...
local construction = require "perilune.construction"
local core         = require "perilune.core"
local Data         = require "perilune.model.data"
local errors       = require "perilune.errors"
local handlers     = require "perilune.model.handlers"
local run          = require "perilune.model.run"
local show         = require "perilune.show"
local tensor       = require "perilune.tensor"

local raise = errors.raise

local Model, Posed = { __name = "model" }, { __name = "posed model" }
Model.__index = Model

-- Ways to a posterior, each a file of inference/.
local METHODS = { vi = true, map = true, laplace = true, pathfinder = true, nuts = true, hmc = true, fit = true,
                  random_walk = true, smc = true }

function Posed.__index (_, name)
  if METHODS[name] then
    local method = require("perilune.inference." .. name)
    local function call (posed, options, ...)
      if getmetatable(posed) ~= Posed then raise("%s: call posed:%s { ... }, with a colon", name, name) end
      errors.no_more(string.format("%s(options)", name), ...)
      return method(posed, options or {})
    end
    Posed[name] = call
  end
  return rawget(Posed, name)
end


-- Models ------------------------------------------------------------------------------------

--@ peri.model(body) -> function (data) -> Model
-- A model, said once: model { y = ... } poses it with data, and a posed model knows the ways to a posterior. In its
-- body m.mu = Normal(0, 5) declares a site, m.mu reads its value, a number or tensor assigned is derived and reported,
-- and a site whose name is in the data is observed.
--   body  function (m, d): m declares sites, d has the data
-- > schools = model(function (m, d)
-- >   m.mu, m.tau = Normal(0, 5), HalfCauchy(5)
-- >   m.theta = Normal(m.mu, m.tau):expand(8)
-- >   m.y = Normal(m.theta, d.sigma)
-- > end)
-- > posed = schools { y = { 28, 8, -3, 7, -1, 1, 18, 12 }, sigma = { 15, 10, 16, 11, 9, 11, 10, 18 } }
-- > posed:fit({ seed = 1 }).verdict
-- ok

--@ Model
-- A model with data: model { y = ... }. Nothing is computed until it is asked for.
-- > model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- posed model
--   mu           latent    Normal
--   y            observed  Normal
local function model (body, ...)
  errors.no_more("model(body)", ...)
  return setmetatable({ body = errors.check_function("model", "body", body) }, Model)
end

-- Finds the sites, when they are first needed.
local function discover (self)
  if rawget(self, "is_discovering") then raise "model: its body asks for the sites of its own posed model" end
  local found = core.during(self, "is_discovering", run.body, self.body, self.data, handlers.discovery())
  if found.size == 0 then raise("model: every site is observed; there is nothing to infer") end
  rawset(self, "found", found)
  self.latents, self.size = found.latents, found.size
  return found
end

--- The model with its data, a table of named values. Nothing is computed yet.
function Model:__call (data, ...)
  errors.no_more("a model with data takes one table, and", ...)
  return setmetatable({ model = self, body = self.body, data = Data.new(data) }, Posed)
end

function Model.__tostring () return "model" end


-- Posed models --------------------------------------------------------------------------------

--@ Model:sites() -> table
-- Its sites in the order of their declaration: a list of { name =, kind = "latent", "observed", "derived" or "factor",
-- shape =, distribution = name of the class }.
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > posed:sites()[2].kind
-- observed
function Posed:sites ()
  local found, list = self.found or discover(self), {}
  for i, site in ipairs(found.sites) do
    list[i] = { name = site.name, kind = site.kind, shape = table.move(site.shape, 1, #site.shape, 1, {}),
                distribution = site.distribution }
  end
  return list
end

--- The free numbers that a fit starts from: 0, or those of values `init` by name.
function Posed:start (init)
  if not self.found then discover(self) end
  if init == nil then return tensor.cat(self.found.start) end
  for name in next, init do
    if not self.latents[name] then errors.unknown("init", "unobserved site", name, self:latent_names()) end
  end
  return tensor.cat(run.body(self.body, self.data, handlers.discovery(init)).start)
end

--- The name of what makes the log density at u infinite or NaN, and its part of it; nil if nothing does.
function Posed:culprit (u)
  local found
  local handler = handlers.terms(self.latents, core.param(u), function (name, term)
    term = core.is_tensor(term) and core.item(term) or term
    if term - term ~= 0 then found = found or { name, term } end
  end)
  construction.unchecked(run.body, self.body, self.data, handler)
  for _, of_rank in ipairs(self.comm and self.comm:allgather(found or {}) or { found }) do
    if of_rank[1] then return of_rank[1], of_rank[2] end
  end
  return nil
end

--- "mu = 0, tau = 1": the values of sites at u, in a message.
function Posed:describe (density, u)
  local values, parts = density:report(u:reshape(1, self.size)), {}
  for i, site in ipairs(self.latents) do parts[i] = site.name .. " = " .. show.parameter(values[site.name][1]) end
  return table.concat(parts, ", ")
end

function Posed:latent_names ()
  if not self.found then discover(self) end
  local names = {}
  for i, site in ipairs(self.latents) do names[i] = site.name end
  return names
end

--@ Model:log_joint(values) -> number
-- The log joint density of values by name, as users see them; -inf outside of their supports.
--   values  table of all unobserved sites by name
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > posed:log_joint { mu = 1 }
-- -2.8378770664093
function Posed:log_joint (values)
  if type(values) ~= "table" then raise("log_joint: takes a table of values by name, got %s", show.value(values)) end
  local found = self.found or discover(self)
  for name in next, values do
    if not found.latents[name] then errors.unknown("log_joint", "unobserved site", name, self:latent_names()) end
  end
  local sum = 0
  for first, count in self.data:blocks() do
    local handler = handlers.joint(values, self.data.streamed and { first = first, count = count } or nil)
    local total = run.body(self.body, self.data, handler).total
    sum = sum + (core.is_tensor(total) and core.item(total) or total) * (count / (self.data.streamed or 1))
  end
  return sum
end

-- Lists of values by name, stacked.
local function stacked (lists)
  local all = {}
  for name, list in pairs(lists) do all[name] = tensor.stack(list) end
  return all
end

local function append (lists, values)
  for name, value in pairs(values) do
    local list = lists[name] or {}
    lists[name], list[#list + 1] = list, core.is_tensor(value) and value or core.tensor(value)
  end
end

--- Runs the body n times, drawing what values(i) do not give: all values by name, n in front.
function Posed:simulate (data, n, rng, values)
  local lists = {}
  for i = 1, n do
    append(lists, run.body(self.body, data, handlers.sampling(self.latents, values and values(i) or {}, rng)).values)
  end
  return stacked(lists)
end

--- n draws of the free numbers from the prior, as rows; sites are centred as in a density.
function Posed:prior_rows (n, centring, rng)
  local rows = {}
  for i = 1, n do
    local drawing = handlers.drawing(self.latents, centring, rng)
    local ok, why = pcall(run.body, self.body, self.data, drawing)
    if not ok and why ~= drawing then error(why, 0) end
    rows[i] = tensor.cat(drawing.parts)
  end
  return tensor.stack(rows)
end

--@ Model:prior(n, rng) -> table
-- n draws from the prior, of observed and derived values too: tensors by name, draws in front.
--   n  integer
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > #posed:prior(10, rng(1)).y
-- 10
function Posed:prior (n, rng)
  if math.type(n) ~= "integer" or n < 1 then raise("prior: n must be a positive integer, got %s", show.value(n)) end
  local observed = self:observed_names()
  return self:simulate(self.data:without(observed), n, rng)
end

--- The names of observed sites, as keys.
function Posed:observed_names ()
  local names = {}
  for _, site in ipairs(self:sites()) do names[site.name] = site.kind == "observed" or nil end
  return names
end

function Posed:__tostring ()
  local lines = { "posed model" }
  for _, site in ipairs(self:sites()) do
    lines[#lines + 1] = string.format("  %-12s %-9s %s %s", site.name, site.kind, site.distribution or "",
                                      #site.shape > 0 and show.shape(site.shape) or "")
  end
  return table.concat(lines, "\n")
end

errors.count_arguments("posed model", Posed, "sites log_joint prior")

return { model = model, discover = discover, methods = METHODS }
