local peri        = require "perilune"
local constraints = peri.constraints

local inf, nan = math.huge, 0 / 0

-- What is printed by "x must be RULE, got BAD at [i, j]"; nil where all is well.
local function complaint (c, x)
  local found = { c:violation(x) }
  if found[1] == nil then return nil end
  local bad = type(found[1]) == "number" and string.format("%.14g", found[1]):gsub("^-nan", "nan") or found[1]
  local place = #found > 1 and " at [" .. table.concat(found, ", ", 2) .. "]" or ""
  return "x must be " .. c:rule() .. ", got " .. bad .. place
end

local rotation = { { 0.6, -0.8 }, { 0.8, 0.6 } }

-- name, constraint, values that satisfy it, values that do not with what is said of them
local cases = {
  { "real", constraints.real, { 0, -inf, { 1, 2 } }, { { nan, "a real number, got nan" } } },
  { "positive", constraints.positive, { 1e-300, inf }, { { 0, "positive, got 0" } } },
  { "nonnegative", constraints.nonnegative, { 0, inf }, { { { 1, -1 }, "non-negative, got -1 at [2]" } } },
  { "greater_than(2)", constraints.greater_than(2), { 2.5 }, { { 2, "greater than 2, got 2" } } },
  { "greater_than_eq(2)", constraints.greater_than_eq(2), { 2, inf }, { { 1.5, "at least 2, got 1.5" } } },
  { "less_than({1, 2})", constraints.less_than { 1, 2 }, { 0, { 0, 1 }, -inf },
    { { 1.5, "less than {1, 2}, got 1.5 at [1]" } } },
  { "interval(-1, 1)", constraints.interval(-1, 1), { -1, 1 }, { { 2, "in the interval [-1, 1], got 2" } } },
  { "half_open_interval(0, 1)", constraints.half_open_interval(0, 1), { 0 },
    { { 1, "in the interval [0, 1), got 1" } } },
  { "left_open_interval(0, 1)", constraints.left_open_interval(0, 1), { 1 },
    { { 0, "in the interval (0, 1], got 0" } } },
  { "unit_interval", constraints.unit_interval, { 0, 1 }, { { -0.1, "in the interval [0, 1], got -0.1" } } },
  { "integer_interval(2, 4)", constraints.integer_interval(2, 4), { 2, 4 },
    { { 2.5, "an integer in [2, 4], got 2.5" } } },
  { "boolean", constraints.boolean, { 0, 1 }, { { 2, "an integer in [0, 1], got 2" } } },
  { "nonnegative_integer", constraints.nonnegative_integer, { 0, 7 }, { { -1, "an integer in [0, inf], got -1" } } },
  { "positive_integer", constraints.positive_integer, { 1, 7 }, { { 0, "an integer in [1, inf], got 0" } } },
  { "real_vector", constraints.real_vector, { { 1, 2 } }, { { { 1, nan }, "a real number, got nan at [2]" } } },
  { "simplex", constraints.simplex,
    { { 0.25, 0.75 }, { { 1, 0 }, { 0.3, 0.7 } }, { 0.3333333, 0.3333333, 0.3333333 } }, {
    { { { 0.5, 0.5 }, { 0.5, 0.7 } }, "a simplex (non-negative, summing to 1), got a row that sums to 1.2 at [2]" },
    { { 1.5, -0.5 }, "a simplex (non-negative, summing to 1), got a row with -0.5" },
    { { 1, nan }, "a simplex (non-negative, summing to 1), got a row with nan" },
    { 3, "a simplex (non-negative, summing to 1), got a number" },
    { { 0.33333, 0.33333, 0.33333 }, "a simplex (non-negative, summing to 1), got a row that sums to 0.99999" } } },
  { "one_hot", constraints.one_hot, { { 0, 1, 0 } }, {
    { { 0, 1, 1 }, "one-hot (a single 1 among zeros), got a row that sums to 2" },
    { { 0, 0.5, 0.5 }, "one-hot (a single 1 among zeros), got a row with 0.5" } } },
  { "multinomial(3)", constraints.multinomial(3), { { 1, 2 }, { 0, 3 } }, {
    { { 1, 1 }, "counts that sum to 3, got a row that sums to 2" },
    { { 1.5, 1.5 }, "counts that sum to 3, got a row with 1.5" },
    { { 4, -1 }, "counts that sum to 3, got a row with -1" } } },
  { "multinomial({3, 2})", constraints.multinomial { 3, 2 }, { { { 1, 2 }, { 1, 1 } } }, {
    { { 1, 2 }, "counts that sum to {3, 2}, got a row that sums to 3 at [2]" } } },
  { "ordered_vector", constraints.ordered_vector, { { 1, 2, inf }, { 5 } }, {
    { { 1, 2, 2 }, "in increasing order, got a row with 2 before 2" },
    { { 1, nan }, "in increasing order, got a row with nan" } } },
  { "sphere", constraints.sphere, { { 0.6, 0.8 }, rotation }, {
    { { 3, 4 }, "a unit vector, got a row of length 5" }, { { nan, 1 }, "a unit vector, got a row with nan" } } },
  { "square", constraints.square, { rotation }, {
    { { { 1, 2, 3 }, { 4, 5, 6 } }, "a square matrix, got a matrix of 2 by 3" },
    { { 1, 2 }, "a square matrix, got a row of 2" } } },
  { "symmetric", constraints.symmetric, { { { 1, 2 }, { 2, -1 } } }, {
    { rotation, "a symmetric matrix, got a matrix with 0.8 and -0.8 across the diagonal" } } },
  { "lower_triangular", constraints.lower_triangular, { { { 1, 0 }, { 2, -1 } } }, {
    { rotation, "a lower-triangular matrix, got a matrix with -0.8 above the diagonal" },
    { { { nan, 0 }, { 0, 1 } }, "a lower-triangular matrix, got a matrix with nan" } } },
  { "lower_cholesky", constraints.lower_cholesky, { { { 1, 0 }, { 2, 1 } } }, {
    { { { 1, 0 }, { 2, -1 } },
      "a lower-triangular matrix with positive diagonal, got a matrix with -1 on the diagonal" },
  } },
  { "corr_cholesky", constraints.corr_cholesky, { { { 1, 0 }, { 0.6, 0.8 } } }, {
    { { { 1, 0 }, { 3, 4 } }, "a lower-triangular matrix with positive diagonal and rows of length 1, "
                              .. "got a matrix with a row of length 5" } } },
  { "corr_matrix", constraints.corr_matrix, { { { 1, 0.6 }, { 0.6, 1 } } }, {
    { { { 1, 0.6 }, { 0.6, 2 } },
      "a positive-definite matrix with ones on the diagonal, got a matrix with 2 on the diagonal" },
    { { { 1, 1 }, { 1, 1 } },
      "a positive-definite matrix with ones on the diagonal, got a symmetric matrix that is not" },
    { rotation, "a positive-definite matrix with ones on the diagonal, "
                .. "got a matrix with 0.8 and -0.8 across the diagonal" } } },
  { "positive_definite", constraints.positive_definite, { { { 2, 1 }, { 1, 2 } }, { { { 1e-200 } } } }, {
    { { { { 1 } }, { { 0 } } }, "a positive-definite matrix, got a symmetric matrix that is not at [2]" },
    { rotation, "a positive-definite matrix, got a matrix with 0.8 and -0.8 across the diagonal" } } },
  { "positive_semidefinite", constraints.positive_semidefinite,
    { { { 1, 1 }, { 1, 1 } }, { { 0, 0 }, { 0, 0 } }, { { 0, 0 }, { 0, 3 } } }, {
    { { { 1, 1 }, { 1, 0.9 } }, "a positive-semidefinite matrix, got a symmetric matrix that is not" },
    { { { 0, 1 }, { 1, 0 } }, "a positive-semidefinite matrix, got a symmetric matrix that is not" },
    { { { inf, 0 }, { 0, 1 } }, "a positive-semidefinite matrix, got a symmetric matrix that is not" } } },
  { "independent(positive, 1)", constraints.independent(constraints.positive, 1), { { 1, 2 } }, {
    { { { 1, 2 }, { 3, -4 } }, "positive, got -4 at [2, 2]" } } },
  { "cat({positive, simplex}, -1, {1, 2})",
    constraints.cat({ constraints.positive, constraints.simplex }, -1, { 1, 2 }),
    { { 5, 0.5, 0.5 } }, {
    { { { 5, 0.5, 0.5 }, { 5, 0.5, 0.6 } }, "made of parts that are positive, a simplex (non-negative, summing to 1), "
                                            .. "got a row that sums to 1.1 at [2]" } } },
  { "cat({positive, real}, 1, {1, 2})", constraints.cat({ constraints.positive, constraints.real }, 1, { 1, 2 }),
    { { 1, -1, -1 } }, { { { 1, 0, nan }, "made of parts that are positive, a real number, got nan at [3]" } } },
  { "stack({positive, real}, -1)", constraints.stack({ constraints.positive, constraints.real }, -1), { { 1, -1 } },
    { { { { 1, 1 }, { 0, 1 } }, "made of slices that are positive, a real number, got 0 at [2, 1]" } } },
}

describe("constraint", function ()
  for _, case in ipairs(cases) do
    local name, c, good, bad = table.unpack(case)
    describe(name, function ()
      it("is called so", function () assert.equal(name, tostring(c)) end)

      it("admits what satisfies it", function ()
        for _, x in ipairs(good) do
          assert.is_nil(complaint(c, x))
          assert.is_true(c:check(x))
        end
      end)

      it("says what does not, and where", function ()
        for _, pair in ipairs(bad) do
          assert.equal("x must be " .. pair[2], complaint(c, pair[1]))
          assert.is_false(c:check(pair[1]))
        end
      end)
    end)
  end

  it("answers for each event", function ()
    assert.same({ 1, 0 }, constraints.simplex:holds({ { 0.5, 0.5 }, { 0.5, 0.7 } }):totable())
    assert.same({ 1, 0 }, constraints.independent(constraints.positive, 1):holds({ { 1, 1 }, { 0, 1 } }):totable())
    assert.has_error(function () constraints.real_vector:holds(1) end,
                     "constraint: x must have at least 1 dimension, got a tensor of shape ()")
    assert.equal(1, constraints.square:holds { { 1, 2 }, { 3, 4 } })
    assert.equal(0, constraints.square:holds { { 1, 2 } })
    assert.same({ { 1, 1 }, { 0, 1 } }, constraints.positive:holds({ { 1, 1 }, { 0, 1 } }):totable())
    local parts = constraints.cat({ constraints.positive, constraints.simplex }, -1, { 1, 2 })
    assert.same({ 1, 0, 0 }, parts:holds({ { 1, 0.5, 0.5 }, { 0, 0.5, 0.5 }, { 1, 1, 1 } }):totable())
    local slices = constraints.stack { constraints.positive, constraints.real }
    assert.same({ { 1, 0 }, { 1, 1 } }, slices:holds({ { 1, 0 }, { 1, 0 } }):totable())
    assert.equal(1, constraints.positive:holds(3))
  end)

  it("knows the dimensions of its events, and whether values are discrete", function ()
    for _, case in ipairs {
      { constraints.real, 0, false }, { constraints.boolean, 0, true }, { constraints.real_vector, 1, false },
      { constraints.one_hot, 1, true }, { constraints.multinomial(3), 1, true },
      { constraints.corr_cholesky, 2, false },
      { constraints.independent(constraints.boolean, 2), 2, true },
      { constraints.independent(constraints.simplex, 1), 2, false },
      { constraints.stack({ constraints.real, constraints.boolean }, -1), 1, true },
      { constraints.stack { constraints.real, constraints.positive }, 0, false },
      { constraints.cat({ constraints.real, constraints.simplex }, -1), 1, false },
    } do
      assert.equal(case[2], case[1].event_dim)
      assert.equal(case[3], case[1].is_discrete)
    end
  end)

  it("has ends on the real line", function ()
    assert.same({ 0, inf }, { constraints.positive.low, constraints.positive.high })
    assert.same({ -inf, 3 }, { constraints.less_than(3).low, constraints.less_than(3).high })
    for _, c in ipairs { constraints.real, constraints.positive, constraints.nonnegative, constraints.greater_than(2),
                         constraints.greater_than_eq(2), constraints.less_than(2), constraints.interval(0, 2),
                         constraints.unit_interval, constraints.half_open_interval(0, 2),
                         constraints.left_open_interval(0, 2) } do
      assert.equal(tostring(c), tostring(constraints.between(c.low, c.high, c.left_open, c.right_open)))
    end
  end)

  it("equals one of its kind with equal parameters", function ()
    local i = constraints.interval
    assert.is_true(i(0, 1) == constraints.unit_interval)
    assert.is_true(i({ 0, 1 }, 2) == i({ 0, 1 }, 2))
    assert.is_false(i({ 0, 1 }, 2) == i({ 0, 0.5 }, 2))
    assert.is_false(i(0, 1) == constraints.half_open_interval(0, 1))
    assert.is_false(constraints.positive == constraints.nonnegative)
    assert.is_true(constraints.independent(constraints.real, 1) == constraints.real_vector)
    assert.is_true(constraints.independent(constraints.real_vector, 1) == constraints.independent(constraints.real, 2))
    local parts = { constraints.real, constraints.simplex }
    assert.is_true(constraints.cat(parts, -1, { 1, 2 }) == constraints.cat({ table.unpack(parts) }, -1, { 1, 2 }))
    assert.is_false(constraints.cat(parts, -1, { 1, 2 }) == constraints.cat(parts, -1, { 1, 3 }))
  end)

  it("refuses to be made of nonsense", function ()
    local slices = constraints.stack({ constraints.nonnegative, constraints.positive_definite }, -1)
    for _, case in ipairs {
      { "independent: base must be a constraint, got 3", constraints.independent, 3, 1 },
      { "independent: dims must be a non-negative integer, got -1", constraints.independent, constraints.real, -1 },
      { "cat: constraints must be a table of at least one constraint, got nil", constraints.cat },
      { "stack: constraints must be a table of at least one constraint, got an empty table", constraints.stack, {} },
      { "constraint: x must have at least 3 dimensions, got a tensor of shape (1, 2)", slices.holds, slices,
        { { 1, 2 } } },
      { "constraints.dependent depends on other parameters and cannot be checked by itself",
        constraints.dependent.check, constraints.dependent, 1 },
    } do
      local ok, message = pcall(table.unpack(case, 2))
      assert.is_false(ok)
      assert.equal(case[1], (message:gsub("^[^ ]+:%d+: ", "")))
    end
  end)

  it("does not go through a long row in Lua to say what is wrong with it", function ()
    local row = peri.linspace(1, 2, 2000)   -- too short for questions in between
    local rows = { simplex = row, one_hot = row:floor(), sphere = row, ordered_vector = peri.cat { row, row } }
    for name, x in pairs(rows) do
      local c, steps = constraints[name], 0
      assert.is_false(c:check(x))   -- loads what it takes
      debug.sethook(function () steps = steps + 1 end, "", 100)
      c:check(x)
      debug.sethook()
      assert(steps < 40, name)
    end
  end)

  it("tells large matrices that are definite from those that are not", function ()
    local rng, d = peri.rng(7), 40
    local a = rng:normal(d, d)
    local gram = a:matmul(a:transpose(1, 2))
    local thin = a:narrow(2, 1, 5)
    local deficient = thin:matmul(thin:transpose(1, 2))   -- rank 5
    assert.is_true(constraints.positive_definite:check(gram))
    assert.is_true(constraints.positive_semidefinite:check(gram))
    assert.is_true(constraints.positive_semidefinite:check(deficient))
    assert.is_false(constraints.positive_semidefinite:check(deficient - 1e-6 * peri.eye(d)))
    assert.is_false(constraints.positive_definite:check(deficient - 1e-6 * peri.eye(d)))
  end)
end)

it("lengths of parts are none below 0", function ()
  local c = peri.constraints
  assert.equal("cat: lengths must be non-negative integers, got -1 at [2]",
               require "spec.support.refusal"(c.cat, { c.real, c.positive }, 1, { 1, -1 }))
end)
