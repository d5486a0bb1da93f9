--- Pictures of posteriors: of a site, or of all (marginals), traces and ranks of chains, pairs.
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local histogram = require "perilune.plot.histogram"
local options   = require "perilune.plot.options"
local points    = require "perilune.plot.points"
local scene     = require "perilune.plot.scene"
local show      = require "perilune.show"
local ticks     = require "perilune.plot.ticks"
local weighted  = require "perilune.inference.weighted"

local raise = errors.raise

local ranks_of = core.bind("row/sort", "ranks", "ranks", { "x" }, { "x" })

local posterior = {}

local MOST_ROWS, FEW_ROWS = 40, 12        -- of a forest, alone and among others
local MOST_PANELS, MOST_TRACES = 12, 6
local RANK_BINS = 15
local LEVELS = { 0.05, 0.25, 0.5, 0.75, 0.95 }

-- Sites and their elements --------------------------------------------------------------------

-- Names of all sites that have values, in the order of the model.
local function all_sites (post)
  local names = {}
  for _, site in ipairs(post.posed:sites()) do
    if post.values[site.name] then names[#names + 1] = site.name end
  end
  return names
end

local function check_site (post, name)
  if post.values[name] ~= nil then return end
  local names = { "trace", "ranks", "pairs" }
  for known in pairs(post.values) do names[#names + 1] = known end
  errors.unknown("plot", "site", name, names)
end

local function sites_of (post, read)
  local names = type(read.sites) == "string" and { read.sites } or read.sites or all_sites(post)
  for _, name in ipairs(names) do check_site(post, name) end
  return names
end

-- The elements of a site: columns and their names.
local function elements (post, name)
  local values = post.values[name]
  local shape = core.shape(values)
  local rows = table.remove(shape, 1)
  local columns, found = values:reshape(rows, -1), {}
  for j = 1, core.shape(columns)[2] do
    found[j] = { name = post.element_name(name, shape, j), x = columns:select(2, j):contiguous() }
  end
  return found
end

local function all_elements (post, names)
  local all = {}
  for _, name in ipairs(names) do
    for _, element in ipairs(elements(post, name)) do all[#all + 1] = element end
  end
  return all
end

local function weights_of (post) return post.log_weights and post.weights or false end


-- One site ------------------------------------------------------------------------------------

-- A histogram of a number. Weighted draws of hardly any weight do not make it wider.
local function number_panel (post, element, read)
  local q = weighted.quantiles(element.x, post.weights, { 0.0005, 0.5, 0.9995 })
  local own = { bins = read.bins, range = read.range, xlabel = read.xlabel, ylabel = read.ylabel }
  if weights_of(post) and q[3] - q[1] < math.huge then own.window = { q[1], q[3] } end
  local panel = histogram.panel({ element.x }, { weights_of(post) }, own, weights_of(post) and "share" or "draws")
  panel.x.label = read.xlabel or string.format("%s, median %s", element.name,
                                               ticks.text(q[2], math.max(math.abs(q[2]), q[3] - q[1]) * 1e-3))
  return panel
end

-- A line for each element: median, 50 % and 90 %.
local function forest_panel (post, list, most, read)
  local rows, names, n = {}, {}, math.min(#list, most)
  for j = 1, n do
    local q = weighted.quantiles(list[j].x, post.weights, LEVELS)
    rows[j] = { outer = { q[1], q[5] }, inner = { q[2], q[4] }, middle = q[3] }
    names[j] = list[j].name
  end
  local at = {}
  for j = 1, n do at[j] = j end
  local notes = { "median, and intervals of 50 % and 90 %" }
  if #list > n then notes[2] = string.format("... and %d more", #list - n) end
  return scene.panel { marks = { { kind = "spans", rows = rows, series = 1 } }, rows = n, notes = notes,
                       x = options.axis({ range = read.range, xlabel = read.xlabel }, "x"),
                       y = { at = at, texts = names, down = true, low = 0.5, high = n + 0.5 } }
end

local function site_panel (post, name, most, read)
  local list = elements(post, name)
  if #list == 1 then return number_panel(post, list[1], read) end
  return forest_panel(post, list, most, read)
end

local function notes_for (count, most)
  return count > most and { string.format("... and %d more", count - most) } or {}
end

local function marginals (new, post, read)
  local names, panels = sites_of(post, read), {}
  for i = 1, math.min(#names, MOST_PANELS) do
    local panel = site_panel(post, names[i], FEW_ROWS, { bins = read.bins })
    if not panel.rows then panel.y.at, panel.y.label = {}, nil end
    panels[i] = panel
  end
  return new { kind = "marginals", panels = panels, title = read.title, notes = notes_for(#names, MOST_PANELS) }
end


-- Chains ----------------------------------------------------------------------------------------

local function check_chains (post, what)
  local chains = rawget(post, "chains")
  if not chains then
    raise("plot: %s are of Markov chains, and this posterior has none (%s)", what, tostring(post.method or post.how))
  end
  return chains
end

local function traces (new, post, read)
  local chains, all, panels = check_chains(post, "traces"), all_elements(post, sites_of(post, read)), {}
  for i = 1, math.min(#all, MOST_TRACES) do
    local n, marks = math.floor(core.numel(all[i].x) / chains), {}
    local rows, numbers = all[i].x:reshape(chains, n), core.arange(1, n + 1)
    for c = 1, chains do
      local x, y = points.thinned(numbers, rows[c])
      marks[c] = { kind = "line", x = x, y = y, series = c, thin = true, solid = true }
    end
    panels[i] = scene.panel { marks = marks, title = all[i].name, x = { low = 1, high = n, integer = true }, y = {} }
  end
  local notes = notes_for(#all, MOST_TRACES)
  table.insert(notes, 1, string.format("%d chains, draw by draw", chains))
  return new { kind = "trace", panels = panels, columns = 1, panel_size = { 640, 140 }, title = read.title,
               notes = notes }
end

-- How the draws of each chain rank among all: even, if chains agree.
local function rank_panels (element, chains, panels)
  local n = core.numel(element.x)
  local each, all, highest = {}, math.floor(n / chains), 0
  local rows = ranks_of(element.x:reshape(1, -1)):reshape(chains, all)
  local bins = math.max(1, math.min(RANK_BINS, math.floor(all / 5)))
  for c = 1, chains do
    each[c] = require "perilune.plot.bins".count(rows[c], 0.5, n + 0.5, bins)
    for _, count in ipairs(each[c]) do highest = math.max(highest, count) end
  end
  local _, top = ticks.widen(0, highest, 5)
  local edges = {}
  for i = 0, bins do edges[i + 1] = 0.5 + i * n / bins end
  for c = 1, chains do
    panels[#panels + 1] = scene.panel {
      title = string.format("%s, chain %d", element.name, c), is_plain = true,
      marks = {
        { kind = "bars", edges = edges, heights = each[c], series = c, place = 1, of = 1 },
        { kind = "line", x = { edges[1], edges[#edges] }, y = { all / bins, all / bins }, series = 0, solid = true },
      },
      x = { low = edges[1], high = edges[#edges] }, y = { low = 0, high = top, at = {} },
    }
  end
end

local function ranks (new, post, read)
  local chains, all, panels = check_chains(post, "ranks"), all_elements(post, sites_of(post, read)), {}
  for i = 1, math.min(#all, MOST_TRACES) do rank_panels(all[i], chains, panels) end
  local notes = notes_for(#all, MOST_TRACES)
  table.insert(notes, 1, "ranks of each chain's draws among all; the line is where chains that agree would be")
  return new { kind = "ranks", panels = panels, columns = math.min(chains, 4), title = read.title, notes = notes }
end

local function pairs_picture (new, post, read)
  local all, columns, names = all_elements(post, sites_of(post, read)), {}, {}
  for i, element in ipairs(all) do columns[i], names[i] = element.x, element.name end
  local n = rawget(post, "divergences") or 0
  local divergent = n > 0 and post.stats.divergent:reshape(-1) or nil
  return require "perilune.plot.pairs".figure(new, columns, names, weights_of(post), read.title, divergent,
                                              string.format("%d divergent trajector%s", n, n == 1 and "y" or "ies"))
end

local KINDS = { marginals = marginals, trace = traces, ranks = ranks, pairs = pairs_picture }

--- A picture of a posterior: of a site, or of a kind; of all sites by default.
function posterior.of (new, post, what, given)
  if what ~= nil and type(what) ~= "string" then
    raise("plot: what must be the name of a site, \"trace\", \"ranks\" or \"pairs\", got %s", show.value(what))
  end
  if what == nil or post.values[what] == nil and KINDS[what] then
    local read = options.read("plot", given, { options.COMMON[1] }, options.SITES, what == nil and options.BINS or {})
    return KINDS[what or "marginals"](new, post, read)
  end
  check_site(post, what)
  local read = options.read("plot", given, options.COMMON, options.BINS, { options.AXES[2] })
  return new { kind = "site", panels = { site_panel(post, what, MOST_ROWS, read) }, title = read.title, notes = {} }
end

return posterior
