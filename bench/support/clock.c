/*
** clock.c - wall-clock seconds for Lua, whose os.clock counts all threads
*/
#include <time.h>

#include <lua.h>

int luaopen_clock (lua_State *L);

static int now (lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  lua_pushnumber(L, (lua_Number)t.tv_sec + 1e-9 * (lua_Number)t.tv_nsec);
  return 1;
}

int luaopen_clock (lua_State *L) {
  lua_pushcfunction(L, now);
  return 1;
}
