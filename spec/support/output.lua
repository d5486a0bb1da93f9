--- An output handler for busted: one of its own, and then one more line, the
-- last of all: "N passed, M failed". Errors count as failures.
local term = require "term"

return function (options)
  local busted = require "busted"
  local style = term.isatty(io.stdout) and "utfTerminal" or "plainTerminal"
  local handler = require("busted.outputHandlers." .. style)(options)

  busted.subscribe({ "exit" }, function ()
    io.write(string.format("\n%d passed, %d failed\n", handler.successesCount,
                           handler.failuresCount + handler.errorsCount))
    io.flush()
    return nil, true
  end)
  return handler
end
