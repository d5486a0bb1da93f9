--- Where the quantile functions of two laws cross: there |their difference|^order has a kink unless the order is even,
-- which rules for smooth functions do not see if it is far out.
local core          = require "perilune.core"
local functions     = require "perilune.functions"
local quantile_gaps = require "perilune.quantile_gaps"
local tensor        = require "perilune.tensor"

local where, lt, le = functions.where, functions.lt, functions.le

local MOST   = 32   -- crossings that are found
local ROUNDS = 16   -- of the search for them

local crossings = {}

--- A record of differences, to be noted; nil where there are no kinks.
function crossings.new (order) return order % 2 ~= 0 and { places = {}, gaps = {}, terms = {} } or nil end

--- Notes the places s, a list, with the differences there and the terms of the sum, { n, batch... }.
function crossings.note (record, list, gaps, terms)
  if not record then return end
  local n = #record.gaps + 1
  table.move(list, 1, #list, #record.places + 1, record.places)
  record.gaps[n], record.terms[n] = core.bare(gaps), core.bare(terms)
end

-- Neighbouring places, differences and terms there, { n, batch... }, and whether the sign of the first changes.
local function changes (record)
  local s = core.tensor(record.places)
  local order = s:argsort()
  local gaps, terms = tensor.cat(record.gaps)[order], tensor.cat(record.terms)[order]
  local n = #gaps - 1
  local a, b = gaps:narrow(1, 1, n), gaps:narrow(1, 2, n)
  return s[order], terms:narrow(1, 1, n) + terms:narrow(1, 2, n), functions.ne(lt(a, 0), lt(b, 0)), a, b
end

--- What the trapezoidal rule may be off by: where the sign changes between two places, what it has there is between 1/4
-- of their terms too much and 1/4 too little for a straight line, and less than 1/2 for its powers.
function crossings.doubt (record, order)
  if not record then return 0 end
  local s, terms, is_change = changes(record)
  if core.item(is_change:max()) == 0 then return 0 end
  local steps = s:narrow(1, 2, #s - 1) - s:narrow(1, 1, #s - 1)
  for _ = 2, core.rank(terms) do steps = steps:unsqueeze(-1) end
  return (is_change * steps * terms):sum(1) * (order == 1 and 0.25 or 0.5)
end

-- A round of the search for the place x in (a, b) at which the difference changes its sign: by secants, of which the
-- end that stays counts for half (Dowell and Jarratt 1971, "Illinois").
local function approach (gap_at, s)
  local x = (s.a * s.gap_b - s.b * s.gap_a) / (s.gap_b - s.gap_a)
  local low, high = functions.minimum(s.a, s.b), functions.maximum(s.a, s.b)
  x = where(le(low, x) * le(x, high), x, 0.5 * s.a + 0.5 * s.b)
  local gap = gap_at(x)
  local is_beyond = lt(gap * functions.sign(s.gap_b), 0)
  s.a, s.gap_a = where(is_beyond, s.b, s.a), where(is_beyond, s.gap_b, 0.5 * s.gap_a)
  s.b, s.gap_b = x, gap
end

--- Adds the places of kinks, at log(u/(1 - u)), to a list of tensors of the batch of p, INF where there is none. They
-- are searched for while the purse affords that and so many quantiles `more`; where it ends they are only near.
function crossings.add (record, p, q, list, purse, more)
  if not record then return end
  local s, _, is_change, gap_a, gap_b = changes(record)
  local n = #is_change
  local rows = is_change:reshape(n, -1):max(2)
  local count = math.tointeger(core.item(rows:sum()))
  if count == 0 or count > MOST then return end
  local index = rows:argsort():narrow(1, n - count + 1, count)
  local function ends_at (first)
    local half = 0.5 * s:narrow(1, first, n)[index]
    local x = functions.exp(half) - functions.exp(-half)
    for _ = 2, core.rank(gap_a) do x = x:unsqueeze(-1) end
    return x:expand(core.shape(gap_a[index]))
  end
  local state = { a = ends_at(1), b = ends_at(2), gap_a = gap_a[index], gap_b = gap_b[index] }
  local function gap_at (x) return core.bare(quantile_gaps.at(p, q, x, {})) end
  for round = 1, ROUNDS do
    if round > 1 and not purse:affords(count, more) then break end
    purse:lap(count)
    approach(gap_at, state)
  end
  local found = where(is_change[index], state.b, math.huge)
  for k = 1, count do list[#list + 1] = found:select(1, k) end
end

return crossings
