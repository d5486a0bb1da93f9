--- The reference: every public name has an entry, entries say what is there, and their examples give what they say.
-- That the generated files are as they should be is checked in lists_spec.lua.
package.path = "./?.lua;" .. package.path
local peri      = require "perilune"
local entries   = require "docs.entries"
local names     = require "docs.names"
local reference = require "docs.reference"
local examples  = require "spec.support.examples"
local length    = require "perilune.characters".length

local all, public = reference.entries(), names.all()

local by_name, serves = {}, {}
for _, entry in ipairs(all) do
  by_name[entry.name] = entry
  serves[entry.name] = entry
  for _, other in ipairs(entry.also or {}) do serves[other] = entry end
end

local function where (entry) return entry.file .. ":" .. entry.line .. ": " .. entry.name end

local function sorted_keys (t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- Classes of distributions have their entries from themselves.
local is_class = { Distribution = true }
for _, name in ipairs(peri.distributions()) do is_class[name] = true end

describe("public names", function ()
  -- The same function or table under another name needs no entry of its own.
  local documented = {}
  for name in pairs(serves) do
    local value = public[name]
    if type(value) == "function" or type(value) == "table" then documented[value] = name end
  end

  it("all have an entry beside their code", function ()
    local missing = {}
    for _, path in ipairs(sorted_keys(public)) do
      local class = path:match "^peri%.(%u%w*)$"
      local known = serves[path] or documented[public[path]] or class and is_class[class]
      if not known then missing[#missing + 1] = path end
    end
    assert.same({}, missing)
  end)

  it("are what entries are of, once each", function ()
    local unknown, seen = {}, {}
    for _, entry in ipairs(all) do
      local kind = entry.name:match "^(%u%w*)[%.:]" or entry.name:match "^(%u%w*)$"
      local is_field = entry.name:find "^%u" and not entry.arguments   -- fields are there once an object is made
      local is_known = public[entry.name] ~= nil or is_field and (names.kinds()[kind] or is_class[kind])
      if not is_known or seen[entry.name] then unknown[#unknown + 1] = where(entry) end
      seen[entry.name] = true
    end
    assert.same({}, unknown)
  end)

  it("that are internal are there, and have no entry", function ()
    local kinds = names.kinds()
    for kind, list in pairs(names.internal) do
      for name in list:gmatch "%S+" do
        local found = false
        for _, methods in ipairs(kinds[kind]) do found = found or methods[name] ~= nil end
        assert(found, "no internal " .. kind .. ":" .. name)
        assert.is_nil(by_name[kind .. ":" .. name])
      end
    end
  end)
end)

describe("entries", function ()
  it("have a sentence and an example each", function ()
    local bare = {}
    for _, entry in ipairs(all) do
      local is_sentence = entry.text:find "[%.%)?]$"
      if not is_sentence or #entry.examples == 0 then bare[#bare + 1] = where(entry) end
    end
    assert.same({}, bare)
  end)

  it("describe the parameters of their signature, and no others", function ()
    local wrong = {}
    for _, entry in ipairs(all) do
      local arguments, described = {}, {}
      for i, argument in ipairs(entry.arguments or {}) do arguments[i] = entries.argument_name(argument) end
      for i, param in ipairs(entry.params) do described[i] = param[1] end
      if table.concat(arguments, " ") ~= table.concat(described, " ") then
        wrong[#wrong + 1] = where(entry) .. " takes (" .. table.concat(arguments, ", ") .. "), describes ("
                            .. table.concat(described, ", ") .. ")"
      end
    end
    assert.same({}, wrong)
  end)

  it("name the parameters of constraints and transforms", function ()
    local compared = 0
    for _, module in ipairs { "constraints", "transforms" } do
      for name, value in pairs(peri[module]) do
        local entry = by_name["peri." .. module .. "." .. name]
        local params = type(value) == "table" and value ~= peri.constraints.Constraint and entry and value.params
        if params then
          local is_kind = rawget(value, "__index") ~= nil   -- others are made already
          assert.same(is_kind and params or nil, entry.arguments, entry.name)
          compared = compared + 1
        end
      end
    end
    assert(compared > 40)
  end)

  -- Functions in Lua know how many parameters they have; a last ... refuses more.
  it("have as many parameters as their functions", function ()
    local wrong, compared = {}, 0
    for _, entry in ipairs(all) do
      local fn = public[entry.name]
      local info = type(fn) == "function" and debug.getinfo(fn, "uS")
      local count = #(entry.arguments or {}) + (entry.name:find ":" and 1 or 0)
      local is_open = entry.arguments and entry.arguments[#entry.arguments] == "..."
      if info and info.what == "Lua" and info.nparams > 1 and not is_open then   -- others pass on what they get
        compared = compared + 1
        if info.nparams ~= count then
          wrong[#wrong + 1] = string.format("%s describes %d, has %d", where(entry), count, info.nparams)
        end
      end
    end
    assert.same({}, wrong)
    assert(compared > 35)
  end)
end)

-- Options ---------------------------------------------------------------------------------------

-- The value in the parentheses that end the words of an option: "learning rate (0.001)".
local function default_of (words)
  local text = words:match "%(([^%(%)]*)%)$"
  local chunk = text and load("return " .. text)
  if chunk then return chunk() end
end

local function options_of (name)
  for _, param in ipairs(assert(by_name[name], name).params) do
    if param[1] == "options" then return assert(param[3], name .. " has no options") end
  end
end

-- Compares rows { name, default } with the options that an entry describes.
local function compare (name, rows, is_part)
  local described, real = {}, {}
  for _, option in ipairs(options_of(name)) do described[option[1]] = option[2] end
  for _, row in ipairs(rows) do
    real[row[1]] = true
    local words, default = described[row[1]], row[2]
    assert(words or is_part, name .. ": no words for the option " .. row[1])
    if words and default ~= nil and (default or words:find "%(false%)$") then
      assert.same(default, default_of(words), name .. ": the default of " .. row[1])
    end
  end
  for option in pairs(described) do assert(real[option], name .. " has no option " .. option) end
end

-- The options that a function names when it is given one that it does not have.
local function accepted (fn, ...)
  local ok, why = pcall(fn, ...)
  assert(not ok and why:find "no_such", "an unknown option was not refused")
  local rows = {}
  for name in why:match "[Tt]here are (.*)$":gmatch "[%w_]+" do rows[#rows + 1] = { name } end
  return rows
end

describe("options", function ()
  it("of optimisers are those that they take, with these defaults", function ()
    for name, kind in pairs(peri.optim) do
      if type(kind) == "table" and rawget(kind, "options") then compare("peri.optim." .. name, kind.options) end
    end
  end)

  it("of ways to a posterior are those that they take, with these defaults", function ()
    local options = require "perilune.inference.options"
    local posed = peri.model(function (m) m.x = peri.Normal(0, 1) end) {}
    local read, tables = options.read, {}
    function options.read (who, _, rows, more)   -- tells what it would read
      tables[who] = {}
      for _, list in ipairs { options.COMMON, rows, more } do
        for _, row in ipairs(list) do table.insert(tables[who], row) end
      end
      error "enough"
    end
    for name in pairs(require "perilune.model".methods) do pcall(posed[name], posed, {}) end
    pcall(peri.sbc, peri.model(function () end), {})
    pcall(peri.vi.fit, { log_joint = function () return 0 end, params = { x = {} } })
    options.read = read
    local of_vi = tables.vi
    tables.vi = nil
    for name, rows in pairs(tables) do compare(name == "sbc" and "peri.sbc" or "Model:" .. name, rows) end
    compare("peri.vi.fit", of_vi, true)
    compare("peri.vi.new", of_vi, true)
    pcall(function ()
      function options.read (_, _, rows) of_vi = { rows, options.COMMON }; error "enough" end
      posed:vi {}
    end)
    options.read = read
    local rows = {}
    for _, list in ipairs(of_vi) do for _, row in ipairs(list) do rows[#rows + 1] = row end end
    compare("Model:vi", rows)
    assert(tables.nuts and tables.hmc and tables.map and tables.smc and tables.fit and tables.sbc and #rows > 15)
  end)

  it("of functions are those that they take", function ()
    local p, q, none = peri.Normal(0, 1), peri.Normal(1, 2), { no_such = 1 }
    compare("peri.kl_divergence", accepted(peri.kl_divergence, p, q, none))
    compare("peri.kl_explain", accepted(peri.kl_explain, p, q, none))
    compare("peri.cross_entropy", accepted(peri.cross_entropy, p, q, none))
    compare("Distribution:cross_entropy", accepted(p.cross_entropy, p, q, none))
    compare("peri.jeffreys", accepted(peri.jeffreys, p, q, none))
    compare("peri.js_divergence", accepted(peri.js_divergence, p, q, none))
    compare("peri.renyi_divergence", accepted(peri.renyi_divergence, p, q, 2, none))
    compare("Distribution:expectation", accepted(p.expectation, p, peri.exp, none))
    compare("peri.register_kl", accepted(peri.register_kl, peri.Normal, peri.Normal, print, none))
    compare("peri.kl_div", accepted(peri.kl_div, 0, 0, none))
    compare("peri.KLDivLoss", accepted(peri.KLDivLoss, none))
    compare("peri.func", accepted(peri.func, none))
    compare("peri.solve_triangular", accepted(peri.solve_triangular, { { 1 } }, { 1 }, none))
  end)
end)

-- Examples ----------------------------------------------------------------------------------------

describe("examples give what they say", function ()
  local chapters = {}
  for _, entry in ipairs(all) do
    chapters[entry.chapter] = chapters[entry.chapter] or {}
    table.insert(chapters[entry.chapter], entry)
  end
  -- Before Lua 5.3 whole floats are written as integers are.
  local function is_written (said, got)
    if tostring(1.0) == "1" then said = said:gsub("(%d)%.0%f[^%d]", "%1") end
    return got == said
  end

  for i, list in pairs(chapters) do
    it(entries.chapters[i][1], function ()
      local wrong = {}
      for _, entry in ipairs(list) do
        for _, example in ipairs(entry.examples) do
          local got, first = examples.run(example[1])   -- or nil and why not
          if not is_written(example[2], got) and not is_written(example[2], first) then
            wrong[#wrong + 1] = where(entry) .. "\n> " .. example[1] .. "\nsays " .. example[2] .. "\ngave "
                                .. tostring(got or first)
          end
        end
      end
      assert.same({}, wrong)
    end)
  end

  it("of classes", function ()
    for _, name in ipairs(peri.distributions()) do
      local example = peri.help(name).examples[1]
      assert.equal(example[2], (examples.run(example[1])))
      assert(math.abs(tonumber(example[2]) - peri[name].help.example[2]) < 1e-12 * (1 + math.abs(example[2])))
    end
  end)
end)

-- peri.help ---------------------------------------------------------------------------------------

describe("peri.help", function ()
  local help = peri.help

  it("finds an entry by every name of it", function ()
    for name, entry in pairs(serves) do
      assert.equal(entry.name, help(name).name, name)
      assert.equal(entry.name, help((name:gsub("^peri%.", ""))).name, name)
    end
    for name in pairs(is_class) do assert.equal(name, (help(name).name:gsub("^peri%.", ""))) end
  end)

  it("knows abbreviations, classes, objects and functions", function ()
    local posed = peri.model(function (m) m.x = peri.Normal(0, 1) end) {}
    local w = peri.param(1)
    local cases = {
      { "log_prob", "Distribution:log_prob" }, { "Tensor:sum", "peri.sum" }, { "t:sum", "peri.sum" },
      { "t:reshape", "Tensor:reshape" }, { "optim.Adam", "peri.optim.Adam" }, { "Adam", "peri.optim.Adam" },
      { "Normal(0, 1):cdf(x)", "Distribution:cdf" }, { "Gamma:mean", "Distribution:mean" },
      { "HiddenMarkov:viterbi", "HiddenMarkov:viterbi" }, { "post.mean", "Posterior.mean" },
      { "posed:nuts", "Model:nuts" }, { "peri.special.lgamma", "peri.lgamma" }, { "t.shape", "Tensor.shape" },
      { "perilune.exp", "peri.exp" }, { "positive", "peri.constraints.positive" }, { "m:plate", "Sites:plate" },
      { peri.Distribution, "Distribution" },
      { peri.Gamma, "peri.Gamma" }, { peri.Gamma(1, 1), "peri.Gamma" }, { peri.exp, "peri.exp" },
      { peri.optim.Adam, "peri.optim.Adam" }, { peri.optim.Adam(w), "peri.optim.Adam" },
      { peri.tensor { 1 }, "Tensor" }, { w, "Tensor" }, { peri.constraints.positive, "peri.constraints.positive" },
      { peri.constraints.interval(0, 2), "peri.constraints.interval" },
      { peri.transforms.Exp(), "peri.transforms.Exp" },
      { peri.optim, "peri.optim" }, { posed, "Model" }, { peri.rng(1), "Rng" }, { posed:map {}, "Posterior" },
      { peri.trace(function () return w * w end), "Trace" }, { peri.transforms.Exp():inv(), "Transform" },
      { peri.constraints.unit_interval, "peri.constraints.unit_interval" },
      { posed:nuts { run = false }, "Sampling" }, { posed:vi { run = false }, "Fit" },
    }
    for _, case in ipairs(cases) do assert.equal(case[2], help(case[1]).name, tostring(case[1])) end
  end)

  it("refuses what is not there, and names the nearest", function ()
    local ok, why = pcall(help, "log_prop")
    assert.is_false(ok)
    assert(why:find("help_spec.lua", 1, true) and why:find("did you mean log_prob?", 1, true), why)
    for _, name in ipairs { "no such thing", "Tensor:nuts", "Gamma:reshape", "optim.cdf", "", "::", "%a+" } do
      assert.is_nil(help.entry(name))
    end
    assert.equal("Model:nuts", help("whatever:nuts").name)
    for _, x in ipairs { 12, false, io.stdout, {}, function () end } do assert.is_nil(help.entry(x)) end
    assert.is_nil(help.entry(setmetatable({}, { __index = error, __name = {} })))
    assert.has_error(function () help {} end)
    assert.has_error(function () help("exp", 1) end)
    assert.has_error(function () help.find(1) end)
    assert.has_error(function () help("exp"):render(5) end)
  end)

  it("wraps to a width", function ()
    for _, width in ipairs { 40, 80, 120 } do
      for _, name in ipairs { "sum", "Gamma", "Model:nuts", "Tensor", "kl_divergence", "solve_triangular" } do
        for line in help(name):render(width):gmatch "[^\n]+" do
          assert(length(line) <= width or line:find "^  > " or not line:find "%s%S+%s", name .. ": " .. line)
        end
      end
    end
  end)

  it("puts words below names where there is little room beside them", function ()
    local text = help "Normal":render(24)
    assert.matches("\n  scale\n    positive, 1 unless\n    told; standard\n    deviation\n", text)
  end)

  it("says of a distribution what its class declares", function ()
    local gamma = help "Gamma"
    assert.equal("peri.Gamma(concentration, rate = 1)", gamma.signature)
    assert.equal("rate", gamma.params[2][1])
    assert(gamma.params[2][2]:find "^positive, 1 unless told")
    assert.equal("non-negative", gamma.support)
    local text = tostring(gamma)
    for _, words in ipairs { "KL to", "KL from", "relatives", "Chi2, Exponential, FisherSnedecor", "log_prob",
                             "0.32332358381694" } do
      assert(text:find(words, 1, true), words)
    end
    assert(tostring(help "Uniform"):find("greater than low", 1, true))
    assert(tostring(help "Uniform"):find("[low, high]", 1, true))
    assert(tostring(help "Bernoulli"):find("instead of probs", 1, true))
    assert.equal("peri.Truncated(base, low, high)", help("Truncated").signature)
  end)

  it("says what there is to say of a class of one's own", function ()
    local Mine = peri.Gamma:extend("Mine")
    assert(tostring(help(Mine)):find("peri.Mine(concentration, rate = 1)", 1, true))
    local Bare = peri.Distribution:extend("Bare", { params = { { "a", peri.constraints.real } } })
    assert(tostring(help(Bare)):find("a  a real number", 1, true))
    assert.equal("peri.Bare", help(Bare(1)).name)
    for _, about in ipairs {
      5, "text", { params = 1, summary = {}, example = 3, formula = true, arguments = "a" },
      { example = { 1 } }, { example = { "Odd(1", 2 } }, { example = { "Odd(1):nothing()", 2 } },
    } do
      local Odd = peri.Distribution:extend("Odd", { params = { { "a", peri.constraints.real } }, help = about })
      assert(tostring(help(Odd)):find "^peri.Odd")
    end
  end)

  it("names the arguments of classes that make their instances themselves", function ()
    for _, name in ipairs(peri.distributions()) do
      local class = peri[name]
      if class.construct and not class.params[1] then
        local listed = {}
        for _, argument in ipairs(assert(class.help.arguments, name)) do listed[argument] = true end
        for param in pairs(class.help.params) do assert(listed[param], name .. ": " .. param) end
        assert.equal(#sorted_keys(class.help.params), #class.help.arguments)
      end
    end
  end)

  it("finds words, names first", function ()
    local found = {}
    for i, one in ipairs(help.find "kl") do found[one.name] = i end
    for _, name in ipairs { "kl_divergence", "kl_explain", "register_kl", "kl_pairs", "kl_div", "kl_fallback" } do
      assert(found["peri." .. name] and found["peri." .. name] <= 8, name)
    end
    assert.equal("peri.Gamma", help.find("gamma")[1].name)
    assert.equal("peri.quantile", help.find("quantile")[1].name)
    local by_text = {}
    for _, one in ipairs(help.find "bell curve") do by_text[one.name] = one.sentence end
    assert(by_text["peri.Normal"])
    local by_option = {}
    for _, one in ipairs(help.find "max_depth") do by_option[one.name] = true end
    assert(by_option["Model:nuts"])
    assert.same({}, { table.unpack(help.find "xyzzy") })
    assert(tostring(help.find "wasserstein"):find("peri.wasserstein", 1, true))
    assert.same({}, { table.unpack(help.find "") })
  end)

  it("needs no libraries that a host may leave out", function ()
    local left_out, saved = { "io", "os", "debug", "utf8", "load" }, {}
    for _, name in ipairs(left_out) do saved[name], _G[name] = _G[name], nil end
    local ok, why = pcall(function ()
      return tostring(help "Gamma") .. tostring(help.find "kl") .. tostring(help()) .. help(peri.Normal(0, 1)).name
             .. help(peri.tensor { 1 }).name
    end)
    for _, name in ipairs(left_out) do _G[name] = saved[name] end
    assert(ok, why)
    assert(why:find("0.32332358381694", 1, true))
  end)

  it("gives an overview of its chapters", function ()
    local text = tostring(help())
    for _, words in ipairs { "Distributions", "Gamma", "Tensors", "Model: ", "nuts", "optim. " } do
      assert(text:find(words, 1, true), words)
    end
    assert.equal(text, tostring(help))
  end)
end)

describe("library/perilune.d.lua", function ()
  local stream = assert(io.open "library/perilune.d.lua")
  local text = stream:read "a"
  stream:close()

  it("is Lua, and has every name", function ()
    local made = assert(load(text))()
    for path in pairs(serves) do
      local found = made
      for part in path:gsub("^peri%.", ""):gmatch "[^%.:]+" do found = found and found[part] end
      local is_there = found or not path:find "^peri%." or not serves[path].arguments
      assert(is_there, path)
    end
    for _, name in ipairs(peri.distributions()) do assert(made[name], name) end
  end)

  it("names types that there are, and the parameters of its functions", function ()
    local types = { number = true, integer = true, string = true, boolean = true, table = true, any = true,
                    ["function"] = true, ["nil"] = true }
    for name in text:gmatch "%-%-%-@class ([%w_%.]+)" do types[name] = true end
    for name in text:gmatch "%-%-%-@class [%w_%.]+: ([%w_%.]+)" do assert(types[name], name) end
    local params, functions = {}, 0
    for line in text:gmatch "[^\n]+" do
      local kind, rest = line:match "^%-%-%-@(%a+) (.*)$"
      local of = kind == "return" and rest or kind == "type" and rest
                 or (kind == "param" or kind == "field") and rest:match "^%S+ (%S+)"
      for name in (of or ""):gsub("^fun%(%w+: any%): ", ""):gmatch "[^|]+" do assert(types[name], line) end
      if kind == "param" then params[#params + 1] = rest:match "^[%w_%.]+" end
      local arguments = line:match "^function [%w_%.:]+%((.*)%) end$"
      if arguments then
        assert.equal(arguments, table.concat(params, ", "))
        functions, params = functions + 1, {}
      end
    end
    assert(functions > 300)
  end)
end)
