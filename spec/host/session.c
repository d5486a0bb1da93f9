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

/* NULL for what there must be, counts below 0, and names of what is no class. */
static void check_arguments (void) {
  double one = 1, out[4], odd[2] = {0};
  const char *others[] = {"distributions", "kl_pairs", "help", "special", "optim", "_VERSION", "Distribution", "zeros"};
  const int negative[] = {-1, -5, -100000};
  int d = normal(&one, &one), rng = perilune_rng(session, 1);
  char state[64];
  const perilune_Array between = {(double *)(void *)((char *)odd + 1), 0, {0}};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    refused(perilune_distribution(session, others[i], 0, NULL), PERILUNE_REFUSED, "is no distribution");
  for (int i = 0; i < 3; i++)
    refused(perilune_distribution(session, "Normal", negative[i], NULL), PERILUNE_REFUSED,
            "n must not be negative, got -");
  refused(perilune_distribution(session, "Normal", 2, NULL), PERILUNE_REFUSED, "params must be an array, got NULL");
  refused(perilune_distribution(session, NULL, 0, NULL), PERILUNE_REFUSED,
          "the name of a distribution must be a string, got NULL");
  refused(perilune_evaluate(session, d, NULL, NULL, out, 1), PERILUNE_REFUSED,
          "the name of a method must be a string, got NULL");
  refused(perilune_evaluate(session, d, "log_prob", &between, out, 1), PERILUNE_REFUSED, "data must be an address");
  refused(perilune_evaluate(session, d, "mean", NULL, NULL, 1), PERILUNE_REFUSED, "out must be an address");
  refused(perilune_sample(session, d, rng, 3, NULL, 3), PERILUNE_REFUSED, "out must be an address");
  refused(perilune_sample(session, d, -1, 1, out, 1), PERILUNE_REFUSED, "handle -1 is not that of a generator");
  refused(perilune_kl(session, d, d, NULL, 1), PERILUNE_REFUSED, "out must be an address");
  refused(perilune_kl(session, d, -7, out, 1), PERILUNE_REFUSED, "handle -7 is not that of a distribution");
  refused(perilune_rng_state(session, rng, NULL, 64), PERILUNE_REFUSED, "text must be room for a string, got NULL");
  refused(perilune_rng_state(session, rng, NULL, 0), PERILUNE_ROOM, "longer than the room");
  refused(perilune_rng_state(session, -1, state, sizeof state), PERILUNE_REFUSED, "not that of a generator");
  refused(perilune_rng_restore(session, rng, NULL), PERILUNE_REFUSED, "text must be a string, got NULL");
  refused(perilune_forget(session, -5), PERILUNE_REFUSED, "no such handle");
  check(perilune_evaluate(session, d, "mean", NULL, out, 1) == PERILUNE_OK && out[0] == 1, "and the session goes on");
}

static void check_no_session (void) {
  double out[1];
  check(perilune_distribution(NULL, "Normal", 0, NULL) == PERILUNE_REFUSED && perilune_rng(NULL, 1) == PERILUNE_REFUSED
        && perilune_forget(NULL, 7) == PERILUNE_REFUSED && perilune_kl(NULL, 7, 8, out, 1) == PERILUNE_REFUSED
        && perilune_evaluate(NULL, 7, "mean", NULL, out, 1) == PERILUNE_REFUSED
        && perilune_sample(NULL, 7, 0, 1, out, 1) == PERILUNE_REFUSED
        && perilune_rng_state(NULL, 8, (char[8]) {0}, 8) == PERILUNE_REFUSED
        && perilune_rng_restore(NULL, 8, "") == PERILUNE_REFUSED, "no session is refused");
  check(strcmp(perilune_message(NULL), "there is no session") == 0, "and has a message");
  check(perilune_begin(NULL, NULL, &(perilune_Options) {.max_threads = -3}) == NULL, "threads are not negative");
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
  check_arguments();
  check_no_session();
  perilune_end(session);
  perilune_end(NULL);
  printf("session: C programs without Lua get numbers, or codes with a text\n");
  return 0;
}
