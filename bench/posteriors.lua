--- Fits of the fourteen posteriors of spec/support/posteriors.lua: verdict, worst error of a mean in sds, largest
-- factor between sds, seconds of CPU. `make posteriors` writes bench/posteriors.md.
--
-- Arguments: methods ("vi nuts"), seeds, and a part of the names of posteriors; with the last one reasons are shown.
local posteriors = require "spec.support.posteriors"

local methods, seeds, only = arg[1] or "vi fit laplace pathfinder nuts", tonumber(arg[2] or 3), arg[3]

local function is_wrong (post, mean, sd) return post.verdict == "ok" and (mean > 0.25 or sd > 1.25 or mean ~= mean) end

-- One fit: a row of the table; what it found is added to the counts of its method.
local function row (one, method, seed, counts)
  local begin = os.clock()
  local ok, post = pcall(one.posed[method], one.posed, { seed = seed })
  local seconds = os.clock() - begin
  counts.seconds = counts.seconds + seconds
  if not ok then
    counts.raised = counts.raised + 1
    return string.format("| %s | %s | %d | raised: %s | | | | %.2f |", one.name, method, seed, post, seconds)
  end
  local mean, sd = posteriors.errors(post, one.reference)
  counts[post.verdict] = counts[post.verdict] + 1
  if is_wrong(post, mean, sd) then counts.wrong = counts.wrong + 1 end
  local errors = post.chains and string.format("%.1f", posteriors.standard_errors(post, one.reference)) or ""
  local reasons = only and " " .. table.concat(post.reasons, "; ") or ""
  return string.format("| %s | %s | %d | %s%s%s | %.3f | %.3f | %s | %.2f |", one.name, method, seed, post.verdict,
                       is_wrong(post, mean, sd) and " WRONG" or "", reasons, mean, sd, errors, seconds)
end

print("# Fourteen posteriors with known answers\n")
print [[
What each way to a posterior says of its answer, and how far off that is: the worst error of a mean, in sds, and the
largest factor between sds. Wrong is what is called ok and more than 0.25 sd off, or by more than 1.25 in an sd. Of
chains also the worst error of a mean or an sd in Monte Carlo standard errors.
Written by `make posteriors`; seconds of CPU on one core.
]]
local all, lines, summary = posteriors.all(), {}, {}
for method in methods:gmatch "%w+" do
  local counts = { ok = 0, doubtful = 0, bad = 0, wrong = 0, raised = 0, seconds = 0 }
  for _, one in ipairs(all) do
    for seed = 1, (not only or one.name:find(only, 1, true)) and seeds or 0 do
      lines[#lines + 1] = row(one, method, seed, counts)
      io.stderr:write(lines[#lines], "\n")
    end
  end
  summary[#summary + 1] = string.format("| %s | %d | %d | %d | %d | %d | %.1f |", method, counts.ok, counts.wrong,
                                        counts.doubtful, counts.bad, counts.raised, counts.seconds)
end
print("| method | ok | of these wrong | doubtful | bad | raised | s |\n|---|---|---|---|---|---|---|")
print(table.concat(summary, "\n"))
print("\n| posterior | method | seed | verdict | worst mean, sd | sd ratio | worst, standard errors | s |")
print("|---|---|---|---|---|---|---|---|")
print(table.concat(lines, "\n"))
