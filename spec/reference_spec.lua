--- Every family of distributions against the reference tables: every line, by their rule.
local peri   = require "perilune"
local golden = require "spec.support.golden"

for _, name in ipairs(peri.distributions()) do
  describe(name, function ()
    it("passes every line of the reference tables", function ()
      assert.equal("", golden.family_failures(name))
    end)

    it("has reference lines for each method that it offers", function ()
      assert.equal("", golden.uncovered(name))
    end)
  end)
end
