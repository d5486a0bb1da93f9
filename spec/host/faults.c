/*
** faults.c - every entry point, interrupted at every place
**
** Each snippet of snippets.lua runs while the k-th request for memory is
** refused, for k = 1, 2, ... until there is no k-th one:
**   once      Lua collects garbage and asks again: all must go on as if
**             nothing had happened (an emergency collection at every place);
**   twice     one request fails for good, the next succeed;
**   forever   that request and all that follow fail;
** and then while a count hook raises an error at the k-th instruction. A
** failure must be an ordinary error that says why; the same call afterwards
** must give what it gives in a state that never saw a failure; and a closed
** state has returned all its bytes and left no thread.
*/
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "host.h"

#define SNIPPETS "spec/host/snippets.lua"

typedef enum Fault { ONCE, TWICE, FOREVER, HOOK, FAULTS } Fault;

static const char *const fault_names[] = {"once", "twice", "forever", "hook"};

/* What runs: a state, its snippets at stack index 1, the current one. */
typedef struct Run {
  Memory memory;
  lua_State *L;
  int snippet;
  int fresh;
  char name[64];
  char expected[8192];
} Run;


static void interrupt (lua_State *L, lua_Debug *event) {
  (void)event;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted");
}

static void arm (Run *run, Fault fault, int k) {
  run->memory.requests = run->memory.refused = 0;
  if (fault == HOOK) {
    lua_sethook(run->L, interrupt, LUA_MASKCOUNT, k);
    return;
  }
  run->memory.fail_first = k;
  run->memory.fail_last = fault == ONCE ? k : fault == TWICE ? k + 1 : LONG_MAX;
}

/* Has there been a fault since arm? */
static int disarm (Run *run, Fault fault) {
  int pending = lua_gethook(run->L) != NULL;
  lua_sethook(run->L, NULL, 0, 0);
  run->memory.fail_first = run->memory.fail_last = 0;
  return fault == HOOK ? !pending : run->memory.refused > 0;
}


/* Pushes a field of the snippet: its name, function or clean-up. */
static int push_field (Run *run, int i, const char *name) {
  lua_rawgeti(run->L, 1, run->snippet);
  int type = name != NULL ? lua_getfield(run->L, -1, name)
                          : lua_rawgeti(run->L, -1, i);
  lua_remove(run->L, -2);
  return type;
}

/* Calls a function of the snippet that need not be there. */
static void call_if_any (Run *run, const char *name) {
  if (push_field(run, 0, name) == LUA_TFUNCTION) lua_call(run->L, 0, 0);
  lua_settop(run->L, 1);
}

static void open_state (Run *run) {
  run->L = host_open(&run->memory);
  int status = luaL_dofile(run->L, SNIPPETS);
  check(status == LUA_OK, "%s", lua_tostring(run->L, -1));
  lua_settop(run->L, 1);
}

static void close_state (Run *run) {
  host_close(run->L, &run->memory);
  check_threads(1, run->name);
}

static const char *message (Run *run) {
  const char *text = lua_tostring(run->L, -1);
  return text != NULL ? text : "an error that is no text";
}

/* The snippet without faults gives what it should. */
static void run_undisturbed (Run *run, const char *when) {
  push_field(run, 2, NULL);
  int status = lua_pcall(run->L, 0, 1, 0);
  check(status == LUA_OK, "%s, %s: %s", run->name, when, message(run));
  check(strcmp(message(run), run->expected) == 0, "%s, %s:\n  %s\nexpected\n  %s",
        run->name, when, message(run), run->expected);
  lua_settop(run->L, 1);
}

/* Did the failure say why? */
static void check_failure (Run *run, Fault fault, int status, const char *when) {
  const char *text = message(run);
  check(fault != ONCE, "%s, %s: an emergency collection shows: %s", run->name,
        when, text);
  check(status == LUA_ERRMEM || status == LUA_ERRRUN, "%s, %s: status %d: %s",
        run->name, when, status, text);
  int says_why = fault == HOOK
    ? strstr(text, "interrupted") != NULL
    : strstr(text, "not enough memory") != NULL || strstr(text, "stack overflow") != NULL;
  check(says_why, "%s, %s: the message hides the reason: %s", run->name, when, text);
}

/* Runs the snippet with one fault; returns whether that came to pass. */
static int run_with (Run *run, Fault fault, int k) {
  char when[64];
  snprintf(when, sizeof when, "%s at %d", fault_names[fault], k);
  push_field(run, 2, NULL);
  arm(run, fault, k);
  int status = lua_pcall(run->L, 0, 1, 0);
  int happened = disarm(run, fault);
  if (status != LUA_OK) check_failure(run, fault, status, when);
  else check(strcmp(message(run), run->expected) == 0, "%s, during %s:\n  %s",
             run->name, when, message(run));
  lua_settop(run->L, 1);
  call_if_any(run, "after");
  run_undisturbed(run, when);
  return happened;
}

/* The place after the k-th. Where every place takes a fresh state, only some are
   tried, further and further apart: loading makes very many requests. */
static int next_place (const Run *run, Fault fault, int k) {
  if (!run->fresh) return k + 1;
  return k + (fault == HOOK ? 997 : 1 + k / 100);
}

/* All places for one kind of fault; returns how many there were. */
static int run_all (Run *run, Fault fault) {
  int k = 1, places = 0;
  open_state(run);
  call_if_any(run, "before");
  while (run_with(run, fault, k)) {
    places++;
    k = next_place(run, fault, k);
    if (!run->fresh) continue;
    close_state(run);
    open_state(run);
    call_if_any(run, "before");
  }
  close_state(run);
  return places;
}


/* Reads the snippet's name and what it gives; returns 0 after the last. */
static int begin (Run *run) {
  open_state(run);
  if (lua_rawgeti(run->L, 1, run->snippet) == LUA_TNIL) return close_state(run), 0;
  lua_settop(run->L, 1);
  push_field(run, 1, NULL);
  snprintf(run->name, sizeof run->name, "%s", message(run));
  push_field(run, 0, "fresh");
  run->fresh = lua_toboolean(run->L, -1);
  lua_settop(run->L, 1);
  push_field(run, 2, NULL);
  int status = lua_pcall(run->L, 0, 1, 0);
  check(status == LUA_OK, "%s: %s", run->name, message(run));
  check(lua_rawlen(run->L, -1) < sizeof run->expected, "%s: a long text", run->name);
  strcpy(run->expected, message(run));
  lua_settop(run->L, 1);
  run_undisturbed(run, "a second time");
  close_state(run);
  return 1;
}

/* Out of memory for good, a state keeps the threads it has when it can get no
   others, and can be closed. */
static void close_without_memory (void) {
  Memory memory;
  lua_State *L = host_open(&memory);
  host_run(L, "peri = require 'perilune' peri.set_threads(2) return ''");
  check_threads(2, "set_threads(2)");
  luaL_loadstring(L, "peri.set_threads(3)");
  memory.fail_first = 1;
  memory.fail_last = LONG_MAX;
  check(lua_pcall(L, 0, 0, 0) == LUA_ERRMEM, "set_threads(3) without memory");
  check_threads(2, "set_threads(3) without memory");
  host_close(L, &memory);
  check_threads(1, "closed without memory");
}

int main (void) {
  static Run run;
  int snippets = 0, places[FAULTS] = {0};
  close_without_memory();
  for (run.snippet = 1; begin(&run); run.snippet++, snippets++)
    for (Fault fault = 0; fault < FAULTS; fault++)
      places[fault] += run_all(&run, fault);
  printf("faults: %d snippets, %d requests refused once, %d twice, %d with all that"
         " follow, %d interruptions\n", snippets, places[ONCE], places[TWICE],
         places[FOREVER], places[HOOK]);
  return 0;
}
