--- The space of a model's parameters: all of them as one vector of free numbers.
--
-- Parameters are named, have shapes and constraints; each is a stretch of the vector u, brought to its constraint
-- by biject_to. The density of u is that of the parameters times the determinant.
local attempt     = require "perilune.attempt"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local errors      = require "perilune.errors"
local show        = require "perilune.show"
local transforms  = require "perilune.transforms"

local Space = {}
Space.__index = Space

local function fail (...) errors.raise("vi: %s", string.format(...)) end

local function count (shape)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  return n
end

local function is_shape (x)
  if core.table_kind(x) ~= "data" then return false end
  for key, d in pairs(x) do
    if type(key) ~= "number" or math.type(d) ~= "integer" or d < 1 then return false end
  end
  return true
end

-- { shape =, constraint =, init = } out of what stands for a parameter.
local function description (name, given)
  local d
  if constraints.is_constraint(given) then d = { constraint = given }
  elseif math.type(given) == "integer" or is_shape(given) then d = { shape = given }
  elseif core.table_kind(given) == "named" then d = given
  else fail("params.%s must be a constraint, a shape or { shape =, constraint =, init = }, got %s", name,
            show.value(given)) end
  errors.check_options("vi: params." .. name, d, { "shape", "constraint", "init" })
  return d
end

local function shape_of (name, d, constraint)
  local shape = d.shape
  if math.type(shape) == "integer" then shape = { shape } end
  if shape == nil and d.init ~= nil then
    shape = core.is_tensor(d.init) and core.shape(d.init) or type(d.init) == "table" and core.tensor(d.init).shape
  end
  shape = shape or {}
  if not is_shape(shape) then fail("params.%s: shape must be positive integers, got %s", name, show.value(d.shape)) end
  if #shape < constraint.event_dim then
    fail("params.%s: %s needs a shape of at least %d dimension%s, got %s", name, tostring(constraint),
         constraint.event_dim, constraint.event_dim == 1 and "" or "s", show.shape(shape))
  end
  return shape
end

-- Matrices of which the lower triangle counts are filled from d (d + 1)/2 numbers: the 0-1 matrix that does so.
local function triangle_filling (d)
  local columns, rows = d * (d + 1) / 2, {}
  local at = 0
  for i = 1, d do
    for j = 1, d do
      local row = {}
      for k = 1, columns do row[k] = 0 end
      if j <= i then
        at = at + 1
        row[at] = 1
      end
      rows[#rows + 1] = row
    end
  end
  return core.tensor(rows):transpose(1, 2)   -- (numbers, d d)
end

-- A stretch of u, or of a row of them, as the transform's argument.
local function unpacked (site, u)
  if core.rank(u) == 1 and not site.filling then
    return #site.free_shape == 1 and u or u:reshape(site.free_shape)
  end
  local shape = core.shape(u)
  shape[#shape] = nil
  for _, n in ipairs(site.free_shape) do shape[#shape + 1] = n end
  if site.filling then u = u:reshape(-1, site.filling.shape[1]):matmul(site.filling) end
  return u:reshape(shape)
end

-- The transform's argument as a stretch of u.
local function packed (site, x)
  if type(x) == "number" then return core.tensor { x } end
  if not site.filling then return x:reshape(-1) end
  return x:reshape(-1, site.filling.shape[2]):matmul(site.filling:transpose(1, 2)):reshape(-1)
end

-- Where a parameter starts: the free numbers of `init`, or 0.
local function start_of (site, init)
  if init == nil then return core.zeros(site.size) end
  local value = core.is_tensor(init) and core.bare(init) or core.tensor(init)
  local fits, whole = attempt.call("Tensor:expand: ", nil, value.expand, value, site.shape)
  if not fits then
    fail("params.%s: init must fit shape %s, got %s", site.name, show.shape(site.shape), show.value(value))
  end
  local bad = site.constraint:violation(whole)
  if bad ~= nil then
    fail("params.%s: init must be %s, got %s", site.name, site.constraint:rule(),
         type(bad) == "number" and show.number(bad) or tostring(bad))
  end
  local free = packed(site, site.transform and site.transform:inverse(whole) or whole)
  local least = core.item(free:min())
  if least ~= least or least == -math.huge or core.item(free:max()) == math.huge then
    fail("params.%s: init must not lie on the edge of its constraint", site.name)
  end
  return free
end

local function new_site (name, given, at)
  local d = description(name, given)
  local constraint = d.constraint or constraints.real
  if not constraints.is_constraint(constraint) then
    fail("params.%s: constraint must be a constraint, got %s", name, show.value(constraint))
  end
  local ok, transform = attempt.call("biject_to: ", nil, transforms.biject_to, constraint)
  if not ok then fail("params.%s: %s", name, (tostring(transform):gsub("^.-:%d+: ", ""))) end
  local shape = shape_of(name, d, constraint)
  local site = { name = name, constraint = constraint, shape = shape, at = at,
                 transform = transform ~= transforms.identity and transform or nil }
  site.free_shape = site.transform and transform:inverse_shape(shape) or shape
  site.size = count(site.free_shape)
  if transform.domain == constraints.lower_triangular then
    local n = shape[#shape]
    site.filling = triangle_filling(n)
    site.size = site.size / (n * n) * site.filling.shape[1]
  end
  site.size = math.tointeger(site.size)
  site.start = start_of(site, d.init)
  return site
end

-- How to take u apart: `pieces` as core.pieces reads it, and `further`, the sites whose pieces are not yet parameters.
local function plan (self)
  self.pieces, self.further = {}, {}
  for _, site in ipairs(self) do
    site.is_piece = #site.free_shape <= 1 and not site.filling   -- a piece is the transform's argument
    local length = #site.free_shape == 0 and 0 or site.size
    table.move({ site.name, site.at, length }, 1, 3, #self.pieces + 1, self.pieces)
    if site.transform or not site.is_piece then self.further[#self.further + 1] = site end
  end
end

--- From params as vi takes them.
function Space.new (params)
  if type(params) ~= "table" or next(params) == nil then
    fail("params must be a table of at least one parameter, got %s", show.value(params))
  end
  local names, self, at = {}, setmetatable({}, Space), 1
  for name in pairs(params) do
    if type(name) ~= "string" then fail("params must have names, got %s", show.value(name)) end
    names[#names + 1] = name
  end
  table.sort(names)
  for i, name in ipairs(names) do
    self[i] = new_site(name, params[name], at)
    at = at + self[i].size
  end
  self.size = at - 1
  plan(self)
  return self
end

--- The vector that everything starts from.
function Space:start ()
  local u = core.zeros(self.size)
  for _, site in ipairs(self) do u:narrow(1, site.at, site.size):copy(site.start) end
  return u
end

local function free_part (site, u) return unpacked(site, u:narrow(-1, site.at, site.size)) end

--- One parameter out of the vector u, or out of each of the rows of u.
function Space.value (site, u)
  local free = free_part(site, u)
  return site.transform and site.transform:forward(free) or free
end

-- A parameter out of its piece of u, and the logarithm of its determinant (nil where that is 0).
local function value_and_log_det (site, piece)
  local free, transform = site.is_piece and piece or unpacked(site, piece), site.transform
  if not transform then return free end
  local value = transform:forward(free)
  local log_det = transform:log_det(free, value)
  return value, core.rank(log_det) == 0 and log_det or log_det:sum()
end

--- All parameters out of u, by name, and the logarithm of the determinant.
function Space:parameters (u)
  local theta, further, total = core.pieces(u, self.pieces), self.further, nil
  for i = 1, #further do
    local site = further[i]
    local log_det
    theta[site.name], log_det = value_and_log_det(site, theta[site.name])
    if log_det then total = total and total + log_det or log_det end
  end
  return theta, total or 0
end

return Space
