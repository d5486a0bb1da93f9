/*
** interrupt.c - a host that ends, or interrupts, what takes too long
**
** A signal sets a hook, as lua.c does when Ctrl-C is pressed, during calls that would take hours.
** And a scheduler has every coroutine yield after some instructions, from a hook that does not
** ask whether it may: during a call it cannot, and the call goes on.
*/
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "host.h"

#define LATEST 120   /* seconds after which nothing will come any more */

static lua_State *interrupted;
static volatile sig_atomic_t yields;

static void *give_up (void *nothing) {
  sleep(LATEST);
  check(0, "interrupt: a call was not interrupted");
  return nothing;
}

static void stop (lua_State *L, lua_Debug *event) {
  (void)event;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted!");
}

static void on_alarm (int number) {
  (void)number;
  lua_sethook(interrupted, stop, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

static void interrupt_soon (lua_State *L) {
  const struct itimerval soon = {.it_value = {.tv_usec = 30000}};
  interrupted = L;
  signal(SIGALRM, on_alarm);
  setitimer(ITIMER_REAL, &soon, NULL);
}

/* The call ends with the hook's error, and the state is as good as before. */
static void check_interrupted (lua_State *L, const char *call) {
  check(luaL_loadstring(L, call) == LUA_OK, "%s: %s", call, lua_tostring(L, -1));
  interrupt_soon(L);
  int status = lua_pcall(L, 0, 0, 0);
  check(status == LUA_ERRRUN && strstr(lua_tostring(L, -1), "interrupted!") != NULL,
        "%s: %s", call, status == LUA_OK ? "was not interrupted" : lua_tostring(L, -1));
  lua_pop(L, 1);
  host_run(L, "assert(x:narrow(1, 1, 1000):sum() == 1000) return 'ok'");
  lua_pop(L, 1);
}

static const char *const calls[] = {
  "x:sum()",
  "x:logsumexp()",
  "coroutine.wrap(function () x:sum() end)()",
  "for i = 1, 1e9 do peri.kl_divergence(peri.Laplace(y, 1), peri.Laplace(0, 1)) end",
  "for i = 1, 1e9 do peri.Gamma(2, 3):sample(3000000) end",
  "for i = 1, 1e9 do m:matmul(m) end",
  "for i = 1, 1e9 do many:cholesky() end",
  "for i = 1, 1e9 do loss:backward { retain = true } end",
  "for i = 1, 1e9 do trace:backward() end",
};

static void interrupt_all (int threads) {
  Memory memory;
  lua_State *L = host_open(&memory);
  lua_pushinteger(L, threads);
  lua_setglobal(L, "threads");
  host_run(L, "peri = require 'perilune' peri.set_threads(threads) x = peri.ones(1):expand(2 ^ 40 // 1 | 0)"
              " y = peri.ones(3000000) m = peri.ones(300, 300) many = peri.eye(300):expand(2, 300, 300):contiguous()"
              " w = peri.param(peri.ones(300, 300)) loss = w:matmul(w):sum()"
              " trace = peri.trace(function () return w:matmul(w):sum() end) return 'ok'");
  lua_pop(L, 1);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
    check_interrupted(L, calls[i]);
  host_close(L, &memory);
}

static void yield (lua_State *L, lua_Debug *event) {
  (void)event;
  yields++;
  lua_yield(L, 0);
}

static void schedule (void) {
  Memory memory;
  int results, status;
  lua_State *L = host_open(&memory), *thread = lua_newthread(L);
  check(luaL_loadstring(thread, "local peri = require 'perilune' local sum = 0"
                                " for i = 1, 20 do sum = sum + peri.ones(1000000):exp():sum() end"
                                " return sum") == LUA_OK, "the task compiles");
  host_run(L, "require 'perilune' return 'ok'");
  lua_pop(L, 1);
  lua_sethook(thread, yield, LUA_MASKCOUNT, 2000);
  while ((status = lua_resume(thread, L, 0, &results)) == LUA_YIELD) lua_pop(thread, results);
  check(status == LUA_OK, "a task that is scheduled: %s", lua_tostring(thread, -1));
  check(lua_tonumber(thread, -1) / 20e6 > 2.718281, "a task that is scheduled computes");
  check(yields > 0, "the scheduler's hook ran");
  host_close(L, &memory);
}

int main (void) {
  pthread_t last;
  check(pthread_create(&last, NULL, give_up, NULL) == 0, "a thread starts");
  interrupt_all(1);
  interrupt_all(2);
  schedule();
  printf("interrupt: signals end calls on one thread and two, and schedulers do not\n");
  return 0;
}
