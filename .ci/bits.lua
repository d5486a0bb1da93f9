--- Hashes of results, one line a group: what `make bits` compares.
local peri = require "perilune"
local core = require "perilune.core"

-- FNV-1a over the bytes of doubles; every NaN counts as the same.
local function hash (h, numbers)
  for _, x in ipairs(numbers) do
    local bytes = x ~= x and "nan" or string.pack("<d", x)
    for i = 1, #bytes do h = (h ~ bytes:byte(i)) * 0x100000001b3 end
  end
  return h
end

local function report (name, ...)
  local h = 0x14650FB0739D0383
  for _, t in ipairs { ... } do h = hash(h, t:reshape(-1):totable()) end
  print(string.format("%-24s %016x", name, h))
end

local rng = peri.rng(7)
local n = 1003   -- no multiple of any vector length
local spread = peri.exp(rng:normal(n) * 20) * peri.sign(rng:uniform(n) - 0.3)
local positive, unit = peri.exp(rng:normal(n) * 3), rng:uniform(n)
local some = rng:normal(n)

local names = {}
for file, kernels in pairs(core.kernels()) do
  if file:find("^op/") then
    for _, kernel in ipairs(kernels) do names[#names + 1] = { kernel.name, kernel.n_in } end
  end
end
table.sort(names, function (a, b) return a[1] < b[1] end)
for _, entry in ipairs(names) do
  local f = peri[entry[1]]
  if entry[2] == 1 then report(entry[1], f(spread), f(positive), f(unit), f(some))
  elseif entry[2] == 2 then report(entry[1], f(positive, unit), f(positive, positive + some), f(some, spread))
  elseif entry[2] == 3 then report(entry[1], f(positive, unit * 9, unit), f(unit, positive, unit))
  end
end

for _, d in ipairs { peri.Normal(some, positive), peri.Exponential(positive), peri.Uniform(some, some + positive) } do
  local name = getmetatable(d).__name
  for _, method in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf" } do
    report(name .. ":" .. method, d[method](d, spread), d[method](d, some))
  end
  report(name .. ":icdf", d:icdf(unit), d:isf(unit))
  report(name .. ":sample", d:sample({ 3 }, peri.rng(3)), d:entropy())
  report("KL " .. name, peri.kl_divergence(d, d:expand { 2, n }))
end
report("KL Normal", peri.kl_divergence(peri.Normal(some, positive), peri.Normal(unit, unit * 3)),
       peri.kl_divergence(peri.Normal(0, peri.exp(some * 150)), peri.Normal(1, peri.exp(-some * 150))))

local m = rng:normal(70, 90)
for _, name in ipairs { "sum", "mean", "var", "std", "logsumexp", "max", "prod" } do
  report("Tensor:" .. name, m[name](m), m[name](m, 1), m[name](m, 2), some[name](some))
end
report("matmul", m:matmul(m:transpose()))
report("softmax", m:softmax(), m:log_softmax(1), m:cumsum(2))
