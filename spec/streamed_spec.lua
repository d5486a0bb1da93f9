--- Models whose data are rows of a file, or held in 32 bits: plates that never have all of their rows in memory.
local peri    = require "perilune"
local Batch   = require "perilune.model.batch"
local Density = require "perilune.model.density"
local Normal, Bernoulli = peri.Normal, peri.Bernoulli

local N, K = 9001, 20   -- of 21 numbers a row: a block of 6241 rows, and a rest
local X = peri.rng(1):normal(N, K)
local Y = Bernoulli { logits = X:narrow(2, 1, 2):matmul(peri.tensor { 1, -2 }) } :sample(nil, peri.rng(2))

local path

local function in_file (x, y, dtype)
  peri.write_rows(peri.cat({ x, y:reshape(-1, 1) }, 2), path, { dtype = dtype })
  local rows, places = peri.map_file(path), {}
  for j = 1, x.shape[2] do places[j] = j end
  return { x = rows:columns(places), y = rows:column(x.shape[2] + 1) }
end

local function logistic (n, size, k)
  return peri.model(function (m, d)
    m.beta = Normal(0, 3):expand(k or K)
    m:plate("rows", n, size or n, function () m.y = Bernoulli { logits = d.x:matmul(m.beta) } end)
  end)
end

local function close (a, b, tolerance)
  assert.is_true((a - b):abs():max() <= tolerance * (1 + b:abs():max()), tostring((a - b):abs():max()))
end

local function refusal (f, ...)
  local ok, why = pcall(f, ...)
  assert.is_false(ok)
  assert.matches("streamed_spec.lua:%d+: ", why)
  return (why:gsub("^.-:%d+: ", ""))
end

before_each(function () path = os.tmpname() end)
after_each(function () os.remove(path) end)

describe("all rows of a file", function ()
  it("have the density and the gradient of the same rows in memory", function ()
    local u = peri.rng(3):normal(4, K)
    for _, size in ipairs { N, 100 } do
      local posed = logistic(N, size) { x = X, y = Y }
      posed:sites()
      local values, gradients = Density.new(posed):gradients(u)
      for _, data in ipairs { in_file(X, Y), { x = peri.rows(X, { dtype = "f64" }), y = Y },
                              { x = X, y = peri.rows(Y) } } do
        local streamed = logistic(N, size)(data)
        streamed:sites()
        local density = Density.new(streamed)
        assert.is_true(density:is_streamed() and density:is_traced())
        local own_values, own_gradients = density:gradients(u)
        close(own_values, values, 1e-13)
        close(own_gradients, gradients, 1e-13)
        assert.is_true(density:values(u):equal(own_values))
      end
      assert.is_false(Density.new(posed):is_streamed())
    end
  end)

  it("are those that 32 bits hold", function ()
    local u = peri.rng(3):normal(2, K)
    local held = peri.rows(X)
    local posed, same = logistic(N) { x = held:read(), y = Y }, logistic(N)(in_file(X, Y, "f32"))
    local other = logistic(N) { x = held, y = Y }
    for _, p in ipairs { posed, same, other } do p:sites() end
    local values = Density.new(posed):values(u)
    close(Density.new(same):values(u), values, 1e-13)
    close(Density.new(other):values(u), values, 1e-13)
  end)

  it("have the log joint density of the same rows in memory", function ()
    local values = { beta = peri.rng(4):normal(K) }
    local inside, streamed = logistic(N, 100) { x = X, y = Y }, logistic(N, 100)(in_file(X, Y))
    local expected = inside:log_joint(values)
    assert.is_true(math.abs(streamed:log_joint(values) / expected - 1) < 1e-13)
  end)

  it("are fitted by vi, laplace, map and smc as those in memory are", function ()
    local n, k = 3000, 2
    local x, y = X:narrow(1, 1, n):narrow(2, 1, k):contiguous(), Y:narrow(1, 1, n):contiguous()
    local wide = peri.cat({ x, peri.zeros(n, 60) }, 2)   -- so that there are several blocks
    peri.write_rows(wide, path)
    local model = peri.model(function (m, d)
      m.beta = Normal(0, 3):expand(k)
      m:plate("rows", n, function () m.y = Bernoulli { logits = d.x:narrow(2, 1, k):matmul(m.beta) } end)
    end)
    local inside, streamed = model { x = wide, y = y }, model { x = peri.map_file(path), y = peri.rows(y) }
    for _, way in ipairs { "vi", "laplace", "map" } do
      local a, b = inside[way](inside, { seed = 1 }), streamed[way](streamed, { seed = 1 })
      assert.equal(a.verdict, b.verdict)
      close(b.mean.beta, a.mean.beta, 1e-8)
      if way ~= "map" then close(b.sd.beta, a.sd.beta, 1e-8) end
    end
    local smc = streamed:smc { seed = 1, particles = 200 }
    close(smc.mean.beta, inside:vi({ seed = 1 }).mean.beta, 0.05)
  end)
end)

describe("memory", function ()
  local n, k = 200000, 16   -- 25 MB as tensors

  local function held ()
    collectgarbage()
    collectgarbage()
    return collectgarbage "count" / 1024
  end

  -- The most that is in use when f(note) calls note(), in MB above what was before.
  local function most_held (f)
    local before, most = held(), 0
    f(function () most = math.max(most, held() - before) end)
    return most
  end

  local function written (dtype)
    local left, rng = n, peri.rng(1)
    peri.write_rows(function ()
      left = left - 10000
      return left >= 0 and rng:normal(10000, k) or nil
    end, path, { dtype = dtype })
    return peri.map_file(path)
  end

  it("has a block of a file, whatever its length", function ()
    for _, dtype in ipairs { "f32", "f64" } do
      local posed = peri.model(function (m)
        m.mu = Normal(0, 1)
        m:plate("rows", n, function () m.x = Normal(m.mu, 1) end)
      end) { x = written(dtype) }
      posed:sites()
      local most = most_held(function (note)
        local density = Density.new(posed, nil, { between = note })
        density:gradients(peri.zeros(2, 1))
        density:gradients(peri.zeros(2, 1))
      end)
      assert.is_true(most > 1 and most < 6, most)
    end
  end)

  it("has a stage of a file from which batches are taken, also where few columns are looked at", function ()
    local rows = written "f64"
    local stage, block = Batch.STAGE, Batch.BLOCK
    Batch.STAGE, Batch.BLOCK = 2 ^ 17, 2 ^ 12   -- 1 MB
    local most = most_held(function (note)
      for _ in rows:columns({ 3 }):batches(1000, peri.rng(1)) do note() end
    end)
    Batch.STAGE, Batch.BLOCK = stage, block
    assert.is_true(most > 1 and most < 2, most)
  end)

  it("has a piece of the text that is converted", function ()
    local text = os.tmpname()
    local lines = {}
    for i = 1, 1000 do lines[i] = i .. ",0.123456789012345,1e-300" end
    local f = assert(io.open(text, "wb"))
    f:write("a,b,c\n")
    for _ = 1, 300 do f:write(table.concat(lines, "\n"), "\n") end   -- 9 MB
    f:close()
    local stack = require "perilune.joining".stack
    local most = most_held(function (note)
      require "perilune.joining".stack = function (...)
        note()
        return stack(...)
      end
      local ok, rows = pcall(peri.convert_csv, text, path)
      require "perilune.joining".stack = stack
      os.remove(text)
      assert.is_true(ok)
      assert.equal(300000, rows)
    end)
    assert.is_true(most > 1 and most < 5, most)
  end)
end)

describe("batches of rows of a file", function ()
  it("are those of the same rows in memory, where they are few", function ()
    local data = in_file(X, Y)
    local a, b = Batch.new(N, 100), Batch.new(N, 100)
    a:rows("x", X)
    b:rows("x", data.x)
    for _ = 1, 200 do
      a:draw(peri.rng(7))
      b:draw(peri.rng(7))
      assert.is_true(a.index:equal(b.index))
      assert.is_true(a:rows("x"):equal(b:rows("x")))
    end
  end)

  -- With stages of some hundred rows, as if the file were large.
  local function with_stages (f)
    local stage, block = Batch.STAGE, Batch.BLOCK
    Batch.STAGE, Batch.BLOCK = 500 * (K + 1), 40 * (K + 1)
    local ok, why = pcall(f)
    Batch.STAGE, Batch.BLOCK = stage, block
    if not ok then error(why, 0) end
  end

  local function new_batch (data, size)
    local batch = Batch.new(N, size)
    batch:rows("x", data.x)
    batch:rows("y", data.y)
    batch:rows("z", X)   -- which lies in memory
    return batch
  end

  local function numbers (batch, rng, n)
    local list = {}
    for i = 1, n do
      batch:draw(rng)
      list[i] = batch.index:detach():clone()
    end
    return peri.cat(list)
  end

  it("have every row once before any twice, with what all data have there", function ()
    with_stages(function ()
      for _, dtype in ipairs { "f64", "f32" } do
        local data = in_file(X, Y, dtype)
        for _, size in ipairs { 64, 450, 700 } do
          local batch, rng = new_batch(data, size), peri.rng(5)
          local steps = math.floor(N / size)
          for _ = 1, 2 do
            local count = peri.zeros(N)
            for _ = 1, steps do
              batch:draw(rng)
              local index = batch.index:detach()
              assert.is_true(batch:rows("x"):equal(data.x[index]))
              assert.is_true(batch:rows("y"):equal(Y[index]))
              assert.is_true(batch:rows("z"):equal(X[index]))
              for _, i in ipairs(index:totable()) do
                i = math.tointeger(i)
                count[i] = count[i] + 1
              end
            end
            assert.equal(1, count:max())
            assert.equal(steps * size, count:sum())
          end
        end
      end
    end)
  end)

  it("come in an order that the seed decides, and that is mixed", function ()
    with_stages(function ()
      local data = in_file(X, Y)
      local a = numbers(new_batch(data, 100), peri.rng(1), 90)
      assert.is_true(a:equal(numbers(new_batch(data, 100), peri.rng(1), 90)))
      assert.is_false(a:equal(numbers(new_batch(data, 100), peri.rng(2), 90)))
      local first = a:narrow(1, 1, 100)
      assert.is_true(first:max() - first:min() > N / 2)
      local blocks = {}
      for _, i in ipairs(first:totable()) do blocks[math.floor((i - 1) / 40)] = true end
      local n = 0
      for _ in pairs(blocks) do n = n + 1 end
      assert.is_true(n >= 12, n)   -- of the 13 of a stage
      -- Means of a trend over the file are those of an order without one.
      local means = a:narrow(1, 1, 9000):reshape(18, 500):mean(2)
      assert.is_true((means - N / 2):abs():max() < 4 * N / math.sqrt(12 * 12.5))
    end)
  end)

  it("go on from a state, within a stage, between two and in a second epoch", function ()
    with_stages(function ()
      local data = in_file(X, Y)
      for _, steps in ipairs { 1, 4, 5, 6, 89, 90, 91, 137 } do
        local batch, rng = new_batch(data, 100), peri.rng(3)
        assert.is_nil(batch:state())
        numbers(batch, rng, steps)
        local state, rng_state = batch:state(), rng:state()
        local other, other_rng = new_batch(data, 100), peri.rng(0)
        assert.is_true(other:restore(state))
        other_rng:restore(rng_state)
        assert.is_true(other.index:equal(batch.index))
        assert.is_true(other:rows("x"):equal(batch:rows("x")))
        assert.is_true(numbers(batch, rng, 30):equal(numbers(other, other_rng, 30)))
      end
      local batch = new_batch(data, 100)
      numbers(batch, peri.rng(3), 7)
      for field, value in pairs { from = "x", stage_from = "x", used = 150 } do
        local state = batch:state()
        state[field] = value
        assert.is_false(new_batch(data, 100):restore(state), field)
      end
    end)
  end)

  it("make the same fit in every run, that of the rows in memory, and one that goes on from its state", function ()
    local x = X:narrow(2, 1, 4):contiguous()
    local data, rows = in_file(x, Y), nil
    local model = logistic(N, 300, 4)
    local a, b = model(data):vi { seed = 1 }, model(data):vi { seed = 1 }
    assert.equal("ok", a.verdict)
    assert.is_true(a.mean.beta:equal(b.mean.beta))
    local inside = model { x = x, y = Y } :vi { seed = 1 }
    close(a.mean.beta, inside.mean.beta, 1e-8)
    close(a.sd.beta, inside.sd.beta, 1e-8)
    with_stages(function ()
      rows = model(data):vi { seed = 1 }
      assert.equal("ok", rows.verdict)
      close((rows.mean.beta - inside.mean.beta) / inside.sd.beta, peri.zeros(4), 0.1)
      local whole, fit = model(data):vi { seed = 1, run = false }, model(data):vi { seed = 1, run = false }
      whole:step(100)
      fit:step(37)
      local again = model(data):vi { seed = 1, run = false }
      assert.is_true(again:restore(fit:state()))
      again:step(63)
      assert.is_true(whole:result().mean.beta:equal(again:result().mean.beta))
    end)
  end)

  it("of a file that has become shorter end the fit with an error", function ()
    local fit = logistic(N, 100)(in_file(X, Y)):vi { seed = 1, run = false }
    fit:step(10)
    local f = assert(io.open(path, "wb"))
    f:write(string.rep("\0", 1000))
    f:close()
    assert.matches("is not there any more: the file has become shorter", refusal(fit.step, fit, 200))
  end)
end)

describe("plates whose rows are streamed", function ()
  local function model (body)
    return peri.model(function (m, d) body(m, d) end) { x = peri.rows(X), y = peri.rows(Y) }
  end

  it("leave values derived within them out, and report all others", function ()
    local post = model(function (m, d)
      m.beta = Normal(0, 3):expand(K)
      m.first = m.beta[1] * 2
      m:plate("rows", d.x.shape[1], 500, function ()
        m.eta = d.x:matmul(m.beta)
        m.y = Bernoulli { logits = m.eta }
      end)
    end) :map { seed = 1 }
    assert.equal(2 * post.mean.beta[1], post.mean.first)
    assert.is_nil(post.mean.eta)
  end)

  it("take a guide of one's own, but no sites of their own", function ()
    local function body (m, d)
      m.beta = Normal(0, 3)
      m:plate("rows", d.x.shape[1], 500, function () m.y = Bernoulli { logits = d.x:select(2, 2) * m.beta } end)
    end
    local post = model(body):vi { seed = 1, steps = 600, guide = function (g)
      g.beta = Normal(g:param("loc", 0), g:param("scale", 0.1, peri.constraints.positive))
    end }
    local plain = model(body):vi { seed = 1 }
    assert.is_true(math.abs(post.mean.beta - plain.mean.beta) < 0.2 * plain.sd.beta)
    local function within (m, d)
      m.beta = Normal(0, 3)
      m:plate("rows", d.x.shape[1], 500, function (i)
        m.z = Normal(0, 1):expand(#i)
        m.y = Bernoulli { logits = m.z * m.beta }
      end)
    end
    assert.matches("z is not observed, within a plate of which only some rows count",
                   refusal(function () model(within):vi { seed = 1 } end))
    assert.matches("z stands within a plate whose rows are streamed", refusal(function ()
      model(within):vi { seed = 1, guide = function (g, d)
        g.beta = Normal(0, g:param("scale", 1, peri.constraints.positive))
        g:plate("rows", d.x.shape[1], 500, function (i) g.z = Normal(0, 1):expand(#i) end)
      end }
    end))
  end)

  it("refuse what needs all rows at once", function ()
    local posed = logistic(N, 500) { x = peri.rows(X), y = Y }
    for _, way in ipairs { "nuts", "hmc" } do
      assert.matches("need them in memory, as tensors; vi, laplace, map and smc do not",
                     refusal(function () posed[way](posed, { seed = 1, draws = 5, warmup = 5 }) end))
    end
    assert.matches("plate rows has 9001 rows, of data that are not all in memory",
                   refusal(function () posed:prior(2, peri.rng(1)) end))
    local post = posed:map { seed = 1 }
    assert.matches("needs all of them at once", refusal(function () post:log_lik() end))
    assert.matches("needs all of them at once", refusal(function () post:predict(nil, 2) end))
    assert.same({ 2, N }, post:predict({ x = X, y = Y }, 2, peri.rng(1)).y.shape)
  end)

  it("are asked for where rows stand outside of one", function ()
    assert.matches("y is observed, and its rows are not to be had all at once: declare it within a plate of 9001 rows",
                   refusal(function () model(function (m) m.mu = Normal(0, 1); m.y = Normal(m.mu, 1) end):map {} end))
    assert.matches("Rows has no matmul", refusal(function ()
      model(function (m, d) m.mu = Normal(0, 1):expand(K); m.z = d.x:matmul(m.mu) end):map {}
    end))
    assert.matches("rows must be as many in all data that are rows: %a has %d+, %a has %d+", refusal(function ()
      logistic(N, 10) { x = peri.rows(X), y = peri.rows { 1, 2 } }
    end))
    assert.matches("plate inner has rows that are streamed, and is within another", refusal(function ()
      model(function (m)
        m.mu = Normal(0, 1)
        m:plate("outer", N, 10, function ()
          m:plate("inner", N, 10, function () m.y = Normal(m.mu, 1) end)
        end)
      end) :map {}
    end))
    assert.matches("plate rows has data that are not all in memory: give it a size", refusal(function ()
      peri.model(function (m, d)
        m.mu = Normal(0, 1)
        m:plate("rows", d.x.shape[1], function () m.x = Normal(m.mu, 1) end)
        m:plate("others", 50, 5, function () m.z = Normal(m.mu, 1) end)
      end) { x = peri.rows(Y), z = peri.zeros(50) } :vi { seed = 1 }
    end))
  end)

  it("run beside others that are not", function ()
    local z = peri.rng(8):normal(50)
    local function posed (x)
      return peri.model(function (m)
        m.mu = Normal(0, 1)
        m:plate("rows", N, function () m.x = Normal(m.mu, 1) end)
        m:plate("others", 50, function () m.z = Normal(m.mu, 2) end)
      end) { x = x, z = z }
    end
    local streamed, inside = posed(peri.rows(Y)):vi { seed = 1 }, posed(Y):vi { seed = 1 }
    assert.is_true(math.abs(streamed.mean.mu - inside.mean.mu) < 1e-9)
  end)

  it("run in Lua where the body cannot be traced", function ()
    local function posed (x)
      return peri.model(function (m)
        m.mu = Normal(0, 1)
        m:plate("rows", N, function () m.x = Normal(m.mu:item() > 0 and m.mu or m.mu * 1, 1) end)
      end) { x = x }
    end
    local was
    if warn then was = warn; warn = function () end end   -- luacheck: ignore
    local a, b = posed(peri.rows(Y, { dtype = "f64" })):map { seed = 1 }, posed(Y):map { seed = 1 }
    warn = was                                            -- luacheck: ignore
    assert.is_true(math.abs(a.mean.mu - b.mean.mu) < 1e-9)
  end)
end)
