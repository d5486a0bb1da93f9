--- Eight schools by the No-U-Turn sampler: the verdict, the table, and whether the four chains agree, to look at.
local peri = require "perilune"
local Normal, HalfCauchy = peri.Normal, peri.HalfCauchy

local schools = peri.model(function (m, d)
  m.mu    = Normal(0, 5)
  m.tau   = HalfCauchy(5)
  m.theta = Normal(m.mu, m.tau):expand(8)
  m.y     = Normal(m.theta, d.sigma)
end)

local post = schools {
  y     = { 28, 8, -3, 7, -1, 1, 18, 12 },
  sigma = { 15, 10, 16, 11, 9, 11, 10, 18 },
} :nuts { seed = 1, chains = 4, draws = 1000, progress = true }
print(post)

-- Numbers as a row of blocks, the largest of them of full height.
local function blocks (list, most)
  local kinds, row = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }, {}
  for i, x in ipairs(list) do row[i] = kinds[1 + math.floor(math.min(1, x / most) * 7 + 0.5)] end
  return table.concat(row)
end

-- How the ranks of a chain's draws among those of all chains are spread, in bins: evenly, if chains agree.
local BINS = 40
local function rank_counts (draws, chains)
  local n = #draws
  local ranks, all = draws:argsort():argsort():reshape(chains, -1), {}
  for i = 1, chains do
    all[i] = {}
    for bin = 1, BINS do all[i][bin] = 0 end
    for _, rank in ipairs(ranks[i]:totable()) do
      local bin = (math.tointeger(rank) - 1) * BINS // n + 1
      all[i][bin] = all[i][bin] + 1
    end
  end
  return all
end

print("\nranks of tau in each chain: an even row is one that agrees with the others")
for i, counts in ipairs(rank_counts(post:draws().tau, 4)) do print("chain " .. i, blocks(counts, 50)) end

print("\nlog tau, the first 72 draws of chain 1")
local log_tau = post:draws().tau:log():narrow(1, 1, 72)
print(blocks((log_tau - log_tau:min()):totable(), log_tau:max() - log_tau:min()))

print(string.format("\nmean of tau %.2f +- %.2f; log evidence %.3f +- %.3f", post.mean.tau, post:mcse().tau,
                    post.log_evidence, post.log_evidence_error))
