--- Pictures: what a call of plot or hist means, and the Plot that it gives.
--
-- scene.lua says what a picture consists of; terminal.lua and svg.lua draw it.
local class        = require "perilune.class"
local core         = require "perilune.core"
local curves       = require "perilune.plot.curves"
local errors       = require "perilune.errors"
local fits         = require "perilune.fit.result"
local histogram    = require "perilune.plot.histogram"
local options      = require "perilune.plot.options"
local points       = require "perilune.plot.points"
local scene        = require "perilune.plot.scene"
local show         = require "perilune.show"
local Distribution = require "perilune.distribution"
local Posterior    = require "perilune.inference.posterior"

local raise = errors.raise

local plot = {}

local Plot = { __name = "Plot" }
Plot.__index = Plot

-- A Plot of { panels, title, notes, columns, kind, n }.
local function new (fields) return setmetatable(scene.cleaned(fields), Plot) end

plot.new = new

--@ Plot:text(options) -> string
-- The picture as text, as printing shows it: braille, blocks and shades, or ASCII.
--   options  width = columns (those of the terminal, or 80); height = rows of each panel; ascii = true or false (by the
--            locale); colour = true for terminals that know 256 colours
-- > plot({0, 1, 4, 9, 16}):text{width = 30, height = 4, ascii = true}
-- 20 +
-- 15 +                      ****
-- 10 +                ******
--  5 +****************
--  0 ++-----+------+-----+-----+
--     1     2      3     4     5
function Plot:text (given)
  local width = require "perilune.plot.width"
  local read = options.read("Plot:text", given, options.TEXT)
  read.width = read.width or width.columns()
  if read.ascii == nil then read.ascii = not width.is_utf8() end
  return require "perilune.plot.terminal".text(self, read)
end

--@ Plot:spark(options) -> string
-- The first curve or the bars of a picture as one line of blocks, without axes; nothing is a space.
--   options  width = characters at most, for bars one each (60); ascii = true or false (by the locale)
-- > plot{1, 2, 4, 8, 5, 3, 1}:spark{ascii = true}
-- ...#:..
function Plot:spark (given)
  local read = options.read("Plot:spark", given, options.SPARK)
  if read.ascii == nil then read.ascii = not require "perilune.plot.width".is_utf8() end
  return require "perilune.plot.spark".text(self, read)
end

--@ Plot:svg(options) -> string
-- The picture as SVG, readable on light and dark pages, as the reader's system has it.
--   options  width = pixels; height = pixels; theme = "auto", "light" or "dark"
-- > plot(Normal(0, 1)):svg():match "^<svg"
-- <svg
function Plot:svg (given)
  return require "perilune.plot.svg".text(self, options.read("Plot:svg", given, options.SVG))
end

--@ Plot:save(path, options) -> Plot
-- Writes the picture to a file: SVG if its name ends in .svg, text if it ends in .txt.
--   path     string
--   options  a table, for Plot:svg or Plot:text
-- > path = os.tmpname()
-- > plot(Normal(0, 1)):save(path .. ".svg") and os.remove(path .. ".svg") and os.remove(path)
-- true
function Plot:save (path, given)
  if type(path) ~= "string" then raise("Plot:save: path must be a string, got %s", show.value(path)) end
  local ending = path:lower():match "%.(%w+)$"
  if ending ~= "svg" and ending ~= "txt" then
    raise("Plot:save: path must end in .svg or .txt, got %s", show.value(path))
  elseif not (io and io.open) then
    raise "Plot:save: there is no io library here: write plot:svg() or plot:text() yourself"
  end
  local text = ending == "svg" and self:svg(given) or self:text(given) .. "\n"
  local file, message = io.open(path, "w")
  if not file then raise("Plot:save: %s", message) end
  local ok, why = file:write(text)
  file:close()
  if not ok then raise("Plot:save: %s", why) end
  return self
end

function Plot:__tostring () return self:text() end

-- A picture is also a piece of text.
function Plot.__concat (a, b) return tostring(a) .. tostring(b) end

errors.count_arguments("Plot", Plot, "text spark svg save")


-- What a call means ------------------------------------------------------------------------

local function is_law (x) return class.is_instance(x, Distribution) and not class.is_class(x) end
local function is_posterior (x) return type(x) == "table" and getmetatable(x) == Posterior end

local function is_callable (x)
  local meta = type(x) == "table" and not class.is_class(x) and getmetatable(x)
  return type(x) == "function" or type(meta) == "table" and meta.__call ~= nil
end

-- A list of things of one kind?
local function is_list_of (rule, x)
  if type(x) ~= "table" or getmetatable(x) ~= nil or #x == 0 then return false end
  for i = 1, #x do
    if not rule(x[i]) then return false end
  end
  return true
end

-- A table of options, by its keys; an empty one holds none.
local function is_options (x)
  if type(x) ~= "table" or getmetatable(x) ~= nil then return false end
  return next(x) == nil or core.table_kind(x) == "named"
end

-- Numbers as a tensor that has a dimension at least.
local function as_tensor (who, name, x)
  if core.table_kind(x) == "named" then
    raise("%s: %s must be numbers, got a table with names; choose a column of it, as in d.name", who, name)
  elseif is_law(x) then
    raise("%s: %s must be numbers, got %s; d:sample(1000) has some of a distribution d", who, name, tostring(x))
  end
  local t = core.operand(x, who, name)
  t = core.is_tensor(t) and t:detach() or t
  return core.is_tensor(t) and core.rank(t) > 0 and t or core.tensor { core.item(t) }
end

-- One panel as a Plot.
local function single (kind, panel, read, n)
  local title = read.title or panel.title
  panel.title = nil
  return new { kind = kind, panels = { panel }, title = title, notes = {}, n = n }
end

local function plot_laws (list, given)
  local read = options.read("plot", given, options.COMMON, options.AXES, options.NAMES, options.LAWS)
  local d = list[1]
  if #list == 1 and #d.event_shape > 0 then return require "perilune.plot.planes".law(new, d, read) end
  local panel = require "perilune.plot.laws".panel(list, read)
  panel.title = #list == 1 and tostring(d) or nil
  return single("law", panel, read)
end

local function plot_functions (list, a, b, given)
  if type(a) == "table" then
    local read = options.read("plot", given, options.COMMON)
    if #list > 1 then raise "plot: a heat map is of one function, got several" end
    return single("heat", require "perilune.plot.planes".of_function(list[1], a, b, read), read)
  end
  local read = options.read("plot", given, options.COMMON, options.AXES, options.NAMES)
  return single("function", curves.functions(list, a, b, read), read)
end

local function plot_data (x, y, given)
  local read = options.read("plot", given, options.COMMON, options.AXES, options.NAMES, options.DATA)
  local panel, n = points.panel(x, y, read)
  return single("data", panel, read, n)
end

local function plot_matrix (t, given)
  local read = options.read("plot", given, options.COMMON)
  return single("heat", require "perilune.plot.planes".matrix(t, read), read)
end

-- The last argument, if it is a table of options; and the others.
local function split (...)
  local n = select("#", ...)
  while n > 0 and select(n, ...) == nil do n = n - 1 end
  local last = n > 1 and select(n, ...) or nil
  if n > 1 and is_options(last) then return last, n - 1, ... end
  return nil, n, ...
end

local function check_count (most, n, call)
  if n > most then raise("plot: %s takes no more arguments, got %d", call, n) end
end

local function dispatch (given, n, first, second, third)
  if fits.is_fit(first) then first = first.distribution end
  if is_law(first) or is_list_of(is_law, first) then
    check_count(1, n, "plot(law, options)")
    return plot_laws(is_law(first) and { first } or first, given)
  elseif is_posterior(first) then
    check_count(2, n, "plot(posterior, what, options)")
    return require "perilune.plot.posterior".of(new, first, second, given)
  elseif is_callable(first) or is_list_of(is_callable, first) then
    check_count(3, n, "plot(f, a, b, options)")
    return plot_functions(is_callable(first) and { first } or first, second, third, given)
  elseif class.is_class(first) then raise("plot: %s is no distribution, but makes them", tostring(first))
  elseif type(first) ~= "table" and not core.is_tensor(first) then
    raise("plot: takes a distribution, a posterior, a function or numbers, got %s", show.value(first))
  end
  check_count(2, n, "plot(x, y, options)")
  local x = as_tensor("plot", n > 1 and "x" or "y", first)
  if n > 1 then return plot_data(x, as_tensor("plot", "y", second), given) end
  if core.rank(x) == 2 then return plot_matrix(x, given) end
  return plot_data(nil, x, given)
end

--@ peri.plot(x, y, z, options) -> Plot
-- A picture, which is text when it is printed; Plot:save writes it as SVG. What lies outside, is cut off or left out is
-- said below it.
--   x        distribution, or a list of them: densities or probabilities, with both KL divergences of two; laws of two
--            dimensions are heat maps. A function f, or a list: from the number y to z, or f(x, y) as a heat map over
--            {low, high} and {low, high}. Numbers: points, or a line where they rise; alone they are those of y. A
--            matrix: a heat map. What fit returns: the fitted distribution. A posterior: as Posterior:plot shows it
--   y        where functions begin; numbers over those of x, rows of a matrix being curves; what of a posterior
--   z        where functions end
--   options  title = text; xlabel = text; ylabel = text; range = {low, high} of x; yrange = {low, high} of y;
--            log = "x", "y" or "xy"; names = list of strings, one for each curve; what = "prob", "cdf", "sf" or
--            "log_prob", of distributions ("prob"); mark = "line", "points" or "steps", of numbers
-- > plot(Bernoulli(0.25)):text{height = 3, ascii = true}
-- Bernoulli(probs=0.25)
-- probability
-- 0.8 + :::::::
-- 0.6 + #######
-- 0.4 + #######  .......
-- 0.2 + #######  #######
--   0 +----+--------+----
--          0        1
function plot.plot (...) return dispatch(split(...)) end

-- Vectors of a call of hist: one of whatever shape, or a list of tensors.
local function vectors_of (x)
  if is_list_of(core.is_tensor, x) then
    local list = {}
    for i, t in ipairs(x) do list[i] = t:detach():reshape(-1) end
    return list
  end
  return { as_tensor("hist", "x", x):reshape(-1) }
end

--@ peri.hist(x, options) -> Plot
-- A histogram of numbers: a bin for each whole number if they are few, else bins of a round width by Freedman and
-- Diaconis. Empty bins are empty; what lies far outside is left out, and said.
--   x        tensor or list of numbers, of any shape; a list of tensors: outlines of several samples, as densities
--   options  bins = number of them, or a list of edges; range = {low, high} of x; yrange = {low, high} of y;
--            law = distribution whose density is drawn too; log = "x", "y" or "xy"; names = list of strings, of
--            samples; title = text; xlabel = text; ylabel = text
-- > hist({1, 2, 2, 3}).n
-- 4
function plot.hist (x, given, ...)
  errors.no_more("hist(x, options)", ...)
  local read = options.read("hist", given, options.COMMON, options.AXES, options.NAMES, options.BINS, options.OVERLAY)
  if read.law and not is_law(read.law) then raise("hist: law must be a distribution, got %s", show.value(read.law)) end
  if read.law and read.log then raise "hist: a law is drawn on linear axes only" end
  local vectors = vectors_of(x)
  local panel, n = histogram.panel(vectors, {}, read)
  return single("hist", panel, read, n)
end

return plot
