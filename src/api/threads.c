/*
** threads.c - peri.set_threads: a pool of workers for one Lua state
**
** The pool is a userdata in the registry, joined by its finalizer: when the
** state closes, or when another pool takes its place.
*/
#include "api/api.h"

static const char POOL = 'p';

#define WORTH 16384   /* elements below which nobody looks for a pool */


Pool *api_pool (lua_State *L, size_t size) {
  if (size < WORTH) return NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &POOL);
  Pool *pool = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return pool;
}

static void forget_pool (lua_State *L) {
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &POOL);
}

static int close_pool (lua_State *L) {
  Pool *pool = lua_touserdata(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &POOL);
  if (lua_touserdata(L, -1) == pool) forget_pool(L);
  pool_stop(pool);
  return 0;
}

/* Takes the pool out of use and joins its threads at once. */
static void retire_pool (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &POOL) == LUA_TUSERDATA) {
    Pool *pool = lua_touserdata(L, -1);
    lua_pushnil(L);
    lua_setmetatable(L, -2);       /* stopped here, hence not by the collector */
    forget_pool(L);
    pool_stop(pool);
  }
  lua_pop(L, 1);
}

static int set_threads (lua_State *L) {
  lua_Integer n = api_integer(L, 1, "set_threads", "n");
  if (n < 1 || n > THREADS_MAX)
    api_fail_type(L, "set_threads", "n", "an integer from 1 to 256", 1);
  retire_pool(L);
  if (n == 1) return 0;
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, close_pool);
  lua_setfield(L, -2, "__gc");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  Pool *pool = lua_newuserdatauv(L, pool_bytes((int)n), 0);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &POOL);
  pool_start(pool, (int)n);      /* from here on nothing can raise */
  lua_insert(L, -2);
  lua_setmetatable(L, -2);
  return 0;
}

static const luaL_Reg functions[] = {
  {"set_threads", set_threads},
  {NULL, NULL}
};

void api_open_threads (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
