--- Checks of KL(P || P) within one family, on the kernel's own operands.
local assert = require "luassert"
local peri   = require "perilune"
local core   = require "perilune.core"
local slopes = require "spec.support.slopes"

local divergence = {}

local INF = math.huge

local function operands (n) return { table.unpack({ "a", "b", "c", "d" }, 1, n) } end

--- Is `got` right to `tolerance`, relatively? Infinities and zeros must be exact.
function divergence.agrees (got, expected, tolerance)
  if expected == 0 or expected == INF then return got == expected end
  return math.abs(got - expected) <= tolerance * math.abs(expected)   -- false for NaN
end

--- Checks lines of { operands of p, operands of q, value }, each a list of numbers. `make` gives a
-- distribution from operands.
function divergence.values (make, lines, tolerance)
  for _, line in ipairs(lines) do
    local p, q, expected = make(line[1]), make(line[2]), line[3]
    local got = peri.kl_divergence(p, q)
    got = core.is_tensor(got) and peri.item(got) or got
    assert(divergence.agrees(got, expected, tolerance),
           string.format("%s || %s is %.17g, not %.17g", tostring(p), tostring(q), got, expected))
  end
end

--- Checks that p against itself is exactly 0, for lists of operands.
function divergence.zeros (make, list)
  for _, params in ipairs(list) do
    local kl = peri.kl_divergence(make(params), make(params))
    assert.equal(0.0, core.is_tensor(kl) and peri.item(kl) or kl)
  end
end

--- Checks the partials of kernel `name` in src/kernel/kl/<file>.c at lists of all operands.
function divergence.partials (file, name, points)
  local names = operands(#points[1])
  local value = core.bind("kl/" .. file, name, name, names, names)
  local partials = core.bind_partials("kl/" .. file, name, name, names, names)
  for _, at in ipairs(points) do
    assert.is_nil(slopes.mismatch(value, at, { partials(table.unpack(at)) }, 1e-6))
  end
end

--- Checks the adjoint of a row kernel of two operands at pairs of rows.
function divergence.adjoints (file, name, pairs_of_rows)
  local value = core.bind("kl/" .. file, name, name, { "a", "b" }, { "a", "b" })
  local adjoint = core.bind_adjoint("kl/" .. file, name, name, { "a", "b" }, { "a", "b" })
  for _, rows in ipairs(pairs_of_rows) do
    local p, q = peri.tensor(rows[1]), peri.tensor(rows[2])
    assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { p, q }, peri.tensor(0.7), 1e-6))
  end
end

return divergence
