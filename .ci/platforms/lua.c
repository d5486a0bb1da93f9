/*
** lua.c - a Lua with perilune's module inside: runs the file that is its first argument
*/
#include <stdio.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

int luaopen_perilune_core (lua_State *L);

static void set_arguments (lua_State *L, int argc, char **argv) {
  lua_createtable(L, argc, 0);
  for (int i = 1; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - 1);
  }
  lua_setglobal(L, "arg");
}

int main (int argc, char **argv) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_perilune_core);
  lua_setfield(L, -2, "perilune.core");
  lua_pop(L, 1);
  set_arguments(L, argc, argv);
  int failed = argc < 2 || luaL_dostring(L, "package.path = 'lua/?.lua;lua/?/init.lua'")
            || luaL_dofile(L, argv[1]);
  if (failed) fprintf(stderr, "%s\n", argc < 2 ? "lua FILE [arguments]" : lua_tostring(L, -1));
  lua_close(L);
  return failed;
}
