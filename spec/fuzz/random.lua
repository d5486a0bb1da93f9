--- Choices from a seed: the same ones in every process, whatever else draws numbers there.
-- The generator is splitmix64 (Steele, Lea and Flood 2014).
local Random = {}
Random.__index = Random

function Random.new (seed) return setmetatable({ state = seed * 0x2545F4914F6CDD1D }, Random) end

local function bits (self)
  self.state = self.state + 0x9E3779B97F4A7C15
  local z = self.state
  z = (z ~ (z >> 30)) * 0xBF58476D1CE4E5B9
  z = (z ~ (z >> 27)) * 0x94D049BB133111EB
  return z ~ (z >> 31)
end

--- A number in [0, 1).
function Random:unit () return (bits(self) >> 11) * 2.0 ^ -53 end

--- Between low and high, of any size in between where both are positive: as likely in [1, 10] as in [10, 100].
function Random:between (low, high)
  if low > 0 and high / low > 100 then return math.exp(self:between(math.log(low), math.log(high))) end
  return low + (high - low) * self:unit()
end

function Random:integer (low, high) return low + math.floor(self:unit() * (high - low + 1)) end

--- True once in n times.
function Random:once_in (n) return self:unit() * n < 1 end

function Random:pick (list) return list[self:integer(1, #list)] end

--- One of { {weight, ...}, ... }.
function Random:weighted (list)
  local total = 0
  for _, entry in ipairs(list) do total = total + entry[1] end
  local at = self:unit() * total
  for _, entry in ipairs(list) do
    at = at - entry[1]
    if at < 0 then return entry end
  end
  return list[#list]
end

return Random
