--- Fits of the fourteen posteriors of spec/support/posteriors.lua: verdict, worst error of a mean in sds, largest
-- factor between sds, seconds. `make posteriors` writes bench/posteriors.md.
local peri       = require "perilune"
local posteriors = require "spec.support.posteriors"

local methods, seeds, only = arg[1] or "vi", tonumber(arg[2] or 3), arg[3]

print("| posterior | method | seed | verdict | worst mean, sd | sd ratio | gradients and densities | s |")
print("|---|---|---|---|---|---|---|---|")
local wrong, counts = 0, {}
for _, one in ipairs(posteriors.all()) do
  for method in methods:gmatch "%w+" do
    for seed = 1, (not only or one.name:find(only, 1, true)) and seeds or 0 do
      local begin = os.clock()
      local ok, post = pcall(one.posed[method], one.posed, { rng = peri.rng(seed) })
      local seconds = os.clock() - begin
      if not ok then
        print(string.format("| %s | %s | %d | raised | %s | | | %.2f |", one.name, method, seed, post, seconds))
      else
        local mean, sd = posteriors.errors(post, one.reference)
        local is_wrong = post.verdict == "ok" and not (mean <= 0.25 and sd <= 1.25)
        wrong = wrong + (is_wrong and 1 or 0)
        counts[post.verdict] = (counts[post.verdict] or 0) + 1
        print(string.format("| %s | %s | %d | %s%s | %.3f | %.3f | %d | %.2f |", one.name, method, seed, post.verdict,
                            is_wrong and " WRONG" or "", mean, sd, post.density.evaluations, seconds))
        if only then
          for _, reason in ipairs(post.reasons) do print(reason) end
          for k, v in pairs(post.findings or {}) do io.write(k, "=", tostring(v), " ") end
          print()
        end
      end
      io.stdout:flush()
    end
  end
end
print()
print(string.format("ok %d, of these wrong %d; doubtful %d; bad %d", counts.ok or 0, wrong, counts.doubtful or 0,
                    counts.bad or 0))
