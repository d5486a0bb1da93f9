--- Loading ahead of time.
local peri = require "perilune"
local core = require "perilune.core"

local function is_ours (name) return name:find "^perilune" ~= nil end

-- Calls fn where nothing of ours is loaded yet; what it returns.
local function afresh (fn)
  local saved = {}
  for name, module in pairs(package.loaded) do
    if is_ours(name) then saved[name], package.loaded[name] = module, nil end
  end
  local ok, result = pcall(fn)
  for name in pairs(package.loaded) do
    if is_ours(name) then package.loaded[name] = nil end
  end
  for name, module in pairs(saved) do package.loaded[name] = module end
  assert(ok, result)
  return result
end

-- The names of modules that fn loads after preload(names).
local function loaded_after (names, fn)
  return afresh(function ()
    local fresh, before, later = require "perilune", {}, {}
    fresh.preload(names)
    for name in pairs(package.loaded) do before[name] = true end
    fn(fresh)
    for name in pairs(package.loaded) do
      if not before[name] then later[#later + 1] = name end
    end
    return later
  end)
end

local function diverge (p)
  p.kl_divergence(p.Normal(0, 1), p.Normal(1, 2))
  p.kl_divergence(p.Normal(0, 1), p.Gamma(2, 1))
end

local function fit (p)
  local posed = p.model(function (m)
    m.mu, m.s = p.Normal(0, 1), p.HalfNormal(1)
    m.y = p.Normal(m.mu, m.s)
  end) { y = { 1, 2, 3 } }
  tostring(posed:vi { seed = 1 })
end

describe("preload", function ()
  it("leaves nothing to load for the first divergence", function ()
    assert.same({}, loaded_after({ "Normal", "Gamma", "kl_divergence" }, diverge))
    assert.is_true(#loaded_after({ "Normal" }, diverge) > 0)
  end)

  it("of all leaves nothing to load, but help and the prompt", function ()
    assert.same({}, loaded_after(nil, function (p)
      diverge(p)
      fit(p)
    end))
    assert.same({}, loaded_after(nil, function ()
      for _, file in ipairs(core.all_modules()) do
        local is_used = not file:find "^help/" and not file:find "^repl" and file ~= "init"
        if is_used then require("perilune." .. file:gsub("/init$", ""):gsub("/", ".")) end
      end
    end))
  end)

  it("knows the ways to a posterior", function ()
    local later = loaded_after({ "nuts" }, function () require "perilune.inference.nuts" end)
    assert.same({}, later)
  end)

  it("refuses what is no list of names", function ()
    assert.error_matches(function () peri.preload "Normal" end, "preload: names must be a list of strings")
    assert.error_matches(function () peri.preload { 1 } end, "preload: names must be strings, got 1")
    assert.error_matches(function () peri.preload { "Norml" } end, "has no Norml; did you mean Normal?")
    assert.error_matches(function () peri.preload({}, 1) end, "takes no more arguments")
  end)
end)
