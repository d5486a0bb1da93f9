--- ?name explains a name, ?word lists what is about it.
local ask = {}

-- The entries in which a word is found, a line each.
local function listed (found, word)
  if #found == 0 then return nil, "nothing is known about " .. word end
  local lines, widest = {}, 0
  for _, entry in ipairs(found) do widest = math.max(widest, math.min(#entry.name, 36)) end
  for i, entry in ipairs(found) do
    lines[i] = string.format("  %-" .. widest .. "s  %s", entry.name, entry.sentence or "")
  end
  return table.concat(lines, "\n")
end

--- What is asked, without the question mark: a text, or nil and why there is none.
function ask.about (question)
  local word = question:match "^%s*(.-)%s*$"
  local help = require "perilune.help"
  if word == "" then
    return [[
?name     explains: ?Gamma, ?kl_divergence, ?Tensor:sum
?word     lists what is about it: ?quantile
TAB       completes names, methods and, in quotes, files
time x    evaluates x and says how long it took
_         is the last value; a semicolon at the end keeps a value from being shown
Ctrl-C    stops what runs, Ctrl-R looks for an earlier line, Ctrl-D leaves]]
  end
  word = word:gsub("%(.*$", ""):gsub("^peri%.", "")
  local entry = help.entry(word)
  if entry then return tostring(entry) end
  return listed(help.find(word), word)
end

return ask
