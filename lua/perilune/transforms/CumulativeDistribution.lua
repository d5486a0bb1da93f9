--- CumulativeDistribution(distribution): the cdf of a distribution of single numbers.
local class       = require "perilune.class"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local raise       = require "perilune.errors".raise
local show        = require "perilune.show"
local transform   = require "perilune.transform"

local function batch_shape (self, shape)
  return transform.broadcast_with(self, shape, core.tensor(0):expand(self.distribution.batch_shape))
end

--@ peri.transforms.CumulativeDistribution(distribution) -> Transform
-- The cdf of a distribution of single numbers; its inverse is icdf.
--   distribution  distribution
-- > transforms.CumulativeDistribution(Normal(0, 1))(0)
-- 0.5
return transform.kind("CumulativeDistribution", {
  params = { "distribution" }, codomain = constraints.unit_interval, sign = 1,
  forward = function (self, x) return self.distribution:cdf(x) end,
  inverse = function (self, y) return self.distribution:icdf(y) end,
  log_det = function (self, x) return self.distribution:log_prob(x) end,
  forward_shape = batch_shape, inverse_shape = batch_shape,
  __tostring = function (self) return "CumulativeDistribution(" .. tostring(self.distribution) .. ")" end,
}, function (self, distribution)
  if type(distribution) ~= "table" or class.is_class(distribution) or not distribution.log_prob
     or #distribution.event_shape > 0 then
    raise("CumulativeDistribution: distribution must be a distribution of single numbers, got %s",
          show.value(distribution))
  end
  self.distribution, self.domain = distribution, distribution.support
end)
