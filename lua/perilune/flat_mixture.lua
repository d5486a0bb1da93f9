--- Mixtures of mixtures as mixtures of what those are made of: a search that asked each for quantiles, which are
-- searches in turn, would take some times as long for each level of them.
local Categorical         = require "perilune.distributions.Categorical"
local MixtureDistribution = require "perilune.distributions.MixtureDistribution"
local core                = require "perilune.core"
local kept                = require "perilune.kept"
local tensor              = require "perilune.tensor"

-- The components of a mixture of different families, or nil.
local function list_of (d) return d.component_distribution and d.component_distribution.list end

local function are_mixed (list)
  for _, part in ipairs(list) do
    if list_of(part) then return true end
  end
  return false
end

-- Adds components that are no such mixtures, and the logarithms of their weights, to two lists.
local function add_parts (d, log_weight, parts, logs)
  for k, part in ipairs(list_of(d)) do
    local log_part = log_weight + core.bare(d.log_weights):select(-1, k)
    if list_of(part) then
      add_parts(part, log_part, parts, logs)
    else
      parts[#parts + 1], logs[#logs + 1] = part, core.is_tensor(log_part) and log_part or core.tensor(log_part)
    end
  end
end

local flattened = kept.new(function (d)
  local parts, logs = {}, {}
  add_parts(d, 0, parts, logs)
  return MixtureDistribution(Categorical { logits = tensor.stack(logs, -1) }, parts)
end)

-- Are weights of such mixtures recorded?
local function is_tracked (d)
  if core.tracked(d.log_weights) then return true end
  for _, part in ipairs(list_of(d)) do
    if list_of(part) and is_tracked(part) then return true end
  end
  return false
end

--- The law d, or if some of its components are mixtures of different families and no weights are recorded the same law
-- as one mixture.
return function (d)
  local list = list_of(d)
  if not list or not are_mixed(list) or is_tracked(d) then return d end
  return flattened(d)
end
