/*
** worker.c - times the loops of one file; the protocol of bench/support/worker.lua
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hand.h"
#include "random/noise.h"

#define ROUND  0.02   /* a round lasts so many seconds and calls at least */
#define FEWEST 3
#define SHOWN  64     /* elements of a result in its digest */

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
  double *a = aligned_alloc(64, (n * sizeof *a / 64 + 1) * 64);
  if (a == NULL) exit(1);
  return a;
}

static Input input_of (const Workload *w, int k) {
  return w->in[0].size == 0 ? (Input) {w->n, SPREAD} : w->in[k];
}

static size_t part_of (const Workload *w, int k) {
  return w->parts[0] == 0 && k == 0 ? w->n : w->parts[k];
}

static void fill (const Philox *g, uint64_t first, Input input, double *a) {
  if (input.kind == NORMAL) noise_normal(g, 0, first, input.size, a);
  else noise_uniform(g, 0, first, input.size, a);
  for (size_t i = 0; i < input.size && input.kind == SPREAD; i++) a[i] += 0.5;
}

static void prepare (const Workload *w) {
  Philox g = philox_seed(1);
  uint64_t first = 0;
  size_t size = 0;
  for (int k = 0; k < HAND_PARTS; k++) size += part_of(w, k);
  out = array(out, size);
  for (int k = 0; k < HAND_INPUTS; k++) {
    Input input = input_of(w, k);
    in[k] = array(in[k], input.size);
    fill(&g, first, input, in[k]);
    first += input.size;
  }
  if (w->prepare != NULL) w->prepare(w->n, in);
}

/* As digest in worker.lua. */
static void print_digest (size_t n, const double *x) {
  long double size = 0, sum = 0;
  for (size_t i = 0; i < n; i++) {
    size += fabs(x[i]);
    sum += x[i];
  }
  printf(" %zu %.17Lg %.17Lg", n, size, sum);
  for (size_t k = 0; k < SHOWN; k++) printf(" %.17g", x[k * n / SHOWN]);
}

static void print_result (const Workload *w, int threads) {
  const double *part = out;
  if (w->in[0].size == 0) {
    puts("none");
    return;
  }
  w->call(w->n, threads, in, out);
  for (int k = 0; k < HAND_PARTS; k++) {
    if (part_of(w, k) > 0) print_digest(part_of(w, k), part);
    part += part_of(w, k);
  }
  putchar('\n');
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

/* One answer to the request for a workload that is prepared. */
static void answer (const Workload *w, int threads, int calls, int result) {
  if (w == NULL) puts("none");
  else if (result) print_result(w, threads);
  else printf("%.9g\n", seconds(w, threads, calls));
}

int main (void) {
  char request[256], prepared[256] = "", name[256];
  const Workload *w = NULL;
  int threads = 1, calls = 1;
  while (fgets(request, sizeof request, stdin) != NULL) {
    int result = strncmp(request, "result\t", 7) == 0;
    const char *wanted = result ? request + 7 : request;
    if (strcmp(wanted, prepared) != 0) {
      if (sscanf(wanted, "%255[^\t]\t%d", name, &threads) != 2) return 1;
      strcpy(prepared, wanted);
      w = find(name, threads);
      if (w != NULL) {
        prepare(w);
        calls = calls_for(w, threads);
      }
    }
    answer(w, threads, calls, result);
    fflush(stdout);
  }
  return 0;
}
