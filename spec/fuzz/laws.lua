--- Laws: what holds for every function, distribution or pair of them, whatever its numbers are.
--
-- A law computes the same in two ways and raises a fault where they differ. Where the function itself
-- raises, as it may, a law has nothing to say: calls are judged by `try`, in which laws run.
local peri   = require "perilune"
local core   = require "perilune.core"
local fault  = require "spec.fuzz.fault"
local slopes = require "spec.support.slopes"

local laws = {}

local is_tensor = peri.is_tensor
local MOST_ELEMENTS = 20   -- that are looked at one by one


-- Equality ---------------------------------------------------------------------------

local function is_value (x) return type(x) == "number" or is_tensor(x) end

local function tensor_of (x) return is_tensor(x) and x:detach() or peri.tensor(x) end

local function shape_text (x) return "(" .. table.concat(core.shape(x), ", ") .. ")" end

local function same_number (a, b) return a ~= a and b ~= b or a == b and 1 / a == 1 / b end

local function equal (a, b) return a == b or a ~= a and b ~= b end

local function near (a, b)
  return a == b or a ~= a and b ~= b or math.abs(a - b) <= 1e-13 * math.max(math.abs(a), math.abs(b), 1)
end

-- Raises unless two numbers or tensors have the same shape and satisfy `agree` at every element.
local function compare (what, a, b, agree)
  if not (is_value(a) and is_value(b)) then
    if type(a) ~= type(b) then fault.raise("law", "%s: a %s and a %s", what, type(a), type(b)) end
    return
  end
  a, b = tensor_of(a), tensor_of(b)
  if shape_text(a) ~= shape_text(b) then
    fault.raise("law", "%s: shapes are %s and %s", what, shape_text(a), shape_text(b))
  end
  local x, y = a:reshape(-1):totable(), b:reshape(-1):totable()
  for i = 1, #x do
    if not agree(x[i], y[i]) then
      fault.raise("law", "%s: element %d is %.17g and %.17g", what, i, x[i], y[i])
    end
  end
end

local function same_bits (what, a, b) compare(what, a, b, same_number) end


-- Layouts and threads ------------------------------------------------------------------

-- x behind another one, and every other element of something twice as large.
local function behind (x)
  local n = x.shape[1]
  return peri.cat({ peri.full(x.shape, 7), x }, 1):narrow(1, n + 1, n)
end

local function every_other (x) return peri.stack({ x, x * 0 + 3 }, -1):select(-1, 1) end

local function turned (x)
  local order, back = {}, {}
  local n = #x.shape
  for d = 1, n do order[d], back[d] = n + 1 - d, n + 1 - d end
  return x:permute(table.unpack(order)):contiguous():permute(table.unpack(back))
end

local function repeated (x) return x:expand(3, table.unpack(x.shape)):select(1, 2) end

local LAYOUTS = { behind = behind, ["every other"] = every_other, turned = turned, repeated = repeated }

--- However a tensor lies in memory, fn(x) has the same bits.
function laws.layouts (fn, x)
  if not is_tensor(x) or core.rank(x) == 0 or core.numel(x) == 0 then return end
  x = x:detach():contiguous()
  local plain = fn(x)
  for name, layout in pairs(LAYOUTS) do same_bits("operand laid out " .. name, plain, fn(layout(x))) end
end

--- Two threads give what one gives, and so does a large tensor beside a small one.
function laws.threads (fn, x)
  if not is_tensor(x) or core.rank(x) == 0 or core.numel(x) == 0 then return end
  x = x:detach():reshape(-1)
  local copies = math.ceil(20000 / #x)
  local large = x:expand(copies, #x):contiguous():reshape(-1)
  peri.set_threads(1)
  local one = fn(large)
  peri.set_threads(2)
  local two = fn(large)
  peri.set_threads(1)
  same_bits("two threads", one, two)
end

--- The value at a batch is that at each of its elements.
function laws.elements (fn, x)
  if not is_tensor(x) or core.rank(x) ~= 1 then return end
  x = x:detach():narrow(1, 1, math.min(#x, MOST_ELEMENTS))
  local whole = fn(x)
  for i = 1, #x do
    local one = fn(x[i])
    if core.rank(tensor_of(one)) > 0 then return end   -- a batch of its own
    same_bits("element " .. i .. " by itself", whole[i], one)
  end
end


-- Gradients ----------------------------------------------------------------------------

--- The gradient of a function of one number is its slope.
function laws.slope (fn, x)
  local value, grad = peri.value_and_grad(fn)(x)
  local is_moderate = math.abs(value) < 1e100   -- false for NaN
  local tolerance = 1e-5 + 1e-15 * math.abs(value)   -- a hazard is the exponential of a difference of logarithms
  local wrong = is_moderate and slopes.mismatch(function (at) return peri.item(fn(at)) end, { x }, { grad }, tolerance)
  if wrong then fault.raise("law", "slope: %s", wrong) end
end

local function gradient_of (fn, x)
  local p = peri.param(x)
  local loss = fn(p)
  if not (is_tensor(loss) and core.tracked(loss)) then return nil end
  if core.rank(loss) > 0 then loss = loss:sum() end
  loss:backward()
  return p.grad, loss
end

--- What is recorded, and may wait, has the values of what is not.
function laws.recorded (fn, x)
  if not is_tensor(x) then return end
  x = x:detach()
  local plain, recorded = fn(x), fn(peri.param(x))
  same_bits("recorded", plain, is_tensor(recorded) and recorded:detach() or recorded)
  if is_tensor(plain) and is_tensor(recorded) and core.rank(plain) > 0 then
    same_bits("sum of recorded", plain:sum(), peri.item(fn(peri.param(x)):sum()))
  end
end

--- The gradient comes back through views as it comes back without them.
function laws.gradients (fn, x)
  if not is_tensor(x) or core.rank(x) == 0 or core.numel(x) == 0 then return end
  x = x:detach():contiguous()
  local plain = gradient_of(fn, x)
  if plain == nil then return end
  for name, layout in pairs(LAYOUTS) do
    local grad = gradient_of(function (p) return fn(layout(p)) end, x)
    compare("gradient of operand laid out " .. name, plain, grad, equal)   -- 0 + -0 is 0
  end
end

--- What was computed before its operand was written to is what it was.
function laws.written (fn, x)
  if not is_tensor(x) then return end
  x = x:detach()
  local before, changed = fn(x), x:clone()
  local after = fn(changed)
  local recorded = fn(peri.param(x) * 1 + 0 * changed)
  local expected = fn(x * 1 + 0 * x)
  changed:copy(changed * 0 + 5)
  same_bits("operand written to", before, after)
  same_bits("operand written to, recorded", expected, is_tensor(recorded) and recorded:detach() or recorded)
end

--- A replayed trace gives value and gradient of the call, at other parameters too.
function laws.replay (fn, x, other)
  if not is_tensor(x) or not is_tensor(other) or shape_text(x) ~= shape_text(other) then return end
  local p = peri.param(x:detach())
  local trace = peri.trace(function ()
    local loss = fn(p)
    return core.rank(loss) > 0 and loss:sum() or loss
  end)
  for _, at in ipairs { x, other } do
    p:copy(at:detach())
    local grad, loss = gradient_of(fn, at:detach())
    p.grad = nil
    same_bits("replayed value", loss, trace:value())
    trace:backward()
    same_bits("replayed gradient", grad, p.grad)
  end
end


-- Distributions ------------------------------------------------------------------------

-- Elements of a number, a list or a tensor as a new list.
local function elements (x)
  if type(x) == "table" then return { table.unpack(x) } end
  return is_tensor(x) and x:detach():reshape(-1):totable() or { x }
end

local function each (what, x, holds)
  for i, value in ipairs(elements(x)) do
    if not holds(value) then fault.raise("law", "%s: element %d is %.17g", what, i, value) end
  end
end

local function is_probability (u) return u >= 0 and u <= 1 end

-- The method's value, or nil where the class has none.
local function value_of (d, method, ...)
  local ok, x = pcall(d[method], d, ...)
  if ok then return x end
  if type(x) == "string" and x:find(" has no ", 1, true) then return nil end
  error(x, 0)
end

-- Is it an end of the support? Numbers too small or too large for a double are rounded to these, though they
-- may not belong to it.
local function is_end (support, x)
  for _, limit in ipairs { support.low or 0, support.high or 0 } do
    for _, value in ipairs(elements(limit)) do
      if x == value then return true end
    end
  end
  return false
end

-- Raises unless x lies in the support.
local function in_support (what, d, x)
  if x == nil or not d.support then return end
  local bad = d.support:violation(x)
  if bad ~= nil and not is_end(d.support, bad) then
    fault.raise("law", "%s outside the support: %s", what, tostring(bad))
  end
end

-- Is an element 0, infinite or an end of the support: rounded, perhaps, where the density is another?
local function is_rounded (d, x)
  if d.support.is_discrete and not d.transforms then return false end
  local support = d.support.base or d.support   -- that of Independent
  for _, value in ipairs(elements(x)) do
    local is_shifted = d.transforms and math.abs(value) > 1e15   -- by so much that digits are lost
    if value == 0 or value - value ~= 0 or is_shifted or is_end(support, value) then return true end
  end
  return false
end

local function has_nan (x)
  for _, value in ipairs(elements(x)) do
    if value ~= value then return true end
  end
  return false
end

-- Are parameters checked, and does a transform get and give only what it is defined for?
local function is_sound (d)
  if laws.are_relaxed then return false end
  local x = d.base_dist and d.transforms and d.base_dist:sample(20, peri.rng(1))
  for _, map in ipairs(x and d.transforms or {}) do
    if not map.domain:check(x) then return false end
    x = map(x)
    if has_nan(x) then return false end   -- a law shifted by NaN
  end
  return true
end

--- Draws lie in the support, where the density is not 0 and not NaN; threads do not change them.
function laws.draws (d, seed)
  if getmetatable(d).__name == "Own" then return end   -- whose sample is a callback
  if not is_sound(d) then return end
  local draws = value_of(d, "sample", 7, peri.rng(seed))
  if draws == nil then return end
  in_support("a draw", d, draws)
  local density = d.support and not is_rounded(d, draws) and value_of(d, "log_prob", draws)
  if density then each("log_prob of a draw", density, function (l) return l > -math.huge end) end
  peri.set_threads(2)
  same_bits("draws of two threads", draws, d:sample(7, peri.rng(seed)))
  peri.set_threads(1)
  if not getmetatable(d).kernels then return end   -- several draws make one
  local rng = peri.rng(seed)
  local first = d:sample(3, rng)
  same_bits("draws in two requests", draws, peri.cat({ first, d:sample(4, rng) }, 1))
end

--- log_prob and the tails are numbers at every number; probabilities are probabilities and rise.
function laws.tails (d, x)
  if not is_sound(d) then return end
  if #d.event_shape > 0 or #d.batch_shape > 0 then return end
  local points, last = {}, 0
  for _, at in ipairs(elements(x)) do
    if at == at then points[#points + 1] = at end   -- NaN has no place in an order
  end
  table.sort(points)
  for _, at in ipairs(points) do
    local density, below, above = value_of(d, "log_prob", at), value_of(d, "cdf", at), value_of(d, "sf", at)
    each("log_prob at " .. at, density or 0, function (l) return l == l end)
    each("cdf at " .. at, below or 0, is_probability)
    each("sf at " .. at, above or 0, is_probability)
    if below and peri.item(below) < last - 1e-14 then
      fault.raise("law", "cdf falls to %.17g from %.17g at %.17g", peri.item(below), last, at)
    end
    last = below and peri.item(below) or 0
  end
end

--- Quantiles lie in the support and rise with the level.
function laws.quantiles (d, levels)
  if not is_sound(d) then return end
  if #d.event_shape > 0 or #d.batch_shape > 0 then return end
  local points, last = elements(levels), -math.huge
  table.sort(points)
  for _, level in ipairs(points) do
    if level > 0 and level < 1 then
      local x = value_of(d, "icdf", level)
      if x == nil then return end
      in_support("a quantile", d, x)
      x = peri.item(x)
      local is_next = last - x <= 2 ^ -51 * math.abs(last) and last < math.huge
      if x < last and not is_next then fault.raise("law", "icdf falls at %.17g to %.17g", level, x) end
      last = x
    end
  end
end

local WHOLE = { "mean", "variance", "mode", "median", "entropy" }
local AT = { "log_prob", "cdf", "sf", "log_cdf", "log_sf" }

-- Element i of each parameter that is a list.
local function element_of (params, i)
  local one = {}
  for name, value in pairs(params) do one[name] = type(value) == "table" and value[i] or value end
  return one
end

--- A batch is its elements one by one: params are lists of n numbers, and points too.
function laws.batch (class, params, points)
  if laws.are_relaxed then return end
  local whole = class(params)
  for i = 1, whole.batch_shape[1] or 0 do
    local one = class(element_of(params, i))
    for _, method in ipairs(WHOLE) do
      local all = value_of(whole, method)
      if all ~= nil then compare(method .. " of element " .. i, all[i], value_of(one, method), near) end
    end
    for _, method in ipairs(AT) do
      local all = value_of(whole, method, points)
      if all ~= nil then
        compare(method .. " of element " .. i, all[i], value_of(one, method, points[i]), same_number)
      end
    end
  end
end

-- Is there an element of which kl_explain says that it is not known: a mean of draws, or of infinite error?
local function is_unknown (explained)
  for _, error in ipairs(elements(explained.error)) do
    if error == math.huge then return true end
  end
  return explained.method == "monte carlo"
end

-- The error that kl_explain claims for an element, with room for rounding.
local function claimed (explained, i)
  local value = elements(explained.value)[i]
  local errors = elements(explained.error)
  return (errors[i] or errors[1]) + 1e-13 * math.abs(value)
end

--- The divergence of batches is that of their elements, but for the errors that both claim.
function laws.divergence_batch (p_class, p_params, q_class, q_params)
  if laws.are_relaxed then return end
  local all = peri.kl_explain(p_class(p_params), q_class(q_params))
  if is_unknown(all) then return end
  for i = 1, #all.value do
    local one = peri.kl_explain(p_class(element_of(p_params, i)), q_class(element_of(q_params, i)))
    if is_unknown(one) then return end
    local room = claimed(all, i) + claimed(one, 1)
    compare(string.format("KL of element %d by %s", i, all.method), all.value[i], one.value, function (x, y)
      return near(x, y) or math.abs(x - y) <= room
    end)
  end
end

local function is_ours (d) return rawequal(getmetatable(d), peri[getmetatable(d).__name]) end

-- That of a point is -log q, that to a flat law minus an entropy: both may be negative. And somebody may have
-- registered another.
local function is_usual (p, q)
  return is_ours(p) and is_ours(q) and not p:is_a(peri.Delta) and not q:is_a(peri.Flat)
end

--- A divergence is at least 0, and kl_explain gives the same.
function laws.divergence (p, q)
  if not (is_sound(p) and is_sound(q) and is_usual(p, q)) then return end
  local value = peri.kl_divergence(p, q, { samples = 100, rng = peri.rng(1) })
  local explained = peri.kl_explain(p, q, { samples = 100, rng = peri.rng(1) })
  same_bits("kl_explain", value, explained.value)
  if is_unknown(explained) then return end
  each("KL by " .. explained.method, value, function (kl) return kl >= 0 end)
end

return laws
