--- Hashes of results, one line a group: what `make bits` and `make platforms` compare.
-- An argument is how many elements operands have.
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
  for _, x in ipairs { ... } do h = hash(h, core.is_tensor(x) and x:reshape(-1):totable() or { x }) end
  print(string.format("%-24s %016x", name, h))
end

local rng = peri.rng(7)
local n = math.tointeger(tonumber(arg[1] or 1003))   -- no multiple of any vector length
local spread = peri.exp(rng:normal(n) * 20) * peri.sign(rng:uniform(n) - 0.3)
local positive, unit = peri.exp(rng:normal(n) * 3), rng:uniform(n)
local some = rng:normal(n)

-- Every elementwise kernel there is, its values and its partials, on operands
-- that are mostly inside its domain.
local operands = {
  { spread, positive, unit, some }, { positive, positive, unit, positive }, { unit, positive, positive, unit },
  { some, some, positive, positive }, { positive, unit * 9, unit, some }, { unit, unit, unit, unit },
}

-- Kernels that take milliseconds an element, and minutes where fma is done in software: of fewer elements.
local DEAR, FEW = { ["noncentralf.entropy"] = true, ["noncentralt.entropy"] = true }, 5

local letters = { "a", "b", "c", "d", "e", "f", "g", "h" }

local files = {}
for _, file in ipairs(core.kernel_files()) do files[#files + 1] = file end
table.sort(files)
for _, file in ipairs(files) do
  for _, kernel in ipairs(core.kernels(file)) do
    local takes = { table.unpack(letters, 1, kernel.n_in) }
    local function run (bind, suffix)
      local f = bind(file, kernel.name, kernel.name, takes, takes)
      local results = {}
      for _, given in ipairs(operands) do
        local arguments = { table.unpack(given) }
        for k = #arguments + 1, kernel.n_in do arguments[k] = positive end
        if DEAR[file .. "." .. kernel.name] then
          for k, t in ipairs(arguments) do arguments[k] = t:narrow(1, 1, math.min(n, FEW)) end
        end
        for _, t in ipairs { f(table.unpack(arguments, 1, kernel.n_in)) } do results[#results + 1] = t end
      end
      report(file .. "." .. kernel.name .. suffix, table.unpack(results))
    end
    local elementwise = kernel.kind == "elementwise" or kernel.noise
    if elementwise and not kernel.signature then run(core.bind_value, "") end
    if kernel.has_partials then run(core.bind_partials, "'") end
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

-- Every row kernel that is a function of its operands; letters of a signature are sizes.
local sizes = { k = 5, m = 3, n = 4, d = 4 }
local function row_operands (signature)
  local all = {}
  for group in signature:match("^(.*)%->"):gmatch("%(([%a,]*)%)") do
    local shape = { 7 }
    for letter in group:gmatch("%a") do shape[#shape + 1] = sizes[letter] or 3 end
    local t = peri.rng(#all + 1):normal(table.unpack(shape))
    all[#all + 1] = group == "d,d" and t:matmul(t:transpose(-1, -2)) + 4 * peri.eye(4) or peri.exp(t)
  end
  return all
end

for _, file in ipairs(files) do
  for _, kernel in ipairs(core.kernels(file)) do
    if kernel.signature and (kernel.kind == "rows" or kernel.noise) then
      local takes = { table.unpack(letters, 1, kernel.n_in) }
      local all = row_operands(kernel.signature)
      local value = core.bind_value(file, kernel.name, kernel.name, takes, takes)(table.unpack(all))
      report(file .. "." .. kernel.name, value)
      if kernel.has_adjoint then
        local adjoint = core.bind_adjoint(file, kernel.name, kernel.name, takes, takes)
        all[#all + 1] = value
        report(file .. "." .. kernel.name .. "'", adjoint(table.unpack(all)))
      end
    end
  end
end

-- Every optimiser, a few steps of it.
for _, given in ipairs { { "SGD" }, { "SGD", { momentum = 0.9, nesterov = true } }, { "Adam" },
                         { "Adam", { amsgrad = true } }, { "AdamW" }, { "ClippedAdam" }, { "NAdam" }, { "RAdam" },
                         { "RAdam", { betas = { 0.5, 0.7 } } }, { "Adamax" }, { "RMSprop" },
                         { "RMSprop", { momentum = 0.5, centered = true } }, { "Adagrad" }, { "Adadelta" },
                         { "Rprop" } } do
  local w = peri.param(some)
  local opt = peri.optim[given[1]](w, given[2])
  for t = 1, 12 do   -- RAdam divides only later
    w.grad = t % 5 == 0 and -positive or positive:clone()
    opt:step()
  end
  report(tostring(opt), w:detach())
end

-- Draws of every class, as its own help makes it.
for _, name in ipairs(peri.distributions()) do
  local made = peri[name].help.example[1]:match("^(.-[%)}]):%l[%w_]*%(")
  local d = made and load("local peri = ...; local " .. name .. " = peri." .. name .. "; return " .. made)
  local ok, instance = pcall(d or error, peri)
  if ok and name ~= "Flat" then   -- which has no draws
    local draws = instance:sample(200, peri.rng(5))
    report(name .. ":sample", draws)
  end
end

local m = rng:normal(70, 90)
for _, name in ipairs { "sum", "mean", "var", "std", "logsumexp", "max", "prod" } do
  report("Tensor:" .. name, m[name](m), m[name](m, 1), m[name](m, 2), some[name](some))
end
report("matmul", m:matmul(m:transpose()))
report("softmax", m:softmax(), m:log_softmax(1), m:cumsum(2), m:cumprod(1))
report("quantile", m:sort(1), m:quantile({ 0.1, 0.77 }, 2))
local square = m:narrow(2, 1, 70)
report("triangles", square:logdet(), (square + 9 * peri.eye(70)):solve_triangular(m))
