/*
** state.c - what is known of one Lua state
*/
#include "host/host.h"

static const char STATE = 's';     /* registry key: what this state has in hand */

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
