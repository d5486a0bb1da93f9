--- Writes the table of registered pairs into docs/kl.md; with the argument "text" returns it instead.
local peri = require "perilune"

local FILE, START, STOP = "docs/kl.md", "<!-- pairs -->\n", "<!-- end of pairs -->"

-- Names of our own classes; "Distribution" is any.
local own = { Distribution = true }
for _, name in ipairs(peri.distributions()) do own[name] = true end

-- A line for each P, with all of its Q.
local function lines ()
  local list, last, seen = {}, nil, {}
  for _, pair in ipairs(peri.kl_pairs()) do
    local P, Q = pair[1], pair[2]
    if own[P] and own[Q] and not seen[P .. Q] then
      seen[P .. Q] = true
      list[#list] = P == last and list[#list] .. ", " .. Q or list[#list]
      if P ~= last then list[#list + 1] = "| " .. P .. " | " .. Q end
      last = P
    end
  end
  return list
end

local function text ()
  return "| P | Q |\n|---|---|\n" .. table.concat(lines(), " |\n") .. " |\n"
end

if ... == "text" then return text() end

local file = assert(io.open(FILE))
local page = file:read("a")
file:close()
local _, start = page:find(START, 1, true)
local stop = page:find(STOP, 1, true)
assert(start and stop, FILE .. " has no place for the table")
file = assert(io.open(FILE, "w"))
file:write(page:sub(1, start), text(), page:sub(stop))
file:close()
