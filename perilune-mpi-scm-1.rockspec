rockspec_format = "3.0"
package = "perilune-mpi"
version = "scm-1"
source = { url = "git+https://github.com/perilune/perilune.git" }
description = {
  summary = "Probabilistic modelling on many processes: perilune's fits and chains over MPI",
  detailed = [[
    perilune.mpi: messages between processes by a real MPI (Open MPI or MPICH,
    whose mpicc is needed to build it), and fits whose data, chains or
    simulations are spread over them.]],
  license = "MIT",
}
supported_platforms = { "unix" }
dependencies = { "lua >= 5.4, < 5.5", "perilune" }
build = {
  type = "make",
  build_target = "mpi-module",
  install_target = "mpi-install",
  build_variables = {
    CFLAGS = "$(CFLAGS)",
    LIBFLAG = "$(LIBFLAG)",
    LUA_INCDIR = "$(LUA_INCDIR)",
  },
  install_variables = {
    INST_LUADIR = "$(LUADIR)",
    INST_LIBDIR = "$(LIBDIR)",
  },
}
