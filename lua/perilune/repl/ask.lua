--- ?name explains a name, ?word lists what is about it.
local characters = require "perilune.characters"

local ask = {}

local GENERAL = [[
?name     explains: ?Gamma, ?kl_divergence, ?Tensor:sum
?word     lists what is about it: ?quantile
help()    lists all there is
TAB       completes names, methods and, in quotes, files
time x    evaluates x and says how long it took
_         is the last value; a semicolon at the end keeps a value from being shown
Ctrl-C    stops what runs, Ctrl-R looks for an earlier line, Ctrl-D leaves]]

--- What is asked, without the question mark: a text, or nil and why there is none. Of a variable that no entry has
-- for its name, `look_up` gives the value, which is explained instead.
function ask.about (question, look_up)
  local word = characters.trim_end(question):match "^%s*(.*)"
  if word == "" then return GENERAL end
  local help = require "perilune.help"
  word = word:gsub("%(.*$", "")
  local value = look_up(word)
  local entry = help.entry(word) or value ~= nil and type(value) ~= "string" and help.entry(value)
  local is_method = entry and entry.name and entry.name:match ":([%w_]+)$" == word   -- a word as well: ?kl
  if entry and not is_method then return tostring(entry) end
  local found = help.find(word)
  if is_method then return tostring(entry) .. (#found > 1 and "\n\n" .. tostring(found) or "") end
  if #found > 0 then return tostring(found) end
  return nil, "nothing is known about " .. word
end

return ask
