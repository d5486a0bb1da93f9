--- Fits that several processes share: the option `comm` of the ways to a posterior.
--
-- A communicator is an object like perilune.mpi's world (which is not needed here): rank, from 0 on, size, and the
-- methods bcast, allgather, allreduce, share, sum, tell and heard. All ranks run the same program; where they must
-- decide alike, they look at the same numbers.
--
-- posed:vi shares rows: each rank has its own of every plate, and a density is the sum over ranks (model/density.lua).
-- Other ways share chains, paths or simulations, and each rank has all data.
local core    = require "perilune.core"
local errors  = require "perilune.errors"
local model   = require "perilune.model"
local options = require "perilune.inference.options"
local tensor  = require "perilune.tensor"

local raise = errors.raise

local shared = {}

local METHODS = { "bcast", "allgather", "allreduce", "share", "sum", "tell", "heard" }

local function is_comm (x)
  if type(x) ~= "table" or math.type(x.rank) ~= "integer" or math.type(x.size) ~= "integer" then return false end
  for _, name in ipairs(METHODS) do
    if not options.is_callable(x[name]) then return false end
  end
  return true
end

--- The row of the option (options.lua).
shared.ROW = { "comm", false, "a communicator, such as world of perilune.mpi",
               function (x) return x == false or is_comm(x) end }

--- What fn(...) returns, on a rank of several: if one of them raises, all do.
function shared.together (comm, fn, ...)
  local ok, found = pcall(fn, ...)
  for r, why in ipairs(comm:allgather(ok or tostring(found))) do
    if why ~= true and not ok then error(found, 0) end
    if why ~= true then raise("rank %d has failed: %s", r - 1, why) end
  end
  return found
end

--- Makes the generators of all ranks what that of rank 0 is; the default one becomes one of its own. Returns it.
function shared.rng (comm, rng)
  rng = rng or options.own_rng()
  rng:restore(comm:bcast(rng:state()))
  return rng
end

--- Makes tensors, which are written to, and a number the means over all ranks, by one message; returns the number.
function shared.average (comm, list, number)
  local parts = { core.tensor { number } }
  for i, t in ipairs(list) do parts[i + 1] = core.bare(t):reshape(-1) end
  local flat, at = tensor.cat(parts), 2
  comm:sum(false, nil, flat)
  flat = flat / comm.size
  for _, t in ipairs(list) do
    t:copy(flat:narrow(1, at, core.numel(t)):reshape(core.shape(t)))
    at = at + core.numel(t)
  end
  return flat[1]
end


-- How far the chains of all ranks are -----------------------------------------------------------

local MOST  = 1000   -- bytes of a message
local EVERY = 0.5    -- seconds between two lines

local Line = {}
Line.__index = Line

--- What rank 0 knows of n chains that are spread over ranks: others tell it of theirs, and nobody waits for that.
function shared.line (comm, n)
  local self = setmetatable({ comm = comm, done = {}, divergences = {}, before = {}, ended = 0 }, Line)
  for i = 1, n do self.done[i], self.divergences[i], self.before[i] = 0, 0, 0 end
  self.first = comm:share(n)
  return self
end

-- "5: 120 0, 90 2": chains from the fifth on have done 120 and 90 iterations, with 0 and 2 divergences.
local function text_of (self, chains)
  local done, divergences = chains:counts()
  local words, length = {}, 0
  for i, n in ipairs(done) do
    local word = string.format("%d %d", n, divergences and divergences[i] or 0)
    length = length + #word + 2
    if length > MOST then break end
    words[i] = word
  end
  return self.first .. ": " .. table.concat(words, ", ")
end

local function read_text (self, text)
  local at = tonumber(text:match "^%d+")
  for n, divergences in text:gmatch "(%d+) (%d+)" do
    self.done[at], self.divergences[at], at = tonumber(n), tonumber(divergences), at + 1
  end
end

-- Reads all that has come.
local function listen (self)
  while true do
    local rank, text = self.comm:heard()
    if not rank then return end
    if text == "" then self.ended = self.ended + 1 else read_text(self, text) end
  end
end

-- Says how far all chains are, if the last time is long ago.
local function say_now_and_then (self, say)
  local now = core.clock()
  if self.said and now < self.said + EVERY then return end
  self.said = now
  say(self.done, self.divergences)
end

--- Notes how far this rank's chains are; rank 0 calls say(done, divergences) now and then, with those of all.
function Line:note (chains, say)
  if self.comm.rank > 0 then
    self.comm:tell(text_of(self, chains))
    return
  end
  read_text(self, text_of(self, chains))
  listen(self)
  say_now_and_then(self, say)
end

--- This rank's chains are where they were to come to: rank 0 goes on listening until all are.
function Line:finish (chains, say)
  local comm = self.comm
  if comm.rank > 0 then
    comm:tell(text_of(self, chains), true)
    comm:tell("", true)
    return
  end
  read_text(self, text_of(self, chains))
  repeat
    listen(self)
    say_now_and_then(self, say)
  until self.ended == comm.size - 1
  self.ended = 0
  say(self.done, self.divergences)
end


-- Models whose rows are shared --------------------------------------------------------------------

-- Raises for sites that one rank alone would know of.
local function check_sites (who, sites)
  local has_plate = false
  for _, site in ipairs(sites) do
    has_plate = has_plate or site.in_plate
    if site.in_plate and site.kind == "latent" then
      raise("%s: %s is not observed, within a plate of which each rank has a share of the rows; with comm such sites "
            .. "must stand outside of plates", who, site.name)
    elseif site.in_plate and site.kind == "derived" then
      raise("%s: %s is derived within a plate of which each rank has a share of the rows; make it a local variable",
            who, site.name)
    end
  end
  if not has_plate then raise("%s: comm shares the rows of plates, and this model has none; write m:plate", who) end
end

-- Numbers that tell values apart, as text.
local function print_of (value)
  if not core.is_tensor(value) then return tostring(value) end
  local flat = value:reshape(-1)
  local n = core.numel(flat)
  return string.format("%s %.17g %.17g", table.concat(core.shape(value), "x"), flat:sum(),
                       n > 0 and (flat * core.arange(1, n + 1)):sum() or 0)
end

--- Raises unless all ranks have the same data, as those must that share chains and not rows.
function shared.check_data (who, posed, comm)
  local prints = {}
  for name, value in pairs(posed.data.values) do
    if core.is_tensor(value) or type(value) == "number" then prints[name] = print_of(value) end
  end
  local all = comm:allgather(prints)
  for r, of_rank in ipairs(all) do
    for name, print in pairs(all[1]) do
      if of_rank[name] ~= print then
        raise("%s: %s is not the same on ranks 0 and %d; each must have all data", who, name, r - 1)
      end
    end
  end
end

-- What ranks must agree on, name by name: sites that are not observed, and data outside of plates; and how many rows
-- this one has.
local function facts_of (who, posed)
  if not posed.found then model.discover(posed) end
  local found = posed.found
  check_sites(who, found.sites)
  local facts = { names = {}, prints = {}, rows = found.rows }
  for _, site in ipairs(found.sites) do
    local print
    if site.kind == "latent" then print = table.concat(site.shape, "x")
    elseif site.kind == "observed" and not site.in_plate then print = print_of(posed.data.values[site.name]) end
    if print then
      local at = #facts.names + 1
      facts.names[at], facts.prints[at] = site.name, site.kind .. " " .. print
    end
  end
  return facts
end

local function compare (who, all)
  for r, facts in ipairs(all) do
    for i = 1, math.max(#facts.names, #all[1].names) do
      if facts.names[i] ~= all[1].names[i] then
        raise("%s: ranks have different models: site %d is %s on rank 0, and %s on rank %d", who, i,
              all[1].names[i] or "not there", facts.names[i] or "not there", r - 1)
      elseif facts.prints[i] ~= all[1].prints[i] then
        raise("%s: %s stands outside of plates, and is not the same on ranks 0 and %d", who, facts.names[i], r - 1)
      end
    end
  end
end

--- A posed model of whose plates each rank has a share: as `posed`, and its densities are those of all rows.
function shared.posed (who, posed, comm)
  local all, rows = comm:allgather(shared.together(comm, facts_of, who, posed)), 0
  compare(who, all)
  for _, facts in ipairs(all) do rows = rows + facts.rows end
  local found = {}
  for name, value in pairs(posed.found) do found[name] = value end
  found.rows = rows
  return setmetatable({ model = posed.model, body = posed.body, data = posed.data, found = found,
                        latents = found.latents, size = found.size, comm = comm }, getmetatable(posed))
end

return shared
