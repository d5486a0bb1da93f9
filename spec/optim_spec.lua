local peri = require "perilune"
local core = require "perilune.core"
local json = require "dkjson"

local optim = peri.optim

-- Six steps on a small problem: options, and the parameters after steps 1, 2 and 6. PyTorch 1.13's optimisers
-- in double precision; ClippedAdam by its formula.
local STEPS = {
  { "SGD", { lr = 0.01 },
    { -0.503, 0.74187999999999998, 1.4897, 0.31077199999999999 },
    { -0.50244825356, 0.68944635851798985, 1.4792848141741513, 0.31994921682264554 },
    { -0.47268747749488227, 0.52222035438199776, 1.4374434412406742, 0.34539497207425784 } },
  { "SGD", { lr = 0.01, momentum = 0.9 },
    { -0.503, 0.74187999999999998, 1.4897, 0.31077199999999999 },
    { -0.50514825356000004, 0.63713835851798983, 1.4700148141741511, 0.32964401682264555 },
    { -0.37485987050581482, 0.046677901893317199, 1.3144498524128259, 0.42520499904837755 } },
  { "SGD", { lr = 0.01, momentum = 0.9, dampening = 0.3, weight_decay = 0.1 },
    { -0.50250000000000006, 0.74108000000000007, 1.4882, 0.31047199999999997 },
    { -0.50398594798750007, 0.65084640573016184, 1.4692770925430743, 0.32609088951744064 },
    { -0.42292160772769011, 0.15926163715461852, 1.3360583559102741, 0.40198381243751774 } },
  { "SGD", { lr = 0.01, momentum = 0.9, nesterov = true, weight_decay = 0.1 },
    { -0.50475000000000003, 0.688052, 1.4775799999999999, 0.31989679999999998 },
    { -0.49849857250581253, 0.54915599615778921, 1.44539675212743, 0.34263487292477951 },
    { -0.25283973236155738, 0.003040016136379393, 1.2457085392583103, 0.41561783747245484 } },
  { "Adam", { lr = 0.1 },
    { -0.59999999666666681, 0.70000000017205788, 1.4000000009708737, 0.39999999907166728 },
    { -0.55569609642602291, 0.60238759583812151, 1.3013926341206059, 0.49763274135734248 },
    { -0.21967656386500678, 0.23187763545627577, 0.93455952967411449, 0.81779013078002272 } },
  { "Adam", { lr = 0.1, betas = { 0.8, 0.95 }, eps = 0.01, weight_decay = 0.2 },
    { -0.59523809523809523, 0.7001671681711803, 1.4007462686567165, 0.39902647975077882 },
    { -0.53505595286029128, 0.60314967367726191, 1.3029257926845683, 0.49430378722079432 },
    { -0.16910702130529554, 0.2368881948018482, 0.93900595463936576, 0.75799134032384918 } },
  { "AdamW", { lr = 0.1 },
    { -0.59949999666666676, 0.69920000017205786, 1.3985000009708737, 0.39969999907166726 },
    { -0.55449500118100015, 0.60089253117524255, 1.2985321528738887, 0.49691106276484281 },
    { -0.21663411175040731, 0.22863392794260523, 0.92786932717301418, 0.81415531797189566 } },
  { "AdamW", { lr = 0.1, weight_decay = 0.5 },
    { -0.57499999666666679, 0.66000000017205784, 1.3250000009708736, 0.38499999907166726 },
    { -0.49750612444118542, 0.52961424611849661, 1.1626260156645942, 0.46215113657899465 },
    { -0.088077820070398438, 0.094364278141718341, 0.64812154812029277, 0.65206552150066999 } },
  { "RMSprop", { lr = 0.05 },
    { -0.9999998333333886, 0.30000000860289072, 1.0000000485436848, 0.7999999535833684 },
    { -0.50014464319563379, 0.55715397405662337, 0.85523445762744332, 0.75502537316586527 },
    { -0.18321357081692174, 0.089369882590768585, 0.68379022574240322, 0.67375233995155281 } },
  { "RMSprop", { lr = 0.05, alpha = 0.8, centered = true, momentum = 0.5, weight_decay = 0.1, eps = 0.01 },
    { -0.61363636363636365, 0.67552813925976007, 1.3775933609958506, 0.4220854318224212 },
    { -0.55567313937521856, 0.53285766485795572, 1.2279737426718964, 0.55957897017946701 },
    { 0.16766433683098922, 0.040978358459570735, 0.74300233163327745, 0.70747947585046822 } },
  { "Adagrad", { lr = 0.5 },
    { -0.99999999983333332, 0.30000000000860294, 1.0000000000485436, 0.7999999999535834 },
    { -0.50014626757559344, 0.55620415228673237, 0.85589965566570503, 0.75524902180777775 },
    { -0.18735377863956221, 0.092166953202518914, 0.68730628012733896, 0.67676910449766958 } },
  { "Adagrad", { lr = 0.5, lr_decay = 0.1, weight_decay = 0.1, initial_accumulator_value = 0.3, eps = 0.001 },
    { -0.70726944382591928, 0.30223062559911934, 1.0468241105275928, 0.74268209556858999 },
    { -0.25586707128561959, 0.33329359317633689, 0.89061015608904981, 0.69556151127914867 },
    { 0.21606996867913819, 0.025082654532710663, 0.64349947557893117, 0.54406852731003064 } },
  { "ClippedAdam", { lr = 0.1, clip_norm = 1.5, lrd = 0.9, weight_decay = 0.1, eps = 0.01 },
    { -0.53973665961010275, 0.72500900864947193, 1.4290215016643362, 0.36912577427943921 },
    { -0.53147451959776026, 0.65408329936451193, 1.3621992394269753, 0.43342013838865823 },
    { -0.37241028518121866, 0.42610071301408148, 1.1543504296085552, 0.61789775080642162 } },
}

-- L-BFGS with strong Wolfe line search of PyTorch 1.13, one iteration a row.
local QUADRATIC = {
    { 0.99099099099099097, 0.90990990990990994, 0.099099099099099114 },
    { 0.97991920187881831, 0.80828200969819208, -0.0081808120171698168 },
    { 0.95791631716338821, 0.6218676159722123, -0.059899084644424276 },
    { 0.89770396528743157, 0.18715623517010493, -0.07127814198791696 },
    { 0.80277709373943229, -0.010224295345372725, -0.0034193705643519451 },
    { 0.77736677834449619, -0.021570892258176537, 0.0046001797678639801 },
    { 0.69873305322567292, -0.034997531087146649, 0.017187994222153061 },
    { 0.5351856709792695, -0.044550953690267202, 0.02868007581742027 },
}
local ROSENBROCK = {
    { -1.0245319303460325, 1.0716196202669255 },
    { -1.0284565745562346, 1.068187455748677 },
    { -1.0288795348319695, 1.0655029516848564 },
    { -1.0276177663827242, 1.0584120782656612 },
    { -1.0203084803940978, 1.0352769866467468 },
    { -0.99703103516800551, 0.97559138467400841 },
    { -0.94312780120832418, 0.85296627254109181 },
    { -0.88021316496587343, 0.72747720607199784 },
}

local function loss_of (a, b)
  return (a[1] - 1) ^ 2 + 3 * (a[2] - a[1] ^ 2) ^ 2 + 0.5 * (((b - 2) * a[2]) ^ 2):sum() + 0.1 * (b ^ 4):sum()
end

local function start () return peri.param { -0.5, 0.8 }, peri.param { { 1.5 }, { 0.3 } } end

local function move (opt, a, b)
  opt:zero_grad()
  loss_of(a, b):backward()
  opt:step()
end

local function numbers (...)
  local all = {}
  for _, t in ipairs { ... } do
    for _, x in ipairs(core.is_tensor(t) and core.bare(t):reshape(-1):totable() or { t }) do all[#all + 1] = x end
  end
  return all
end

local function assert_close (expected, got, tolerance)
  assert.equal(#expected, #got)
  for i, x in ipairs(expected) do
    assert(math.abs(x - got[i]) <= (tolerance or 1e-12) * math.max(1, math.abs(x)),
           string.format("[%d]: %.17g is not %.17g", i, got[i], x))
  end
end

local function fails (message, fn, ...)
  local arguments = table.pack(...)
  local ok, why = pcall(function () local _ = fn(table.unpack(arguments, 1, arguments.n)) end)
  assert.is_false(ok)
  assert.equal(message, (why:gsub("^[^ ]-:%d+: ", "")))
end

-- Through text and back, as JSON would: numbers may come back as floats, tables with metatables.
local function round_trip (value)
  if type(value) == "number" then return tonumber(string.format("%.17g", value)) + 0.0 end
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, inner in pairs(value) do copy[key] = round_trip(inner) end
  return setmetatable(copy, { __jsontype = "object" })
end

describe("optimisers", function ()
  for _, case in ipairs(STEPS) do
    local name, options = case[1], case[2]
    local a, b = start()
    local opt = optim[name]({ a, b }, options)

    it("step as PyTorch's: " .. tostring(opt), function ()
      local row = 3
      for t = 1, 6 do
        move(opt, a, b)
        if t == 1 or t == 2 or t == 6 then
          assert_close(case[row], numbers(a, b))
          row = row + 1
        end
      end
    end)

    it("go on from a saved state: " .. tostring(opt), function ()
      local c, d = start()
      local first = optim[name]({ c, d }, options)
      for _ = 1, 3 do move(first, c, d) end
      local e, f = peri.param(c:detach()), peri.param(d:detach())
      local second = optim[name]({ e, f }):restore(round_trip(first:state()))
      assert.same(first:state(), second:state())
      for _ = 1, 3 do
        move(first, c, d)
        move(second, e, f)
      end
      assert.same(numbers(c, d), numbers(e, f))
      assert_close(case[5], numbers(e, f))
    end)
  end

  it("take nested tables, in the order of their keys", function ()
    local a, b, c = peri.param(1), peri.param { 2 }, peri.param { { 3 } }
    local opt = optim.SGD({ z = { a, b }, y = c, again = a }, { lr = 0.5 })
    assert.equal(3, #opt.entries)
    assert.equal("params.again", opt.entries[1].path)
    assert.equal("params.y", opt.entries[2].path)
    assert.equal("params.z[2]", opt.entries[3].path);
    (a + b:sum() + c:sum()):backward()
    opt:step()
    assert.same({ 0.5, 1.5, 2.5 }, numbers(a, b, c))
  end)

  it("leave a parameter without gradient alone, and count its steps apart", function ()
    local a, b = peri.param { 1 }, peri.param { 1 }
    local opt = optim.Adam({ a, b }, { lr = 0.1 })
    a:sum():backward()
    opt:step()
    assert.same({ 1 }, numbers(b))
    assert.equal(0, opt:state().memory[2].count)
    opt:zero_grad()
    assert.is_nil(a.grad)
    b:sum():backward()
    opt:step()
    assert.equal(1, opt:state().memory[2].count)
    assert_close({ 0.9, 0.9 }, numbers(a, b), 1e-8)
  end)

  it("work on numbers, on many elements and on none", function ()
    local one, many, none = peri.param(3), peri.param(peri.ones(70, 50)), peri.param(peri.zeros(3, 0))
    local opt = optim.Adam({ one, many, none }, { lr = 0.25 });
    (one * one + (many * many):sum() + none:sum()):backward()
    opt:step()
    assert_close({ 2.75 }, numbers(one), 1e-8)
    assert_close({ 0.75 * 3500 }, { peri.item(many:detach():sum()) }, 1e-8)
    assert.same({ 3, 0 }, none.shape)
    opt:restore(opt:state()):step()
    none.grad = peri.zeros(3, 0)
    for name in pairs(optim) do
      if name:find "^%u" and name ~= "LBFGS" then
        local of_none = optim[name](none)
        of_none:step()
        of_none:restore(round_trip(of_none:state())):step()
      end
    end
  end)

  it("write where older tapes notice", function ()
    local w = peri.param { 1, 2 }
    local loss = (w * w):sum()
    w.grad = peri.ones(2)
    optim.SGD({ w }):step()
    assert.has_error(function () loss:backward() end)
  end)

  it("take a closure", function ()
    local w = peri.param(2)
    local opt = optim.SGD({ w }, { lr = 0.25 })
    local loss = opt:step(function ()
      local l = w * w
      l:backward()
      return l
    end)
    assert.equal(4, peri.item(loss))
    assert.equal(1, peri.item(w))
  end)

  it("change nothing when a gradient is not finite", function ()
    local a, b = peri.param { 1, 2 }, peri.param { { 1, 2 }, { 3, 4 } }
    local opt = optim.Adam { first = a, second = b }
    a.grad, b.grad = peri.ones(2), peri.tensor { { 0, 0 }, { 0 / 0, 1 } }
    fails("Adam: the gradient of params.second must be finite, got nan at [2, 1]", opt.step, opt)
    a.grad, b.grad = peri.tensor { 0, -math.huge }, nil
    fails("Adam: the gradient of params.first must be finite, got -inf at [2]", opt.step, opt)
    assert.same({ 1, 2, 1, 2, 3, 4 }, numbers(a, b))
    assert.equal(0, opt.steps)
  end)

  it("look again at a gradient that was finite and was written to since", function ()
    local w = peri.param { 1, 2 }
    local opt = optim.SGD(w)
    local nan, ones = peri.tensor { 0, 0 / 0 }, peri.ones(2)
    local function begin (round)
      w.grad = ones
      if round % 2 == 0 then
        opt:zero_grad()
        w:sum():backward()
      end
      opt:step()
      opt:step()
    end
    local function refused (grad)
      local before = numbers(w)
      fails("SGD: the gradient of params must be finite, got " .. grad .. " at [2]", opt.step, opt)
      assert.same(before, numbers(w))
    end
    local spoil = peri.trace(function () return (w * peri.tensor { 1, math.huge }):sum() end)
    local ways = {
      function () w.grad = nan end,
      function () w.grad[2] = 0 / 0 end,
      function () w.grad:copy(nan) end,
      function () w.grad:narrow(1, 2, 1):copy { 0 / 0 } end,
      function () (w * nan):sum():backward() end,                      -- added
      function () opt:zero_grad(); (w * nan):sum():backward() end,     -- in memory that is used again
      function ()                                                      -- in other memory
        local held = w.grad
        opt:zero_grad();
        (w * nan):sum():backward()
        assert.same({ 1, 1 }, held:totable())
      end,
    }
    for round = 1, 4 do
      for _, way in ipairs(ways) do
        begin(round)
        way()
        refused "nan"
      end
      begin(round)
      spoil:backward()
      refused "inf"
      begin(round)
      opt:zero_grad()
      spoil:backward()
      refused "inf"
      collectgarbage()
    end
  end)

  it("can have their options changed", function ()
    local w = peri.param(1)
    local opt = optim.SGD(w, { lr = 1 })
    w.grad = peri.tensor(1)
    opt.lr = 0.25
    opt:step()
    assert.equal(0.75, peri.item(w))
  end)

  it("refuse what makes no sense", function ()
    local w = peri.param(1)
    fails("Adam: lr must be positive, got -1", optim.Adam, { w }, { lr = -1 })
    fails("Adam: lr must be positive, got nan", optim.Adam, { w }, { lr = 0 / 0 })
    local one, other, betas = optim.Adam { w }, optim.Adam { w }, { 0.5, 0.6 }
    one.betas[1] = 0.5
    assert.equal(0.9, other.betas[1])   -- each has its own
    one.betas = betas
    betas[1] = 0.1
    assert.same({ 0.5, 0.6 }, one:state().options.betas)
    fails("AdamW: betas must be two numbers of at least 0 and below 1, got a table of 2 elements", optim.AdamW, { w },
          { betas = { 0.9, 1 } })
    fails('RMSprop: alpha must be at least 0 and below 1, got the string "a"', optim.RMSprop, { w }, { alpha = "a" })
    fails("Rprop: etas must be a number between 0 and 1 and one above 1, got a table of 2 elements", optim.Rprop, { w },
          { etas = { 1.2, 0.5 } })
    fails("Rprop: step_sizes must be two positive numbers in ascending order, got a table of 2 elements", optim.Rprop,
          { w }, { step_sizes = { 1, 0.5 } })
    local sizes = optim.Rprop(w).step_sizes
    sizes[1] = 50
    fails("Rprop: step_sizes must be two positive numbers in ascending order, got 51 at [1]",
          function () sizes[1] = 51 end)
    fails("Rprop: step_sizes must be two positive numbers in ascending order, got 1 at [3]",
          function () sizes[3] = 1 end)
    assert.same({ 50, 50 }, { sizes[1], sizes[2] })
    fails("AdamW: there is no option amsgrd; did you mean amsgrad? There are amsgrad, betas, eps, lr, maximize, " ..
          "weight_decay", optim.AdamW, { w }, { amsgrd = true })
    fails("SGD: nesterov must be true or false, got 1", optim.SGD, { w }, { nesterov = 1 })
    fails("SGD: nesterov needs a positive momentum and no dampening", optim.SGD, { w }, { nesterov = true })
    fails("Adagrad: there is no option momentum; there are eps, initial_accumulator_value, lr, lr_decay, " ..
          "maximize, weight_decay",
          optim.Adagrad, { w }, { momentum = 1 })
    fails("ClippedAdam: options must be a table, got 0.1", optim.ClippedAdam, { w }, 0.1)
    fails("SGD: params must be a parameter (see peri.param), got nil", optim.SGD)
    fails("SGD: params must hold at least one parameter, got none", optim.SGD, {})
    local endless = { a = { peri.param(1) } }
    endless.a[2] = { endless }
    fails("SGD: params.a[2][1] must not contain itself", optim.SGD, endless)
    fails("clip_grad_norm: params.a[2][1] must not contain itself", optim.clip_grad_norm, endless, 1)
    local twice = { peri.param(1) }
    assert.equal(1, #optim.SGD({ twice, twice }).params)
    fails("SGD: params.w[2] must be a parameter (see peri.param), got 3", optim.SGD, { w = { w, 3 } })
    fails("SGD: params[1] must be a parameter (see peri.param), got a tensor of shape ()", optim.SGD, { w * 2 })
    fails("SGD: params[1] must be a parameter (see peri.param), got a tensor of shape (2)", optim.SGD,
          { peri.zeros(2) })
    local cyclic = { w }
    cyclic.more = { cyclic }
    fails("SGD: params.more[1] must not contain itself", optim.SGD, cyclic)
    local opt = optim.SGD(w)
    fails("SGD: schedule must be a function of the step, got 2", opt.schedule, opt, 2)
    local moving = peri.param(1)
    moving.grad = peri.tensor(1)
    local moved = peri.optim.SGD({ moving }, { lr = 1 }):schedule(function () return "x" end)
    fails('SGD: schedule must return a number, got the string "x" at step 0', moved.step, moved)
    fails("SGD:step: closure must be a function, got 2", opt.step, opt, 2)
    fails("SGD: restore: state must be of SGD, got the string \"Adam\"", opt.restore, opt, optim.Adam(w):state())
    fails("SGD: restore: state must be a table that state() gave, got 1", opt.restore, opt, 1)
    fails("SGD: restore: state is of other parameters than these", opt.restore, opt,
          optim.SGD { w, peri.param(2) }:state())
    local row = peri.param { 1, 2 }
    row.grad = row:detach()
    local of_two = optim.SGD(row)
    of_two:step()
    fails("SGD: restore: state is of other parameters than these", opt.restore, opt, of_two:state())
  end)

  it("print themselves", function ()
    assert.equal("SGD(lr=0.5, momentum=0.9, dampening=0, nesterov=true, weight_decay=0, maximize=false)",
                 tostring(optim.SGD(peri.param(1), { lr = 0.5, momentum = 0.9, nesterov = true })))
    assert.equal("optim.Adam", tostring(optim.Adam))
  end)

  it("leave memory as it is, however many steps", function ()
    local kilobytes = require "spec.long.steps".growth(10000)
    assert(kilobytes < 16, kilobytes)
  end)

  it("move parameters that were moved more or less often as if each had its own", function ()
    local function start_of (i) return peri.param { i, -i } end
    local together, alone = {}, {}
    for i = 1, 4 do together[i], alone[i] = start_of(i), start_of(i) end
    local opt, opts = optim.Adam(together, { lr = 0.1 }), {}
    for i = 1, 4 do opts[i] = optim.Adam(alone[i], { lr = 0.1 }) end
    for t = 1, 12 do
      for i = 1, 4 do   -- parameter i has a gradient in every i-th step
        local grad = t % i == 0 and peri.tensor { t, i } or nil
        together[i].grad, alone[i].grad = grad, grad
        opts[i]:step()
      end
      opt:step()
      assert.same(numbers(table.unpack(alone)), numbers(table.unpack(together)))
    end
    for i = 1, 4 do assert.equal(math.floor(12 / i), opt:state().memory[i].count) end
  end)

  it("have kernels that take no harm from operands that do not fit", function ()
    local x = peri.param(peri.ones(3))
    local unfit = "update: parameter, gradient and memory do not fit together"
    for _, kernel in ipairs(core.kernels "optim") do
      local ready, update, rows = core.bind_ready(kernel.name), core.bind_update(kernel.name), kernel.n_in - 1
      local memory = core.memory { x }
      x.grad = nil
      assert.is_nil(ready(memory))
      assert.is_nil(update(memory, 0, 1, 1, 1))
      x.grad = peri.ones(3)
      assert.is_false(ready(memory))
      fails(unfit, update, memory, 0, 1, 1, 1)
      core.remember(memory, 1, peri.zeros(rows + 1, 3), 0)
      assert.is_false(ready(memory))
      fails(unfit, update, memory, 0, 1, 1, 1)
      fails("remember: the rows do not fit the parameter", core.remember, memory, 1, peri.zeros(rows, 2), 0)
      fails("remember: the rows do not fit the parameter", core.remember, memory, 1,
            peri.zeros(2, 3, 2):select(3, 1), 0)
      core.remember(memory, 1, peri.zeros(rows, 3), 0)
      assert.equal(0, ready(memory))
      assert.equal(0, update(memory, 1))
      fails("update: at most 10 constants", update, memory, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
      fails("update: memory must be the memory of an optimiser, got a tensor of shape (3)", update, x, 0)
      assert.same({ 1, 1, 1 }, x:totable())
    end
    fails("memory: only a parameter has a gradient", core.memory, { peri.ones(3) })
    fails("recall: there is no parameter 2", core.recall, core.memory { x }, 2)
    fails("zero_grad: only a parameter has a gradient", core.zero_grad, { params = { peri.ones(3) } })
  end)

  it("keep no memory that their options do not need", function ()
    local function rows (name, options)
      local w = peri.param { 1, 2 }
      w.grad = peri.ones(2)
      local opt = optim[name](w, options)
      opt:step()
      return #core.recall(opt.memory, 1)
    end
    assert.same({ 0, 1, 1, 3, 3 }, { rows("SGD"), rows("SGD", { momentum = 0.5 }), rows("RMSprop"),
                                     rows("RMSprop", { centered = true }), rows("RMSprop", { momentum = 0.5 }) })
  end)

  it("begin a memory when options come to need it, and keep what they know", function ()
    local w = peri.param(0)
    local opt = optim.SGD(w, { lr = 1 })
    w.grad = peri.tensor(1)
    opt:step()
    opt.momentum = 0.5
    opt:step()   -- the first momentum is the gradient
    opt:step()
    assert.equal(-1 - 1 - 1.5, peri.item(w))
    opt.momentum = 0
    opt:step()
    assert.equal(-4.5, peri.item(w))
    local v = peri.param(0)
    v.grad = peri.tensor(2)
    opt = optim.RMSprop(v, { alpha = 0.5 })
    opt:step()
    opt.momentum = 0.5
    opt:step()
    assert.equal(3, opt:state().memory[1].square[1])
  end)

  it("keep the count of steps when amsgrad comes to need more", function ()
    local w, v = peri.param(0), peri.param(0)
    w.grad, v.grad = peri.tensor(1), peri.tensor(1)
    local one, other = optim.Adam(w), optim.Adam(v)
    for t = 1, 20 do
      one.amsgrad = t > 10   -- the same, while squares do not shrink
      one:step()
      other:step()
    end
    assert.equal(20, one:state().memory[1].count)
    assert.equal(peri.item(v), peri.item(w))
  end)

  it("begin Rprop with steps of lr, which has no schedule", function ()
    local w = peri.param { 1, 1 }
    local opt = optim.Rprop(w, { lr = 0.25, step_sizes = { 0.125, 0.5 } })
    w.grad = peri.tensor { 1e-300, -5 }
    opt:step()
    assert.same({ 0.75, 1.25 }, numbers(w))
    opt.lr = 7
    w.grad = peri.tensor { 2, 3 }   -- a product that underflows says nothing; a change of sign keeps x
    opt:step()
    assert.same({ 0.75 - 0.25 * 1.2, 1.25 }, numbers(w))
    assert.same({ 0.25 * 1.2, 0.125 }, opt:state().memory[1].step_size)
    fails("Rprop: there are no schedules, because lr is the size of the first step alone", opt.schedule, opt,
          function () return 1 end)
  end)

  -- One step of NAdam from no momentum, after so many, for a gradient of 1.
  local function nadam_step (b1, decay, count, product)
    local w = peri.param(0)
    local opt = optim.NAdam(w, { lr = 1, betas = { b1, 0.5 }, momentum_decay = decay, eps = 0 })
    local state = opt:state()
    state.memory = { { count = count, momentum = { 0 }, square = { 0 } } }
    w.grad = peri.tensor(1)
    opt:restore(state):step()
    local function mu (t) return b1 * (1 - 0.5 * 0.96 ^ (t * decay)) end
    product = product * mu(count + 1)
    local direct = (1 - mu(count + 1)) / (1 - product)
    local ahead = mu(count + 2) * (1 - b1) / (1 - product * mu(count + 2))
    return { -(direct + ahead) / math.sqrt(0.5 / (1 - 0.5 ^ (count + 1))) }, numbers(w)
  end

  it("know NAdam's product of momenta at any step", function ()
    for _, decay in ipairs { 4e-3, 0, 0.5, 100 } do
      local product = 1
      for t = 0, 400 do
        local expected, got = nadam_step(0.9, decay, t, product)
        assert_close(expected, got, 1e-14)
        product = product * 0.9 * (1 - 0.5 * 0.96 ^ ((t + 1) * decay))
      end
      assert_close(table.unpack { nadam_step(0.9, decay, 2^53, 0) })
    end
    local b1 = 1 - 2 ^ -40   -- momenta are b1 from the second step on
    local expected, got = nadam_step(b1, 1e3, 2^40, b1 ^ 2^40)
    assert_close(expected, got, 1e-9)
  end)

  it("move by NAdam those that were moved less often as if each had its own", function ()
    local often, seldom, alone = peri.param(0), peri.param(0), peri.param(0)
    local opt, apart = optim.NAdam { often, seldom }, optim.NAdam(alone)
    often.grad, alone.grad = peri.tensor(1), peri.tensor(1)
    for t = 1, 60 do
      seldom.grad = t % 2 == 0 and peri.tensor(1) or nil
      opt:step()
      if t % 2 == 0 then
        apart:step()
        assert.equal(peri.item(alone), peri.item(seldom))
      end
    end
  end)

  it("take up states saved with rows that are no longer kept", function ()
    local w = peri.param { 1, 2 }
    w.grad = peri.ones(2)
    local opt = optim.SGD(w, { lr = 0.5 })
    local state = opt:state()
    state.steps, state.memory = 3, { { count = 3, momentum = { 7, 7 } } }
    opt:restore(state):step()
    assert.same({ 0.5, 1.5 }, numbers(w))
    state.memory = { { count = 3, momentum = { 7, 7, 7 } } }
    fails("SGD: restore: state is of other parameters than these", opt.restore, opt, state)
  end)

  it("move many elements as they move one, and find one that is not finite", function ()
    local n = 5000
    for _, name in ipairs { "SGD", "Adam", "NAdam", "RAdam", "Adamax", "RMSprop", "Adagrad", "Adadelta", "Rprop" } do
      local many, one = peri.param(peri.ones(n)), peri.param(1)
      many.grad, one.grad = peri.full(n, 0.3), peri.tensor(0.3)
      local first, second = optim[name](many), optim[name](one)
      for _ = 1, 3 do
        first:step()
        second:step()
      end
      assert(peri.item(many:detach():eq(peri.item(one)):all()) == 1, name)
      many.grad = peri.full(n, 1e308)   -- whose sum overflows
      first:step()
      many.grad[n - 1] = 0 / 0
      fails(name .. ": the gradient of params must be finite, got nan at [4999]", first.step, first)
    end
  end)
end)

-- The gradients of spec/support/optim/trajectories.py at step t, and where each begins.
local PATTERN, SCALES = { 1, 0.5, -2, 0, 3, -1, -1 }, { 1e-4, 1, 30, 1e3 }
local PROBLEMS = {
  scales = { { 1, -2, 3, -4 }, function (_, x)
    local g = {}
    for i, s in ipairs(SCALES) do g[i] = s * x[i] end
    return g
  end },
  rosenbrock = { { -1.2, 1 }, function (_, x)
    local a, bend = x[1], x[2] - x[1] * x[1]
    return { -2 * (1 - a) - 400 * a * bend, 200 * bend }
  end },
  zeros = { { 1, 2, -3, 0.5 }, function (t, x)
    return { 0, t % 3 == 0 and 0.5 * x[2] or 0, x[3] - 1e-9, 1e-170 * x[4] }
  end },
  turns = { { 0.7, 1, -1.5, 0 }, function (t, x)
    return { x[1] / (math.abs(x[1]) + 0.01), t % 2 == 0 and 1 or -1, x[3] * x[3] * x[3], PATTERN[t % 7 + 1] }
  end },
}

-- Adam divides by sqrt(v)/sqrt(1 - beta2^t) in torch; here one of the divisions is a product. RMSprop has one formula
-- with momentum and without where it is centered.
local function is_rounded_otherwise (case)
  local options = case.options
  return case.name == "Adam" or case.name == "AdamW" or options.centered and not options.momentum
end

describe("fifty steps", function ()
  local cases, named = {}, {}
  for line in io.lines("spec/support/optim/trajectories.jsonl") do
    local case = json.decode(line)
    local key = case.name .. " " .. json.encode(case.options, { keyorder = { "lr" } })
    if not named[key] then
      named[key] = {}
      cases[#cases + 1] = { name = case.name, options = case.options, runs = named[key] }
    end
    table.insert(named[key], case)
  end

  -- The parameter after each step that the case lists; `between` may replace the optimiser after step 25.
  local function run (case, w, opt, between)
    local gradient, sign = PROBLEMS[case.problem][2], case.options.maximize and -1 or 1
    local row = 1
    for t = 1, 50 do
      w.grad = sign * peri.tensor(gradient(t, w:totable()))
      opt:step()
      local expected = case.steps[row]
      if expected[1] == t then
        assert_close({ table.unpack(expected, 2) }, w:totable(), is_rounded_otherwise(case) and 1e-14 or 0)
        row = row + 1
      end
      if between and t == 25 then opt = between(opt) end
    end
  end

  for _, all in ipairs(cases) do
    local shown = tostring(optim[all.name](peri.param(1), all.options))

    it("are PyTorch's to the last bit: " .. shown, function ()
      assert.equal(4, #all.runs)
      for _, case in ipairs(all.runs) do
        local w = peri.param(PROBLEMS[case.problem][1])
        run(case, w, optim[case.name](w, case.options))
      end
    end)

    it("are the same with a state that is saved and restored: " .. shown, function ()
      local case = all.runs[2]
      local w = peri.param(PROBLEMS[case.problem][1])
      run(case, w, optim[case.name](w, case.options), function (opt)
        return optim[case.name](w):restore(round_trip(opt:state()))
      end)
    end)
  end

  it("are those of every optimiser but Pyro's and L-BFGS", function ()
    local seen = { ClippedAdam = true, LBFGS = true }
    for _, all in ipairs(cases) do seen[all.name] = true end
    for name in pairs(optim) do assert(seen[name] or name:find "^%l", name) end
  end)
end)

describe("L-BFGS", function ()
  local function closure_of (f, x)
    return function ()
      local l = f(x)
      l:backward()
      return l
    end
  end
  local function rosenbrock (x) return (1 - x[1]) ^ 2 + 100 * (x[2] - x[1] ^ 2) ^ 2 end
  local weights = peri.tensor { 1, 10, 100 }
  local function quadratic (x) return 0.5 * (weights * x * x):sum() end

  for name, case in pairs { quadratic = { quadratic, { 1, 1, 1 }, QUADRATIC },
                            Rosenbrock = { rosenbrock, { -1.2, 1 }, ROSENBROCK } } do
    it("moves as PyTorch's on the " .. name .. " function", function ()
      local x = peri.param(case[2])
      local opt = optim.LBFGS(x, { max_iter = 1, tolerance_change = 0, tolerance_grad = 0 })
      for _, row in ipairs(case[3]) do
        opt:step(closure_of(case[1], x))
        assert_close(row, numbers(x), 2e-12)   -- rounding grows along the way
      end
    end)
  end

  it("finds the minimum of Rosenbrock's function", function ()
    local x = peri.param { -1.2, 1 }
    local opt = optim.LBFGS(x, { max_iter = 100, max_eval = 100, tolerance_grad = 1e-10, tolerance_change = 0 })
    local loss, converged = opt:step(closure_of(rosenbrock, x))
    assert.is_true(converged)
    assert(loss < 1e-20)
    assert(opt.evaluations < 60)
    assert_close({ 1, 1 }, numbers(x), 1e-9)
  end)

  it("finds the minimum of a valley of a million to one, over several parameters", function ()
    local scales, a, b = peri.linspace(0, 6, 15):reshape(3, 5), peri.param(peri.ones(3, 5)), peri.param(4)
    local steep = peri.tensor(10) ^ scales
    local function f () return 0.5 * (steep * a * a):sum() + (b - 1) ^ 4 end
    local opt = optim.LBFGS({ a, b }, { max_iter = 500, max_eval = 1000, tolerance_grad = 1e-9, tolerance_change = 0 })
    local loss, converged = opt:step(closure_of(f))
    assert.is_true(converged)
    assert(loss < 1e-11)
    assert(peri.item(peri.abs(a:detach()):max()) < 1e-8)
  end)

  -- A regression on columns 1, height, male and height times male, as badly scaled as such are: its exact answer, and
  -- the standard deviations there.
  local function regression (n)
    local rng, rows, ys = peri.rng(3), {}, {}
    for i = 1, n do
      local male = i % 2
      local height = 64 + 5 * male + 2.7 * rng:normal()
      rows[i] = { 1, height, male, height * male }
      ys[i] = 8.4 + 0.017 * height + 0.0074 * height * male + 0.88 * rng:normal()
    end
    return peri.tensor(rows), peri.tensor(ys)
  end

  for _, unit in ipairs { 1, 1e-6, 1e6 } do
    it("finds the mode of a badly scaled regression by default, in units of " .. unit, function ()
      local x, y = regression(400)
      local beta, log_scale = peri.param { 0, 0, 0, 0 }, peri.param(0)
      local function f () return -unit * peri.Normal(x:matmul(beta), peri.exp(log_scale)):log_prob(y):sum() end
      local opt, converged = optim.LBFGS { beta, log_scale }, false
      for _ = 1, 20 do
        if not converged then converged = select(2, opt:step(closure_of(f))) end
      end
      assert.is_true(converged)
      -- the residuals are orthogonal to all columns; what is left is far below a standard deviation of each sum
      local residual = y - x:matmul(beta:detach())
      local scale = peri.item((residual * residual):mean()) ^ 0.5
      local off = residual:matmul(x) / ((x * x):sum(1):sqrt() * scale)
      assert(peri.item(off:abs():max()) < 1e-5, tostring(off))
      assert_close({ scale }, { peri.exp(peri.item(log_scale)) }, 1e-6)
      assert(opt.evaluations < 150)
    end)
  end

  for what, scales in pairs { small = { 1e-6, 1e-6 }, large = { 1e6, 1e6 }, different = { 1e-3, 1, 1e3 } } do
    it("stops at the minimum by default where the scales of parameters are " .. what, function ()
      local s = peri.tensor(scales)
      local x = peri.param(peri.zeros(#scales))
      local function f ()
        local gap = (x / s - 1):abs()
        return 3 + (gap + (-2 * gap):exp():log1p()):sum()   -- log cosh
      end
      local opt, converged = optim.LBFGS(x, { max_iter = 200 }), false
      for _ = 1, 5 do
        if not converged then converged = select(2, opt:step(closure_of(f))) end
      end
      assert.is_true(converged)
      assert(peri.item((x:detach() / s - 1):abs():max()) < 1e-6)
    end)
  end

  it("does not stop at what a single step says of all directions", function ()
    local s = peri.tensor { 1, 1e-6 }
    local x = peri.param { -1.2, 1e-6 }
    local opt = optim.LBFGS(x, { max_iter = 200, max_eval = 400 })
    local loss, converged = opt:step(closure_of(function () return rosenbrock(x / s) end))
    assert.is_true(converged)
    assert(loss < 1e-12, loss)
    assert(opt.evaluations < 100)
  end)

  it("stops at once where it stands at the minimum", function ()
    local x = peri.param { 0, 0, 0 }
    local opt = optim.LBFGS(x)
    local loss, converged = opt:step(closure_of(function () return quadratic(x) end))
    assert.equal(0, loss)
    assert.is_true(converged)
    assert.equal(1, opt.evaluations)
  end)

  it("steps back from where the objective is not finite", function ()
    local x = peri.param(5)
    local opt = optim.LBFGS(x, { max_iter = 50, lr = 100, tolerance_change = 0 })
    opt:step(closure_of(function () return x - peri.log(x) end))
    assert_close({ 1 }, numbers(x), 1e-6)
  end)

  it("ends at a kink, and on a way down that has no end", function ()
    local x = peri.param(3.3)
    optim.LBFGS(x, { max_iter = 20, max_eval = 1000 }):step(closure_of(function () return peri.abs(x - 1) end))
    assert_close({ 1 }, numbers(x), 1e-6)
    for name, loss in pairs { line = function () return -x end, parabola = function () return -x * x end } do
      x:copy(3.3)
      local opt = optim.LBFGS(x, { max_iter = 20, max_eval = 1000 })
      opt:step(closure_of(loss))
      assert(peri.item(x) > 1e15 and opt.evaluations <= 1000, name)
    end
  end)

  it("goes far where the slope only begins", function ()
    local x = peri.param(6)
    local opt = optim.LBFGS(x, { max_iter = 50, tolerance_change = 0 })
    opt:step(closure_of(function () return -peri.exp(x * x / -8) end))
    assert_close({ 0 }, numbers(x), 1e-6)
    assert(opt.evaluations < 25)
  end)

  it("turns back where the slope rises again, though the value is lower", function ()
    local x, furthest = peri.param(0), 0
    local opt = optim.LBFGS(x, { max_iter = 50, tolerance_change = 0 })
    opt:step(closure_of(function ()
      furthest = math.max(furthest, peri.item(x))
      return peri.exp(5 * (x - 1)) - x
    end))
    assert_close({ 1 - math.log(5) / 5 }, numbers(x), 1e-7)
    assert(furthest < 0.97)
  end)

  it("goes on from a saved state", function ()
    local function run (x, opt, n) for _ = 1, n do opt:step(closure_of(rosenbrock, x)) end end
    local options = { max_iter = 1, history_size = 3 }
    local x = peri.param { -1.2, 1 }
    local first = optim.LBFGS(x, options)
    run(x, first, 5)
    local y = peri.param(x:detach())
    local second = optim.LBFGS(y):restore(round_trip(first:state()))
    assert.equal(3, #second.memory)
    run(x, first, 5)
    run(y, second, 5)
    assert.same(numbers(x), numbers(y))
    assert.same(first:state(), second:state())
  end)

  it("refuses closures that do not do their part", function ()
    local x = peri.param(1)
    local opt = optim.LBFGS(x)
    fails("LBFGS: step takes a closure that calls backward() on its loss and returns it, got nil", opt.step, opt)
    fails("LBFGS: the closure must return its loss, a single number, got nil", opt.step, opt, function () end)
    fails("LBFGS: the closure must call backward() on its loss", opt.step, opt, function () return x end)
    fails("LBFGS: loss and gradient must be finite at the start", opt.step, opt,
          closure_of(function () return x / 0 end))
  end)
end)

describe("schedules", function ()
  local schedules = optim.schedules

  it("are functions of the number of steps taken", function ()
    assert.equal(0.5, schedules.constant(0.5)(7))
    local step = schedules.step(3, 0.5)
    assert.same({ 1, 1, 1, 0.5, 0.5, 0.5, 0.25 }, { step(0), step(1), step(2), step(3), step(4), step(5), step(6) })
    assert.equal(0.25, schedules.exponential(0.5)(2))
    local cosine = schedules.cosine(4, 0.2)
    assert_close({ 1, 0.2 + 0.4 * (1 + math.sqrt(0.5)), 0.6, 0.2, 0.2 },
                 { cosine(0), cosine(1), cosine(2), cosine(4), cosine(9) }, 1e-15)
    local warmup = schedules.warmup(4, schedules.exponential(0.5))
    assert.same({ 0.25, 0.5, 0.75, 1, 1, 0.5 }, { warmup(0), warmup(1), warmup(2), warmup(3), warmup(4), warmup(5) })
    assert.equal(1, schedules.warmup(1)(50))
  end)

  it("multiply the learning rate, also after a state was restored", function ()
    local w = peri.param(10)
    local opt = optim.SGD(w, { lr = 1 }):schedule(schedules.step(2, 0.5))
    w.grad = peri.tensor(1)
    for _ = 1, 4 do opt:step() end
    assert.equal(7, peri.item(w))
    local other = optim.SGD(w):schedule(schedules.step(2, 0.5)):restore(opt:state())
    assert.equal(0.25, other:rate())
    other:step()
    assert.equal(6.75, peri.item(w))
  end)

  it("refuse what makes no sense", function ()
    fails("schedules.step: every must be a positive integer, got 0.5", schedules.step, 0.5)
    fails("schedules.exponential: gamma must be positive, got nil", schedules.exponential)
    fails("schedules.cosine: steps must be a positive integer, got -3", schedules.cosine, -3)
    fails("schedules.warmup: after must be a schedule, got 1", schedules.warmup, 3, 1)
    fails("schedules.constant: factor must be a non-negative number, got -1", schedules.constant, -1)
  end)
end)

describe("clipping of gradients", function ()
  it("by norm scales all by one factor", function ()
    local a, b, c = peri.param { 0, 0 }, peri.param(0), peri.param(0)
    a.grad, b.grad = peri.tensor { 3, 4 }, peri.tensor(12)
    assert_close({ 13 }, { optim.clip_grad_norm({ a, b, c }, 6.5) }, 1e-15)
    assert_close({ 1.5, 2, 6 }, numbers(a.grad, b.grad), 1e-15)
    assert_close({ 6.5 }, { optim.clip_grad_norm({ a, b, c }, 100) }, 1e-15)
    assert_close({ 1.5, 2, 6 }, numbers(a.grad, b.grad), 1e-15)
    assert.is_nil(c.grad)
    a.grad = peri.tensor { 3e200, 4e200 }
    assert_close({ 1 }, { optim.clip_grad_norm(a, 1) / 5e200 }, 1e-15)
    assert_close({ 0.6, 0.8 }, numbers(a.grad), 1e-15)
    a.grad = peri.zeros(2)
    assert.equal(0, optim.clip_grad_norm(a, 1))
  end)

  it("takes any p", function ()
    local a, b = peri.param { 0, 0 }, peri.param(0)
    for _, case in ipairs { { 1, 19 }, { 2, 13 }, { 3, 1819 ^ (1 / 3) }, { math.huge, 12 },
                            { 0.5, (3 ^ 0.5 + 2 + 12 ^ 0.5) ^ 2 }, { 1e6, 12 } } do
      local p, norm = table.unpack(case)
      a.grad, b.grad = peri.tensor { -3, 4 }, peri.tensor(12)
      assert_close({ norm }, { optim.clip_grad_norm({ a, b }, 2, p) }, 4e-15)
      assert_close({ -6 / norm, 8 / norm, 24 / norm }, numbers(a.grad, b.grad), 4e-15)
      for _, size in ipairs { 1e300, 1e-300 } do   -- where powers overflow or vanish
        a.grad, b.grad = peri.tensor { -3, 4 } * size, peri.tensor(12 * size)
        assert_close({ norm }, { optim.clip_grad_norm({ a, b }, 1e-305, p) / size }, 4e-15)
        assert_close({ -3 / norm, 4 / norm, 12 / norm }, numbers(a.grad * 1e305, b.grad * 1e305), 4e-15)
      end
    end
    a.grad, b.grad = peri.tensor { 1e308, -1e308 }, peri.tensor(1e308)   -- a norm that no number is
    assert.equal(math.huge, optim.clip_grad_norm({ a, b }, 3, 1))
    assert_close({ 1, -1, 1 }, numbers(a.grad, b.grad), 1e-15)
  end)

  it("does with what is not finite as torch does, if told", function ()
    local a, b = peri.param { 0, 0 }, peri.param(0)
    local function clipped (x, y, z, p)
      a.grad, b.grad = peri.tensor { x, y }, peri.tensor(z)
      local norm = optim.clip_grad_norm({ a, b }, 2, p, { error_if_nonfinite = false })
      local all = { norm, table.unpack(numbers(a.grad, b.grad)) }
      for i, value in ipairs(all) do all[i] = value ~= value and "nan" or value end
      return all
    end
    for _, p in ipairs { 0.5, 1, 2, 3, math.huge } do
      assert.same({ math.huge, "nan", 0, 0 }, clipped(-math.huge, 1, 2, p))
      assert.same({ "nan", "nan", "nan", "nan" }, clipped(0 / 0, 1, 2, p))
      assert.same({ "nan", "nan", "nan", "nan" }, clipped(1, math.huge, 0 / 0, p))
    end
  end)

  it("by value bounds each element", function ()
    local a = peri.param { 0, 0, 0 }
    a.grad = peri.tensor { -5, 0.5, 3 }
    optim.clip_grad_value({ a }, 2)
    assert.same({ -2, 0.5, 2 }, a.grad:totable())
    a.grad = peri.tensor { -math.huge, 0 / 0, 1 }
    optim.clip_grad_value({ a }, 2)
    assert.same({ -2, 1 }, { a.grad[1], a.grad[3] })
    assert(a.grad[2] ~= a.grad[2])
  end)

  it("refuses what makes no sense", function ()
    local a = peri.param { 0, 0 }
    fails("clip_grad_norm: max must be positive, got 0", optim.clip_grad_norm, a, 0)
    fails("clip_grad_norm: p must be positive, got 0", optim.clip_grad_norm, a, 1, 0)
    fails("clip_grad_norm: p must be positive, got nan", optim.clip_grad_norm, a, 1, 0 / 0)
    fails("clip_grad_norm: options must be a table, got true", optim.clip_grad_norm, a, 1, 2, true)
    fails("clip_grad_norm: error_if_nonfinite must be true or false, got 1", optim.clip_grad_norm, a, 1, 2,
          { error_if_nonfinite = 1 })
    fails("clip_grad_norm(params, max, p, options) takes no more arguments, got 3", optim.clip_grad_norm, a, 1, 2, {},
          3)
    fails("clip_grad_value: max must be positive, got nil", optim.clip_grad_value, a)
    a.grad = peri.tensor { 1, 0 / 0 }
    fails("clip_grad_norm: the gradient of params must be finite, got nan at [2]", optim.clip_grad_norm, a, 1)
  end)
end)
