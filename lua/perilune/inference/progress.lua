--- Where the option `progress` of the ways to a posterior sends what they say.
--
--   true           one line on the standard error, written over and over; nothing where that is no terminal
--   a function     is called with a table: text, method, and what else the method knows; of chains once for each,
--                  with chain, done, of (iterations, warm-up included), phase, divergences, seconds_left
local options = require "perilune.inference.options"
local width   = require "perilune.plot.width"

local MOST_CHAINS = 8   -- whose shares are listed

local progress = {}

local function write (text, is_last)
  io.stderr:write("\r", text, "\27[K", is_last and "\n" or "")
  io.stderr:flush()
end

local function is_shown (option)
  return option == "always" or option == true and io ~= nil and width.is_terminal(2)
end

--- A function (info, is_last) for this option; info is a table with the field text, or the text alone.
function progress.reporter (option, method)
  if options.is_callable(option) then
    return function (info)
      if type(info) == "string" then info = { text = info } end
      info.method = method
      option(info)
    end
  end
  if not is_shown(option) then return function () end end
  return function (info, is_last) write(type(info) == "string" and info or info.text, is_last) end
end

--- The option as a rank of several has it: where it is true rank 0 writes the line, whatever the standard error is,
-- since it always is a pipe there.
function progress.of_rank (option, comm)
  if option ~= true or not io then return option end
  return comm.rank == 0 and "always" or false
end

--- Is anybody listening?
function progress.is_wanted (option) return options.is_callable(option) or is_shown(option) end

-- "3 s", "2 min 5 s", "1 h 4 min"
local function duration (seconds)
  if seconds < 9.95 then return string.format("%.1f s", seconds) end
  local whole = math.floor(seconds + 0.5)
  if whole < 60 then return whole .. " s" end
  if whole < 3600 then return string.format("%d min %d s", math.floor(whole / 60), whole % 60) end
  return string.format("%d h %d min", math.floor(whole / 3600), math.floor(whole % 3600 / 60))
end

local function percent (one) return math.floor(100 * one.done / one.of) end

local function shares (list)
  local words, least, most = {}, 100, 0
  for i, one in ipairs(list) do
    words[i] = tostring(percent(one))
    least, most = math.min(least, percent(one)), math.max(most, percent(one))
  end
  return #list <= MOST_CHAINS and table.concat(words, " ") or string.format("%d to %d", least, most)
end

-- One chain alone, as text.
local function chain_text (one)
  return string.format("%s: chain %d, %s, %d of %d iterations, %d divergences%s", one.method, one.chain, one.phase,
                       one.done, one.of, one.divergences or 0,
                       one.seconds_left and ", " .. duration(one.seconds_left) .. " left" or "")
end

--- All chains on one line.
function progress.line (list)
  local divergences, left, is_warm = 0, 0, false
  for _, one in ipairs(list) do
    divergences = divergences + (one.divergences or 0)
    left = one.seconds_left and left and math.max(left, one.seconds_left)
    is_warm = is_warm or one.phase == "warm-up"
  end
  return string.format("%s: %s %% of %d iterations, %s%s%s", list[1].method, shares(list), list[1].of,
                       is_warm and "warm-up" or "sampling",
                       divergences > 0 and string.format(", %d divergences", divergences) or "",
                       left and string.format(", %s left", duration(left)) or "")
end

--- What is known of chains that have done so many iterations (a list), with their divergences, after so many seconds in
-- which they did all but the first `before` of them. The first of them is chain `first`, 1 unless told.
function progress.of_chains (method, warmup, draws, done, divergences, before, seconds, first)
  local list, of = {}, warmup + draws
  for i, n in ipairs(done) do
    local new = n - (before and before[i] or 0)
    list[i] = { method = method, chain = i + (first or 1) - 1, done = n, of = of,
                phase = n < warmup and "warm-up" or "sampling", divergences = divergences and divergences[i],
                seconds_left = n == of and 0 or seconds and new > 0 and seconds / new * (of - n) or nil }
    list[i].text = chain_text(list[i])
  end
  return list
end

--- Tells of chains: each to a function, or all on a line.
function progress.tell_chains (option, list, is_last)
  if options.is_callable(option) then
    for _, one in ipairs(list) do option(one) end
  elseif is_shown(option) then write(progress.line(list), is_last) end
end

--- Ends a line that was not the last.
function progress.break_line (option)
  if is_shown(option) then io.stderr:write "\n" end
end

return progress
