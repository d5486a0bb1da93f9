--- The prompt, typed at in a terminal (spec/support/prompt.lua), and what it is made of.
local peri   = require "perilune"
local Prompt = require "spec.support.prompt"

local LEFT, RIGHT, UP, DOWN = "\27[D", "\27[C", "\27[A", "\27[B"
local HOME, END, DELETE, BACKSPACE = "\27[H", "\27[F", "\27[3~", "\127"

local function ctrl (letter) return string.char(letter:byte() & 31) end
local function alt (key) return "\27" .. key end
local function paste (text) return "\27[200~" .. text .. "\27[201~" end

describe("the prompt", function ()
  local p

  setup(function () p = Prompt.open { rows = 60 } end)
  teardown(function () assert.equal(0, p:close()) end)

  -- What is typed, and what is shown below it.
  local answers = {
    { "1 + 1", "2" },
    { "_ + 1", "3" },
    { "1, nil, 'a'", '1\tnil\t"a"' },
    { "nothing", "error: there is no nothing" },
    { "5;", "" },
    { "_", "5" },
    { "x = 7", "" },
    { "x", "7" },
    { "x = 8; x", "8" },
    { "Normal(0, 1)", "Normal(loc=0, scale=1)" },
    { "peri.Normal == Normal", "true" },
    { "0/0, -(0/0), print(0/0)", "nan\nnan\tnan" },
    { "Cauchy(0, 1):mean()", "nan" },
    { "tensor { 1, 2 }", "Tensor(2)\n  1  2" },
    { "tensor { 1, 2 }.shape", "(2)" },
    { "{ 3, 1, a = { b = 'c' } }", '{ 3, 1, a = { b = "c" } }' },
    { "'two\\nlines'", "two\nlines" },
    { "kl_divergence", "function peri.kl_divergence" },
    { "function (a, ...) end", "function (a, ...)" },
    { "-- nothing", "" },
    { "return 3", "3" },
    { "goto", "error: <name> expected near <eof>", unfinished = true },
    { "x x", "error: syntax error near 'x'" },
    { "error 'text'", "error: text" },
    { "error('text', 0)", "error: text" },
    { "error { 1 }", "error: an error that is no text: { 1 }" },
    { "error()", "error: an error that is no text: nil" },
    { "('x'):rep(3)", '"xxx"' },
    { "require 'nothing'", "error: module 'nothing' not found" },
    { "function fails () error 'deep' end", "" },
    { "fails()", "error: deep (in an earlier input)" },
    { "q = {}; q:missing()", "error: q has no missing" },
    { "q = { r = { s = {} } }; q.r.s.missing()", "error: q.r.s has no missing" },
    { "for x in coroutine.wrap(function () coroutine.yield(1) end) do print(x) end", "1" },
    { "coroutine.wrap(function () error 'within' end)()", "error: within" },
    { "Normal(0, -1)", "error: Normal: scale must be positive, got -1" },
    { "read_csv 'nothing.csv'", "error: read_csv: nothing.csv: No such file or directory" },
    { "plot(Normal)", "error: plot: class Normal is no distribution, but makes them" },
    -- misspelt
    { "Gama(1, 2)", "error: there is no Gama; did you mean Gamma?" },
    { "peri.Gama", "error: perilune has no Gama; did you mean Gamma?" },
    { "Gamma(1, 2):log_porb(3)", "error: Gamma has no log_porb; did you mean log_prob?" },
    { "Gamma(1, 2).rat + 1", "error: attempt to perform arithmetic on a nil value (field 'rat')" },
    { "ones(3):smu()", "error: Tensor has no smu; did you mean sum?" },
    { "('x'):uper()", "error: a string has no uper; did you mean upper?" },
    { "math.sqr(2)", "error: math has no sqr; did you mean sqrt?" },
    { "rng(1):nromal()", "error: rng has no nromal; did you mean normal?" },
    { "optim.Adam({ param(1) }, {}):setp()", "error: optim.Adam has no setp; did you mean step?" },
    { "model(function (m) m.x = Normal(0, 1) end) {} : nust {}",
      "error: posed model has no nust; did you mean nuts?" },
  }
  for _, case in ipairs(answers) do
    if not case.unfinished then
      it("answers " .. case[1], function () assert.equal(case[2], p:enter(case[1])) end)
    end
  end

  it("explains a name, a variable, a word", function ()
    assert.matches("concentration .*\n.*rate .*\n", p:enter "?Gamma")
    assert.equal(p:enter "?Gamma", p:enter "? peri.Gamma(2, 3)")
    assert.equal(tostring(peri.help "Tensor:reshape"):match "^[^\n]*", p:enter "?Tensor:reshape":match "^[^\n]*")
    p:enter "local some_gamma = Gamma(2, 3)"
    assert.equal(p:enter "?Gamma", p:enter "?some_gamma")
    assert.matches("peri.quantile .*\n", p:enter "?quantil")
    assert.matches("^%?name +explains", p:enter "?")
    assert.matches("^Distribution:kl.*peri.kl_divergence", p:enter "?kl")
    assert.equal("error: nothing is known about xyzzy", p:enter "?xyzzy")
  end)

  it("survives errors whose text fails, and names that cannot be listed", function ()
    assert.equal("error: no text", p:enter "error(setmetatable({}, { __tostring = function () error 'no text' end }))")
    p:enter "hostile = setmetatable({}, { __names = function () error 'no names' end })"
    p:fresh()
    p:type "hostile.\t"
    p:await "^> hostile%.$"
    assert.equal("2", p:enter "1 + 1")
  end)

  it("survives a stack overflow", function ()
    p:enter "function endless () return 1 + endless() end"
    assert.matches("^error: stack overflow", p:enter "endless()")
  end)

  it("says how long an expression takes", function ()
    assert.matches("^3\n[%d.]+ %S*s$", p:enter "time 1 + 2")
    assert.matches("^[%d.]+ %S*s$", p:enter "time for i = 1, 10 do end")
    assert.matches("^error: there is no y\n?$", p:enter "time y")
    assert.equal("6", p:enter "time = 6; time")
    assert.equal("", p:enter "time = nil")
  end)

  it("keeps locals from line to line", function ()
    p:enter "local n, step = 0, 2"
    p:enter "local function count () n = n + step return n end"
    assert.equal("2", p:enter "count()")
    assert.equal("2", p:enter "n")
    p:enter "n = 10"
    assert.equal("12", p:enter "count()")
    p:enter "local n = 'another'"
    assert.equal("14", p:enter "count()")
    assert.equal('"another"', p:enter "n")
    assert.equal("nil", p:enter "_G.n")
  end)

  it("prints as wide as the window", function ()
    p:resize(40, 60)
    for line in p:enter("linspace(0, 1, 20)"):gmatch "[^\n]+" do assert.is_true(#line <= 40) end
    p:resize(80, 60)
    local widest = 0
    for line in p:enter("linspace(0, 1, 20)"):gmatch "[^\n]+" do widest = math.max(widest, #line) end
    assert.is_true(widest > 40 and widest <= 80)
  end)

  it("answers questions as wide as the window", function ()
    local function widest (line)
      local most = 0
      for shown in p:enter(line):gmatch "[^\n]+" do most = math.max(most, utf8.len(shown)) end
      return most
    end
    p:resize(120, 60)
    local list, text = widest "?quantil", widest "?Tensor:reshape"
    assert.is_true(list > 80 and list <= 120)
    assert.is_true(text <= 80)   -- lines to be read
    p:resize(50, 60)
    for _, question in ipairs { "?quantil", "?Tensor:reshape", "?exp" } do
      assert.is_true(widest(question) <= 50, question)
    end
    p:resize(80, 60)
  end)

  it("begins on a line of its own after output without end", function ()
    assert.equal("text", p:enter "io.write 'text'")
  end)

  it("completes, and shows what there is", function ()
    local function completed (typed, expected)
      p:fresh()
      p:type(typed .. "\t")
      local shown = p:await(expected)
      p:type(ctrl "c")
      p:await "^> $"
      return shown
    end
    completed("Exponen", "^> Exponential$")
    completed("Gamma(2, 3):log_p", "^> Gamma%(2, 3%):log_prob$")
    completed("Gamma(2, 3):log_", "^> Gamma%(2, 3%):log_\nlog_cdf +log_prob +log_sf$")
    completed("special.lgam", "^> special.lgamma$")
    completed("transforms.StickB", "^> transforms.StickBreaking$")
    completed("peri.kl_diver", "^> peri.kl_divergence$")
    completed("('x'):up", "^> %('x'%):upper$")
    completed("string.forma", "^> string.format$")
    completed("io.open 'spec/prompt_sp", "^> io.open 'spec/prompt_spec.lua$")
    completed("whi", "^> while$")
    completed("?Weib", "^> %?Weibull$")
    completed("plot(Normal(0, 1)):sa", "^> plot%(Normal%(0, 1%)%):save$")
    completed("rng(1):nor", "^> rng%(1%):normal$")
    completed("zeros(3):logsume", "^> zeros%(3%):logsumexp$")
    p:enter "local distribution = Normal(0, 1)"
    completed("distributio", "^> distribution\ndistribution +distributions$")
    completed("distribution:entr", "^> distribution:entropy$")
    completed("distribution.lo", "^> distribution.lo\nloc +log_cdf +log_prob +log_sf$")
    p:enter "local vector = ones(3)"
    completed("vector:logsume", "^> vector:logsumexp$")
    completed("vector.sha", "^> vector.shape$")
    completed("peri.special.lgam", "^> peri.special.lgamma$")
    completed("nothing.known.lgam", "^> nothing.known.lgam$")
    completed("zeros(3):logsume", "^> zeros%(3%):logsumexp$")
    completed("peri.kl_divergence(1, 2):logsume", "^> peri.kl_divergence%(1, 2%):logsume$")
    p:enter "Asked = { method = print }; Asked.__index = function (_, name) return rawget(Asked, name) end"
    p:enter "asked = setmetatable({}, Asked)"
    completed("asked:met", "^> asked:method$")
    local shown, n = completed("peri.", "^> peri%.\n(.*\n)%.%.%. (%d+) names in all$"), 0
    for name in pairs(peri) do n = n + (name:find "^_" and 0 or 1) end
    assert.equal(11, select(2, shown:gsub("\n", "")))
    assert.is_true(n > 180)
    completed("peri.", "%.%.%. " .. n .. " names in all$")
  end)

  describe("edits:", function ()
    local function edits (name, typed, expected)
      it(name, function ()
        p:fresh()
        p:type(typed)
        p:shows(expected)
        p:type(ctrl "c")
        p:shows "> "
      end)
    end
    edits("typing", "abc", "> abc")
    edits("TAB at the start of a line", "\tabc", ">   abc")
    edits("arrows", "ac" .. LEFT .. "b" .. RIGHT .. "d", "> abcd")
    edits("home and end", "b" .. HOME .. "a" .. END .. "c", "> abc")
    edits("Ctrl-A, Ctrl-E, Ctrl-B, Ctrl-F", "b" .. ctrl "a" .. "a" .. ctrl "e" .. "d" .. ctrl "b" .. "c" .. ctrl "f"
          .. "e", "> abcde")
    edits("backspace and delete", "axb" .. LEFT .. BACKSPACE .. "xc" .. LEFT .. LEFT .. DELETE, "> acb")
    edits("Ctrl-D within a line", "axb" .. LEFT .. LEFT .. ctrl "d", "> ab")
    edits("Ctrl-K and Ctrl-Y", "abcd" .. LEFT .. LEFT .. ctrl "k" .. HOME .. ctrl "y", "> cdab")
    edits("Ctrl-K, thrice, is one piece", paste "ab\ncd" .. alt "<" .. ctrl("k"):rep(3) .. "x" .. ctrl "y",
          "> xab\n. cd")
    edits("down to the line below", paste "abc\nde" .. alt "<" .. RIGHT .. DOWN .. "x" .. UP .. "y", "> abyc\n. dxe")
    edits("Ctrl-U", "abcd" .. LEFT .. ctrl "u", "> d")
    edits("Ctrl-W, twice, is one piece", "a + bc:d" .. ctrl "w" .. ctrl "w" .. "x" .. ctrl "y", "> a x+ bc:d")
    edits("words", "one two_2 three" .. alt "b" .. alt "b" .. "<" .. alt "f" .. ">", "> one <two_2> three")
    edits("words killed", "one two three" .. alt "b" .. alt "b" .. alt "d" .. alt "\127", ">  three")
    edits("Ctrl-T", "ab" .. ctrl "t", "> ba")
    edits("Ctrl-_ takes back", "ab" .. ctrl "u" .. "\31", "> ab")
    edits("letters of two bytes", "äöü" .. LEFT .. LEFT .. BACKSPACE, "> öü")
    edits("wide letters", "日本" .. LEFT .. "x", "> 日x本")
    edits("marks that combine", "e\u{301}x" .. LEFT .. LEFT .. "a" .. RIGHT .. BACKSPACE, "> ax")
    edits("a paste of lines", paste "a = {\n  1,\r\n}\n" .. UP .. UP .. "b", "> ab = {\n.   1,\n. }")
    edits("controls in a paste", paste "a\27[31mb\tc", "> a[31mb  c")
    edits("keys that mean nothing", "a\27[15~\27[1;9Zb", "> ab")
    edits("a line longer than the window", ("x"):rep(90) .. LEFT, "> " .. ("x"):rep(78) .. "\n" .. ("x"):rep(12))
    edits("a line as long as the window", ("x"):rep(78), "> " .. ("x"):rep(78))
    edits("wide letters at the end of the window", ("x"):rep(77) .. "日", "> " .. ("x"):rep(77) .. "\n日")
  end)

  it("draws a long line anew in another window", function ()
    p:fresh()
    p:type(("x"):rep(70) .. LEFT)
    p:shows("> " .. ("x"):rep(70))
    p.screen = require "spec.support.screen".new(50, 60)   -- as a terminal does that wraps lines again
    p.screen:write("> " .. ("x"):rep(70) .. "\r\27[" .. 21 .. "C")
    p:resize(50, 60)
    p:shows("> " .. ("x"):rep(48) .. "\n" .. ("x"):rep(22))
    p:type "y"
    p:shows("> " .. ("x"):rep(48) .. "\n" .. ("x"):rep(21) .. "yx")
    p:type(ctrl "c")
    p:shows "> "
    p.screen = require "spec.support.screen".new(80, 60)
    p:resize(80, 60)
  end)

  it("shows a part of what is higher than the window", function ()
    local lines = {}
    for i = 1, 100 do lines[i] = "v" .. i .. " = " .. i end
    p:fresh()
    p:type(paste(table.concat(lines, "\n")))
    p:await "\n%. v100 = 100$"
    p:type(alt "<")
    p:await "^> v1 = 1\n"
    p:type "\r"
    p:await "\n%. v100 = 100\n> $"
    assert.equal("100", p:enter "v100")
  end)

  it("takes several lines where one is not a whole, and indents them", function ()
    p:fresh()
    p:type "for i = 1, 2 do\r"
    p:await "\n%.$"
    p:type "if i == 2 then\r"
    p:await "then\n%.$"
    p:type "print(i)\r"
    p:await "%(i%)\n%.$"
    p:type "end\r"
    p:await "end\n%.$"
    p:type "end\r"
    p:shows "> for i = 1, 2 do\n.   if i == 2 then\n.     print(i)\n.   end\n. end\n2\n> "
    p:type(UP .. UP .. UP .. END .. BACKSPACE .. "+ 1)" .. "\r")
    p:await "print%(i%+ 1%)\n%.   end\n%. end\n3\n> $"
    assert.equal("3", p:enter "1 +\r2")
    assert.equal("line 2: there is no y", p:enter("x = 1\27\ry"):match "line.*")
    assert.equal("a\nb", p:enter "[[a\rb]]":match "a\nb$")
  end)

  it("runs blocks of the README that are pasted", function ()
    local text = assert(io.open "README.md"):read "a"
    local n = 0
    for code in text:gmatch "```lua\n(.-)```" do
      n = n + 1
      local printed = {}
      local env = setmetatable({ print = function (...)
        for _, x in ipairs { ... } do printed[#printed + 1] = tostring(x) end
      end }, { __index = _G })
      assert(load(code, "README.md", "t", env))()
      p:fresh()
      p:type(paste(code) .. "\r")
      local last = printed[#printed]:match "[^\n]*$"
      p:await(last:gsub("%p", "%%%0") .. "\n> $")
    end
    assert.is_true(n >= 2)
    assert.equal('"posterior"', p:enter "getmetatable(post).__name")
    assert.matches("^Normal%(loc=0.", p:enter "Normal(guide[1]:item(), 1)")
  end)

  describe("Ctrl-C", function ()
    local function stops (name, line)
      it("stops " .. name, function ()
        p:fresh()
        p:type("print 'begun' " .. line .. "\r")
        p:await "\nbegun"
        p:type(ctrl "c")
        p:await "\ninterrupted\n> $"
        assert.equal("2", p:enter "1 + 1")
      end)
    end
    stops("a loop in Lua", "while true do end")
    stops("a kernel", "local m = zeros(900, 900) for i = 1, 1000000 do m:matmul(m) end")
    stops("one long kernel", "local x = ones(1):expand(1 << 40) x:sum()")
    stops("a coroutine", "coroutine.wrap(function () while true do end end)()")
    stops("a fit", "model(function (m) m.x = Normal(0, 1):expand(9) end) {} :vi { guide = 'flow', steps = 1 << 40 }")

    it("pressed twice stops what catches errors", function ()
      p:fresh()
      p:type "print 'begun' while true do pcall(function () while true do end end) end\r"
      p:await "\nbegun"
      p:insist(ctrl "c", "\ninterrupted\n> ")   -- of signals that wait only one counts
      assert.equal("2", p:enter "1 + 1")
    end)

    it("leaves a sampler the draws that it has", function ()
      p:enter "local slow = model(function (m) m.x = Normal(0, 1) m:factor('f', (ones(30000) * m.x):sum() * 0) end)"
      p:fresh()
      p:type "post = slow {} :nuts { chains = 1, warmup = 50, draws = 1000000, progress = true }; post.verdict\r"
      p:await "%d %% of %d+ iterations, sampling"
      p:type(ctrl "c")
      p:await '"\n> $'
      assert.matches("interrupted", p:enter "post.reasons")
    end)

    it("stops the text of an error that never ends", function ()
      p:fresh()
      p:type "error(setmetatable({}, { __tostring = function () print 'begun' while true do end end }))\r"
      p:await "\nbegun"
      p:insist(ctrl "c", "interrupted\n")
      assert.equal("2", p:enter "1 + 1")
    end)

    it("clears what is typed, and says how to leave", function ()
      p:fresh()
      p:type "abc"
      p:shows "> abc"
      p:type(ctrl "c")
      p:shows "> "
      p:type(ctrl "c")
      p:await "^> *\nCtrl%-D leaves$"
      p:type(ctrl "c")
      p:await "^> *\nCtrl%-D leaves$"
      assert.equal("2", p:enter "1 + 1")
    end)
  end)
end)

describe("the prompt among its user's globals", function ()
  local p
  before_each(function () p = Prompt.open { rows = 60 } end)
  after_each(function () assert.equal(0, p:close()) end)

  it("lives on without those of Lua", function ()
    p:enter "for name in pairs(_G) do if name ~= '_G' then _G[name] = nil end end _G = nil"
    assert.equal("error: there is no string", p:enter "string")
    assert.equal("Gamma(concentration=3, rate=2)", p:enter "Gamma(3, 2)")
    assert.matches("^Gamma fitted to 3 values: converged\n", p:enter "fit(Gamma, { 1, 2, 4 })")
    assert.matches("^peri.Gamma%(concentration, rate = 1%)\n", p:enter "?Gamma")
    assert.equal("error: there is no Gama; did you mean Gamma?", p:enter "Gama(3, 2)")
    p:fresh()
    p:type "Exponen\t"
    p:await "^> Exponential$"
  end)

  it("lives on without the fields of Lua's libraries", function ()
    p:enter "for _, t in pairs { string, table, math, utf8, os } do for name in pairs(t) do t[name] = nil end end"
    assert.matches("Normal has no men; did you mean mean%?$", p:enter "Normal(0, 1):men()")
    assert.matches("^Normal fitted to 3 values", p:enter "fit(Normal, { 1, 2, 4 })")
    assert.equal('"X"', p:enter "('x'):upper()")
  end)

  it("has what they add to strings", function ()
    p:enter "function string.twice (s) return s .. s end"
    assert.equal('"xx"', p:enter "('x'):twice()")
  end)

  it("finds its names behind a _G that raises for what is not there", function ()
    p:enter "setmetatable(_G, { __index = function (_, name) error(name .. ' is not declared', 2) end });"
    assert.equal("Normal(loc=0, scale=1)", p:enter "Normal(0, 1)")
    assert.equal("error: foo is not declared", p:enter "foo")
  end)
end)

describe("the prompt's history", function ()
  it("lasts from session to session", function ()
    local home = Prompt.folder()
    local p = Prompt.open { home = home }
    p:enter "first = 1"
    p:enter "for i = 1, 2 do\rend"
    p:enter "back\\slash = 'n'"
    p:enter " secret = 1"
    p:close()
    p = Prompt.open { home = home }
    p:type(UP)
    p:await "> back\\slash = 'n'$"
    p:type(UP)
    p:await "> for i = 1, 2 do\n%. end$"
    p:type(ctrl "c")
    p:type(ctrl "r" .. "first")
    p:await "> first = 1\nsearch: first$"
    p:type "\r"
    p:await "> first = 1\n> $"
    p:type("for" .. UP)
    p:await "> for i = 1, 2 do\n%. end$"
    p:type(DOWN)
    p:await "> for i = 1, 2 do\n%. end$"   -- to its second line; and on, to what was typed
    p:type(UP .. DOWN .. DOWN)
    p:await "> for$"
    p:type(ctrl "c" .. ctrl "r" .. "slash")
    p:await "> back\\slash = 'n'\nsearch: slash$"
    p:type "es"
    p:await "no such line: slashes$"
    p:type(BACKSPACE .. BACKSPACE)
    p:await "> back\\slash = 'n'\nsearch: slash$"
    p:type(ctrl "g" .. ctrl "r" .. "secret")
    p:await "no such line: secret$"
    p:type(ctrl "c")
    p:close()
  end)

  it("is where the environment says, or nowhere", function ()
    local state = Prompt.folder()
    local p = Prompt.open { settings = { XDG_STATE_HOME = state } }
    p:enter "x = 1"
    p:close()
    local text = assert(io.open(state .. "/perilune/history")):read "a"
    assert.matches("^x = 1\n", text)
    p = Prompt.open { settings = { XDG_STATE_HOME = "/dev/null" } }
    assert.equal("2", p:enter "1 + 1")
    assert.equal(0, p:close())
  end)

  it("shows what others wrote into its file", function ()
    local home = Prompt.folder()
    assert(os.execute("mkdir -p " .. home .. "/.local/state/perilune"))
    local file = assert(io.open(home .. "/.local/state/perilune/history", "w"))
    file:write "abc\xff \27[2Jdef\n"
    file:close()
    local p = Prompt.open { home = home }
    p:type(UP .. LEFT .. RIGHT)
    p:await "\n> abc%? %[2Jdef$"
    assert.equal(0, p:close())
  end)

  it("keeps the last five thousand", function ()
    local state = Prompt.folder()
    assert(os.execute("mkdir " .. state .. "/perilune"))
    local file = assert(io.open(state .. "/perilune/history", "w"))
    for i = 1, 10001 do file:write("x = ", i, "\n") end
    file:close()
    Prompt.open { settings = { XDG_STATE_HOME = state } } :close()
    local lines = {}
    for line in io.lines(state .. "/perilune/history") do lines[#lines + 1] = line end
    assert.equal(5000, #lines)
    assert.equal("x = 10001", lines[5000])
  end)
end)

describe("the command perilune", function ()
  it("is in colour on a terminal, unless told", function ()
    local p = Prompt.open { settings = { NO_COLOR = "" } }
    p:type "'a'"
    p:await "'a'$"
    assert.truthy(p.all:find("\27[32m'a'\27[0m", 1, true))
    p:close()
    p = Prompt.open()
    p:enter "'a'"
    assert.is_nil(p.all:find "\27%[%d+m")
    p:close()
  end)

  it("stops at Ctrl-Z, and goes on with what was typed", function ()
    local p = Prompt.open { under = { "sh", "-mc", '"$@"; echo "stopped: $?"; fg', "sh" } }
    p:type "1 + 1"
    p:await "> 1 %+ 1$"
    p:type(ctrl "z")
    p:await "stopped: %d+\n.*\n> 1 %+ 1$"
    p:type "1\r"
    p:await "> 1 %+ 11\n12\n> $"
    assert.equal(0, p:close())
  end)

  it("reads plain lines from a terminal without cursor", function ()
    local p = Prompt.open { settings = { TERM = "dumb" } }
    p:type "1 +\n2\n"
    p:await "3\n> $"
    assert.is_nil(p.all:find("\27", 1, true))
    p:type "if unfinished then\n"
    p:await "then\n%."
    p:type(ctrl "c")
    p:await "\n> $"
    p:type "2 + 2\n"
    p:await "4\n> $"
    p:type "exit\n"
    assert.equal(0, p:close(true))
  end)

  it("evaluates the lines of a pipe, up to the first error", function ()
    local shown, code = Prompt.pipe "local x = 1\nfor i = 1, 2 do\n  x = x + i\nend\nx\nlinspace(0, 1, 3)"
    assert.equal("4\nTensor(3)\n    0  0.5    1\n", shown)
    assert.equal(0, code)
    shown, code = Prompt.pipe "1\nfoo()\n2"
    assert.equal("1\nerror: there is no foo\n", shown)
    assert.equal(1, code)
    shown, code = Prompt.pipe "for i = 1,"
    assert.equal("error: unexpected symbol near <eof>\n", shown)
    assert.equal(1, code)
  end)

  it("gives a prompt in a pipe if told, and goes on after errors", function ()
    local shown, code = Prompt.pipe("foo()\n2", { "-i" })
    assert.matches("> error: there is no foo\n> 2\n> ", shown)
    assert.equal(0, code)
  end)

  it("evaluates code", function ()
    local shown, code = Prompt.pipe("", { "-e", "local x = 2", "-e", "Gamma(x, 1):mean()", "-e", "print 'end'" })
    assert.equal("2.0\nend\n", shown:gsub("^2\n", "2.0\n"))
    assert.equal(0, code)
    shown, code = Prompt.pipe("", { "-e", "Gama(1)", "-e", "1" })
    assert.equal("error: there is no Gama; did you mean Gamma?\n", shown)
    assert.equal(1, code)
  end)

  it("runs a file with its arguments, or standard input", function ()
    local folder = Prompt.folder()
    local path = folder .. "/script.lua"
    local file = assert(io.open(path, "w"))
    file:write "#!/usr/bin/env perilune\nprint(Normal(0, 1), arg[0] == (...), arg[1], undefined, ...)\n"
    file:write "local function f () error 'inside' end\nif arg[1] == 'raise' then\n  f()\nend\n"
    file:close()
    assert.equal("Normal(loc=0, scale=1)\tfalse\ta\tnil\ta\tb\n", (Prompt.pipe("", { path, "a", "b" })))
    local shown, code = Prompt.pipe("", { path, "raise" })
    assert.matches("\nperilune: [^\n]*script.lua:3: inside\n  called from [^\n]*script.lua:5\n$", shown)
    assert.equal(1, code)
    assert.equal("Normal(loc=0, scale=1)\n", (Prompt.pipe("print(\nNormal(0, 1))", { "-" })))
    shown, code = Prompt.pipe("", { folder .. "/none.lua" })
    assert.matches("^perilune: cannot open .*none.lua", shown)
    assert.equal(1, code)
  end)

  it("explains misspelt names in files", function ()
    local path = Prompt.folder() .. "/script.lua"
    local file = assert(io.open(path, "w"))
    file:write "local d = Normal(0, 1)\nprint(d:log_porb(1))\n"
    file:close()
    local shown = Prompt.pipe("", { path })
    assert.matches("^perilune: [^\n]*script.lua:2: Normal has no log_porb; did you mean log_prob%?\n$", shown)
  end)

  it("explains itself", function ()
    assert.matches("^usage: perilune", (Prompt.pipe("", { "-h" })))
    assert.equal(peri._VERSION .. "\n", (Prompt.pipe("", { "-v" })))
    local shown, code = Prompt.pipe("", { "-x" })
    assert.matches("^perilune: there is no option %-x\nusage", shown)
    assert.equal(2, code)
  end)
end)

describe("docs/prompt.md", function ()
  it("shows what is shown", function ()
    local text = assert(io.open "docs/prompt.md"):read "a"
    local MARK = "-- end of output --"
    local found = require "spec.support.tour".typed(text, function (inputs)
      local outputs = {}
      local shown = Prompt.pipe(table.concat(inputs, "\nprint '" .. MARK .. "'\n") .. "\nprint '" .. MARK .. "'\n",
                                { "-i" }, { HOME = Prompt.folder(), TERM = "xterm", COLUMNS = "80" })
      shown = shown:gsub("^[^\n]*\n", "")
      for output in shown:gmatch("(.-)" .. MARK:gsub("%p", "%%%0") .. "\n") do
        outputs[#outputs + 1] = output:gsub("^[>. ]*> ", ""):gsub("> $", "")
      end
      assert.equal(#inputs, #outputs)
      return outputs
    end)
    if os.getenv "UPDATE" then assert(io.open("docs/prompt.md", "w")):write(found):close() end
    assert.equal(text, found)
  end)
end)

describe("keys", function ()
  it("that came together are taken together, so that long lines take no longer than their length", function ()
    local keys = require "perilune.repl.keys".new()
    keys.bytes = "abc \195\164d\27[D"
    assert.equal("a", keys:next())
    assert.equal("bc ", keys:plain())
    assert.equal("ä", keys:next())
    assert.equal("d", keys:plain())
    assert.equal("left", (keys:next()))
    assert.equal("", keys:plain())
  end)

  -- Keys from bytes that come piece by piece; "" is a pause, and the end of the list the end of the input.
  local function keys_of (...)
    local terminal, pieces, i = require "perilune.terminal", { ... }, 0
    local read, keys, names = terminal.read, require "perilune.repl.keys".new(), {}
    function terminal.read ()
      i = i + 1
      return pieces[i]
    end
    for key, text in function () return keys:next() end do names[#names + 1] = text and key .. " " .. text or key end
    terminal.read = read
    return names
  end

  it("that come in pieces are the same", function ()
    assert.same({ "left", "a" }, keys_of("\27", "[", "D", "a"))
    assert.same({ "ctrl-right" }, keys_of("\27[1", ";5C"))
    assert.same({ "escape", "a" }, keys_of("\27", "", "a"))
    assert.same({ "alt-[", "1" }, keys_of("\27[1", ""))
    assert.same({ "escape", "left" }, keys_of "\27\27[D")
    assert.same({ "ä" }, keys_of("\195", "\164"))
    assert.same({ "?", "a" }, keys_of("\195", "", "a"))
    assert.same({ "paste a\nb", "c" }, keys_of("\27[200~a", "\r\nb\27[2", "01~c"))
  end)

  it("of a paste that never ends are those that came", function ()
    assert.same({ "paste abc" }, keys_of("\27[200~a", "bc"))
  end)
end)

describe("texts at a prompt:", function ()
  local chunk = require "perilune.repl.chunk"

  -- Runs texts one after the other; what the last one returns.
  local function run (...)
    local cells, env = {}, setmetatable({}, { __index = _G })
    local results
    for _, text in ipairs { ... } do
      local kind = assert(chunk.kind(text))
      text = kind == "expression" and "return " .. text or chunk.returning(text)
      results = table.pack(assert(chunk.compile(text, "=text", cells, env))())
    end
    return table.unpack(results, 1, results.n)
  end

  local cases = {
    { "a local", 1, "local x = 1", "x" },
    { "several", 3, "local x, y = 1, 2", "x + y" },
    { "a local without value hides one that has", nil, "local x = 1", "local x", "x" },
    { "a local function that calls itself", 120,
      "local function f (n) return n < 2 and 1 or n * f(n - 1) end", "f(5)" },
    { "a constant", 5, "local x <const> = 5", "x" },
    { "a constant that is computed", 5, "local x <const> = 2 + #'abc'", "x" },
    { "locals of blocks stay there", 1, "local x = 1", "do local x = 2 end for x = 3, 3 do end", "x" },
    { "locals of functions stay there", 1, "local x = 1", "function f () local x = 2 return x end f()", "x" },
    { "locals of one repeat", 1, "local x = 1", "repeat local x = true until x", "x" },
    { "the word in strings and comments", 1, "local x = 1",
      "y = 'local x = 2' -- local x = 2\n--[[ local x = 3 ]]", "x" },
    { "the word in a long string", 1, "local x = 1", "y = [==[\nlocal x = 2 ]] ]==]", "x" },
    { "two of the same name: closures keep the first", 1,
      "local x = 1 local function f () return x end local x = 2", "f()" },
    { "and the second is the one that stays", 2, "local x = 1 local function f () return x end local x = 2", "x" },
    { "a text that returns", 1, "local x = 1 return 2", "x" },
    { "a text that returns early", 1, "local x = 1 if x then return 2 end local y = 3", "x" },
    { "the value of a text that returns early", 2, "local x = 1 if x then return 2 end local y = 3" },
    { "a return in a function is none", 1, "local f = function () return 2 end local x = 1", "x" },
    { "a comment at the end", 1, "local x = 1 -- the end", "x" },
    { "shared by functions of different texts", 3, "local n = 0", "function up () n = n + 1 end", "up() up()",
      "n = n + 1", "n" },
    { "assigned through a field of that name", 1, "local x = 1", "t = {} t.x = 2", "x" },
    { "the last line is shown", 4, "local x = 3\nx + 1" },
    { "the last statement behind a semicolon", 4, "local x = 3; x + 1" },
    { "a last line that goes on is none", nil, "local f = print\n;(function () end)()" },
    { "a call whose bracket is on the next line", 7, "local f = function (x) return x end",
      "local y = f\n(7)", "y" },
    { "a goto", 2, "local x = 1 goto done ::done:: x = 2", "x" },
    { "a goto over a local to the end", 1, "local x = 1 if x then goto done end local y = 2 ::done:: ; -- end", "x" },
    { "and the way that it does not take", 2, "local x = 1 if not x then goto done end local y = 2 ::done::", "y" },
    { "attributes of several", 3, "local a <const>, b = 1, 2", "a + b" },
  }
  for _, case in ipairs(cases) do
    it(case[1], function () assert.equal(case[2], (run(table.unpack(case, 3)))) end)
  end

  it("a local that is to be closed is closed where its text ends", function ()
    local closed = run("closed = 0",
                       "local x <close> = setmetatable({}, { __close = function () closed = closed + 1 end })",
                       "closed")
    assert.equal(1, closed)
  end)

  it("many locals", function ()
    local texts = {}
    for i = 1, 300 do texts[i] = "local x" .. i .. " = " .. i end
    texts[#texts + 1] = "x1 + x300"
    assert.equal(301, (run(table.unpack(texts))))
    local all = {}
    for i = 1, 300 do all[i] = "x" .. i end
    texts[#texts] = table.concat(all, " + ")
    assert.error_matches(function () run(table.unpack(texts)) end,
                         "this mentions 300 locals of earlier inputs, and at most 150 are possible")
  end)

  it("lines of errors are those of the text", function ()
    local cells = {}
    chunk.set(cells, "y", 5)
    local f = assert(chunk.compile("local x = 1\nlocal y = y\n\nerror 'here'", "=text", cells, _G))
    local _, message = pcall(f)
    assert.equal("text:4: here", message)
  end)

  it("an error leaves the locals before it, and what functions made of them", function ()
    local Session = require "perilune.repl.session"
    local session = Session.new()
    local results = session:evaluate "local a = 1\nlocal function up () a = a + 1 end\nerror 'x'\nlocal b = 2"
    assert.equal("line 3: x", results[2])
    session:evaluate "up()"
    assert.equal(2, session:evaluate "a" [2])
    assert.is_false(session:evaluate "b" [1])
  end)

  for text, kind in pairs {
    ["1 +"] = "unfinished", ["f("] = "unfinished", ["for i = 1, 2 do"] = "unfinished", ["[[a"] = "unfinished",
    ["--[[ a"] = "unfinished",
    ["local x ="] = "unfinished", ["x = 1"] = "statement", ["f()"] = "expression",
    ["'a\\"] = "unfinished", ["'a\\z"] = "unfinished", ["{"] = "unfinished", ["function f ()"] = "unfinished",
    [""] = "expression",
    ["x = 1; x"] = "statement",
  } do
    it("is " .. kind .. ": " .. text, function () assert.equal(kind, (chunk.kind(text))) end)
  end

  for _, text in ipairs { "x y", "'a", "1 + * 2", "end", "f)", "for do" } do
    it("is wrong: " .. text, function ()
      local kind, message = chunk.kind(text, "=text")
      assert.is_nil(kind)
      assert.matches("^text:1: ", message)
    end)
  end
end)

describe("readable", function ()
  local readable = require "perilune.readable"
  local cycle = { 1 }
  cycle.self = cycle
  local cases = {
    { {}, "{}" },
    { { 1, 2.5, "x" }, '{ 1, 2.5, "x" }' },
    { { [true] = 1, [false] = 2 }, "{ [false] = 2, [true] = 1 }" },
    { { a = 1, ["b c"] = 2, [3] = 4, [true] = 5 }, '{ [true] = 5, [3] = 4, a = 1, ["b c"] = 2 }' },
    { cycle, "{ 1, self = {<itself>} }" },
    { { { { { { { 1 } } } } } }, "{ { { { {...} } } } }" },
    { { "a\n\0\"\\\127" }, '{ "a\\n\\000\\"\\\\\\127" }' },
    { { "\xff" }, '{ "\\255" }' },
    { { 0 / 0, -math.huge }, "{ nan, -inf }" },
    { { print }, "{ function print }" },
    { { peri.Normal(0, 1) }, "{ Normal(loc=0, scale=1) }" },
    { setmetatable({ 1 }, { __index = function () error "asked" end, __pairs = function () error "asked" end }),
      "{ 1 }" },
  }
  for _, case in ipairs(cases) do
    it(case[2], function () assert.equal(case[2], readable.text(case[1], 80)) end)
  end

  it("fills lines with lists, and gives each key its own", function ()
    local list = {}
    for i = 1, 30 do list[i] = i * 1000 end
    for line in readable.text(list, 40):gmatch "[^\n]+" do assert.is_true(#line <= 40) end
    assert.equal("{\n  a = { 1, 2, 3 },\n  b = \"text text\",\n}",
                 readable.text({ a = { 1, 2, 3 }, b = "text text" }, 30))
    assert.matches("%.%.%. 800 more", readable.text(table.move(peri.arange(1000):totable(), 1, 1000, 1, {}), 80))
  end)
end)

describe("everything lists itself:", function ()
  local function names (x)
    local set, n = {}, 0
    for name, value in pairs(x) do
      set[name], n = value, n + 1
    end
    return set, n
  end

  it("peri", function ()
    local set, n = names(peri)
    assert.is_true(n > 180)
    assert.equal(peri.Gamma, set.Gamma)
    assert.equal(peri.kl_divergence, set.kl_divergence)
  end)

  it("its modules", function ()
    assert.equal(peri.transforms.Exp, names(peri.transforms).Exp)
    assert.equal(peri.constraints.simplex, names(peri.constraints).simplex)
    assert.equal(peri.optim.Adam, names(peri.optim).Adam)
  end)

  it("classes, with what they inherit", function ()
    local set = names(peri.Normal:extend "Mine")
    assert.equal(peri.Normal.log_prob, set.log_prob)
    assert.equal(peri.Distribution.is_a, set.is_a)
    assert.is_nil(set.__index)
  end)

  it("tensors", function ()
    local t = peri.ones(2)
    local set = names(t)
    assert.equal(t.sum, set.sum)
    assert.same({ 2 }, set.shape)
  end)

  it("as text", function ()
    assert.matches("^optim: .*Adam, AdamW", tostring(peri.optim))
    for line in tostring(peri.optim):gmatch "[^\n]+" do assert.is_true(#line <= 80) end
    assert.matches("^perilune: .*Gamma,.*kl_divergence,", tostring(peri))
    assert.matches('"Gamma"', tostring(peri.distributions()))
    assert.equal(tostring(peri.help "Gamma"), tostring(peri.Gamma.help))
    assert.matches('method = "closed form"', tostring(peri.kl_explain(peri.Normal(0, 1), peri.Normal(1, 1))))
    assert.equal("(2, 3)", tostring(peri.ones(2, 3).shape))
    assert.equal("(2)", tostring(peri.Normal({ 1, 2 }, 1).batch_shape))
    assert.equal("()", tostring(peri.Normal(1, 1).batch_shape))
  end)
end)
