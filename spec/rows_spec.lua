-- Row kernels that are no distribution's: their adjoints, and the same results however they run.
local peri   = require "perilune"
local core   = require "perilune.core"
local slopes = require "spec.support.slopes"

local SIZES = { k = 3, m = 2, n = 4, d = 3 }

-- A random operand for each group of letters in a signature; square ones are positive definite.
local function operands_of (signature, rng)
  local operands = {}
  for letters in signature:match("^(.*)%->"):gmatch("%(([%a,]*)%)") do
    local shape, square = {}, letters == "d,d"
    for letter in letters:gmatch("%a") do shape[#shape + 1] = SIZES[letter] end
    local x = peri.Normal(0, 1):sample(shape, rng)
    operands[#operands + 1] = square and x:matmul(x:transpose(1, 2)) + peri.eye(3) or x
  end
  return operands
end

-- Kernels with a domain that random numbers miss, by name, or by file and name.
local own = {
  ["row/stick_breaking.inverse"] = { peri.tensor { 0.1, 0.2, 0.3, 0.4 }, peri.zeros(3) },
  ["row/ordered.inverse"] = { peri.tensor { -1, 0.5, 2 } },
  reorder  = { peri.tensor { 1, 2, 4 }, peri.tensor { 3, 1, 2 } },
  quantile = { peri.tensor { 3, 1, 2 }, peri.tensor { 0.3, 0.9 } },
  tril     = { peri.ones(2, 4), peri.tensor(1) },
  triu     = { peri.ones(2, 4), peri.tensor(1) },
  low_rank_factor = { peri.tensor { { 1, 0.5 }, { -2, 0.3 }, { 0.7, 1 } }, peri.tensor { 0.5, 1, 2 } },
  gather   = { peri.tensor { { 1, 2 }, { 3, 4 }, { 5, 7 } }, peri.tensor { 3, 1, 3, -2 } },
}
-- operands without derivative
local fixed = { gather = { [2] = true }, reorder = { [2] = true }, tril = { [2] = true }, triu = { [2] = true } }

local function names_of (n) return { table.unpack({ "a", "b", "c", "d", "e" }, 1, n) } end

for _, file in ipairs(core.kernel_files()) do
  local kernels = core.kernels(file)
  for _, kernel in ipairs(file:find("^row/") and kernels or {}) do
    if kernel.has_adjoint then
      it(file .. "." .. kernel.name .. " has the right adjoint", function ()
        local names = names_of(kernel.n_in)
        local value = core.bind_value(file, kernel.name, kernel.name, names, names)
        local adjoint = core.bind_adjoint(file, kernel.name, kernel.name, names, names)
        local operands = own[kernel.name] or own[file .. "." .. kernel.name]
                         or operands_of(kernel.signature, peri.rng(1))
        local upstream = peri.Normal(0, 1):sample(core.shape(value(table.unpack(operands))), peri.rng(2))
        assert.is_nil(slopes.adjoint_mismatch(value, adjoint, operands, upstream, 1e-7, fixed[kernel.name]))
      end)
    end
  end
end

describe("scratch", function ()
  after_each(function () peri.set_threads(1) end)

  it("is each thread's own", function ()
    local rng = peri.rng(3)
    local x = peri.Normal(0, 1):sample({ 600, 12, 12 }, rng)
    local spd = x:matmul(x:transpose(-1, -2)) + 12 * peri.eye(12)
    local adjoint = core.bind_adjoint("row/linalg", "cholesky", "cholesky", { "a" }, { "a" })
    local d = peri.MultivariateNormal { loc = peri.zeros(12), covariance_matrix = spd }
    local function all ()
      local draws = d:rsample(7, peri.rng(9))
      return { adjoint(spd, x), draws, d:log_prob(draws), peri.Dirichlet(peri.exp(x)):sample(3, peri.rng(5)) }
    end
    local alone = all()
    peri.set_threads(3)
    for i, t in ipairs(all()) do assert.is_true(t:equal(alone[i])) end
  end)

  it("sets no limit to the size of a matrix", function ()
    local d = peri.MultivariateNormal { loc = peri.zeros(700), scale_tril = peri.eye(700) * 2 }
    local expected = -700 * (math.log(2) + 0.5 * math.log(2 * math.pi) + 0.125)
    assert(math.abs(peri.item(d:log_prob(peri.ones(700))) - expected) < 1e-9)
    assert.same({ 700 }, d:rsample(nil, peri.rng(1)).shape)
  end)
end)
