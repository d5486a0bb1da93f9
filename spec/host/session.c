/*
** session.c - a program without Lua: what sessions refuse, and that they survive it
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static perilune_Session *session;

static void refused (int code, int expected, const char *message) {
  check(code == expected, "%s: code %d, expected %d (%s)", message, code, expected, perilune_message(session));
  check(strstr(perilune_message(session), message) != NULL, "%s, expected %s", perilune_message(session), message);
}

static int normal (const double *loc, const double *scale) {
  return perilune_distribution(session, "Normal", 2, (perilune_Array[]) {{loc, 0, {0}}, {scale, 0, {0}}});
}

static void check_values (void) {
  const double zero = 0, one = 1, two = 2;
  double p = 0.975, out[2], mean[3] = {1, 2, 3}, cov[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, draws[6];
  int d = normal(&zero, &one), e = normal(&one, &two), rng = perilune_rng(session, 1);
  check(d > 0 && e > 0 && d != e && rng > 0, "handles are positive: %s", perilune_message(session));
  check(perilune_evaluate(session, d, "icdf", &(perilune_Array) {.data = &p}, out, 1) == PERILUNE_OK
        && fabs(out[0] - 1.959963984540054) < 1e-15, "icdf: %.17g", out[0]);
  check(perilune_kl(session, d, e, out, 1) == PERILUNE_OK && fabs(out[0] - 0.44314718055994530942) < 1e-15,
        "kl: %.17g", out[0]);
  check(perilune_evaluate(session, d, "entropy", NULL, out, 1) == PERILUNE_OK
        && fabs(out[0] - 1.4189385332046727) < 1e-15, "entropy: %.17g", out[0]);

  /* Parameters are copied, events have several numbers, and a generator goes back. */
  const perilune_Array params[2] = {{mean, 1, {3}}, {cov, 2, {3, 3}}};
  int m = perilune_distribution(session, "MultivariateNormal", 2, params);
  check(m > 0, "%s", perilune_message(session));
  mean[0] = NAN;
  char state[64];
  double again[6];
  check(perilune_rng_state(session, rng, state, sizeof state) == PERILUNE_OK, "a state");
  check(perilune_sample(session, m, rng, 2, draws, 6) == PERILUNE_OK && isfinite(draws[0]), "draws of vectors");
  check(perilune_rng_restore(session, rng, state) == PERILUNE_OK, "and back");
  check(perilune_sample(session, m, rng, 2, again, 6) == PERILUNE_OK && memcmp(draws, again, sizeof draws) == 0,
        "the same draws again");
}

static void check_refusals (void) {
  const double zero = 0, minus = -1;
  double out[4], x[3] = {1, 2, 3};
  int d = normal(&zero, &(double) {1}), rng = perilune_rng(session, 1);
  refused(normal(&zero, &minus), PERILUNE_REFUSED, "Normal: scale must be positive, got -1");
  refused(perilune_distribution(session, "Norml", 0, NULL), PERILUNE_REFUSED, "did you mean Normal?");
  refused(perilune_distribution(session, "kl_divergence", 0, NULL), PERILUNE_REFUSED, "kl_divergence");
  const perilune_Array number = {&zero, 0, {0}}, nowhere = {NULL, 0, {0}}, high = {x, 17, {0}};
  refused(perilune_distribution(session, "rng", 1, &number), PERILUNE_REFUSED, "no distribution");
  refused(perilune_distribution(session, "Normal", 1, &nowhere), PERILUNE_REFUSED, "data must be");
  refused(perilune_distribution(session, "Normal", 1, &high), PERILUNE_REFUSED, "rank must be");
  refused(perilune_evaluate(session, d, "logprob", NULL, out, 1), PERILUNE_REFUSED, "no method logprob");
  refused(perilune_evaluate(session, d, "log_prob", &(perilune_Array) {x, 1, {3}}, out, 4), PERILUNE_ROOM,
          "log_prob: the result has 3 elements, room is for 4");
  const int wrong[] = {rng, 1000000, -1, 0};
  for (int i = 0; i < 4; i++)
    refused(perilune_evaluate(session, wrong[i], "mean", NULL, out, 1), PERILUNE_REFUSED,
            "is not that of a distribution");
  refused(perilune_sample(session, d, d, 1, out, 1), PERILUNE_REFUSED, "is not that of a generator");
  refused(perilune_rng_state(session, rng, (char[8]) {0}, 8), PERILUNE_ROOM, "longer than the room");
  refused(perilune_rng_restore(session, rng, "nonsense"), PERILUNE_REFUSED, "not a state");
  check(perilune_forget(session, d) == PERILUNE_OK, "a distribution is forgotten");
  refused(perilune_forget(session, d), PERILUNE_REFUSED, "no such handle");
  refused(perilune_kl(session, d, d, out, 1), PERILUNE_REFUSED, "is not that of a distribution");
  refused(perilune_forget(session, 1), PERILUNE_REFUSED, "no such handle");
}

/* An allocator that refuses: sessions do not open, or calls say so, and all bytes come back. */
static void check_memory (void) {
  Memory memory = {0};
  long n = 1;
  for (; session == NULL; n += 1 + n / 50) {
    memory.requests = 0;
    memory.fail_first = n;
    memory.fail_last = 1L << 40;
    session = perilune_begin(host_allocate, &memory, NULL);
    check(session != NULL || memory.used == 0, "request %ld: %zu bytes were never returned", n, memory.used);
  }
  memory.fail_first = memory.fail_last = 0;
  int d = normal(&(double) {0}, &(double) {1});
  static double x[100000], out[100000];
  const perilune_Array many = {x, 1, {100000}};
  memory.limit = memory.used + 4000;
  refused(perilune_evaluate(session, d, "log_prob", &many, out, 100000), PERILUNE_MEMORY,
          "not enough memory");
  memory.limit = 0;
  check(perilune_evaluate(session, d, "log_prob", &many, out, 100000) == PERILUNE_OK
        && fabs(out[99999] + 0.91893853320467274) < 1e-15, "and then it works");
  perilune_end(session);
  check(memory.used == 0, "%zu bytes were never returned", memory.used);
}

int main (void) {
  check_memory();
  session = perilune_begin(NULL, NULL, &(perilune_Options) {.max_threads = 2});
  check(session != NULL, "a session begins");
  check_values();
  check_refusals();
  perilune_end(session);
  perilune_end(NULL);
  printf("session: C programs without Lua get numbers, or codes with a text\n");
  return 0;
}
