--- read_csv and write_csv.
local peri = require "perilune"
local core = require "perilune.core"

local function read (text, options) return peri.read_csv({ text = text }, options) end

local function refusal (text, options)
  local ok, why = pcall(read, text, options)
  assert.is_false(ok, text)
  return why
end

local function is_nan (x) return x ~= x end

describe("read_csv", function ()
  it("makes tensors of numbers and lists of text", function ()
    local d = read "name,x,y\na,1.5,2\nb,-2e-3,NA\n"
    assert.same({ "a", "b" }, d.name)
    assert.same({ 1.5, -0.002 }, d.x:totable())
    assert.is_true(is_nan(d.y[2]))
  end)

  it("reads quotes, separators and line ends within them, marks and any line end", function ()
    local d = read '\239\187\191"a ""b""",c\r\n"x, y",1\r\n"two\nlines",2'
    assert.same({ "x, y", "two\nlines" }, d['a "b"'])
    assert.same({ 1, 2 }, d.c:totable())
    assert.same({ 1, 3 }, read "a,b\r1,2\r3,4\r".a:totable())
    assert.same({ 12, 7 }, read 'a\n"12"\n 7 \n'.a:totable())
  end)

  it("finds the separator where there is one only", function ()
    assert.same({ 2 }, read "a;b\n1;2".b:totable())
    assert.same({ 2 }, read "a\tb\n1\t2".b:totable())
    assert.same({ 1.5 }, read("a;b\n1,5;2", { decimal = "," }).a:totable())
    assert.same({ 2 }, read('"a,x";b\n1;2').b:totable())
    assert.matches("a comma and a semicolon: say which one", refusal "a,b;c\n1,2")
    assert.same({ "1,2" }, read("a;b,c\n1,2;3", { separator = ";" }).a)
    assert.same({ 4 }, read("a|b\n3|4", { separator = "|" }).b:totable())
  end)

  it("has columns that are chosen, named and of a kind", function ()
    local d = read("id,x,y\n007,1,2\n008,3,4", { columns = { "id", "y" }, text = { "id" } })
    assert.same({ "007", "008" }, d.id)
    assert.is_nil(d.x)
    assert.same({ 7, 8 }, read("id\n007\n008").id:totable())
    assert.same({ 1, 3 }, read("1,2\n3,4", { header = false }).c1:totable())
    assert.same({ 2, 4 }, read("1,2\n3,4", { header = false, names = { "p", "q" } }).q:totable())
    assert.same({ 2 }, read(",b\n1,2").b:totable())
    assert.same({ 1 }, read(",b\n1,2").c1:totable())
    assert.same({ 3 }, read("# made by hand\n\na\n3", { skip = 2 }).a:totable())
  end)

  it("knows what is missing", function ()
    local d = read "a,b\n,1\nNA,2\nnull,3\nNaN,4\n5,5"
    for i = 1, 4 do assert.is_true(is_nan(d.a[i])) end
    assert.is_true(is_nan(read("a\n-99\n3", { missing = { "-99" } }).a[1]) == false)   -- a number is a number
    assert.is_true(is_nan(read("a\n?\n3", { missing = { "?" } }).a[1]))
    assert.same({ "?", "3" }, read("a\n?\n3").a)
    assert.is_true(is_nan(read("a,b\n,1\n,2").a[1]))
  end)

  it("reads numbers as strtod does", function ()
    local texts, want = {}, {}
    for i, x in ipairs { 0.1, 1 / 3, 2 ^ 53 + 2, 5e-324, 2.2250738585072011e-308, 1.7976931348623157e308, -0.0, 1e22,
                         1e23, 123456789012345678, 9007199254740993, 0.30000000000000004 } do
      texts[i], want[i] = string.format("%.17g", x), x
    end
    for _, text in ipairs { "9007199254740993", "9007199254740992.5", "9007199254740993.00000000000000000001", "1e-400",
                            "1e400", ("1"):rep(400) .. "e-390", "0." .. ("0"):rep(330) .. "1e331", "+1.5", ".5", "5.",
                            "179769313486231580793e289", "2.4703282292062327208e-324", "2.4703282292062328e-324" } do
      texts[#texts + 1], want[#want + 1] = text, tonumber(text:match "^%+?(.*)$")
    end
    local got = read("x\n" .. table.concat(texts, "\n")).x
    for i = 1, #want do assert.are.equal(string.pack("<d", want[i]), string.pack("<d", got[i]), texts[i]) end
    assert.same({ math.huge, -math.huge }, read "x\nInf\n-infinity".x:totable())
    for _, text in ipairs { "0x10", "1e", "1_000", "1 2", "--1", "1.2.3", "e5", "infinit", "nanx", "." } do
      assert.same({ text }, read("x\n" .. text).x)
    end
  end)

  it("says where something is wrong", function ()
    assert.matches("line 3 has 1 field, but there are 2 columns %(a first, b last%)", refusal "a,b\n1,2\n1\n")
    assert.matches("line 2 has more than 2 fields", refusal "a,b\n1,2,3\n")
    assert.matches("line 2 has 1 field", refusal "a,b\n\n1,2")
    assert.matches("line 4 has 1 field", refusal 'a,b\n"x\ny",2\n1')
    assert.matches("line 2: a quote is opened that is never closed", refusal 'a,b\n1,"2\n\n\n')
    assert.matches("line 2: a quote within a field", refusal 'a,b\n1,2"')
    assert.matches("line 2: text after the quote", refusal 'a,b\n1,"2"x')
    assert.matches("line 3: b must be a number, got the string \"x\"", refusal("a,b\n1,2\n3,x", { numbers = { "b" } }))
    assert.matches("line 1, the first, has numbers only; .*header = false", refusal "1,2\n3,4")
    assert.matches("columns 1 and 3 are both called a", refusal "a,b,a\n1,2,3")
    assert.matches("no column B; did you mean b", refusal("a,b\n1,2", { columns = { "B" } }))
    assert.matches("b cannot be both numbers and text", refusal("a,b\n1,2", { numbers = { "b" }, text = { "b" } }))
    assert.matches("there are no lines", refusal "")
    assert.matches("no option seperator; did you mean separator", refusal("a", { seperator = ";" }))
    assert.matches("separator must be one character", refusal("a", { separator = "::" }))
    assert.matches("3 names, but line 1 has 2 fields", refusal("a,b\n1,2", { names = { "x", "y", "z" } }))
    assert.matches("skip is 5, but there are 2 lines", refusal("a\n1", { skip = 5 }))
    assert.matches("No such file", (select(2, pcall(peri.read_csv, "no/such/file.csv"))))
    assert.matches("the name of a file, or { text = ... }, got 3", (select(2, pcall(peri.read_csv, 3))))
    assert.matches("^spec/data/csv_spec", (select(2, pcall(function () read "a,b\n1" end))))
  end)

  it("needs no io for text", function ()
    local kept = io
    _G.io = nil   -- luacheck: ignore
    local ok, why = pcall(peri.read_csv, "x.csv")
    local fine, d = pcall(read, "a\n1")
    local _, written = pcall(peri.write_csv, { a = { 1 } }, "x.csv")
    _G.io = kept   -- luacheck: ignore
    assert.is_false(ok)
    assert.matches("there is no io here .* read_csv { text = ... }", why)
    assert.is_true(fine and d.a[1] == 1)
    assert.matches("write_csv: there is no io here", written)
  end)

  it("prints itself, and is data for a model", function ()
    local d = read "y,who\n1,a\n2,b\n,c"
    assert.are.equal("data: 3 rows, 2 columns\n"
                     .. "  name  type     missing  first values\n"
                     .. "  y     numbers        1  1, 2, nan\n"
                     .. "  who   text           0  a, b, c", tostring(d))
    d = read "y,who\n1,a\n2,b"
    local posed = peri.model(function (m, data)
      assert.are.equal("a", data.who[1])
      m.mu = peri.Normal(0, 10)
      m.y = peri.Normal(m.mu, 1)
    end)(d)
    assert.near(peri.Normal(0, 10):log_prob(0.5) + peri.Normal(0.5, 1):log_prob { 1, 2 }:sum(),
                posed:log_joint { mu = 0.5 }, 1e-12)
    d.z = d.y * 2
    assert.matches("z +numbers +0 +2, 4", tostring(d))
  end)

  it("runs hooks during long texts", function ()
    local text, calls = "x\n" .. ("1\n"):rep(200000), 0
    debug.sethook(function () calls = calls + 1 error "stop" end, "", 1000000)
    local ok, why = pcall(function () for _ = 1, 1000 do read(text) end end)
    debug.sethook()
    assert.is_false(ok)
    assert.matches("stop", why)
    assert.are.equal(1, calls)
  end)
end)

describe("write_csv", function ()
  it("writes what reads back to the bit", function ()
    local rng = peri.rng(5)
    local x = peri.Normal(0, 1):sample(2000, rng) * peri.exp(peri.Uniform(-600, 600):sample(2000, rng))
    local d = read(peri.write_csv { x = x, y = x:floor() })
    assert.is_true(d.x:equal(x) and d.y:equal(x:floor()))
    local odd = { 0.1, 1 / 3, -0.0, 5e-324, 1.7976931348623157e308, math.huge, -math.huge, 100, 1e21 }
    local back = read(peri.write_csv { x = odd }).x
    for i = 1, #odd do assert.are.equal(string.pack("<d", odd[i]), string.pack("<d", back[i])) end
    assert.are.equal("0.1", core.write_number(0.1))
    assert.are.equal("0.30000000000000004", core.write_number(0.1 + 0.2))
  end)

  it("quotes what needs it, and keeps the order of columns", function ()
    local text = 'b,a\n"x, ""y""",1\n"two\nlines",\n'
    assert.are.equal(text, peri.write_csv(read(text)))
    assert.are.equal("a\tb\n1,5\t2\n", peri.write_csv({ a = { 1.5 }, b = { 2 } }, nil,
                                                           { separator = "\t", decimal = "," }))
    assert.are.equal("b\n2\n", peri.write_csv({ a = { 1.5 }, b = { 2 } }, nil, { columns = { "b" } }))
    assert.are.equal("a,b\n.,2\n", peri.write_csv({ a = { 0 / 0 }, b = { 2 } }, nil, { missing = "." }))
  end)

  it("loses no line of a single column", function ()
    assert.are.equal(3, #read(peri.write_csv { x = { 1, 0 / 0, 0 / 0 } }).x)
    assert.same({ "a", "" }, read(peri.write_csv { x = { "a", "" } }).x)
  end)

  it("writes files", function ()
    local path = os.tmpname()
    assert.is_nil(peri.write_csv({ x = peri.arange(10001) }, path))
    assert.is_true(peri.read_csv(path).x:equal(peri.arange(10001)))
    os.remove(path)
    assert.matches("write_csv: .*No such file", (select(2, pcall(peri.write_csv, { x = { 1 } }, "no/such/file.csv"))))
  end)

  it("refuses what is no table of columns", function ()
    assert.matches("a has 1 values, b has 2", (select(2, pcall(peri.write_csv, { a = { 1 }, b = { 1, 2 } }))))
    assert.matches("takes a table of columns", (select(2, pcall(peri.write_csv, { 1, 2 }))))
    assert.matches("numbers or strings only", (select(2, pcall(peri.write_csv, { a = { "x", {} } }))))
    assert.matches("a list of numbers or strings", (select(2, pcall(peri.write_csv, { a = { { 1 } } }))))
  end)
end)

it("columns that are not read have no kind", function ()
  assert.matches("read_csv: b is among text, but not among columns",
                 (select(2, pcall(read, "a,b\n1,2\n", { columns = { "a" }, text = { "b" } }))))
end)
