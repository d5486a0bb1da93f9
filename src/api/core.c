/*
** core.c - the C module: one table of functions for lua/perilune
*/
#include "api/api.h"

#ifdef __FAST_MATH__
#error "perilune needs IEEE arithmetic: compile without -ffast-math"
#endif

static const char KEPT = 'k';

/* core.keep(name, value): what was first kept under that name in this state.
   Modules may be loaded again; classes and registries must stay the same. */
static int keep (lua_State *L) {
  luaL_checkstring(L, 1);
  lua_settop(L, 2);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &KEPT) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &KEPT);
  }
  lua_pushvalue(L, 1);
  if (lua_rawget(L, 3) != LUA_TNIL) return 1;
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_rawset(L, 3);
  lua_settop(L, 2);
  return 1;
}

/* core.copy_fields(to, from, names): fields of one table as they are in another, nil too */
static int copy_fields (lua_State *L) {
  for (int i = 1; i <= 3; i++) luaL_checktype(L, i, LUA_TTABLE);
  lua_settop(L, 3);
  lua_Integer n = (lua_Integer)lua_rawlen(L, 3);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, 3, i);
    if (lua_type(L, -1) != LUA_TSTRING) host_fail(L, "copy_fields", "names must be strings");
    lua_pushvalue(L, -1);
    lua_rawget(L, 2);
    lua_rawset(L, 1);
  }
  return 0;
}

/* Pushes the module, with the lists that Lua adds to; all have room for what they will hold, since
   a table that grows is filled anew. */
static void push_module (lua_State *L) {
  lua_createtable(L, 0, 128);
  lua_createtable(L, 0, 160);
  lua_setfield(L, -2, "methods");
  lua_createtable(L, 0, 64);
  lua_setfield(L, -2, "public");
}

int luaopen_perilune_core (lua_State *L) {
  luaL_checkversion(L);
  compat_add_ballast(L);
  push_module(L);
  lua_pushcfunction(L, keep);
  lua_setfield(L, -2, "keep");
  lua_pushcfunction(L, copy_fields);
  lua_setfield(L, -2, "copy_fields");
  lua_pushliteral(L, PERILUNE_VERSION);
  lua_setfield(L, -2, "version");
  lua_pushnumber(L, NAN);
  lua_setfield(L, -2, "nan");
  host_open_errors(L);
  host_open_tensors(L);
  host_open_kernels(L);
  host_check_arithmetic(L);
  host_open_threads(L);
  host_open_watch(L);
  engine_open_pending(L);
  engine_open_backward(L);
  engine_open_depends(L);
  engine_open_trace(L);
  engine_open_chains(L);
  engine_open_scan(L);
  api_open_names(L);
  api_open_counted(L);
  api_open_tensor(L);
  api_open_integers(L);
  api_open_construct(L);
  api_open_views(L);
  api_open_index(L);
  api_open_bind(L);
  api_open_gradient(L);
  api_open_join(L);
  api_open_objects(L);
  api_open_reduce(L);
  api_open_optim(L);
  api_open_random(L);
  api_open_csv(L);
  api_open_json(L);
  api_open_store(L);
  api_open_lines(L);
  api_open_words(L);
  api_open_border(L);
  return 1;
}
