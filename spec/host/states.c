/*
** states.c - many Lua states on many threads at once
**
** Four threads of the host, each with a stack as small as engines give them,
** open one state after another and compute the same; every second state has
** workers of its own. All must get what a single state got before.
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define THREADS 4
#define STATES  4              /* in sequence on each thread */
#define STACK   (256 * 1024)

static char *expected;

static char *compute (int threads) {
  Memory memory;
  lua_State *L = host_open(&memory);
  lua_pushinteger(L, threads);
  lua_setglobal(L, "threads");
  char *result = strdup(host_run_file(L, "spec/host/states.lua"));
  host_close(L, &memory);
  return result;
}

static void *work (void *data) {
  int number = *(int *)data;
  for (int i = 0; i < STATES; i++) {
    char *result = compute(1 + (i + number) % 2);
    check(strcmp(result, expected) == 0, "thread %d, state %d:\n%s\nexpected\n%s",
          number, i, result, expected);
    free(result);
  }
  return NULL;
}

int main (void) {
  pthread_t thread[THREADS];
  int number[THREADS];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK);
  expected = compute(1);
  for (int i = 0; i < THREADS; i++) {
    number[i] = i;
    check(pthread_create(&thread[i], &small, work, &number[i]) == 0, "a thread starts");
  }
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  free(expected);
  printf("states: %d states on %d threads agree to the last bit\n", THREADS * STATES,
         THREADS);
  return 0;
}
