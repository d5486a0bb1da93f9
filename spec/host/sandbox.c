/*
** sandbox.c - a state without io, os, debug and coroutine
**
** perilune works there as it does among all libraries, and sets no global.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static const luaL_Reg libraries[] = {
  {"_G",      luaopen_base},
  {"package", luaopen_package},
  {"table",   luaopen_table},
  {"string",  luaopen_string},
  {"math",    luaopen_math},
};

static lua_State *open_sandbox (Memory *memory) {
  memset(memory, 0, sizeof *memory);
  lua_State *L = lua_newstate(host_allocate, memory);
  check(L != NULL, "a state opens");
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
    luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
    lua_pop(L, 1);
  }
  perilune_preload(L);
  return L;
}

/* Scripts see `require` alone; and `warn` may be missing too. */
static void narrow (lua_State *L) {
  const char *const hidden[] = {"package", "dofile", "loadfile", "load", "warn",
                                "print", "collectgarbage"};
  for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
    lua_pushnil(L);
    lua_setglobal(L, hidden[i]);
  }
}

int main (void) {
  Memory memory;
  char *first = NULL;
  for (int narrower = 0; narrower < 2; narrower++) {
    lua_State *L = open_sandbox(&memory);
    if (narrower) narrow(L);
    const char *result = host_run_file(L, "spec/host/sandbox.lua");
    if (!narrower) first = strdup(result);
    check(strcmp(result, first) == 0, "narrower:\n%s\nexpected\n%s", result, first);
    host_close(L, &memory);
  }
  free(first);
  printf("sandbox: works on base, table, string and math, and sets no global\n");
  return 0;
}
