--- Families of single numbers: what follows for their divergences from what a class says of itself.
local class        = require "perilune.class"
local core         = require "perilune.core"
local Distribution = require "perilune.distribution"

local kl_families = {}

-- Has a file an elementwise kernel for the entropy, and draws with derivatives?
local function has_density (file)
  local has = {}
  for name, _, kind in core.each_kernel(file) do has[name] = kind end
  return has.entropy == "elementwise" and has.rsample ~= nil
end

local known = setmetatable({}, { __mode = "k" })   -- [class] = is it one?

--- Is a class of ours one of densities of single numbers, of which E X and E X^2 are known? It is if its kernels say
-- so and its parent is Distribution: others have the pairs of their parents. A class with `kl_moments = false` is none.
function kl_families.is_family (c)
  if known[c] == nil then
    local file = rawget(c, "kernels")
    known[c] = file ~= nil and class.parent(c) == Distribution and c.kl_moments ~= false and has_density(file)
  end
  return known[c]
end

-- Where a family has mass, whatever its parameters: "real", "positive", "bounded", or "above zero" where none reaches
-- down to 0. A class whose support depends on parameters may have it in the field `range`.
local function range_of (c)
  local support = rawget(c, "support")
  if not support then return rawget(c, "range") end
  return support.high < math.huge and "bounded" or support.low == 0 and "positive" or "real"
end

local INFINITE = {   -- [range of p] = ranges of q that do not hold it
  real           = { bounded = true, positive = true, ["above zero"] = true },
  positive       = { bounded = true, ["above zero"] = true },
  ["above zero"] = { bounded = true },
  bounded        = {},
}

--- Is KL(p || q) infinite for all p of P and q of Q, as q has no density where p has some?
function kl_families.is_infinite (P, Q)
  if not (kl_families.is_family(P) and kl_families.is_family(Q)) then return false end
  local p, q = range_of(P), range_of(Q)
  if not (p and q) then return false end
  local support = rawget(P, "support")
  return INFINITE[p][q] or q == "above zero" and support ~= nil and support.low == 0
end

return kl_families
