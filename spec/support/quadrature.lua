--- Expectations E[g(X)] by tanh-sinh quadrature over quantiles: x = icdf(u) below
-- the mode and isf(u) above it, so that both tails keep their digits and a kink at
-- the mode lies between the two halves.
local quadrature = {}

local STEP, REACH = 1 / 32, 4.2   -- nodes at t = -REACH, ..., REACH

-- Nodes (u or 1 - u, the smaller) and weights, made once.
local nodes
local function make_nodes ()
  nodes = {}
  for i = -math.floor(REACH / STEP), math.floor(REACH / STEP) do
    local t = i * STEP
    local s = math.pi / 2 * (math.exp(t) - math.exp(-t)) / 2
    local e = math.exp(-2 * math.abs(s))
    nodes[#nodes + 1] = {
      upper = s > 0, tail = e / (1 + e),
      weight = STEP * math.pi / 2 * (math.exp(t) + math.exp(-t)) / 2 * 2 * e / (1 + e) ^ 2,
    }
  end
  return nodes
end

-- The part of the expectation within a tail of the given mass.
local function from_tail (d, mass, quantile, g)
  local sum = 0
  for _, node in ipairs(nodes or make_nodes()) do
    local u = mass * (node.upper and 1 - node.tail or node.tail)
    if u > 0 and node.weight > 0 then
      local value = g(quantile(d, u))
      if math.abs(value) < math.huge then sum = sum + node.weight * value end
    end
  end
  return mass * sum
end

--- E[g(X)] for X distributed as d, a distribution of single numbers.
function quadrature.expectation (d, g)
  local mode = d:mode()
  local below, above = d:cdf(mode), d:sf(mode)
  if not (below > 0 and above > 0) then below, above = 0.5, 0.5 end
  return from_tail(d, below, d.icdf, g) + from_tail(d, above, d.isf, g)
end

return quadrature
