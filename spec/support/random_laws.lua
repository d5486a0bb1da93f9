--- Random laws as text, for spec/long: what is printed of them can be pasted into a program.
local peri   = require "perilune"
local params = require "spec.fuzz.params"
local text   = require "spec.fuzz.text"

local random_laws = {}

--- What a text says.
function random_laws.evaluate (code) return load("local peri = require 'perilune'; return " .. code)() end

--- Text for k laws of single numbers of the class `name`, with parameters by name as given(class, k) finds them; nil
-- where there are none.
function random_laws.plain (name, k, given)
  local class = peri[name]
  if class.construct then return nil end
  for _ = 1, 20 do
    local values = given(class, k)
    if not values then return nil end
    local code = "peri." .. name .. text.value(k > 1 and values or params.first(values))
    local ok, law = pcall(random_laws.evaluate, code)
    if ok and #law.event_shape == 0 then return code end
  end
end

--- Makers of a law, or a mixture with one of these weights, from of(k) and other(k), which give texts for k laws.
function random_laws.mixtures (weights)
  return {
    function (_, of) return of(1) end,
    function (random, of)
      return ("peri.MixtureSameFamily(peri.Categorical{%s}, %s)"):format(random:pick(weights), of(2))
    end,
    function (random, of, other)
      return ("peri.MixtureDistribution(peri.Categorical{%s}, {%s, %s})"):format(random:pick(weights), of(1), other(1))
    end,
  }
end

return random_laws
