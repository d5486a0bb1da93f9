/*
** fork.c - pools of workers: forked, closed while alive, never left behind
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

#define STATES 200

/* Large enough for every driver to share the work out. */
static const char *const work =
  "local x = peri.rng(3):normal(300000)"
  " return ('%a %a %a'):format(peri.Normal(0, 2):log_prob(x):sum(), x:var(),"
  " x:reshape(3000, 100):softmax():max())";

static lua_State *open_with_threads (Memory *memory) {
  lua_State *L = host_open(memory);
  host_run(L, "peri = require 'perilune' peri.set_threads(2) return ''");
  check_threads(2, "set_threads(2)");
  return L;
}

static void compute (lua_State *L, const char *expected, const char *where) {
  const char *result = host_run(L, work);
  check(strcmp(result, expected) == 0, "%s: %s, expected %s", where, result, expected);
  lua_settop(L, 0);
}

/* The child has the pool's memory but none of its threads. */
static void live_as_child (lua_State *L, Memory *memory, const char *expected) {
  alarm(5);
  check_threads(1, "child");
  compute(L, expected, "child, with the parent's pool");
  host_run(L, "peri.set_threads(2) return ''");
  check_threads(2, "child, set_threads(2)");
  compute(L, expected, "child, with a pool of its own");
  host_close(L, memory);
  check_threads(1, "child, closed");
  exit(0);
}

/* A child that never looks at the pool and closes the state at once. */
static void close_as_child (lua_State *L, Memory *memory) {
  alarm(5);
  host_close(L, memory);
  exit(0);
}

static void await_child (pid_t child, const char *which) {
  int status;
  check(child > 0 && waitpid(child, &status, 0) == child, "%s: no child", which);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: %s %d", which,
        WIFSIGNALED(status) ? "ended by signal" : "exit status",
        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void fork_with_pool (const char *expected) {
  Memory memory;
  lua_State *L = open_with_threads(&memory);
  compute(L, expected, "parent");
  for (int round = 0; round < 2; round++) {
    pid_t child = fork();
    if (child == 0 && round == 0) live_as_child(L, &memory, expected);
    if (child == 0) close_as_child(L, &memory);
    compute(L, expected, "parent, beside its child");
    await_child(child, round == 0 ? "a child that computes" : "a child that closes");
    compute(L, expected, "parent, after its child");
  }
  host_close(L, &memory);                     /* with a live pool */
  check_threads(1, "parent, closed");
}

static void open_and_close (const char *expected) {
  for (int i = 0; i < STATES; i++) {
    Memory memory;
    lua_State *L = open_with_threads(&memory);
    if (i % 20 == 0) compute(L, expected, "one of many states");
    if (i % 3 == 1) host_run(L, "peri.set_threads(3) return ''");
    if (i % 3 == 2) host_run(L, "peri.set_threads(1) return ''");
    host_close(L, &memory);
    check_threads(1, "one of many states, closed");
  }
}

/* Finalizers run while the state closes, before and after the pool's own. */
static void threads_from_finalizers (const char *code) {
  Memory memory;
  lua_State *L = host_open(&memory);
  host_run(L, code);
  host_close(L, &memory);
  check_threads(1, "closed after a finalizer asked for threads");
}

int main (void) {
  Memory memory;
  lua_State *L = host_open(&memory);
  char *expected = strdup(host_run(L, "peri = require 'perilune' return ''"));
  free(expected);
  expected = strdup(host_run(L, work));
  host_close(L, &memory);
  fork_with_pool(expected);
  open_and_close(expected);
  threads_from_finalizers(
    "local peri = require 'perilune'"
    " late = setmetatable({}, { __gc = function () peri.set_threads(2) end })"
    " return ''");
  threads_from_finalizers(
    "late = setmetatable({}, { __gc = function () late.peri.set_threads(2) end })"
    " late.peri = require 'perilune' late.peri.set_threads(2) return ''");
  free(expected);
  printf("fork: children compute and close, %d states leave no thread behind\n", STATES);
  return 0;
}
