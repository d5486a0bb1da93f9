/*
** core.c - the C module: one table of functions for lua/perilune
*/
#include "api/api.h"

#ifdef __FAST_MATH__
#error "perilune needs IEEE arithmetic: compile without -ffast-math"
#endif

int luaopen_perilune_core (lua_State *L);

__attribute__((visibility("default")))
int luaopen_perilune_core (lua_State *L) {
  luaL_checkversion(L);
  lua_newtable(L);
  api_open_tensor(L);
  api_open_construct(L);
  api_open_views(L);
  api_open_index(L);
  api_open_kernels(L);
  api_open_apply(L);
  api_open_objects(L);
  api_open_reduce(L);
  api_open_rows(L);
  api_open_random(L);
  api_open_threads(L);
  return 1;
}
