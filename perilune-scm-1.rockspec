rockspec_format = "3.0"
package = "perilune"
version = "scm-1"
source = { url = "git+https://github.com/perilune/perilune.git" }
description = {
  summary = "Probabilistic modelling: distributions, KL divergences, gradients",
  detailed = [[
    Distributions, Kullback-Leibler divergences and variational inference for
    Lua, with a C core. Lua scripts subclass distributions and register KL
    pairs; inheritance drives the dispatch and loops stay in C.]],
  license = "MIT",
}
supported_platforms = { "unix" }
dependencies = { "lua >= 5.4, < 5.5" }
build = {
  type = "make",
  install_target = "install-module",
  build_variables = {
    CFLAGS = "$(CFLAGS)",
    LIBFLAG = "$(LIBFLAG)",
    LUA_INCDIR = "$(LUA_INCDIR)",
  },
  install_variables = {
    INST_LUADIR = "$(LUADIR)",
    INST_LIBDIR = "$(LIBDIR)",
    INST_BINDIR = "$(BINDIR)",
  },
}
test = { type = "command", command = "make test" }
