--- The loss that trains a model of probabilities: kl_div(input, target), input = log q, target = p.
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local show      = require "perilune.show"
local tensor    = require "perilune.tensor"

local kl_div = {}

local names = { "input", "target" }

-- { each element, their sum } with plain targets and with logarithms of them
local forms = {}
for log_target, kernel in pairs { [false] = "kl_div", [true] = "kl_div_log" } do
  forms[log_target] = {
    none = core.bind("loss", kernel, "kl_div", names, names),
    sum  = core.bind_sum("loss", kernel, "kl_div", names, names),
  }
end

local rows = core.bind("loss", "kl_div_logits", "kl_div", names, names)   -- one sum for each row of logits

local function fail (...) errors.raise("kl_div: %s", string.format(...)) end

-- The shape of the broadcast of both.
local function common_shape (input, target)
  local tensors = {}
  for _, x in ipairs { input, target } do tensors[#tensors + 1] = core.is_tensor(x) and x or nil end
  local shape, why = core.broadcast_shape(table.unpack(tensors))
  if not shape then fail("%s", why) end
  return shape
end

local function count (shape)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return n
end

-- The same of logits, which need no log_softmax of their own where only sums are asked for.
local function of_logits (input, target)
  local each = rows(input, target)
  return #core.shape(each) > 0 and each:sum() or each
end

local reductions = {
  none = function (form, input, target) return form.none(input, target) end,
  sum  = function (form, input, target) return form.sum(input, target) end,
  mean = function (form, input, target, shape) return form.sum(input, target) / count(shape) end,
  batchmean = function (form, input, target, shape) return form.sum(input, target) / (shape[1] or 1) end,
}

local OPTIONS = { "reduction", "log_target", "logits", "check" }

local function check_options (who, opts)
  errors.check_options(who, opts, OPTIONS)
  local reduction = opts and opts.reduction or "mean"
  if not reductions[reduction] then
    errors.raise('%s: reduction must be "mean", "sum", "none" or "batchmean", got %s', who, show.value(reduction))
  end
  return reduction
end

-- Rows of probabilities: the largest distance of a sum from 1.
local function excess (probabilities)
  local t = core.is_tensor(probabilities) and probabilities or core.tensor(probabilities)
  if #t.shape == 0 then return 0 end
  return core.item(tensor.max(functions.abs(t:sum(-1) - 1)))
end

-- The two classic mistakes, told by Lua's warn.
local function warn_of_mistakes (input, target, log_target)
  if not warn then return end
  local off = excess(log_target and functions.exp(target) or target)
  if off > 1e-6 or off ~= off then
    warn(string.format("kl_div: rows of target should be %sprobabilities that sum to 1; one is off by %s",
                       log_target and "logarithms of " or "", show.number(off)))
  end
  off = excess(functions.exp(input))
  if off > 1e-6 or off ~= off then
    warn(string.format("kl_div: input should be log-probabilities (log_softmax gives them); the exponentials of a row "
                       .. "are off 1 by %s", show.number(off)))
  end
end

-- What kl_div and objects of KLDivLoss do, with options that were checked.
local function divergence (input, target, reduction, opts)
  local log_target = opts and opts.log_target and true or false
  input, target = core.operand(input, "kl_div", "input"), core.operand(target, "kl_div", "target")
  local shape, form = common_shape(input, target), forms[log_target]
  if opts and opts.logits then
    if #shape == 0 then fail("logits must be rows, got %s and %s", show.value(input), show.value(target)) end
    local summed = reduction ~= "none" and not log_target and not opts.check
                   and core.is_tensor(input) and core.is_tensor(target)
                   and input.shape[#input.shape] == target.shape[#target.shape] and input.shape[#input.shape] > 0
    if summed then form = { sum = of_logits } else input = tensor.log_softmax(input) end
  end
  if opts and opts.check then warn_of_mistakes(input, target, log_target) end
  return reductions[reduction](form, input, target, shape)
end

--@ peri.kl_div(input, target, options) -> number or Tensor
-- The divergence of target from exp(input), element by element, reduced: the loss of a model of probabilities, as
-- torch's F.kl_div, but 0 where the target is 0. "batchmean", the sum divided by the number of rows, is the divergence
-- of distributions.
--   input    number, table or tensor: log-probabilities of the model, log q
--   target   number, table or tensor: probabilities p
--   options  reduction = "mean", "sum", "none" or "batchmean" ("mean"); log_target = true where the target is log p
--            (false); logits = true normalises rows of the input first (false); check = true warns of rows that are no
--            probabilities (false)
-- > kl_div(log({ { 0.5, 0.5 } }), { { 0.25, 0.75 } }, { reduction = "batchmean" })
-- 0.13081203594114
function kl_div.kl_div (input, target, opts, ...)
  errors.no_more("kl_div(input, target, opts)", ...)
  return divergence(input, target, check_options("kl_div", opts), opts)
end

local Loss = { __name = "KLDivLoss" }
Loss.__index = Loss

function Loss:__call (input, target, ...)
  errors.no_more("KLDivLoss(input, target)", ...)
  return divergence(input, target, self.reduction, self)
end

function Loss:__tostring ()
  return string.format('KLDivLoss(reduction="%s", log_target=%s)', self.reduction, tostring(self.log_target))
end

--@ peri.KLDivLoss(options) -> function
-- kl_div with these options, as an object to be called with input and target.
--   options  reduction = "mean", "sum", "none" or "batchmean" ("mean"); log_target = true where the target is log p
--            (false); logits = true normalises rows of the input first (false); check = true warns of rows that are no
--            probabilities (false)
-- > loss = KLDivLoss { reduction = "sum" }
-- > loss(log({ 0.5, 0.5 }), { 1, 0 })
-- 0.69314718055995
function kl_div.KLDivLoss (opts, ...)
  errors.no_more("KLDivLoss(opts)", ...)
  local reduction = check_options("KLDivLoss", opts)
  opts = opts or {}
  return setmetatable({ reduction = reduction, log_target = opts.log_target or false, logits = opts.logits,
                        check = opts.check }, Loss)
end

return kl_div
