-- Results hang on what is asked, not on what was asked for before. `make history` looks at many more calls.
local peri    = require "perilune"
local history = require "spec.long.history"

describe("a result", function ()
  it("is the same to the last bit, whatever was asked for before", function ()
    local calls, found = history.calls(7, 1), {}
    local first, second = history.outcomes(calls), history.outcomes(calls, 8)
    history.compare(calls, first, second, function (line) found[#found + 1] = line end)
    assert.same({}, found)
    assert(#calls > 1000, #calls)
  end)

  it("that hangs on it is found out", function ()
    local Counting = peri.Normal:extend("Counting", { inherit_kl = false })
    local asked = 0
    function Counting.mean ()
      asked = asked + 1
      return asked
    end
    peri.Counting = Counting
    finally(function () peri.Counting = nil end)
    local calls, found = { { "peri.Counting(0, 1)", "nil", "p:mean()" } }, {}
    assert.equal(1, history.compare(calls, history.outcomes(calls), history.outcomes(calls, 1),
                                    function (line) found[#found + 1] = line end))
    assert.truthy(found[1]:find "true 1, and then true 2")
  end)

  -- The order in which blocks were cut was the order of a table, and the last digits with it, or more than those.
  it("is the same in another process: a sum over blocks of outcomes", function ()
    local code = "local d = require 'perilune'.NegativeBinomial2(7.8073624756060571, 0.0019789571227658786) "
                 .. "print(('%.17g %.17g'):format(d:expectation(require 'perilune'.sin)))"
    local lua, seen, i = nil, {}, -1
    while arg[i] do lua, i = arg[i], i - 1 end
    for _ = 1, 6 do
      local pipe = assert(io.popen(("%s -e \"%s\""):format(lua, code)))
      seen[pipe:read "l"] = true
      pipe:close()
    end
    local first = next(seen)
    assert.truthy(first:find "^0%.002")
    assert.is_nil(next(seen, first))
  end)
end)
