/*
** state.c - what is known of one Lua state, and what the module offers it
*/
#include "host/host.h"

static const char STATE = 's';     /* registry key: the State */

void host_push_state (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &STATE) != LUA_TNIL) return;
  lua_pop(L, 1);
  State *state = lua_newuserdatauv(L, sizeof *state, 1);
  *state = (State) {.order = 0};
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &STATE);
}

State *host_state (lua_State *L) {
  host_push_state(L);
  State *state = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return state;
}


void host_list_field (lua_State *L, const char *list, const char *name) {
  luaL_getsubtable(L, -1, list);
  lua_getfield(L, -2, name);
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
}

void host_list (lua_State *L, const char *list, const luaL_Reg *functions) {
  luaL_setfuncs(L, functions, 0);
  for (const luaL_Reg *f = functions; f->name != NULL; f++) host_list_field(L, list, f->name);
}
