/*
** worker.c - times the loops of one file; the protocol of bench/support/worker.lua
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hand.h"
#include "random/noise.h"

#define ROUND  0.02   /* a round lasts so many seconds and calls at least */
#define FEWEST 3

static double *in[HAND_INPUTS], *out;


static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds (const Workload *w, int threads, int calls) {
  double start = now();
  for (int i = 0; i < calls; i++) w->call(w->n, threads, in, out);
  return (now() - start) / calls;
}

static int calls_for (const Workload *w, int threads) {
  int calls = 1;
  while (seconds(w, threads, calls) * calls < ROUND) calls *= 2;
  return calls < FEWEST ? FEWEST : calls;
}

static double *array (double *old, size_t n) {
  free(old);
  double *a = aligned_alloc(64, (n * sizeof *a + 63) / 64 * 64);
  if (a == NULL) exit(1);
  return a;
}

static void prepare (const Workload *w) {
  Philox g = philox_seed(1);
  out = array(out, w->n);
  for (int k = 0; k < HAND_INPUTS; k++) {
    in[k] = array(in[k], w->n);
    noise_uniform(&g, 0, (uint64_t)k * w->n, w->n, in[k]);
    for (size_t i = 0; i < w->n; i++) in[k][i] += 0.5;
  }
}

#ifdef _OPENMP
enum { MOST_THREADS = 256 };
#else
enum { MOST_THREADS = 1 };
#endif

static const Workload *find (const char *name, int threads) {
  const Workload *w = workloads;
  while (w->name != NULL && strcmp(w->name, name) != 0) w++;
  return w->name == NULL || threads > MOST_THREADS ? NULL : w;
}

int main (void) {
  char request[256], prepared[256] = "", name[256];
  const Workload *w = NULL;
  int threads = 1, calls = 1;
  while (fgets(request, sizeof request, stdin) != NULL) {
    if (strcmp(request, prepared) != 0) {
      if (sscanf(request, "%255[^\t]\t%d", name, &threads) != 2) return 1;
      strcpy(prepared, request);
      w = find(name, threads);
      if (w != NULL) {
        prepare(w);
        calls = calls_for(w, threads);
      }
    }
    if (w == NULL) puts("none");
    else printf("%.9g\n", seconds(w, threads, calls));
    fflush(stdout);
  }
  return 0;
}
