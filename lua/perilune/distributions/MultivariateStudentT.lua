--@ peri.MultivariateStudentT
-- The bell curve of vectors with heavy tails.
--   df          degrees of freedom: infinity is MultivariateNormal
--   loc         centre
--   scale_tril  L, a lower triangle; the covariance is L L^T df/(df - 2)
--   formula     p(x) = Gamma((df + d)/2)/(Gamma(df/2) (df pi)^(d/2) det L) (1 + |z|^2/df)^(-(df + d)/2),  L z = x -
--               loc
-- > MultivariateStudentT(3, { 0, 0 }, { { 1, 0 }, { 1, 2 } }):log_prob({ 1, 0 })
-- -3.40179098263983
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local raise        = require "perilune.errors".raise
local functions    = require "perilune.functions"

local function fail (self, ...) raise("%s: %s", class.name(class.of(self)), string.format(...)) end

local MultivariateStudentT = Distribution:extend("MultivariateStudentT", {
  kernels = "multivariatestudentt",
  params = {
    { "df",         constraints.positive, infinite = true },
    { "loc",        constraints.real, event = 1 },
    { "scale_tril", constraints.real, event = 2 },
  },
  support = constraints.real_vector,
  init = function (self, checking)
    local shape, dims = core.shape(self.scale_tril), core.shape(self.loc)
    local d, rows, columns = dims[#dims], shape[#shape - 1], shape[#shape]
    if rows ~= d or columns ~= d then
      fail(self, "loc of %d dimensions needs a matrix of %d by %d, got %d by %d", d, d, d, rows, columns)
    end
    self.event_shape = { d }
    local bad = checking and constraints.lower_cholesky:violation(self.scale_tril)
    if bad then fail(self, "scale_tril must be %s, got %s", constraints.lower_cholesky:rule(), bad) end
  end,
})

-- A vector for each element of the batch.
local function vectors (self, value)
  local shape = { table.unpack(self.batch_shape) }
  shape[#shape + 1] = self.event_shape[1]
  return value:expand(shape)
end

-- What depends on df, beside vectors.
local function of_df (value) return core.is_tensor(value) and value:unsqueeze(-1) or value end

function MultivariateStudentT:mode () return vectors(self, self.loc) end

--- There is none for df <= 1.
function MultivariateStudentT:mean ()
  return vectors(self, functions.where(of_df(functions.gt(self.df, 1)), self.loc, 0 / 0))
end

--- Infinite for df <= 2, and for df <= 1 there is none.
function MultivariateStudentT:variance ()
  local df, where, gt = self.df, functions.where, functions.gt
  local ratio = where(gt(df, 2), 1 + 2 / (df - 2), where(gt(df, 1), math.huge, 0 / 0))
  return vectors(self, (self.scale_tril * self.scale_tril):sum(-1) * of_df(ratio))
end

return MultivariateStudentT
