--- Kernels take whatever comes, validated or not: no operand makes one crash,
-- read where it must not (see `make asan`) or run for ever.
local peri = require "perilune"
local core = require "perilune.core"

local inf, nan = math.huge, 0 / 0
local values = { nan, inf, -inf, 0, -0.0, -1, -2.5, 1e308, -1e308, 5e-324, 1e-200, 0.3, 1, 2, 7.5, 1e6, 1e17, -1e17 }
local letters = { "a", "b", "c", "d", "e", "f", "g", "h" }

-- n operands, each a column of hostile values in an order of its own.
local function operands (n, rows, seed)
  local rng, list = peri.rng(seed), {}
  for k = 1, n do
    local column = {}
    for i, u in ipairs(rng:uniform(rows):totable()) do column[i] = values[1 + math.floor(u * #values)] end
    list[k] = peri.tensor(column)
  end
  return list
end

local files = {}
for _, file in ipairs(core.kernel_files()) do files[#files + 1] = file end
table.sort(files)

describe("hostile operands do not harm", function ()
  for _, file in ipairs(files) do
    for _, kernel in ipairs(core.kernels(file)) do
      local elementwise = kernel.kind == "elementwise" or (kernel.noise and not kernel.signature)
      if elementwise or kernel.has_partials then
        it(file .. "." .. kernel.name, function ()
          local names = { table.unpack(letters, 1, kernel.n_in) }
          local given = operands(kernel.n_in, 300, #file + #kernel.name)
          if elementwise then
            local value = core.bind_value(file, kernel.name, kernel.name, names, names)(table.unpack(given))
            assert.same({ 300 }, value.shape)
          end
          if kernel.has_partials then
            local partials = { core.bind_partials(file, kernel.name, kernel.name, names, names)(table.unpack(given)) }
            assert.equal(kernel.n_in, #partials)
          end
        end)
      end
    end
  end

  for _, name in ipairs(peri.distributions()) do
    local class = peri[name]
    local plain = not class.construct   -- parameters are numbers, one for each element
    for _, param in ipairs(class.params) do plain = plain and not (param.event or param.single) end
    if plain then
      it(name .. ":sample", function ()
        local given = operands(#class.params, 100, #name)
        local params, alternative = { validate = false }, false
        for k, param in ipairs(class.params) do
          if not (param.gives and alternative) then params[param[1]] = given[k] end
          alternative = alternative or param.gives ~= nil
        end
        assert.same({ 2, 100 }, class(params):sample(2, peri.rng(3)).shape)
      end)
    end
  end
end)
