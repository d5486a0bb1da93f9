/*
** plain.c - distributions in a C program that knows nothing of Lua
**
**   cc plain.c $(pkg-config --cflags --libs perilune) -o plain
*/
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <perilune.h>

static perilune_Session *session;

/* Ends the program with the reason, if a call was refused. */
static int must (int result) {
  if (result >= 0) return result;
  fprintf(stderr, "error %d: %s\n", result, perilune_message(session));
  exit(1);
}

static perilune_Array vector (const double *data, size_t n) {
  return (perilune_Array) {.data = data, .rank = 1, .shape = {n}};
}

/* A family with two parameters, say Normal(loc, scale): of one number and of n, which broadcast as in Lua. */
static int law (const char *name, double loc, const double *scale, size_t n) {
  perilune_Array params[2] = {{.data = &loc}, vector(scale, n)};
  return perilune_distribution(session, name, 2, params);
}

static double seconds (void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What a call costs beside its arithmetic: a million densities one by one, and in one call. */
static void measure (int d) {
  enum { N = 1000000 };
  double *x = calloc(N, sizeof *x), *out = calloc(N, sizeof *out), begin = seconds();
  for (int i = 0; i < N; i++) {
    perilune_Array number = {.data = &x[i]};
    must(perilune_evaluate(session, d, "log_prob", &number, &out[i], 1));
  }
  double single = seconds() - begin;
  perilune_Array all = vector(x, N);
  begin = seconds();
  must(perilune_evaluate(session, d, "log_prob", &all, out, N));
  printf("a million densities: one by one %.0f ns each, in one call %.1f ns each\n", 1e9 * single / N,
         1e9 * (seconds() - begin) / N);
  free(x);
  free(out);
}

int main (void) {
  const double scales[3] = {0.5, 1, 2}, one = 1, minus = -1, x[3] = {-1, 0, 1}, p[3] = {0.025, 0.5, 0.975};
  double out[3], draws[5], again[5];
  char state[64];
  session = perilune_begin(NULL, NULL, NULL);
  if (session == NULL) return fprintf(stderr, "out of memory\n"), 1;

  /* Three normal laws at once, then one that is not. */
  int normal = must(law("Normal", 0, scales, 3)), laplace = must(law("Laplace", 0, &one, 1));
  const char *const methods[] = {"log_prob", "cdf", "icdf"};
  for (int i = 0; i < 3; i++) {
    perilune_Array points = vector(i == 2 ? p : x, 3);
    must(perilune_evaluate(session, normal, methods[i], &points, out, 3));
    printf("%-8s %11.7f %11.7f %11.7f\n", methods[i], out[0], out[1], out[2]);
  }
  must(perilune_evaluate(session, normal, "entropy", NULL, out, 3));
  printf("%-8s %11.7f %11.7f %11.7f\n", "entropy", out[0], out[1], out[2]);
  must(perilune_kl(session, normal, laplace, out, 3));
  printf("%-8s %11.7f %11.7f %11.7f\n", "kl", out[0], out[1], out[2]);

  /* A generator goes back to where it was. */
  int rng = must(perilune_rng(session, 2026));
  must(perilune_rng_state(session, rng, state, sizeof state));
  must(perilune_sample(session, laplace, rng, 5, draws, 5));
  must(perilune_rng_restore(session, rng, state));
  must(perilune_sample(session, laplace, rng, 5, again, 5));
  printf("%-8s %11.7f %11.7f %11.7f, again %11.7f\n", "sample", draws[0], draws[1], draws[2], again[0]);

  /* What makes no sense is refused, and the session goes on. */
  int code = law("Normal", 0, &minus, 1);
  printf("code %d:  %s\n", code, perilune_message(session));
  code = perilune_evaluate(session, normal, "mean", NULL, out, 2);
  printf("code %d:  %s\n", code, perilune_message(session));

  measure(laplace);
  perilune_end(session);
  return 0;
}
