--- Likelihood: the log likelihood of a family on data as a function of free numbers u.
--
-- Every parameter that is not known is a stretch of u, brought to its constraint as sites of models are. The sum of log
-- densities is traced once; values and gradients are replays in C. (Its maximum: maximise.lua.)
local attempt     = require "perilune.attempt"
local class       = require "perilune.class"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local raise       = require "perilune.errors".raise
local functions   = require "perilune.functions"
local space       = require "perilune.model.space"
local tensor      = require "perilune.tensor"

local PART = 512    -- data that stand for all
local STEP = 6e-6   -- of differences of gradients, cube root of the precision
local SHARE   = 0.01   -- of a standard error, as such a step
local SETTLED = 0.01   -- relative change of second derivatives that is none to speak of
local ROUNDS  = 4

local Likelihood = {}
Likelihood.__index = Likelihood

local function is_finite (x) return x - x == 0 end

local function joined (a, b)
  local all = {}
  for name, value in pairs(a) do all[name] = value end
  for name, value in pairs(b) do all[name] = value end
  return all
end


-- Parameters -------------------------------------------------------------------------------

--- Parameters that stand for each other, such as probs and logits, in the order of the class: lists of
-- { name, constraint, ... }.
function Likelihood.groups (c)
  local groups, seen = {}, {}
  for _, param in ipairs(c.params) do
    if not seen[param[1]] then
      local group = { param }
      for _, other in ipairs(c.params) do
        if other ~= param and param.gives and param.gives[other[1]] then group[#group + 1] = other end
      end
      for _, member in ipairs(group) do seen[member[1]] = true end
      groups[#groups + 1] = group
    end
  end
  return groups
end

-- The member of a group that is varied: what kernels read, but for rows of logits, one of which would be free to move.
local function varied (c, group)
  if group[1].event == 1 and group[1].gives then return group[1], constraints.simplex end
  local found = group[1]
  for _, param in ipairs(group) do
    for _, operand in ipairs(c.operands) do
      if operand == param[1] then found = param end
    end
  end
  if found.event == 2 then
    return found, found[1]:find "tril$" and constraints.lower_cholesky or constraints.positive_definite
  end
  return found, found[2]
end

-- The constraint of a parameter, given those before it.
local function support_of (site, values)
  local c = site.constraint
  return type(c) == "function" and c(values) or c
end

-- A parameter as a site that begins at place `at` of u; k is the length of an event, false for single numbers.
local function site_of (c, group, constraint, k, at)
  local param, own = varied(c, group)
  constraint = constraint or own
  local support = type(constraint) == "function" and constraints.positive or constraint   -- a single number, too
  if support.is_discrete then
    raise("fit: %s: %s is an integer, which is not estimated: give it, as in fixed = { %s = 10 }", class.name(c),
          param[1], param[1])
  end
  if param.event and not k then
    raise("fit: %s: x does not tell how long %s is; give it, as in fixed = { %s = { 0, 1 } }", class.name(c), param[1],
          param[1])
  end
  local shape = {}
  for d = 1, param.event or 0 do shape[d] = k end
  local site = space.site(param[1], support, shape, at, "fit")
  site.constraint, site.reported = constraint, group[1][1]
  return site
end

--- The likelihood of class c on x, n events along its first dimension, with weights w (or nil). `known` has values of
-- parameters by name, and `rules` constraints of some; length(k, x) is that of rows of parameters for events of k.
function Likelihood.new (c, x, w, known, rules, length)
  local self = setmetatable({ class = c, x = x, w = w, known = known, rules = rules, length = length, sites = {},
                              size = 0 }, Likelihood)
  local shape = core.shape(x)
  local k = length and length(shape[#shape], x) or #shape > 1 and shape[#shape]
  for _, group in ipairs(Likelihood.groups(c)) do
    local is_known = false
    for _, param in ipairs(group) do is_known = is_known or known[param[1]] ~= nil end
    if not is_known then
      local site = site_of(c, group, rules and rules[group[1][1]], k, self.size + 1)
      self.sites[#self.sites + 1], self.size = site, self.size + site.size
    end
  end
  return self
end

--- The same with more parameters known.
function Likelihood:with (more)
  return Likelihood.new(self.class, self.x, self.w, joined(self.known, more), self.rules, self.length)
         :avoiding(self.is_avoided)
end

--- Takes a function of parameters by name, or nil: true of those that are no maximum, however flat it is there. Returns
-- itself.
function Likelihood:avoiding (is_avoided)
  self.is_avoided = is_avoided
  return self
end

--- All parameters at u, by name.
function Likelihood:values (u)
  local values = joined(self.known, {})
  for _, site in ipairs(self.sites) do values[site.name] = space.value(site, support_of(site, values), u) end
  return values
end

--- The same at plain numbers u, with plain numbers where there is one.
function Likelihood:plain_values (u)
  local values = self:values(u)
  for name, value in pairs(values) do
    if core.is_tensor(value) and core.rank(value) == 0 then values[name] = core.item(value) end
  end
  return values
end

local function distribution (c, values)
  values.validate = false
  local d = c(values)
  values.validate = nil
  return d
end

--- The distribution at u, unchecked.
function Likelihood:distribution (u) return distribution(self.class, self:values(u)) end

--- The distribution of parameters by name, those of the likelihood that are known among them.
function Likelihood:complete (given)
  return distribution(self.class, joined(self.known, given))
end

--- The free numbers of parameters, by name; what is not given is taken to be 0.
function Likelihood:free (given)
  local parts, values = {}, joined(self.known, {})
  for i, site in ipairs(self.sites) do
    local value = given[site.name]
    if value == nil and given[site.reported] ~= nil then
      value = self:complete(given)[site.name]
    end
    local support = support_of(site, values)
    if value == nil then parts[i] = core.zeros(site.size)
    else parts[i] = space.inverse(site, support, core.is_tensor(value) and value or core.tensor(value)) end
    values[site.name] = space.value(site, support, parts[i], 1)
  end
  return #parts > 0 and tensor.cat(parts) or core.zeros(0)
end


-- Values and gradients -----------------------------------------------------------------------

-- The trace of the log likelihood.
local function traced (self)
  local x, w = self.x, self.w
  local u = core.param(core.zeros(self.size))
  local ok, trace = attempt.call("does not depend on any parameter", nil, core.trace, function ()
    local terms = self:distribution(u):log_prob(x)
    return (w and w * terms or terms):sum()
  end)
  if not ok then raise("fit: %s: its log_prob does not depend on %s", class.name(self.class), self.sites[1].name) end
  return { u = u, trace = trace }
end

local function trace_of (self)
  self.trace = self.trace or traced(self)
  return self.trace
end

-- Parameters that are known, for some of n events: those with a value for each of them.
local function known_of (self, n, index)
  local known = joined(self.known, {})
  for _, param in ipairs(self.class.params) do
    local value = known[param[1]]
    local is_each = core.is_tensor(value) and core.rank(value) == 1 + (param.event or 0) and core.shape(value)[1] == n
    if is_each then known[param[1]] = value[index] end
  end
  return known
end

--- The likelihood of every so many-th event, where there are many; itself where there are few.
function Likelihood:part ()
  local n = core.shape(self.x)[1]
  if n <= PART then return self end
  local step = math.floor(n / PART)
  local index = {}
  for i = 1, PART do index[i] = (i - 1) * step + 1 end
  if core.rank(self.x) == 1 then index[1], index[PART] = self.x:argmin(), self.x:argmax() end   -- for laws with ends
  local x, w = self.x[index], self.w and self.w[index]
  return Likelihood.new(self.class, x, w, known_of(self, n, index), self.rules, self.length):avoiding(self.is_avoided)
end

--- The log likelihood at each row of u; and its gradients, a row each.
function Likelihood:heights (rows)
  local t, values = trace_of(self), core.zeros(core.shape(rows)[1])
  t.trace:rows(t.u, rows:contiguous(), values)
  return values
end

function Likelihood:gradients (rows)
  local t, values, gradients = trace_of(self), core.zeros(core.shape(rows)[1]), core.zeros(core.shape(rows))
  t.trace:rows(t.u, rows:contiguous(), values, gradients)
  return values, gradients
end

--- Of one u: a number and a vector.
function Likelihood:at (u)
  local values, gradients = self:gradients(u:reshape(1, self.size))
  return values[1], gradients[1]
end

--- The second derivatives at u.
function Likelihood:curvature (u)
  local k = self.size
  local steps = core.public.eye(k) * (STEP * (1 + u:abs()))
  local _, up = self:gradients(u + steps)
  local _, down = self:gradients(u - steps)
  local h = (up - down) / (2 * STEP * (1 + u:abs())):unsqueeze(2)
  return (h + h:transpose(1, 2)) / 2
end

-- d reported/du of the parameters of a site, a row for each of its elements, as users see them.
local function slopes (self, u, site)
  local p, rows = core.param(u), {}
  local function reported ()
    local d = self:distribution(p)
    local value = d[site.reported]
    return core.rank(value) == 0 and value:unsqueeze(1) or value:reshape(-1)
  end
  for i = 1, core.numel(reported()) do
    p.grad = nil
    reported():select(1, i):backward()
    rows[i] = p.grad
  end
  return tensor.stack(rows)
end

-- The second derivatives at u in units along rows of `root`.
local function curvature_along (self, u, root)
  local _, up = self:gradients(u + root * SHARE)
  local _, down = self:gradients(u - root * SHARE)
  local h = ((up - down) / (2 * SHARE)):matmul(root:transpose(1, 2))
  return (h + h:transpose(1, 2)) / 2
end

-- A root of a covariance, looked at in its own units: there minus the curvature is the unit matrix. Where parameters
-- hang together closely (those of a Gamma law of concentration 1e8) differences along each of them have not the digits
-- to tell, and these units lead to better ones. Nil where they do not settle, or there is no maximum; as it is where
-- the likelihood ends next to u.
local function settled (self, u, root)
  local first, unit = root, core.public.eye(core.shape(root)[1])
  for _ = 1, ROUNDS do
    local h = -curvature_along(self, u, root)
    if not is_finite(h:sum()) then return first end
    if (h - unit):abs():max() <= SETTLED then return root end
    root = h:cholesky():solve_triangular(root)
    if not is_finite((root * root):sum()) then return nil end
  end
  return nil
end

--- The standard errors of the parameters at a maximum, by the names that users see, and those of u; nil where the
-- curvature is not that of a maximum. `held` has places of u that are taken to be known.
function Likelihood:errors (u, held)
  local free = {}
  for i = 1, self.size do free[#free + 1] = not (held and held[i]) and i or nil end
  if #free == 0 then return {}, core.zeros(self.size) end
  local l = (-self:curvature(u)):index_select(1, free):index_select(2, free):cholesky()
  local root = l:solve_triangular(core.public.eye(self.size)[free])   -- root^T root is the covariance of u
  if not is_finite((root * root):sum()) then return nil end
  root = settled(self, u, root)
  if not root then return nil end
  local se = {}
  for _, site in ipairs(self.sites) do
    local variance = functions.square(root:matmul(slopes(self, u, site):transpose(1, 2))):sum(1)
    local value = self:distribution(u)[site.reported]
    se[site.reported] = functions.sqrt(core.rank(value) == 0 and variance[1] or variance:reshape(core.shape(value)))
  end
  return se, functions.sqrt(functions.square(root):sum(1))
end

return Likelihood
