--- Do results hang on what was asked for before? Random calls, in one order and in another: each must return what it
-- did, to the last bit, and so it must in a process of its own, whose tables have another order.
--
--   lua spec/long/history.lua [seed] [laws of each class]
--
-- Run by `make history`; spec/history_spec.lua has some of it.
local peri         = require "perilune"
local Random       = require "spec.fuzz.random"
local random_calls = require "spec.support.random_calls"

local history = {}

local function shown (x) return math.type(x) == "float" and ("%.17g"):format(x) or tostring(x) end

-- What a call returns, or the error that it raises, as text.
local function outcome (p, q, call)
  local ok, run = pcall(random_calls.compiled(p, q, call), peri)
  local results = table.pack(ok, run)
  if ok then results = table.pack(pcall(run)) end
  for i = 1, results.n do results[i] = shown(results[i]) end
  return table.concat(results, " ")
end

--- The calls of a seed as { p, q, call }, `count` laws of each of these classes, or of all.
function history.calls (seed, count, wanted)
  local list = {}
  random_calls.each(seed, count, wanted, function (...) list[#list + 1] = { ... } end)
  return list
end

--- What each of the calls returns, as texts: in their order, or shuffled by a seed.
function history.outcomes (calls, seed)
  local order, found = {}, {}
  for i = 1, #calls do order[i] = i end
  local random = seed and Random.new(seed)
  for i = #order, 2, -1 do
    local k = random and random:integer(1, i) or i
    order[i], order[k] = order[k], order[i]
  end
  for _, i in ipairs(order) do found[i] = outcome(table.unpack(calls[i])) end
  return found
end

--- Says of which calls two lists of outcomes differ, by say(line); how many.
function history.compare (calls, first, second, say)
  local count = 0
  for i, call in ipairs(calls) do
    if first[i] ~= second[i] then
      count = count + 1
      say(("%s  -- p = %s; q = %s: %s, and then %s"):format(call[3], call[1], call[2], first[i], second[i]))
    end
  end
  return count
end

-- Another process's outcomes, one a line.
local function elsewhere (seed, count)
  local pipe, list = assert(io.popen(("%s spec/long/history.lua %d %d alone"):format(arg[-1], seed, count))), {}
  for line in pipe:lines() do list[#list + 1] = line end
  assert(pipe:close())
  return list
end

local function main ()
  local seed, count = tonumber(arg[1]) or 1, tonumber(arg[2]) or 6
  local calls = history.calls(seed, count)
  if arg[3] == "alone" then
    for _, text in ipairs(history.outcomes(calls, seed)) do print((text:gsub("\n", " "))) end
    return
  end
  local first = history.outcomes(calls)
  local wrong = history.compare(calls, first, history.outcomes(calls, seed + 1), print)
  for i, text in ipairs(first) do first[i] = text:gsub("\n", " ") end
  wrong = wrong + history.compare(calls, first, elsewhere(seed, count), print)
  print(("%d calls in three orders, %d that differ"):format(#calls, wrong))
  os.exit(wrong == 0 and #calls > 0)
end

if arg and arg[0] and arg[0]:find "history%.lua$" then main() end

return history
