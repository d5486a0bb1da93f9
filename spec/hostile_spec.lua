--- Kernels take whatever comes, validated or not: no operand makes one crash,
-- read where it must not (see `make asan`) or run for ever.
local peri  = require "perilune"
local class = require "perilune.class"
local core  = require "perilune.core"

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
    local family = peri[name]
    local plain = not family.construct   -- parameters are numbers, one for each element
    for _, param in ipairs(family.params) do plain = plain and not (param.event or param.single) end
    if plain then
      it(name .. ":sample", function ()
        local given = operands(#family.params, 100, #name)
        local params, alternative = { validate = false }, false
        for k, param in ipairs(family.params) do
          if not (param.gives and alternative) then params[param[1]] = given[k] end
          alternative = alternative or param.gives ~= nil
        end
        assert.same({ 2, 100 }, family(params):sample(2, peri.rng(3)).shape)
      end)
    end
  end
end)


-- Rows without elements ------------------------------------------------------------

-- The dimensions of each operand, and the letters in them: "(k),(k,n)->(n)" is { { "k" }, { "k", "n" } } and k, n.
local function taken_apart (signature)
  local events, known = {}, {}
  for event in signature:match("^(.*)%->"):gmatch "%(([^)]*)%)" do
    local dims = {}
    for letter in event:gmatch "%l" do
      dims[#dims + 1] = letter
      if not known[letter] then known[#known + 1], known[letter] = letter, true end
    end
    events[#events + 1] = dims
  end
  return events, known
end

-- Operands of ones, dimensions of `none` being 0 and others 2, all of them if `none` is nil.
local function of_ones (events, batch, none)
  local list = {}
  for k, event in ipairs(events) do
    local shape = { table.unpack(batch) }
    for _, letter in ipairs(event) do shape[#shape + 1] = none and letter ~= none and 2 or 0 end
    list[k] = #shape > 0 and peri.ones(shape) or 1
  end
  return list
end

-- Values and slopes: kernels of tensors take everything, those of laws say what is empty.
local function try_without_elements (file, kernel)
  local events, known = taken_apart(kernel.signature)
  local names = { table.unpack(letters, 1, kernel.n_in) }
  for which = 0, #known do
    for _, batch in ipairs { {}, { 2 }, { 0 } } do
      local given = of_ones(events, batch, known[which])
      for _, bind in ipairs { core.bind_value, core.bind_adjoint } do
        local bound, call = pcall(bind, file, kernel.name, kernel.name, names, names)
        given[kernel.n_in + 1] = bind == core.bind_adjoint and 1 or nil
        local ok, text = pcall(bound and call or error, table.unpack(given))
        if bound and not file:find "^row/" then
          assert.is_false(ok)
          assert.matches(kernel.name .. ": %l must not be empty, got a tensor of shape %(", text)
        end
      end
    end
  end
end

local function instance (name)
  local example = peri[name].help.example[1]
  local text = example:match("^%u%w*%b()") or example:match("^%u%w*%b{}")
  return load("local peri, " .. name .. " = ...; return " .. text)(peri, peri[name])
end

-- Where an object and its parts have numbers and tensors: lists of keys.
local function places (object, found, path)
  for key, value in next, object do
    local here = { table.unpack(path) }
    here[#here + 1] = key
    if core.is_tensor(value) or type(value) == "number" then found[#found + 1] = here
    elseif type(value) == "table" and not value.violation and not rawget(value, "__index") and #here < 5 then
      places(value, found, here)
    end
  end
  return found
end

local function methods (object)
  local found = {}
  for _, c in ipairs(class.chain(class.of(object))) do
    for key, value in next, c do
      if type(value) == "function" and not key:find "^__" and key ~= "extend" then found[key] = true end
    end
  end
  return found
end

local function nothing () return { peri.zeros(0), peri.zeros(2, 0), peri.zeros(0, 2), {} } end

describe("rows without elements do not harm", function ()
  for _, file in ipairs(files) do
    for _, kernel in ipairs(core.kernels(file)) do
      if kernel.signature then
        it(file .. "." .. kernel.name, function () try_without_elements(file, kernel) end)
      end
    end
  end

  for _, name in ipairs(peri.distributions()) do
    it("as fields of " .. name, function ()
      local whole = instance(name)
      local drawn, x = pcall(whole.sample, whole)
      for _, path in ipairs(places(whole, {}, {})) do
        for method in pairs(methods(whole)) do
          for _, value in ipairs(nothing()) do
            for _, argument in ipairs { false, drawn and x or 0.5, peri.zeros(0) } do
              local d = instance(name)
              local part = d
              for i = 1, #path - 1 do part = part[path[i]] end
              rawset(part, path[#path], value)
              pcall(d[method], d, argument or nil)
            end
          end
        end
      end
    end)
  end

  it("and are named", function ()
    local c, d = peri.Categorical { 0.3, 0.7 }, peri.Dirichlet { 1, 2 }
    c.logits, d.concentration = peri.zeros(0), peri.zeros(3, 0)
    assert.error_matches(function () c:sample() end,
                         "Categorical:sample: logits must not be empty, got a tensor of shape %(0%)$")
    assert.error_matches(function () d:log_prob(peri.zeros(0)) end,
                         "Dirichlet:log_prob: x must not be empty, got a tensor of shape %(0%)$")
    assert.error_matches(function () d:entropy() end,
                         "Dirichlet:entropy: concentration must not be empty, got a tensor of shape %(3, 0%)$")
  end)

  it("where tensors have none", function ()
    assert.equal(0, peri.kl_div(peri.zeros(0), peri.zeros(0), { logits = true, reduction = "sum" }))
    assert.same({ 2, 3 }, peri.matmul(peri.zeros(2, 0), peri.zeros(0, 3)).shape)
    assert.same({ 2, 0 }, peri.zeros(2, 0):softmax().shape)
  end)
end)
