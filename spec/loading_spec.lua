--- What is loaded when, and that all of it is found by name.
local peri = require "perilune"
local core = require "perilune.core"

-- The names of modules that fn loads where nothing is loaded yet, as a set.
local function loaded_by (fn)
  local saved, names = {}, {}
  for name, module in pairs(package.loaded) do
    if name:find "^perilune" then saved[name] = module end
  end
  for name in pairs(saved) do package.loaded[name] = nil end
  local ok, message = pcall(fn)
  for name in pairs(package.loaded) do
    if name:find "^perilune" then names[name:gsub("^perilune%.?", "")] = true end
  end
  for name in pairs(names) do package.loaded["perilune." .. name] = nil end
  for name, module in pairs(saved) do package.loaded[name] = module end
  assert(ok, message)
  return names
end

describe("core.modules", function ()
  it("lists the files of a folder in alphabetical order", function ()
    local classes = core.modules "distributions"
    assert.same(peri.distributions(), classes)
    assert.equal("AsymmetricLaplace", classes[1])
    assert.same({}, core.modules "nowhere")
    assert.same({}, core.modules "distribution")
  end)
end)

describe("core.each_kernel", function ()
  it("goes through the kernels that core.kernels lists", function ()
    local found = {}
    for name, n_in, kind in core.each_kernel "normal" do found[#found + 1] = { name, n_in, kind } end
    local listed = core.kernels "normal"
    assert.equal(#listed, #found)
    for i, kernel in ipairs(listed) do assert.same({ kernel.name, kernel.n_in, kernel.kind }, found[i]) end
    assert.is_nil(core.each_kernel "nowhere")
  end)
end)

describe("what C offers", function ()
  local t = peri.zeros(2)

  it("is there: methods and fields of tensors, and public functions", function ()
    for _, list in ipairs { core.methods, core.fields, core.public } do assert.is_function(select(2, next(list))) end
    for name, fn in pairs(core.methods) do assert.equal(fn, t[name]) end
    for name, fn in pairs(core.fields) do assert.same(fn(t), t[name]) end
    for name, fn in pairs(core.public) do assert.equal(fn, peri[name]) end
  end)

  it("has a method and a function for every reduction", function ()
    for _, kernel in ipairs(core.kernels "reduce") do
      assert.is_function(t[kernel.name])
      assert.equal(t[kernel.name], peri[kernel.name])
    end
  end)

  it("has a method for every function of rows along a dimension", function ()
    for _, kernel in ipairs(core.kernels "row/softmax") do assert.is_function(t[kernel.name]) end
  end)
end)

describe("constraints", function ()
  local constraints = peri.constraints

  it("are all listed by pairs", function ()
    local listed = {}
    for name, value in pairs(constraints) do listed[name] = value end
    for _, family in ipairs(core.modules "constraints") do
      for name in pairs(require("perilune.constraints." .. family)) do assert.is_not_nil(listed[name]) end
    end
    for _, name in ipairs { "positive", "simplex", "corr_cholesky", "cat" } do assert.is_not_nil(listed[name]) end
  end)

  it("are the same kinds after a second load", function ()
    loaded_by(function ()
      local again = require "perilune.constraints.independent"
      assert.is_true(rawequal(getmetatable(constraints.real_vector), getmetatable(again.real_vector)))
      assert.is_true(constraints.real_vector == again.real_vector)
    end)
  end)

  it("of rows and matrices are not loaded for those of numbers", function ()
    local names = loaded_by(function () return require "perilune.distributions.Normal" end)
    assert.is_true(names["constraints.numbers"])
    for _, family in ipairs { "compound", "matrices", "rows" } do assert.is_nil(names["constraints." .. family]) end
  end)
end)

describe("transforms", function ()
  local transforms = peri.transforms

  it("are all listed by pairs, loaded or not, and stay the same", function ()
    local before = {}
    for name, value in pairs(transforms) do before[name] = value end
    for _, name in ipairs(core.modules "transforms") do assert.is_table(before[name]) end
    for _, name in ipairs { "identity", "biject_to", "transform_to" } do assert.is_table(before[name]) end
    for name in next, before do transforms[name] = nil end
    for name, value in pairs(transforms) do
      assert.is_true(name == "identity" or rawequal(before[name], value))
      before[name] = nil
    end
    assert.is_nil(next(before))
  end)

  it("are loaded one by one", function ()
    local names = loaded_by(function () return require "perilune.transforms.Exp" end)
    assert.is_true(names["transforms.Exp"])
    assert.is_nil(names["transforms.Affine"])
  end)
end)

describe("divergences", function ()
  local families = require "perilune.kl_families"

  it("are found without other classes", function ()
    local names = loaded_by(function ()
      local kl, Normal = require "perilune.kl", require "perilune.distributions.Normal"
      local Laplace = require "perilune.distributions.Laplace"
      assert(kl.kl_divergence(Normal(0, 1), Laplace(0, 1)) > 0)
    end)
    local classes = {}
    for name in pairs(names) do classes[#classes + 1] = name:match "^distributions%.(.*)" end
    table.sort(classes)
    assert.same({ "Laplace", "Normal" }, classes)
  end)

  it("follow from the kernels of a class", function ()
    for _, name in ipairs { "Normal", "Uniform", "Gamma", "TruncatedNormal" } do
      assert.is_true(families.is_family(peri[name]), name)
    end
    for _, name in ipairs { "Poisson", "Chi2", "Delta", "VonMises", "Dirichlet", "Truncated", "Distribution" } do
      assert.is_false(families.is_family(peri[name]), name)
    end
  end)

  it("have kernels in files of the names of the classes", function ()
    for _, name in ipairs(peri.distributions()) do
      local own = rawget(peri[name], "kernels")   -- a child may have those of its parent
      assert(not own or own == name:lower(), name)
    end
  end)
end)

describe("what few need", function ()
  it("is not loaded with all classes", function ()
    local names = loaded_by(function ()
      for _, name in ipairs(core.classes()) do require("perilune.distributions." .. name) end
    end)
    for _, name in ipairs { "quadrature", "peaks", "levels", "stages", "kl", "transforms.Affine", "unconstrained",
                            "one_sided", "columns", "constraints.compound", "constraint_findings", "mixture",
                            "truncation", "transformed", "enumeration", "cuts", "joining", "indexing", "comparing",
                            "construction", "help.classes", "hidden_markov", "along", "lines", "products", "shapes" } do
      assert.is_nil(names[name], name)
    end
    for name in pairs(names) do assert.is_nil(name:find "^methods%.", name) end
    assert.is_true(names["distributions.Truncated"])
  end)

  it("are methods of a class, in place once one was called", function ()
    loaded_by(function ()
      local Normal = require "perilune.distributions.Normal"
      local Independent = require "perilune.distributions.Independent"
      local before = Independent.log_prob
      local d = Independent(Normal({ 0, 1 }, 1), 1)
      assert.error_matches(function () before(d, { 0, 0 }, 1) end, "Independent:log_prob: takes at most 1 argument")
      assert.error_matches(function () before() end, "Independent:log_prob: self is missing")
      local value = before(d, { 0, 0 })
      assert.are_not.equal(before, Independent.log_prob)
      assert.equal(value, d:log_prob({ 0, 0 }))
      local Own = Independent:extend("Own", {})
      assert.equal("Own(Normal(loc={0, 1}, scale=1), 1)", tostring(Own(Normal({ 0, 1 }, 1), 1)))
    end)
  end)

  it("are methods of a class, unless it was given others", function ()
    loaded_by(function ()
      local Normal = require "perilune.distributions.Normal"
      local Masked = require "perilune.distributions.Masked"
      local before = Masked.mean
      function Masked:mean () return 7 end   -- luacheck: ignore 212
      local d = Masked(Normal(0, 1), true)
      assert.equal(0, before(d))
      assert.equal(7, d:mean())
    end)
  end)

  it("is the help of a class", function ()
    assert.equal("The bell curve", peri.Normal.help.summary)
    assert.is_nil(peri.Normal.help.nothing)
    local Own = peri.Normal:extend("Own", { help = { summary = "mine" } })
    assert.equal("mine", Own.help.summary)
    assert.equal("The bell curve", peri.Normal:extend("Other", {}).help.summary)
  end)

  it("is loaded for probs with a gradient that touch an end", function ()
    local without = loaded_by(function () return require "perilune.distributions.Bernoulli"(0) end)
    local with = loaded_by(function ()
      local gradient = require "perilune.gradient"
      return require "perilune.distributions.Bernoulli"(gradient.param { 0, 0.5 })
    end)
    assert.is_nil(without["one_sided"])
    assert.is_true(with["one_sided.Bernoulli"])
    assert.is_nil(with["one_sided.Binomial"])
  end)
end)
