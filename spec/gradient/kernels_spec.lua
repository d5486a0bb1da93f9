-- Every kernel that has a derivative, found by core.kernel_files(): its gradient through the tape, all subsets of
-- arguments tracked, operands broadcast.
local peri     = require "perilune"
local core     = require "perilune.core"
local check    = require "spec.gradient.check"
local contract = require "spec.support.contract"

local unpack = table.unpack

local function names_of (n) return { unpack({ "a", "b", "c", "d", "e", "f", "g", "h" }, 1, n) } end

local function value_of (file, kernel)
  local names = names_of(kernel.n_in)
  return core.bind_value(file, kernel.name, kernel.name, names, names)
end

-- Operands of shapes {2, 1} and {2} by turns, near a point: what is to be an integer does not move.
local function spread (point, integer)
  local operands = {}
  for k, x in ipairs(point) do
    local step = integer[k] and 0 or 0.01 * (x ~= 0 and math.abs(x) or 1)
    local pair = peri.tensor { x, x + step }
    operands[k] = k % 2 == 1 and pair:reshape(2, 1) or pair
  end
  return operands
end

local function verify (file, kernel, point, integer, fixed)
  local f = value_of(file, kernel)
  local value = f(unpack(point))
  if value ~= value or math.abs(value) == math.huge then return end
  local why = check.mismatch(f, spread(point, integer or {}), fixed)
  assert(not why, why and string.format("%s.%s: %s", file, kernel.name, why))
end

local function each (pattern, kind, action)
  local files = {}
  for _, file in ipairs(core.kernel_files()) do files[#files + 1] = file end
  table.sort(files)
  for _, file in ipairs(files) do
    for _, kernel in ipairs(file:find(pattern) and core.kernels(file) or {}) do
      if kernel[kind] then action(file, kernel) end
    end
  end
end


describe("operators", function ()
  local usual = { { { 0.43 }, { 1.9 } }, { { 0.4, 1.7 }, { 2.5, 0.3 } }, { { 0.4, 1.7, 0.6 } } }
  local own = {
    log1mexp = { { -1.5 } }, erfinv = { { -0.6 } }, ndtri = { { 0.3 } }, logit = { { 0.3 } }, erfcinv = { { 1.2 } },
    gammaincinv = { { 2.5, 0.7 } }, gammainccinv = { { 2.5, 0.7 } }, betaincinv = { { 2.5, 0.3, 0.2 } },
    zeta = { { 3.2, 2.5 } }, polygamma = { { 2, 0.7 } }, mod = { { 7.3, 2.1 } }, where = { { 1, 2, 3 }, { 0, 2, 3 } },
  }
  local integer = { polygamma = { true }, where = { true } }
  each("^op/", "has_partials", function (file, kernel)
    it(kernel.name, function ()
      for _, point in ipairs(own[kernel.name] or usual[kernel.n_in]) do
        verify(file, kernel, point, integer[kernel.name], integer[kernel.name])
      end
    end)
  end)
  each("^op/", "name", function (file, kernel)
    it(kernel.name .. " is differentiable, or flat and says nothing", function ()
      local point, w = (own[kernel.name] or usual[kernel.n_in] or { { 1, 2, 0.1, 0.2 } })[1], {}
      for k, x in ipairs(point) do w[k] = peri.param(x) end
      assert.equal(kernel.has_partials, core.tracked(value_of(file, kernel)(unpack(w))))
    end)
  end)
end)

describe("lines of few elements", function ()
  each("^few$", "has_partials", function (file, kernel)
    it(kernel.name, function ()
      verify(file, kernel, { unpack({ 0.3, -0.7, 1.1, 0.2, -2.5, 0.9, 1.2, -0.1 }, 1, kernel.n_in) })
    end)
  end)
end)

describe("losses", function ()
  each("^loss$", "has_partials", function (file, kernel)
    it(kernel.name, function () verify(file, kernel, { -0.7, kernel.name:find("log") and -0.4 or 0.6 }) end)
  end)
end)

describe("variational inference", function ()
  each("^variational$", "has_partials", function (file, kernel)
    it(kernel.name, function () verify(file, kernel, { table.unpack({ -0.7, 0.4, -1.3, -0.25 }, 1, kernel.n_in) }) end)
  end)
end)

-- The first points of the spec of a class, and those of its operands that are integers.
local function points_of (name)
  local points = contract.of(name).points
  return points and { points[1], points[2] } or {}
end

local integers = { total_count = true, population = true, successes = true, draws = true }

local function operands_at (class, point)
  local d, at, integer = class(unpack(point)), {}, {}
  for i, name in ipairs(class.operands) do
    at[i] = d[name]
    integer[i] = integers[name] or d.support.is_discrete and name == "low" or name == "high" and d.support.is_discrete
  end
  return d, at, integer
end

-- A mode that jumps at the point of the spec.
local jumps = { ["RelaxedBernoulli.mode"] = true }

describe("distributions", function ()
  for _, name in ipairs(core.classes()) do
    local class = peri[name]
    for _, kernel in ipairs(class.kernels and core.kernels(class.kernels) or {}) do
      if kernel.has_partials and (kernel.kind ~= "sampler" or kernel.noise) then
        it(name .. "." .. kernel.name, function ()
          for _, point in ipairs(jumps[name .. "." .. kernel.name] and {} or points_of(name)) do
            local d, at, integer = operands_at(class, point)
            local fixed = {}
            if kernel.n_in > #at then
              local x = d:icdf(0.4)
              if kernel.name == "icdf" or kernel.name == "isf" or kernel.kind == "sampler" then x = 0.4 end
              table.insert(at, 1, x)
              table.insert(integer, 1, d.support.is_discrete)
              fixed[1] = d.support.is_discrete
            end
            verify(class.kernels, kernel, at, integer, fixed)
          end
        end)
      end
    end
  end
end)

local is_class = {}
for _, name in ipairs(core.classes()) do is_class[name] = true end

describe("divergences", function ()
  each("^kl/", "has_partials", function (file, kernel)
    if not is_class[kernel.name] then return end   -- for some parameters only
    it(file .. "." .. kernel.name, function ()
      local p
      for _, name in ipairs(core.classes()) do if name:lower() == file:match("/(.*)") then p = name end end
      local first, second = points_of(p)[1], points_of(kernel.name)
      second = second[2] or second[1]
      if not first or not second then return end
      local _, at = operands_at(peri[p], first)
      local _, more = operands_at(peri[kernel.name], second)
      for _, x in ipairs(more) do at[#at + 1] = x end
      if #at == kernel.n_in then verify(file, kernel, at) end
    end)
  end)
end)


describe("functions of rows", function ()
  local sizes = { k = 3, m = 2, n = 4, d = 3, p = 2 }

  -- A random operand for each group of letters, the first in a batch of 2; square ones are positive definite.
  local function operands_of (signature, rng)
    local operands = {}
    for letters in signature:match("^(.*)%->"):gmatch("%(([%a,]*)%)") do
      local shape = #operands == 0 and { 2 } or {}
      for letter in letters:gmatch("%a") do shape[#shape + 1] = sizes[letter] end
      local x = 0.5 * peri.Normal(0, 1):sample(shape, rng)
      operands[#operands + 1] = letters == "d,d" and x:matmul(x:transpose(-1, -2)) + peri.eye(3) or x
    end
    return operands
  end

  local own = {
    ["row/stick_breaking.inverse"] = { peri.tensor { { 0.1, 0.2, 0.3, 0.4 }, { 0.3, 0.2, 0.4, 0.1 } }, peri.zeros(3) },
    ["row/ordered.inverse"] = { peri.tensor { { -1, 0.5, 2 }, { 0, 0.1, 0.7 } } },
    gather = { peri.tensor { { 1, 2 }, { 3, 4 }, { 5, 7 } },
               peri.tensor { { 3, 1, 3, -2 }, { 1, 1, 1, 2 } } },
    reorder  = { peri.tensor { { 1, 2, 4 }, { 3, 1, 7 } }, peri.tensor { 3, 1, 2 } },
    quantile = { peri.tensor { { 3, 1, 2 }, { 1, 5, 2 } }, peri.tensor { 0.3, 0.9 } },
    low_rank_factor = { 0.5 * peri.Normal(0, 1):sample({ 2, 3, 2 }, peri.rng(1)), peri.tensor { 0.4, 1, 0.7 } },
    tril     = { peri.ones(2, 3, 4), peri.tensor(1) },
    triu     = { peri.ones(2, 3, 4), peri.tensor(1) },
  }
  local second = { [2] = true }
  local fixed = { gather = second, reorder = second, tril = second, triu = second }   -- operands without derivative
  each("^row/", "has_adjoint", function (file, kernel)
    it(file .. "." .. kernel.name, function ()
      local operands = own[kernel.name] or own[file .. "." .. kernel.name] or operands_of(kernel.signature, peri.rng(1))
      local why = check.mismatch(value_of(file, kernel), operands, fixed[kernel.name])
      assert(not why, why)
    end)
  end)
end)

it("most of these were replayed as well", function () assert(check.replays >= 140, check.replays) end)
