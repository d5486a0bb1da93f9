--- posed:fit {}: tries ways to a posterior, the cheapest first, until one is ok.
local options = require "perilune.inference.options"
local vi      = require "perilune.inference.vi"

local ROWS = { { "seconds", 60, "positive", options.is_positive } }

local RANK = { ok = 3, doubtful = 2, bad = 1 }

-- Each: what it is called, and options of vi.
local TRIES = {
  { "vi", {} },
  { "vi with more starts", { starts = 24 } },
  { "vi, centred as written", { noncentred = false } },
}

local function is_better (a, b)
  if not b or RANK[a.verdict] ~= RANK[b.verdict] then return not b or RANK[a.verdict] > RANK[b.verdict] end
  return a.findings.r > b.findings.r
end

--- Within so many `seconds` of CPU. `post.tried` lists what was tried and how it ended.
return function (posed, given)
  local read = options.read("fit", given, ROWS)
  local report, tried, best, begin = options.reporter(read.progress), {}, nil, os and os.clock() or 0
  for _, try in ipairs(TRIES) do
    local name, extra = try[1], try[2]
    report("fit: trying " .. name)
    local post = vi(posed, { rng = read.rng, init = read.init or nil, starts = extra.starts,
                             noncentred = extra.noncentred == nil and read.noncentred or extra.noncentred })
    tried[#tried + 1] = name .. ": " .. post.verdict
    if is_better(post, best) then best = post end
    if best.verdict == "ok" or os and os.clock() - begin > read.seconds then break end
  end
  best.tried = tried
  return best
end
