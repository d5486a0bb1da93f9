--- A page of SVG: pieces of text, colours, and where things are on it.
local show  = require "perilune.show"
local texts = require "perilune.plot.texts"
local ticks = require "perilune.plot.ticks"

local SMALL     = 12     -- size of letters
local CHARACTER = 0.56   -- width of one, about, by its height
local FAINT     = 0.08

-- Colours that colour-blind people tell apart too (Okabe and Ito), and those of what is around.
local LIGHT = {
  back = "#ffffff", ink = "#1f2328", soft = "#59636e", axis = "#8b949e", grid = "#e6eaef", heat = "#0b5394",
  "#0072b2", "#d55e00", "#009e73", "#b0568c", "#3a9bd9", "#b07d00", "#6a5acd", "#7f7f7f",
}
local DARK = {
  back = "#0d1117", ink = "#e6edf3", soft = "#9198a1", axis = "#6e7681", grid = "#21262d", heat = "#79c0ff",
  "#58b4f0", "#ff9a56", "#3ddbac", "#e89ac7", "#9ad4ff", "#f2c14e", "#a99bff", "#b0b0b0",
}

local Page = { LEVELS = 16, SMALL = SMALL, CHARACTER = CHARACTER }   -- shades of cells
Page.__index = Page

local ESCAPES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }
local function escaped (text) return (texts.clean(text):gsub('[&<>"]', ESCAPES)) end

--- A coordinate: a tenth is less than is seen.
local function at (x)
  local text = show.format("%.1f", x):gsub("%.0$", "")
  return text == "-0" and "0" or text
end

--- How much a shade covers; the faintest can be told from nothing on black, too.
function Page.opacity (level) return show.format("%.3g", FAINT + (1 - FAINT) * level / Page.LEVELS) end

function Page.new () return setmetatable({}, Page) end

function Page:add (...) self[#self + 1] = string.format(...) end

function Page:write (x, y, class, anchor, text, size, is_bold)
  self:add('<text x="%s" y="%s" class="%s"%s%s%s>%s</text>', at(x), at(y), class,
           anchor ~= "start" and ' text-anchor="' .. anchor .. '"' or "",
           size and ' font-size="' .. size .. '"' or "", is_bold and ' font-weight="600"' or "", escaped(text))
end

function Page:line (x1, y1, x2, y2, class)
  self:add('<path class="%s" d="M%s %sL%s %s"/>', class, at(x1), at(y1), at(x2), at(y2))
end

local function rules (theme)
  local list = {}
  local function add (pattern, ...) list[#list + 1] = string.format(pattern, ...) end
  for _, name in ipairs { "back", "ink", "soft", "heat" } do add(".%s{fill:%s}", name, theme[name]) end
  for _, name in ipairs { "axis", "grid" } do add(".%s{stroke:%s;fill:none}", name, theme[name]) end
  add(".l0{stroke:%s}", theme.soft)
  for i, colour in ipairs(theme) do add(".l%d{stroke:%s}.f%d{fill:%s}", i, colour, i, colour) end
  return table.concat(list)
end

--- Rules for classes: colours of lines l1, l2, ..., of areas f1, ..., of texts and axes.
function Page.style (theme)
  if theme == "dark" then return rules(DARK) end
  if theme == "light" then return rules(LIGHT) end
  return rules(LIGHT) .. "@media (prefers-color-scheme:dark){" .. rules(DARK) .. "}"
end

--- How wide a text is, about.
function Page.width_of (text, size) return texts.length(text) * (size or SMALL) * CHARACTER end

--- The number of a mark's colour.
function Page.series_of (mark) return mark.series == 0 and 0 or (mark.series - 1) % #LIGHT + 1 end

--- Within a box, whose corner is the origin: pixels of a place.
function Page.x_of (panel, box, x) return ticks.place(panel.x, x) * box.width end
function Page.y_of (panel, box, y)
  local place = ticks.place(panel.y, y)
  return (panel.y.down and place or 1 - place) * box.height
end

Page.at, Page.escaped = at, escaped

return Page
