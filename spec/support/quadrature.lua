--- Expectations E[g(X)] by tanh-sinh quadrature over quantiles: x = icdf(u) for
-- u below 1/2 and isf(1 - u) above, so that both tails keep their digits.
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

--- E[g(X)] for X distributed as d, a distribution of single numbers.
function quadrature.expectation (d, g)
  local sum = 0
  for _, node in ipairs(nodes or make_nodes()) do
    if node.tail > 0 and node.weight > 0 then
      local x = node.upper and d:isf(node.tail) or d:icdf(node.tail)
      local value = g(x)
      if math.abs(value) < math.huge then sum = sum + node.weight * value end
    end
  end
  return sum
end

return quadrature
