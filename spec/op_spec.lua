--- Every elementwise function that has partials: compared with slopes. A new
-- kernel in src/kernel/op is checked unasked, at these points or its own.
local peri     = require "perilune"
local core     = require "perilune.core"
local contract = require "spec.support.contract"
local slopes   = require "spec.support.slopes"

local usual = {
  { { -7.3 }, { -1.2 }, { -0.03 }, { 0.4 }, { 1.9 }, { 30.5 } },
  { { 0.4, 1.7 }, { 2.5, 0.3 }, { 11.2, 7.9 } },
  { { 0.4, 1.7, 0.6 }, { 2.5, 0.3, 0.9 } },
}

local positive = { { 1e-5 }, { 0.03 }, { 0.4 }, { 1.9 }, { 30.5 }, { 4e6 } }
local unit     = { { 1e-5 }, { 0.03 }, { 0.4 }, { 0.7 }, { 0.999 } }

local own = {   -- where the usual points lie outside the domain, or miss a regime
  log = positive, sqrt = positive, e1e = positive, logit = unit, ndtri = unit,
  log1p = { { -0.9 }, { -1e-6 }, { 0.5 }, { 1e5 } },
  log1mexp = { { -40 }, { -1.5 }, { -0.3 }, { -1e-4 } },
  erfinv = { { -0.99 }, { -1e-3 }, { 0.3 }, { 0.9 } },
  erfcinv = { { 1e-9 }, { 0.3 }, { 1.2 }, { 1.99 } },
  erfcx = { { -2 }, { 0.3 }, { 19 }, { 21 }, { 500 } },
  log_ndtr = { { -200 }, { -3 }, { 0.1 }, { 5 } },
  ndtr = { { -20 }, { -3 }, { 0.1 }, { 5 } },
  i0e = { { -30 }, { -0.2 }, { 0.7 }, { 12 }, { 700 } },
  i1e = { { -30 }, { -0.2 }, { 0.7 }, { 12 }, { 700 } },
  bessel_i1_over_i0 = { { -30 }, { -0.2 }, { 0.7 }, { 190 }, { 300 } },
  gammainc = { { 0.3, 0.1 }, { 2.5, 3.1 }, { 60, 55 } },
  gammaincc = { { 0.3, 0.1 }, { 2.5, 3.1 }, { 60, 70 } },
  gammaincinv = { { 0.3, 0.1 }, { 2.5, 0.7 }, { 60, 0.4 } },
  gammainccinv = { { 0.3, 0.1 }, { 2.5, 0.7 }, { 60, 0.4 } },
  betainc = { { 0.4, 1.7, 0.6 }, { 2.5, 0.3, 0.9 }, { 70, 50, 0.55 } },
  betaincinv = { { 0.4, 1.7, 0.6 }, { 2.5, 0.3, 0.2 }, { 70, 50, 0.4 } },
  zeta = { { 1.5, 0.7 }, { 3.2, 2.5 }, { 9, 1 } },
  mod = { { 7.3, 2.1 }, { -7.3, 2.1 }, { 5, -0.8 } },
  pow = { { 0.4, 1.7 }, { 2.5, -3.1 }, { 9, 0.5 } },
  where = { { 1, 2, 3 }, { 0, 2, 3 } },
}

-- Operands that are integers: there is nothing to differentiate.
local integer_operands = { polygamma = 1, where = 1 }
own.polygamma = { { 2, 0.7 }, { 1, 3.5 }, { 5, 11 } }

for file, kernels in pairs(core.kernels()) do
  if file:find("^op/") then
    describe("partials of " .. file, function ()
      for _, kernel in ipairs(kernels) do
        if kernel.has_partials then
          it(kernel.name, function ()
            local names = { table.unpack({ "a", "b", "c", "d" }, 1, kernel.n_in) }
            local partials = core.bind_partials(file, kernel.name, kernel.name, names, names)
            local value = contract.kernel_value(file, kernel)
            local fixed = integer_operands[kernel.name]
            for _, point in ipairs(own[kernel.name] or usual[kernel.n_in]) do
              local d, f, at = { partials(table.unpack(point)) }, value, point
              if fixed then
                table.remove(d, fixed)
                at = { table.unpack(point, fixed + 1) }
                f = function (...) return value(point[fixed], ...) end
              end
              assert.is_nil(slopes.mismatch(f, at, d, 1e-7))
            end
          end)
        end
      end
    end)
  end
end

describe("the check of partials", function ()
  it("notices one that is wrong by a millionth", function ()
    local right, wrong = { 2 * 1.5 }, { 2 * 1.5 * (1 + 1e-6) }
    assert.is_nil(slopes.mismatch(peri.square, { 1.5 }, right, 1e-7))
    assert.is_string(slopes.mismatch(peri.square, { 1.5 }, wrong, 1e-7))
  end)
end)
