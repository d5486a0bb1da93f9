/*
** watch.c - hooks that run while C works: Ctrl-C, a host's budget, a debugger
**
** Lua runs hooks between the instructions of functions written in Lua, so none would run during
** a long loop in C. About once a millisecond such a loop asks here, on the thread that called.
** If there is a hook, a function of TICKS instructions is called, and Lua does the rest: one
** event for the call, one for its line, and a count hook is charged TICKS instructions a
** millisecond, some hundredths of what Lua would execute in that time. So a hook with a count of n
** runs every n/TICKS milliseconds, and all of it costs a few percent of the time.
**
** The hook is that of the thread that called, or where it has none, that of the main thread:
** lua.c sets its own there when Ctrl-C is pressed.
**
** An error from the hook is kept. The loop ends on all threads, and the function that called the
** loop raises the error (host_check_stopped). Without an error the loop goes on. The hook may do
** anything that a finalizer may; what it computes runs on one thread, and is not watched itself.
*/
#include <string.h>

#include "host/host.h"
#include "driver/loop.h"

static const char FUNCTION = 't', REASON = 'r';   /* registry keys: the ticks, and the error */

#define TICKS 4096


/* Pushes the function whose instructions count: one line without a loop, since jumps back are
   events, too. */
static void push_ticks (lua_State *L) {
  luaL_Buffer code;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &FUNCTION) == LUA_TFUNCTION) return;
  lua_pop(L, 1);
  luaL_buffinit(L, &code);
  luaL_addstring(&code, "local a, b ");
  for (int i = 0; i < TICKS; i++) luaL_addstring(&code, "a = b ");
  luaL_pushresult(&code);
  if (luaL_loadbuffer(L, lua_tostring(L, -1), lua_rawlen(L, -1), "=perilune") != LUA_OK)
    lua_error(L);
  lua_remove(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &FUNCTION);
}

/* The thread whose hook is to run, or NULL. */
static lua_State *hooked_thread (lua_State *L) {
  if (lua_gethookmask(L) != 0) return L;
#ifdef LUA_RIDX_MAINTHREAD
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State *main = lua_tothread(L, -1);
  lua_pop(L, 1);
  if (lua_gethookmask(main) != 0) return main;
#endif
  return NULL;
}

/* Calls the function on top of L's stack on the thread `other`, where errors stay in between. */
static void call_on (lua_State *other, lua_State *L) {
  if (!lua_checkstack(other, 2)) return;
  lua_xmove(L, other, 1);
  if (lua_pcall(other, 0, 0, 0) == LUA_OK) return;
  lua_xmove(other, L, 1);
  lua_error(L);
}

/* Runs the hook; protected. */
static int run_hook (lua_State *L) {
  const State *state = lua_touserdata(L, 1);
  lua_State *hooked = hooked_thread(L);
  const ActivePass *pass = state->active_pass;
  push_ticks(L);
  if (hooked == L) lua_call(L, 0, 0);
  else if (hooked != NULL) call_on(hooked, L);
  if (pass != NULL) pass->check(L, state, pass->data);
  return 0;
}

/* A scheduler's hook that yields without asking lua_isyieldable: it will when Lua runs again. */
static bool is_refused_yield (lua_State *L) {
  const char *message = lua_tostring(L, -1);
  return message != NULL && strstr(message, "attempt to yield across ") != NULL;
}

/* The hook finds neither a formula nor a trace under way, which would not expect what it does. */
static int call_protected (lua_State *L, State *state) {
  int tracing = state->tracing, deferring = state->deferring, paused = state->paused;
  const ActivePass *pass = state->active_pass;
  int writing = state->writing;
  state->tracing = state->deferring = state->paused = 0;
  lua_pushcfunction(L, run_hook);
  lua_pushlightuserdata(L, state);
  int status = lua_pcall(L, 1, 0, 0);
  state->tracing = tracing;
  state->deferring = deferring;
  state->paused = paused;
  state->active_pass = pass;
  state->writing = writing;
  state->running = L;
  return status;
}

static bool ask (Watch *watch) {
  State *state = (State *)(void *)watch;
  lua_State *L = state->running;
  if (!lua_checkstack(L, 4) || hooked_thread(L) == NULL) return false;
  if (call_protected(L, state) == LUA_OK) return false;
  if (is_refused_yield(L)) return lua_pop(L, 1), false;
  lua_rawsetp(L, LUA_REGISTRYINDEX, &REASON);   /* there is such a field: it cannot fail */
  return true;
}

int host_stop (lua_State *L) {
  atomic_store(&host_state(L)->watch.stopped, false);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &REASON);
  lua_pushboolean(L, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &REASON);
  return lua_error(L);
}

void host_look (lua_State *L, State *state) {
  state->running = L;
  watch_look(&state->watch, watch_clock());
  if (watch_stopped(&state->watch)) host_stop(L);
}

/* core.clock(): seconds since some moment, on a clock that never goes back */
static int seconds (lua_State *L) {
  lua_pushnumber(L, (lua_Number)watch_clock() * 1e-9);
  return 1;
}

void host_open_watch (lua_State *L) {
  lua_pushcfunction(L, seconds);
  lua_setfield(L, -2, "clock");
  host_state(L)->watch.ask = ask;
  lua_pushboolean(L, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &REASON);
}
