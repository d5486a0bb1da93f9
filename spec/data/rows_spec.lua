--- map_file, rows, write_rows and convert_csv: numbers that stay in a file, or in memory in 32 bits.
local peri = require "perilune"
local core = require "perilune.core"
local csv_cut = core.csv_cut

local paths = {}

local function path ()
  local name = os.tmpname()
  paths[#paths + 1] = name
  return name
end

-- A file with this content.
local function file (text)
  local name = path()
  local f = assert(io.open(name, "wb"))
  f:write(text)
  f:close()
  return name
end

local function content (name)
  local f = assert(io.open(name, "rb"))
  local text = f:read("a")
  f:close()
  return text
end

local function refusal (f, ...)
  local ok, why = pcall(f, ...)
  assert.is_false(ok)
  assert.matches("rows_spec.lua:%d+: ", why)
  return (why:gsub("^.-:%d+: ", ""))
end

local function is_nan (x) return x ~= x end

local function matrix (n, k) return peri.rng(1):normal(n, k) end

after_each(function ()
  for _, name in ipairs(paths) do os.remove(name) end
  paths = {}
end)

describe("map_file", function ()
  it("reads numbers as they are in the file, without a head", function ()
    local name = file(string.pack("<d<d<d<d<d<d", 1, 2, 3, -0.5, 1 / 0, 1e-310))
    local rows = peri.map_file(name, { shape = { 3, 2 } })
    assert.same({ { 1, 2 }, { 3, -0.5 }, { 1 / 0, 1e-310 } }, rows:read():totable())
    assert.same({ 3, 2 }, rows.shape)
    assert.equal(3, #rows)
    assert.same({ { 1, 2 }, { 3, -0.5 } }, peri.map_file(name, { shape = { -1, 2 } }):read(1, 2):totable())
    assert.same({ 3, -0.5, 1 / 0, 1e-310 }, peri.map_file(name, { shape = { -1 }, offset = 16 }):read():totable())
    assert.same({ 3, 1, 2 }, peri.map_file(name, { shape = { 3, 1, 2 } }):read().shape)
    assert.same({ 1.5, 0.25 }, peri.map_file(file(string.pack("<f<f", 1.5, 0.25)),
                                             { shape = { -1 }, dtype = "f32" }):read():totable())
  end)

  it("takes rows, ranges and lists of rows", function ()
    local x, name = matrix(1000, 7), path()
    peri.write_rows(x, name)
    local rows = peri.map_file(name)
    local index = { 1000, 1, 500, 500 }
    assert.is_true(rows[index]:equal(x[index]))
    assert.is_true(rows[peri.tensor(index)]:equal(x[index]))
    assert.is_true(rows[17]:equal(x[17]))
    assert.is_true(rows[-1]:equal(x[1000]))
    assert.is_nil(rows[1001])
    assert.is_true(rows:read(990):equal(x:narrow(1, 990, 11)))
    assert.equal(0, #rows:read(5, 4))
    local sum, firsts = peri.zeros(7), {}
    for first, block in rows:blocks(300) do firsts[#firsts + 1], sum = first, sum + block:sum(1) end
    assert.same({ 1, 301, 601, 901 }, firsts)
    assert.is_true((sum - x:sum(1)):abs():max() < 1e-11)
  end)

  it("shows some columns, by name or number", function ()
    local name = path()
    peri.write_rows(peri.tensor { { 1, 2, 3 }, { 4, 5, 6 } }, name, { names = { "a", "b", "c" } })
    local rows = peri.map_file(name)
    assert.same({ { 3, 1 }, { 6, 4 } }, rows:columns({ "c", 1 }):read():totable())
    assert.same({ "c", "a" }, rows:columns({ "c", 1 }).names)
    assert.same({ 2, 5 }, rows:column("b"):read():totable())
    assert.same({ 1, 4 }, rows:columns({ 3, 1 }):column(2):read():totable())
    assert.same({ 4 }, rows:columns({ "a" })[2]:totable())
    assert.equal(5, rows:column("b")[2])
    assert.same({ 5, 2 }, rows:column("b")[{ 2, 1 }]:totable())
    assert.matches("there is no column d", refusal(rows.column, rows, "d"))
    assert.matches("a name, or an integer from 1 to 3, got 4", refusal(rows.column, rows, 4))
    assert.matches("must be two dimensions", refusal(function () rows:column("b"):columns { 1 } end))
    assert.matches("takes a list of columns, got 1", refusal(rows.columns, rows, 1))
    assert.matches("an integer, or a list of them, got a tensor of shape %(1, 1%)",
                   refusal(function () return rows[{ { 1 } }] end))
    assert.matches("size must be an integer from 1 to 2, got 5", refusal(rows.batches, rows, 5, peri.rng(1)))
    assert.matches("rng must be a generator %(peri.rng%), got 3", refusal(rows.batches, rows, 2, 3))
    assert.matches("a row must have a number at least, got shape %(3, 0%)",
                   refusal(peri.write_rows, peri.zeros(3, 0), path()))
  end)

  it("reads wide rows in pieces, of both widths", function ()
    for _, dtype in ipairs { "f64", "f32" } do
      local x, name = peri.arange(1, 3 * 30000 + 1):reshape(3, 30000), path()   -- more than the scratch memory
      peri.write_rows(x, name, { dtype = dtype })
      local rows = peri.map_file(name)
      assert.equal(dtype, rows.dtype)
      assert.is_true(rows:read():equal(x))
      assert.is_true(rows:columns({ 30000, 1 }):read():equal(peri.stack({ x:select(2, 30000), x:select(2, 1) }, 2)))
      local many = peri.arange(1, 200001):reshape(100000, 2)
      peri.write_rows(many, name, { dtype = dtype })
      assert.is_true(peri.map_file(name):read():equal(many))
      assert.is_true(peri.map_file(name):column(2):read():equal(many:select(2, 2)))
    end
  end)

  it("refuses files that are not as they are said to be", function ()
    local name = file(string.rep("\0", 40))
    assert.equal("map_file: " .. name .. " has 40 bytes, which are no whole number of rows of 16 (2 numbers of f64)",
                 refusal(peri.map_file, name, { shape = { -1, 2 } }))
    assert.matches("has 40 bytes, but shape %(2, 5%) of f64 takes 80",
                   refusal(peri.map_file, name, { shape = { 2, 5 } }))
    assert.matches("has 38 bytes after the offset", refusal(peri.map_file, name, { shape = { -1 }, offset = 2 }))
    assert.matches("has 40 bytes, and offset is 41", refusal(peri.map_file, name, { shape = { -1 }, offset = 41 }))
    assert.matches("give shape = ", refusal(peri.map_file, name))
    assert.matches("offset must be a number of bytes, got %-1",
                   refusal(peri.map_file, name, { shape = { -1 }, offset = -1 }))
    assert.matches('dtype must be "f32" or "f64", got the string "float"',
                   refusal(peri.map_file, name, { shape = { -1 }, dtype = "float" }))
    for _, shape in ipairs { 5, {}, { 0.5 }, { 2, 0 }, { 2, -1 }, { "a" } } do
      assert.matches("shape must be a list", refusal(peri.map_file, name, { shape = shape }))
    end
    assert.matches("No such file", refusal(peri.map_file, name .. ".not", { shape = { -1 } }))
    assert.matches("is no regular file", refusal(peri.map_file, ".", { shape = { -1 } }))
    assert.matches("path must be the name of a file, got nil", refusal(peri.map_file))
    assert.matches("there is no option shap", refusal(peri.map_file, name, { shap = { 1 } }))
  end)

  it("refuses heads that nobody has finished, and options beside a head", function ()
    local name = path()
    peri.write_rows({ { 1, 2 } }, name, { names = { "a", "b" } })
    local text = content(name)
    assert.matches("says itself what it has; leave shape out", refusal(peri.map_file, name, { shape = { 1, 2 } }))
    local function with (from, to) return file((text:gsub(from, to))) end
    assert.matches("has finished", refusal(peri.map_file, with("\nrows %d+", "\nrows " .. string.rep("-", 20))))
    assert.matches("has finished", refusal(peri.map_file, with("f64", "f16")))
    assert.matches("its head has 1 names", refusal(peri.map_file, with("name b\n", "")))
    assert.matches("its head has no end", refusal(peri.map_file, with("\nend\n.*", "")))
    assert.matches("bytes after the offset, but shape", refusal(peri.map_file, with("(\nrows 0+)1", "%12")))
    assert.matches("has finished", refusal(peri.map_file, with("\nrows 0", "\nrows 9")))
    assert.matches("its head has 2 names", refusal(peri.map_file, with("columns 2", "columns 99999999999999999999")))
    assert.matches("but shape %(1, 2%)", refusal(peri.map_file, file(text:sub(1, -2))))
  end)

  it("raises where the file has become shorter, and goes on where it is whole again", function ()
    local x, name = matrix(100000, 3), path()
    for _, dtype in ipairs { "f64", "f32" } do
      peri.write_rows(x, name, { dtype = dtype })
      local rows, text = peri.map_file(name), content(name)
      local whole = rows:read()
      assert(io.open(name, "wb")):write(text:sub(1, 50000)):close()
      assert.matches("row %d+ is not there any more: the file has become shorter, 50000 bytes where it had %d+",
                     refusal(rows.read, rows))
      assert.matches("not there any more", refusal(function () return rows[{ 1, 99999 }] end))
      assert.matches("not there any more", refusal(function () return rows:column(2):read() end))
      assert.is_true(rows[1]:equal(whole[1]))
      assert(io.open(name, "wb")):write(text):close()
      assert.is_true(rows:read():equal(whole))
      os.remove(name)                          -- whoever has it open still does
      assert.is_true(rows:read():equal(whole))
    end
  end)

  it("can be interrupted while it reads", function ()
    local name = path()
    peri.write_rows(peri.zeros(1000000, 2), name, { dtype = "f32" })
    local rows = peri.map_file(name)
    local function stop () error("stop", 0) end
    for _, columns in ipairs { rows, rows:column(2) } do
      local ok, why = pcall(function ()
        debug.sethook(stop, "", 1000000)
        for _ = 1, 2000 do columns:read() end
      end)
      debug.sethook()
      assert.is_false(ok)
      assert.matches("stop$", why)
      assert.equal(0, rows[1000000]:sum())
    end
  end)

  it("says what is wrong with an index, a range or a name", function ()
    local rows = peri.rows { { 1, 2 }, { 3, 4 } }
    assert.equal("Rows[i]: an index must be an integer from 1 to 2, got 0", refusal(function () return rows[0] end))
    assert.matches("from 1 to 2, got 1.5", refusal(function () return rows[{ 1.5 }] end))
    assert.matches("from 1 to 2, got 3", refusal(function () return rows[{ 1, 3 }] end))
    assert.matches("from 1 to 2, got %-?nan", refusal(function () return rows[{ 0 / 0 }] end))
    assert.matches("rows from 1 to 2, got 1 and 3", refusal(rows.read, rows, 1, 3))
    assert.matches("Rows has no red, did you mean read%?", refusal(function () return rows.red end))
    assert.matches("Rows cannot be changed; x was set", refusal(function () rows.x = 1 end))
    assert.matches("size must be a positive integer, got 0", refusal(rows.blocks, rows, 0))
  end)

  it("cannot be crashed by what the core is given", function ()
    local rows = peri.rows { { 1, 2 }, { 3, 4 } }
    local x = peri.zeros(1, 2)
    for _, call in ipairs {
      { "store_read", x, 1, x }, { "store_read", rows.store, 3, x }, { "store_read", rows.store, 1, peri.zeros(3) },
      { "store_read", rows.store, 0, x }, { "store_read", rows.store, 1, peri.zeros(2, 4):transpose(1, 2) },
      { "store_read", io.stdout, 1, x }, { "store_gather", rows.store, peri.tensor { 3 }, x },
      { "store_gather", rows.store, peri.tensor { 1, 2 }, x }, { "store_view", rows.store, { 3 } },
      { "store_view", rows.store, {} }, { "store_load", rows.store, 1, rows.store, 1, 3 },
      { "store_load", rows.store, 1, peri.rows({ 1 }).store, 1, 1 }, { "store_hold", "f32", 2 ^ 62, 8 },
      { "store_hold", "f64", 4, 0 }, { "store_write", rows.store, 2, peri.zeros(2, 2) },
      { "store_file", x, "x", 0, "f64", 1, 1 }, { "file_size", x },
    } do
      assert.is_false((pcall(core[call[1]], table.unpack(call, 2))), call[1])
    end
    local f = assert(io.open(file "12345678"))
    local store = core.store_file(f, "x", 0, "f64", 1, 1)
    f:close()
    assert.matches("the file was closed", select(2, pcall(core.store_read, store, 1, peri.zeros(1))))
  end)
end)

describe("rows", function ()
  it("are held in 32 bits and read in 64", function ()
    local x = matrix(50, 3)
    local rows = peri.rows(x)
    assert.equal("f32", rows.dtype)
    local rounded = x:totable()
    for _, row in ipairs(rounded) do
      for j = 1, 3 do row[j] = string.unpack("f", string.pack("f", row[j])) end
    end
    assert.same(rounded, rows:read():totable())
    assert.is_true(peri.rows(x, { dtype = "f64" }):read():equal(x))
    assert.is_true(peri.rows(peri.rows(x, { dtype = "f64" })):read():equal(rows:read()))
    assert.is_true(rows:columns({ 2 })[{ 5, 1 }]:equal(rows:read()[{ 5, 1 }]:narrow(2, 2, 1)))
    assert.is_true(is_nan(peri.rows({ 0 / 0, 1 / 0 })[1]))
    assert.equal(1 / 0, peri.rows({ 0 / 0, 1 / 0 })[2])
    assert.matches("1e%+39 is too large for 32 bits", refusal(peri.rows, { 1e39 }))
    assert.matches("x must have rows, got 3", refusal(peri.rows, 3))
    assert.equal("Rows(50, 3) of f32 in memory", tostring(rows))
  end)

  it("take half of the memory", function ()
    collectgarbage() collectgarbage()
    local before = collectgarbage "count"
    local rows = peri.rows(peri.zeros(100000, 4))
    collectgarbage() collectgarbage()
    local kept = (collectgarbage "count" - before) / 1024
    assert.is_true(kept > 1.5 and kept < 1.7, kept)   -- 1.53 MiB
    assert.equal(100000, rows.shape[1])
  end)
end)

describe("write_rows", function ()
  it("writes what map_file reads, names and all", function ()
    local name = path()
    assert.equal(2, peri.write_rows(peri.read_csv { text = "b,a\n1,2\n3,4" }, name))
    assert.same({ "b", "a" }, peri.map_file(name).names)
    assert.same({ { 1, 2 }, { 3, 4 } }, peri.map_file(name):read():totable())
    peri.write_rows({ { 1, 2 } }, name, { names = { "two\nlines", "a \\010 b" } })
    assert.same({ "two\nlines", "a \\010 b" }, peri.map_file(name).names)
    assert.equal(0, peri.write_rows(peri.zeros(0, 3), name))
    assert.same({ 0, 3 }, peri.map_file(name).shape)
    peri.write_rows({ 1, 2, 3 }, name, { dtype = "f32" })
    assert.same({ 3 }, peri.map_file(name).shape)
    peri.write_rows(peri.arange(1, 25):reshape(2, 3, 4), name)
    assert.same({ 2, 3, 4 }, peri.map_file(name):read().shape)
    peri.write_rows({ { 1, 2 } }, name, { head = false })
    assert.equal(string.pack("dd", 1, 2), content(name))
  end)

  it("takes rows, and a function that gives some at a time", function ()
    local name, other, n = path(), path(), 0
    local x = matrix(30, 2)
    assert.equal(30, peri.write_rows(function ()
      n = n + 1
      return n <= 3 and x:narrow(1, 10 * n - 9, 10) or nil
    end, name, { names = { "a", "b" } }))
    assert.is_true(peri.map_file(name):read():equal(x))
    peri.write_rows(peri.map_file(name):columns { "b" }, other, { dtype = "f32" })
    assert.same({ "b" }, peri.map_file(other).names)
    assert.is_true(peri.map_file(other):read():equal(peri.rows(x):read():narrow(2, 2, 1)))
    local widths = { 2, 3 }
    assert.matches("rows must have one shape: %(1, 3%) comes after %(1, 2%)", refusal(peri.write_rows, function ()
      local k = table.remove(widths, 1)
      return k and peri.zeros(1, k)
    end, name))
    assert.matches("has finished", refusal(peri.map_file, name))
    assert.matches("there are no rows to write", refusal(peri.write_rows, function () end, name))
  end)

  it("refuses what is no table of numbers", function ()
    local name = path()
    assert.matches("b is text", refusal(peri.write_rows, { a = { 1 }, b = { "x" } }, name))
    assert.matches("the same length: a has shape %(1%), b has %(2%)",
                   refusal(peri.write_rows, { a = { 1 }, b = { 1, 2 } }, name))
    assert.matches("there are 3 names", refusal(peri.write_rows, { { 1, 2 } }, name, { names = { "a", "b", "c" } }))
    assert.matches("names must be a list of strings", refusal(peri.write_rows, { { 1 } }, name, { names = { 1 } }))
    assert.matches("path must be the name of a file, got nil", refusal(peri.write_rows, { 1 }))
    assert.matches("head must be true or false", refusal(peri.write_rows, { 1 }, name, { head = 1 }))
  end)
end)

describe("convert_csv", function ()
  it("gives the numbers that read_csv gives, of a text that comes in pieces", function ()
    local x, text, name = matrix(60000, 4), path(), path()   -- four megabytes: several pieces
    local columns = { d = {} }
    for j, key in ipairs { "a", "b", "c", "d" } do columns[key] = x:select(2, j):contiguous() end
    peri.write_csv(columns, text, { columns = { "c", "a", "d", "b" } })
    assert.equal(60000, peri.convert_csv(text, name))
    local rows = peri.map_file(name)
    assert.same({ "c", "a", "d", "b" }, rows.names)
    for key, column in pairs(columns) do assert.is_true(rows:column(key):read():equal(column)) end
    peri.convert_csv(text, name, { columns = { "d", "a" }, dtype = "f32" })
    assert.same({ "a", "d" }, peri.map_file(name).names)
    assert.is_true(peri.map_file(name):column("d"):read():equal(peri.rows(columns.d):read()))
  end)

  it("keeps the rules of read_csv: quotes, decimals, missing values, lines to skip", function ()
    local name = path()
    peri.convert_csv(file '\239\187\191# by hand\r\n"x; y";z\r\n1,5;NA\r\n"2";3\r\n\r\n', name,
                     { decimal = ",", skip = 1 })
    local rows = peri.map_file(name)
    assert.same({ "x; y", "z" }, rows.names)
    assert.same({ 1.5, 2 }, rows:column(1):read():totable())
    assert.is_true(is_nan(rows[1][2]))
    peri.convert_csv(file "1,2\n3,4", name, { header = false, names = { "p", "q" } })
    assert.same({ { 1, 2 }, { 3, 4 } }, peri.map_file(name):read():totable())
    assert.same({ "p", "q" }, peri.map_file(name).names)
  end)

  it("names the line of what is no number, also in a later piece", function ()
    local name = path()
    local lines = { "a,b" }
    for i = 1, 200000 do lines[i + 1] = i .. ",0.25" end
    lines[190001] = "x,1"
    assert.matches("convert_csv: line 190001: a must be a number, got the string \"x\"",
                   refusal(peri.convert_csv, file(table.concat(lines, "\n")), name))
    assert.matches("has finished", refusal(peri.map_file, name))
    lines[190001] = ""
    assert.matches("line 190001 has 1 field", refusal(peri.convert_csv, file(table.concat(lines, "\n")), name))
    assert.matches("there is no column c", refusal(peri.convert_csv, file "a,b\n1,2", name, { columns = { "c" } }))
    assert.matches("there are no lines", refusal(peri.convert_csv, file "", name))
    assert.matches("No such file", refusal(peri.convert_csv, name .. ".not", name))
    assert.matches("from and to are both", refusal(peri.convert_csv, name, name))
  end)

  it("cuts text where a line ends, outside of quotes and before empty lines", function ()
    for text, cut in pairs {
      ["1,2\n3,4"] = 4, ["1\n2\n"] = 4, ["1\r\n2\r\n"] = 6, ["1\r2\r"] = 2, ["abc"] = 0, [""] = 0, ["\n\n"] = 0,
      ["1\n\n\n"] = 2, ['1\n"a\nb'] = 2, ['"a\nb"\n2'] = 6, ['"a""\n"\n2'] = 7,
    } do
      assert.equal(cut, csv_cut(text), text)
    end
  end)
end)
