/*
** count.c - marks for callgrind, from Lua: count.reset() forgets what was counted,
** count.dump(name) writes it to a file that names it
*/
#include <lua.h>
#include <lauxlib.h>
#include <valgrind/callgrind.h>

int luaopen_count (lua_State *L);

static int reset (lua_State *L) {
  (void)L;
  CALLGRIND_ZERO_STATS;
  return 0;
}

static int dump (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  CALLGRIND_DUMP_STATS_AT(name);
  return 0;
}

int luaopen_count (lua_State *L) {
  const luaL_Reg functions[] = {{"reset", reset}, {"dump", dump}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
