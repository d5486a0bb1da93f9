--- Verdicts beside the truth: random posteriors whose answers are known by other means, in sets, each fitted by some
-- methods. A confusion table for each method; right is: every mean within 0.25 sd, every sd within a factor of 1.25.
--
--   lua5.4 bench/verdicts.lua [methods] [part of a set's name] [seeds] [verbose]
local posteriors = require "bench.support.known"
local reference = require "bench.support.chains"
local weighted  = require "perilune.inference.weighted"

local methods, only, seeds, verbose = arg[1] or "vi,laplace,pathfinder,fit", arg[2] or "", tonumber(arg[3] or 1), arg[4]

local SLOW = 30   -- seconds

local function is_finite (x) return x - x == 0 end

local function numbers (x)
  return type(x) == "number" and { x } or x:reshape(-1):totable()
end

-- The sds of a bad fit are withheld; here they are made up for.
local function moments (post, name)
  if post.verdict ~= "bad" then return post.mean[name], post.sd[name] end
  local x = post.values[name]
  return weighted.moments(x:reshape(x.shape[1], -1), post.weights)
end

-- The largest error of a mean in sds, the largest factor between sds, and where.
local function errors (post, truth)
  local worst, factor, at = 0, 1, ""
  for name, t in pairs(truth) do
    local found_mean, found_sd = moments(post, name)
    local mean, sd, true_mean, true_sd = numbers(found_mean), numbers(found_sd), numbers(t.mean), numbers(t.sd)
    for j = 1, #true_mean do
      if true_sd[j] <= 1e-12 * math.abs(true_mean[j]) then goto next end   -- the support fixes it, but for rounding
      local off, ratio = math.abs(mean[j] - true_mean[j]) / true_sd[j], sd[j] / true_sd[j]
      if not is_finite(off) then return math.huge, math.huge, name end
      if true_sd[j] < math.huge then ratio = math.max(ratio, 1 / ratio) end
      if off > worst or ratio > factor then at = name .. "[" .. j .. "]" end
      worst, factor = math.max(worst, off), math.max(factor, ratio == ratio and ratio or math.huge)
      ::next::
    end
  end
  return worst, factor, at
end

local KINDS = { "ok right", "ok wrong", "doubtful right", "doubtful wrong", "bad right", "bad wrong", "raised", "slow",
                "unknown" }

local function show (name, counts)
  local words = { name }
  for _, kind in ipairs(KINDS) do words[#words + 1] = tostring(counts[kind] or 0) end
  return "| " .. table.concat(words, " | ") .. " |"
end

local function judge (one, truth, method, seed, counts)
  local begin = os.clock()
  local ok, post = pcall(one.posed[method], one.posed, { seed = seed })
  local seconds = os.clock() - begin
  local function count (kind, ...)
    counts[kind] = (counts[kind] or 0) + 1
    local is_fault = kind == "ok wrong" or kind == "raised" or kind == "slow" or kind == "bad right"
    if is_fault or verbose then io.stderr:write(one.name, " ", method, " ", seed, ": ", kind, " ", ..., "\n") end
  end
  if not ok then return count("raised", tostring(post)) end
  if seconds > SLOW then count("slow", string.format("%.0f s", seconds)) end
  if not truth then return count("unknown", post.verdict) end
  local mean, sd, at = errors(post, truth)
  local is_right = mean <= 0.25 and sd <= 1.25
  local f, words = post.findings, {}
  for _, name in ipairs { "khat", "r0", "r", "kf", "sesd", "gap", "kept", "shift", "ratio" } do
    words[#words + 1] = string.format("%s %.2f", name, f[name] or 0 / 0)
  end
  count(post.verdict .. (is_right and " right" or " wrong"),
        string.format("%.3f sd, factor %.3f at %s (%s) %.1f s %s", mean, sd, at, table.concat(words, ", "), seconds,
                      post.reasons[1] or ""))
end

for method in methods:gmatch "%w+" do
  print("\n" .. method .. "\n")
  print("| set | " .. table.concat(KINDS, " | ") .. " |")
  print("|" .. string.rep("---|", #KINDS + 1))
  local all = {}
  for _, set in ipairs(posteriors) do
    if set.name:find(only, 1, true) then
      local counts = {}
      for i = 1, set.count do
        local one = set.make(i)
        one.name = set.name .. " " .. i .. (one.name and " (" .. one.name .. ")" or "")
        local truth = one.truth or reference.of(one)
        for seed = 1, seeds do judge(one, truth, method, seed, counts) end
      end
      print(show(set.name, counts))
      io.stdout:flush()
      for kind, n in pairs(counts) do all[kind] = (all[kind] or 0) + n end
    end
  end
  print(show("all", all))
end
