--- posed:fit {}: tries ways to a posterior, the cheapest first, until one is ok.
local core        = require "perilune.core"
local nuts        = require "perilune.inference.nuts"
local options     = require "perilune.inference.options"
local progress    = require "perilune.inference.progress"
local random_walk = require "perilune.inference.random_walk"
local vi          = require "perilune.inference.vi"

local ROWS = { { "seconds", 60, "positive", options.is_positive } }

local RANK = { ok = 3, doubtful = 2, bad = 1 }

local function has_trace (post) return post.density:is_traced() and not post.density:is_streamed() end

-- Each: what it is called, the way, its options, and whether it is worth trying after what was found so far.
local TRIES = {
  { "vi", vi, {} },
  { "vi with more starts", vi, { starts = 24 }, function (post) return post.findings.lonely end },
  { "vi, centred as written", vi, { noncentred = false },
    function (post) return next(post.centring) ~= nil and post.findings.r < 0.5 end },
  { "nuts", nuts, {}, has_trace },
  { "nuts with smaller steps", nuts, { target = 0.95, draws = 2000 }, has_trace },
  { "random_walk", random_walk, {}, function (post) return not post.density:is_traced() end },
}

local function is_better (a, b) return b == nil or RANK[a.verdict] > RANK[b.verdict] end

--@ Model:fit(options) -> Posterior
-- Tries ways to the posterior, the cheapest first, until the verdict of one is "ok"; else gives the best. post.tried
-- lists what was tried and how it ended.
--   options  seconds = of CPU time, after which nothing more is begun (60); rng; seed; progress; noncentred; init
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > posed:fit({ seed = 1 }).tried[1]
-- vi: ok
return function (posed, given)
  local read = options.read("fit", given, ROWS)
  local report, clock = progress.reporter(read.progress, "fit"), os and os.clock or core.clock
  local tried, best, begin = {}, nil, clock()
  for _, try in ipairs(TRIES) do
    local name, way, extra, is_worth = table.unpack(try, 1, 4)
    if not best or (best.verdict ~= "ok" and clock() - begin < read.seconds and (not is_worth or is_worth(best))) then
      report("fit: trying " .. name)
      local given_options = { rng = read.rng, init = read.init or nil, noncentred = read.noncentred }
      for option, value in pairs(extra) do given_options[option] = value end
      local post = way(posed, given_options)
      tried[#tried + 1] = name .. ": " .. post.verdict
      if is_better(post, best) then best = post end
    end
  end
  best.tried = tried
  return best
end
