/*
** environment.c - what belongs to the host stays the host's: signals, the
** floating-point environment, the locale; and where that environment gives
** wrong digits the module does not open
*/
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

static const char *const work =
  "local x = peri.rng(3):normal(300000)"
  " return ('%a %a %a'):format((x / 3):sum(), peri.Normal(0, 3):log_prob(x):sum(),"
  " x:var())";

static void run_with_threads (lua_State *L, int threads) {
  lua_getglobal(L, "peri");
  lua_getfield(L, -1, "set_threads");
  lua_pushinteger(L, threads);
  lua_call(L, 1, 0);
  lua_pop(L, 1);
}


static volatile sig_atomic_t caught_elsewhere;
static pthread_t main_thread;

static void catch (int signal) {
  (void)signal;
  if (!pthread_equal(pthread_self(), main_thread)) caught_elsewhere = 1;
}

/* A signal to the process must reach a thread of the host, even while the
   host's own thread blocks it. */
static void check_signals (lua_State *L) {
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  main_thread = pthread_self();
  signal(SIGUSR1, catch);
  run_with_threads(L, 2);
  pthread_sigmask(SIG_BLOCK, &usr1, NULL);
  kill(getpid(), SIGUSR1);
  for (int i = 0; i < 20; i++) usleep(1000);
  pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
  signal(SIGUSR1, SIG_DFL);
  check(!caught_elsewhere, "a worker ran the host's signal handler");
}

/* The host rounds upwards after the pool was made: the number of threads
   still changes no bit, and the host's mode is left as it was. */
static void check_rounding (lua_State *L) {
  fesetround(FE_UPWARD);
  run_with_threads(L, 1);
  char *alone = strdup(host_run(L, work));
  fesetround(FE_TONEAREST);
  run_with_threads(L, 2);
  fesetround(FE_UPWARD);
  const char *shared = host_run(L, work);
  check(fegetround() == FE_UPWARD, "the rounding mode was changed");
  fesetround(FE_TONEAREST);
  check(strcmp(alone, shared) == 0, "rounding upwards, one thread:\n%s\ntwo:\n%s",
        alone, shared);
  free(alone);
}

/* Returns whether there is a locale that writes 0,5 to be tested with. */
static int check_locale (lua_State *L) {
  const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
  char *plain = strdup(host_run_file(L, "spec/host/locale.lua")), half[8] = "";
  for (int i = 0; i < 4 && setlocale(LC_ALL, names[i]) == NULL; i++) continue;
  snprintf(half, sizeof half, "%.1f", 0.5);
  int found = strcmp(half, "0,5") == 0;
  const char *under = host_run_file(L, "spec/host/locale.lua");
  setlocale(LC_ALL, "C");
  check(strcmp(plain, under) == 0, "in a locale with commas:\n%s\nin C:\n%s", under, plain);
  free(plain);
  return found;
}

static void check_refusal (const char *why) {
  Memory memory;
  lua_State *L = host_open(&memory);
  const char *said = host_run(L, "return tostring(select(2, pcall(require, 'perilune')))");
  int mode = fegetround();
  fesetround(FE_TONEAREST);
  check(strstr(said, why) != NULL, "opened where arithmetic %s: %s", why, said);
  fesetround(mode);
  host_close(L, &memory);
}

/* Modes of rounding; and small numbers flushed to zero, as games do for speed. */
static void check_opening (void) {
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (int i = 0; i < 3; i++) {
    fesetround(modes[i]);
    check_refusal("does not round to the nearest double");
  }
  fesetround(FE_TONEAREST);
#ifdef __SSE2__
  unsigned own = __builtin_ia32_stmxcsr();
  for (unsigned bit = 0x40; bit <= 0x8000; bit = bit == 0x40 ? 0x8000 : 0x10000) {
    __builtin_ia32_ldmxcsr(own | bit);
    check_refusal("flushes subnormal numbers to zero");
  }
  __builtin_ia32_ldmxcsr(own);
#endif
}

int main (void) {
  check_opening();
  Memory memory;
  lua_State *L = host_open(&memory);
  host_run(L, "peri = require 'perilune' return ''");
  check_signals(L);
  check_rounding(L);
  int commas = check_locale(L);
  host_close(L, &memory);
  printf("environment: opening, signals, rounding, locale%s\n",
         commas ? "" : " (skipped: no locale with a decimal comma is installed)");
  return 0;
}
