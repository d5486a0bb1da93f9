/*
** budget.c - a host that gives a script so many milliseconds
**
** The hook reads a clock, and raises when the time is over. It takes effect within 2 ms in the midst
** of a matrix product that takes half a second. Time is the processor's: machines are busy.
*/
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host.h"

#define BUDGET 5.0   /* ms */

static double deadline;

static double milliseconds (void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void look (lua_State *L, lua_Debug *event) {
  (void)event;
  if (milliseconds() > deadline) luaL_error(L, "over budget");
}

/* How much longer than the budget a call takes that would take long. */
static double overrun (lua_State *L, const char *call) {
  check(luaL_loadstring(L, call) == LUA_OK, "%s", lua_tostring(L, -1));
  deadline = milliseconds() + BUDGET;
  lua_sethook(L, look, LUA_MASKCOUNT, 1000);
  int status = lua_pcall(L, 0, 0, 0);
  double over = milliseconds() - deadline;
  lua_sethook(L, NULL, 0, 0);
  check(status == LUA_ERRRUN && strstr(lua_tostring(L, -1), "over budget") != NULL, "%s: %s", call,
        status == LUA_OK ? "was within its budget" : lua_tostring(L, -1));
  lua_pop(L, 1);
  return over;
}

static const char *const calls[] = {
  "for i = 1, 1000 do m:matmul(m) end",
  "for i = 1, 1000 do local _ = m:exp():log():sum() end",
  "for i = 1, 1000 do peri.Gamma(2, 3):sample(1000000, rng) end",
  "for i = 1, 1000 do s:cholesky() end",
};

int main (void) {
  Memory memory;
  double most = 0;
  lua_State *L = host_open(&memory);
  host_run(L, "peri = require 'perilune' rng = peri.rng(1) m = rng:normal(900, 900)"
              " s = m:matmul(m:transpose()) + peri.eye(900) peri.preload() return 'ok'");
  lua_pop(L, 1);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    double best = 1e9;
    for (int k = 0; k < 5; k++) {   /* a page fault or an interrupt is nobody's fault */
      double over = overrun(L, calls[i]);
      if (over < best) best = over;
    }
    check(best < 2, "%s: took %.2f ms longer than its budget", calls[i], best);
    if (best > most) most = best;
  }
  host_close(L, &memory);
  printf("budget: %.0f ms end a matmul of 900 x 900 and its like %.2f ms later\n", BUDGET, most);
  return 0;
}
