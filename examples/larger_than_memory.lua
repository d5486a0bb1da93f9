--- A regression on a file: rows that are never in memory all at once.
--
-- A text with a line for each flight is converted once to numbers, some lines at a time. The model then reads shuffled
-- batches from the file while it is fitted, and all rows, block after block, to say whether to believe the answer. Here
-- there are 10000 flights, and it takes a second; the same lines serve for more than fit into memory.
local peri = require "perilune"
local Normal, Bernoulli = peri.Normal, peri.Bernoulli

local N = 10000
local text, path = os.tmpname(), os.tmpname()
local rng = peri.rng(2026)

-- The text: hour of departure, distance, wind, and whether the flight was late.
do
  local hour, distance, wind = 6 + 17 * rng:uniform(N), 200 + 3000 * rng:uniform(N), 15 * rng:exponential(N)
  local late = Bernoulli { logits = -3 + 0.12 * hour + 0.05 * wind - 0.2 * distance / 1000 } :sample(nil, rng)
  peri.write_csv({ hour = hour, distance = distance, wind = wind, late = late }, text,
                 { columns = { "hour", "distance", "wind", "late" } })
end

print(peri.convert_csv(text, path) .. " lines converted")
local flights = peri.map_file(path)
print((tostring(flights):gsub(" in %S+:", " in a file:")))

-- Means, block by block.
local sum = peri.zeros(4)
for _, block in flights:blocks(1000) do sum = sum + block:sum(1) end
local means = sum / N
for i, name in ipairs(flights.names) do print(string.format("  mean of %-8s  %8.2f", name, means[i])) end

local model = peri.model(function (m, d)
  m.base  = Normal(0, 5)
  m.slope = Normal(0, 1):expand(3)
  m:plate("flights", N, 500, function ()
    local x = (d.x - means:narrow(1, 1, 3)) / peri.tensor { 1, 1000, 1 }
    m.late = Bernoulli { logits = m.base + x:matmul(m.slope) }
  end)
end)

local data = { x = flights:columns { "hour", "distance", "wind" }, late = flights:column "late" }
print(model(data):vi { seed = 1 })
print "slopes were 0.12, -0.2 and 0.05"

-- The same numbers in 32 bits: half of the file, and of the memory where they are held there.
local held = peri.rows(flights)
print(string.format("%s, at most %.1e from the file", tostring(held):match "^[^:]+",
                    ((held:read() - flights:read()) / (flights:read():abs() + 1)):abs():max()))

os.remove(text)
os.remove(path)
