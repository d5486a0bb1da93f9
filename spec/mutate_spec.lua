--- Saved states that were changed: refused, or as good as another (spec/fuzz/mutate.lua; `make mutate` makes more).
local peri   = require "perilune"
local form   = require "perilune.form"
local mutate = require "spec.fuzz.mutate"
local packed = require "perilune.packed"
local world  = require "spec.fuzz.world"

describe("changed states", function ()
  after_each(world.reset)

  it("are refused, or go on", function ()
    for number = 1, 3000 do
      local ok, found = pcall(mutate.one, 1, number)
      assert(ok, string.format("lua spec/fuzz/mutants.lua 1 %d: %s", number, tostring(found)))
    end
  end)

  -- Every bit of what a chain begins with: options, counts, indices.
  for _, way in ipairs { "nuts", "hmc" } do
    for _, steps in ipairs { 1, 20, 10000 } do
      it("of " .. way .. " after " .. steps .. " steps are refused or go on, whichever bit it is", function ()
        local posed = peri.model(function (m) m.x = peri.Normal(0, 1) end) {}
        local sampling = posed[way](posed, { rng = peri.rng(1), run = false, chains = 1, warmup = 30, draws = 4,
                                             [way == "nuts" and "max_depth" or "steps"] = 3 })
        sampling:step(steps)
        local state = packed.unpack("sampling", sampling:state())
        local chain, refused = state.chains[1], 0
        for at = 1, math.min(#chain, 960) do
          for bit = 0, 7 do
            state.chains[1] = chain:sub(1, at - 1) .. string.char(chain:byte(at) ~ (1 << bit)) .. chain:sub(at + 1)
            if sampling:restore(packed.pack("sampling", state)) then sampling:step(12) else refused = refused + 1 end
          end
        end
        assert(refused > 300, refused)
      end)
    end
  end

  it("are told from those of another model", function ()
    local one = peri.model(function (m) m.x = peri.Normal(0, 1) end) {}
    local two = peri.model(function (m) m.y = peri.Normal({ 0, 1 }, 1) end) {}
    local saved = one:laplace({ rng = peri.rng(1) }):save()
    assert.equal(peri.load(saved).mean.x, peri.load(saved, one).mean.x)
    assert.error_matches(function () peri.load(saved, two) end, "load: the posterior is one of another model")
    assert.error_matches(function () peri.load(packed.pack("posterior", { u = 1 })) end,
                         "load: it is no saved posterior")
    assert.error_matches(function () peri.load(packed.pack("posterior", 1)) end, "load: it is no saved posterior")
    local other = one:smc { rng = peri.rng(1), run = false, particles = 20 }
    assert.same({ nil, "it is no state of particles with these options" }, { other:restore(packed.pack("smc", {})) })
  end)
end)

describe("forms", function ()
  it("say what is of them", function ()
    local point = form.fields { x = form.number, name = form.maybe(form.string) }
    assert.is_true(point { x = 1 })
    assert.is_true(point { x = 1, name = "a" })
    assert.is_false(point { x = 1, name = 2 })
    assert.is_false(point { x = 1, y = 2 })
    assert.is_false(point {})
    assert.is_false(point(1))
    assert.is_true(form.list(form.boolean, 2) { true, false })
    assert.is_false(form.list(form.boolean, 2) { true, false, true })
    assert.is_false(form.list(form.boolean) { true, nil, true })
    assert.is_false(form.list(form.boolean) { x = true })
    assert.is_true(form.tensor(2, false)(peri.zeros(2, 5)))
    assert.is_false(form.tensor(2, false)(peri.zeros(3, 5)))
    assert.is_false(form.tensor(2)(peri.zeros(2, 5)))
    assert.is_false(form.tensor(2)(2))
    assert.is_true(form.integer(1, 3)(3))
    assert.is_false(form.integer(1, 3)(1.5))
    assert.is_false(form.integer(1, 3)(4))
    assert.is_false(form.one_of("a", "b")(0 / 0))
    assert.is_false(form.one_of("a", "b")(nil))
    assert.is_true(form.rng(peri.rng(1):state()))
    assert.is_false(form.rng "philox")
    assert.is_false(form.map(form.number)(1))
    assert.is_true(form.each({ peri.zeros(2), peri.zeros(1) }, form.like) { peri.ones(2), peri.ones(1) })
    assert.is_false(form.each({ peri.zeros(2), peri.zeros(1) }, form.like) { peri.ones(2) })
  end)
end)
