--- posed:pathfinder {}: for each of some starts the best Gaussian along the path to a mode; their draws weighed
-- together.
local core    = require "perilune.core"
local judge   = require "perilune.inference.judge"
local modes   = require "perilune.inference.modes"
local options = require "perilune.inference.options"
local Path    = require "perilune.inference.path"
local recipe  = require "perilune.inference.recipe"
local shared  = require "perilune.inference.shared"
local tensor  = require "perilune.tensor"

local ROWS = {
  { "paths", 8, "a positive integer", options.is_count },
  { "samples", 25, "a positive integer", options.is_count },
  shared.ROW,
}

-- Draws of all paths with the density of their mixture, where there are too many free numbers for factors.
local function weigh_paths (posed, density, paths, rng)
  local each, rows = math.floor(judge.draws_of(density.size) / #paths), {}
  for i, path in ipairs(paths) do rows[i] = path.best:draw(each, rng) end
  local u, terms = tensor.cat(rows, 1), {}
  for i, path in ipairs(paths) do terms[i] = path.best:log_density(u) end
  local log_q = tensor.stack(terms):logsumexp(1) - math.log(#paths)
  local seen = judge.weigh(density, u, log_q, core.shape(u)[1])
  seen.r0, seen.guide = seen.r, judge.guide_moments(posed, density, seen)
  return seen
end

-- The best Gaussians as guides, or nil.
local function guides_of (paths)
  local list = {}
  for _, path in ipairs(paths) do
    local units = path.best:units()
    if units then
      units.elbo = path.elbo
      list[#list + 1] = units
    end
  end
  return #list > 0 and recipe.shares(list) or nil
end

-- Follows n paths, the first of them number `first`: those that have a Gaussian, how many ended, whether one ended
-- where the density is finite, and the best such end.
local function follow (density, start, read, first, n, rng)
  local paths = {}
  local ends, best = modes.ends(density, start, rng, {
    first = first, starts = n, once = true,
    on_path = function ()
      local path = Path.follow(density, read.samples, rng)
      paths[#paths + 1] = path
      return path.on_step
    end,
  })
  for i = #paths, 1, -1 do
    if not paths[i].best then table.remove(paths, i) end
  end
  return { paths = paths, ended = #ends, has_mode = best ~= nil, best = best and best.x }
end

-- The same by several processes, with a generator for each.
local function follow_shares (density, start, read)
  local comm = read.comm
  local rng = read.rng:split(comm.size)[comm.rank + 1]
  local first, n = comm:share(read.paths)
  local found = shared.together(comm, function ()
    local own = n > 0 and follow(density, start, read, first, n, rng) or { paths = {}, ended = 0, has_mode = false }
    for i, path in ipairs(own.paths) do own.paths[i] = { best = path.best:plain(), elbo = path.elbo } end
    return own
  end)
  local all = { paths = {}, ended = 0, has_mode = false }
  for _, part in ipairs(comm:allgather(found)) do
    for _, path in ipairs(part.paths) do
      all.paths[#all.paths + 1] = { best = Path.of_plain(path.best), elbo = path.elbo }
    end
    all.ended, all.has_mode = all.ended + part.ended, all.has_mode or part.has_mode
  end
  return all
end

--@ Model:pathfinder(options) -> Posterior
-- For each of some starts the best Gaussian along the path to a mode; their draws weighted together.
--   options  paths = how many starts (8); samples = draws that judge a point of a path (25); comm = world of
--            perilune.mpi: its ranks share the paths; rng; seed; progress; noncentred; init
-- > posed = model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end) { y = 2 }
-- > posed:pathfinder({ seed = 1 }).verdict
-- ok
return function (posed, given)
  local read = options.read("pathfinder", given, ROWS)
  if read.comm then
    shared.check_data("pathfinder", posed, read.comm)
    read.rng = shared.rng(read.comm, read.rng)
  end
  local density, start, degrees = recipe.density(posed, read)
  local found = read.comm and follow_shares(density, start, read)
                or follow(density, start, read, 1, read.paths, read.rng)
  local paths = found.paths
  if #paths == 0 then recipe.complain(posed, density, found.best or start) end
  table.sort(paths, function (a, b) return a.elbo > b.elbo end)
  local guides = density.size <= recipe.FULL_MOST and guides_of(paths)
  local seen = guides and judge.look(posed, density, guides, read.rng) or weigh_paths(posed, density, paths, read.rng)
  local findings = { has_mode = found.has_mode, kept = 0, lonely = false, gap = 0 }
  return judge.posterior(posed, density, seen, findings, {
    method = "pathfinder", guides = guides or nil, centring = degrees, elbo_mean = paths[1].elbo,
    how = string.format("Pathfinder, %d paths, k-hat %.2f, %.0f %% of %d draws count, best ELBO %.2f", found.ended,
                        seen.khat, 100 * seen.r, core.numel(seen.w), paths[1].elbo),
  })
end
