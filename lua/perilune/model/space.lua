--- The space of a model's unobserved sites: all of them as one vector u of free numbers.
--
-- Each site is a stretch of u, brought to its support by biject_to. Supports may depend on other sites, so the
-- transform is made anew in every run; its shapes are not.
local attempt     = require "perilune.attempt"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local errors      = require "perilune.errors"
local show        = require "perilune.show"
local transforms  = require "perilune.transforms"

local raise = errors.raise

local NO_WIDTH = "Affine: scale must not be 0"   -- how biject_to refuses an interval that is a point

local space = {}

local function count (shape)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  return n
end

-- Matrices of which the lower triangle counts are filled from d (d + 1)/2 numbers: the 0-1 matrix that does so.
local function triangle_filling (d)
  local filling, at = core.zeros(d * (d + 1) // 2, d * d), 0
  for i = 1, d do
    for j = 1, i do
      at = at + 1
      filling[at]:narrow(1, (i - 1) * d + j, 1):copy(1)
    end
  end
  return filling   -- (numbers, d d)
end

-- biject_to(support), nil for the identity; refuses for a site what cannot be reached.
local function transform_of (name, support, who)
  if support.is_discrete then
    raise("model: %s is discrete and not observed; sum over it (MixtureSameFamily, HiddenMarkov), give it in the "
          .. "data, or give vi a guide function", name)
  end
  local ok, transform = attempt.call("biject_to: ", NO_WIDTH, transforms.biject_to, support)
  if not ok and transform:find(NO_WIDTH, 1, true) then
    raise("%s: %s lies in an interval without width (%s): assign the value itself", who or "model", name,
          tostring(support))
  end
  if not ok then raise("%s: %s: %s", who or "model", name, (tostring(transform):gsub("^.-:%d+: ", ""))) end
  return transform ~= transforms.identity and transform or nil
end

--- A site of this shape that begins at place `at` of u; messages say that it is one of a model, or of `who`.
function space.site (name, support, shape, at, who)
  local transform = transform_of(name, support, who)
  local free_shape = transform and transform:inverse_shape(shape) or shape
  local site = { name = name, support = support, shape = shape, free_shape = free_shape, at = at,
                 size = count(free_shape), who = who or "model" }
  if transform and transform.domain == constraints.lower_triangular then
    local n = shape[#shape]
    site.filling = triangle_filling(n)
    site.size = site.size // (n * n) * core.shape(site.filling)[1]
  end
  return site
end

--- A site whose numbers in u are its values themselves, wherever these may lie.
function space.plain_site (name, shape, at)
  return { name = name, shape = shape, free_shape = shape, at = at, size = count(shape), is_plain = true }
end

--- The free numbers of a site as its transform's argument: a stretch of u as it lies there.
local function unpacked (site, piece)
  if site.filling then piece = piece:reshape(-1, core.shape(site.filling)[1]):matmul(site.filling) end
  local shape = site.free_shape
  if #shape == 1 and not site.filling then return piece end
  return piece:reshape(shape)
end

--- The value of a site out of u, where it begins at its place or at another, and the logarithm of its determinant (nil
-- where that is 0).
function space.value (site, support, u, at)
  local transform = not site.is_plain and transform_of(site.name, support) or nil
  local free = unpacked(site, u:narrow(1, at or site.at, site.size))
  if not transform then return free end
  local value = transform:forward(free)
  local log_det = transform:log_det(free, value)
  return value, core.is_tensor(log_det) and core.rank(log_det) > 0 and log_det:sum() or log_det
end

--- The free numbers of a site with this value, as a vector; raises where there are none.
function space.free (site, support, value)
  value = core.is_tensor(value) and core.bare(value) or core.tensor(core.operand(value, "init", site.name))
  local fits, whole = attempt.call("Tensor:expand: ", nil, value.expand, value, site.shape)
  if not fits then
    raise("%s: %s has shape %s, got %s", site.who, site.name, show.shape(site.shape), show.value(value))
  end
  local bad = support:violation(whole)
  if bad ~= nil then
    raise("%s: %s must be %s, got %s", site.who, site.name, support:rule(),
          type(bad) == "number" and show.number(bad) or tostring(bad))
  end
  return space.inverse(site, support, whole)
end

--- The same for a value of the site's shape that is known to lie in the support.
function space.inverse (site, support, value)
  local transform = transform_of(site.name, support)
  local free = transform and transform:inverse(value) or value
  free = type(free) == "number" and core.tensor { free } or free
  if not site.filling then return free:reshape(-1) end
  local d = site.shape[#site.shape]
  return free:reshape(-1, d * d):matmul(site.filling:transpose(1, 2)):reshape(-1)
end

return space
