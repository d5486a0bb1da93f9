/*
** bare.c - a state with base, table, string and math, and nothing else: no package, no files
**
** The script of sandbox.c gives the same there, from whatever folder; options of perilune_open
** are obeyed.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

static const luaL_Reg libraries[] = {
  {"_G",     luaopen_base},
  {"table",  luaopen_table},
  {"string", luaopen_string},
  {"math",   luaopen_math},
};

static lua_State *open_bare (Memory *memory) {
  memset(memory, 0, sizeof *memory);
  lua_State *L = lua_newstate(host_allocate, memory);
  check(L != NULL, "a state opens");
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
    luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
    lua_pop(L, 1);
  }
  return L;
}

static int open_with (lua_State *L) { return perilune_open(L, lua_touserdata(L, 1)); }

/* Opens perilune in the state: what was wrong, or NULL. */
static const char *open_error (lua_State *L, const perilune_Options *options) {
  lua_pushcfunction(L, open_with);
  lua_pushlightuserdata(L, (void *)(uintptr_t)options);
  if (lua_pcall(L, 1, 1, 0) != LUA_OK) return lua_tostring(L, -1);
  lua_setglobal(L, "peri");
  return NULL;
}

static void check_refused (const perilune_Options *options, const char *message) {
  Memory memory;
  lua_State *L = open_bare(&memory);
  const char *found = open_error(L, options);
  check(found != NULL && strstr(found, message) != NULL, "%s, expected %s", found, message);
  host_close(L, &memory);
}

static void check_options (void) {
  Memory memory;
  lua_State *L = open_bare(&memory);
  const perilune_Options options = {.max_threads = 2, .eager = "Normal  kl_divergence nuts"};
  const char *message = open_error(L, &options);
  check(message == NULL, "%s", message);
  check(open_error(L, &options) == NULL, "perilune opens twice");
  host_run(L, "local ok, message = pcall(peri.set_threads, 3)"
              " assert(not ok and message:find 'n must be an integer from 1 to 2, got 3', message)"
              " peri.set_threads(2) return 'ok'");
  message = open_error(L, &options);
  check(message != NULL && strstr(message, "threads are running already") != NULL, "%s", message);
  host_run(L, "before = peri.kl_divergence(peri.Gamma(2, 1), peri.Gamma(3, 2))"
              " ipairs, pairs, type, setmetatable, rawget, pcall, select, math, string, table = nil"
              " assert(before == peri.kl_divergence(peri.Gamma(2, 1), peri.Gamma(3, 2)))"
              " local x = peri.kl_divergence(peri.Weibull(2, 1), peri.Gumbel(3, 2))"
              " assert(x > 0, 'a script that changes globals does not reach us') return 'ok'");
  lua_settop(L, 0);
  host_close(L, &memory);
  check_refused(&(perilune_Options) {.max_threads = -1}, "max_threads must be from 0 to 256, got -1");
  check_refused(&(perilune_Options) {.eager = "Normal Nrmal"}, "has no Nrmal; did you mean Normal?");
}

/* However a script asks, and whatever it loads again, there are no more threads than were allowed. */
static void check_thread_limit (void) {
  Memory memory;
  lua_State *L = host_open(&memory);
  perilune_open(L, &(perilune_Options) {.max_threads = 2});
  lua_setglobal(L, "peri");
  host_run(L,
    "local function asks (peri, core)"
    "  for _, n in ipairs { 3, 256, 257, 2^31 + 2, 2^32 + 2, 2^53, math.maxinteger, math.huge, 0, -1, 2.5, '2' } do"
    "    local ok, message = pcall(peri.set_threads, n)"
    "    assert(not ok and message:find('n must be an integer from 1 to 2', 1, true), tostring(message))"
    "    assert(core.threads() <= 2, 'there are more threads')"
    "  end"
    "  peri.set_threads(2)"
    "  assert(core.threads() == 2, 'there are two threads')"
    "end "
    "asks(peri, require 'perilune.core') "
    "for name in pairs(package.loaded) do if name:find '^perilune' then package.loaded[name] = nil end end "
    "asks(require 'perilune', require 'perilune.core') "
    "coroutine.wrap(function () asks(peri, require 'perilune.core') end)() "
    "setmetatable({}, { __gc = function () asks(peri, require 'perilune.core') done = true end }) "
    "collectgarbage() assert(done, 'a finalizer ran') "
    "local posed = peri.model(function (m) m.x = peri.Normal(0, 1) end) {} "
    "posed:nuts { chains = 8, warmup = 5, draws = 4, rng = peri.rng(1) } "
    "peri.Normal(0, 1):log_prob(peri.arange(100000)) return 'ok'");
  check_threads(2, "max_threads = 2");
  lua_settop(L, 0);
  perilune_open(L, NULL);                     /* says nothing new */
  lua_pop(L, 1);
  host_run(L, "assert(not pcall(peri.set_threads, 3)) return 'ok'");
  lua_settop(L, 0);
  host_close(L, &memory);
  check_threads(1, "closed");
}

static char *run_script (lua_State *L, int with_module) {
  check(luaL_loadfile(L, "spec/host/sandbox.lua") == LUA_OK, "the script is there");
  if (with_module) lua_getglobal(L, "peri");
  check(chdir("/") == 0, "there is a folder without our files");
  if (lua_pcall(L, with_module, 1, 0) != LUA_OK) check(0, "%s", lua_tostring(L, -1));
  return strdup(lua_tostring(L, -1));
}

int main (void) {
  Memory memory;
  char home[4096];
  check(getcwd(home, sizeof home) != NULL, "the folder has a name");
  lua_State *L = host_open(&memory);          /* among all libraries */
  host_run(L, "io, os, debug, coroutine, utf8 = nil return 'ok'");
  char *expected = run_script(L, 0);
  host_close(L, &memory);
  check(chdir(home) == 0, "and back");

  L = open_bare(&memory);
  const char *message = open_error(L, &(perilune_Options) {.eager = "*"});
  check(message == NULL, "%s", message);
  char *found = run_script(L, 1);
  check(strcmp(found, expected) == 0, "bare:\n%s\nexpected\n%s", found, expected);
  host_close(L, &memory);
  check_options();
  check_thread_limit();
  free(expected);
  free(found);
  printf("bare: opens without package, files, io, os, debug and coroutines, and obeys its options\n");
  return 0;
}
