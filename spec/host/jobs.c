/*
** jobs.c - a host that lends its own threads
**
** Whichever of them run which parts, or if they run none, the results are those of a single
** thread; and perilune starts no thread of its own.
*/
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define THREADS 3

typedef struct Part {
  void (*run) (void *argument, int i);
  void *argument;
  int i;
} Part;

static atomic_long calls, parts;

static void *run_part (void *data) {
  Part *part = data;
  part->run(part->argument, part->i);
  atomic_fetch_add(&parts, 1);
  return NULL;
}

/* A thread for every part but one, which the caller runs. */
static void run_apart (void *data, int n, void (*run) (void *argument, int i), void *argument) {
  pthread_t thread[THREADS];
  Part part[THREADS];
  (void)data;
  atomic_fetch_add(&calls, 1);
  check(n == THREADS, "%d parts", n);
  for (int i = 0; i < n; i++) part[i] = (Part) {run, argument, i};
  for (int i = 0; i < n - 1; i++)
    check(pthread_create(&thread[i], NULL, run_part, &part[i]) == 0, "a thread starts");
  run_part(&part[n - 1]);
  for (int i = 0; i < n - 1; i++) pthread_join(thread[i], NULL);
}

/* All in the caller, one after the other. */
static void run_in_turn (void *data, int n, void (*run) (void *argument, int i), void *argument) {
  (void)data;
  for (int i = 0; i < n; i++) run_part(&(Part) {run, argument, i});
}

/* None at all. */
static void run_none (void *data, int n, void (*run) (void *argument, int i), void *argument) {
  (void)data; (void)n; (void)run; (void)argument;
}

static char *compute (perilune_Jobs jobs, int threads) {
  Memory memory;
  lua_State *L = host_open(&memory);
  perilune_open(L, &(perilune_Options) {.max_threads = THREADS, .jobs = jobs});
  lua_pushinteger(L, threads);
  lua_setglobal(L, "threads");
  char *result = strdup(host_run_file(L, "spec/host/states.lua"));
#ifndef __SANITIZE_THREAD__          /* which has a thread of its own */
  check_threads(1, "while the state is open");
#endif
  host_close(L, &memory);
  return result;
}

int main (void) {
  const perilune_Jobs ways[] = {run_apart, run_in_turn, run_none};
  char *expected = compute(NULL, 1);
  for (int i = 0; i < 3; i++) {
    char *found = compute(ways[i], THREADS);
    check(strcmp(found, expected) == 0, "way %d:\n%s\nexpected\n%s", i, found, expected);
    free(found);
  }
  check(calls > 0 && parts >= 2 * THREADS, "the host's threads were used: %ld calls, %ld parts", calls, parts);
  free(expected);
  printf("jobs: a host's threads compute the same bits, and there are no others\n");
  return 0;
}
