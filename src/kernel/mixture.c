/*
** mixture.c - what a component adds to a mixture, by its weight
**
**   log_term(log w, v) = log w + v,    term(w, v) = w v
**
** A component of no weight adds -inf or 0, whatever v is, and nothing depends on it.
*/
#include "kernel/kernel.h"
#include "special/vector.h"

#include <math.h>


static void log_term (size_t n, const double *const in[], double *out) {
  const double *w = in[0], *v = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = w[i] == -HUGE_VAL ? -HUGE_VAL : w[i] + v[i];
}

static void log_term_partials (size_t n, const double *const in[], double *const d[]) {
  const double *w = in[0];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = d[1][i] = w[i] == -HUGE_VAL ? 0 : 1;
}


static void term (size_t n, const double *const in[], double *out) {
  const double *w = in[0], *v = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = w[i] == 0 ? 0 : w[i] * v[i];
}

static void term_partials (size_t n, const double *const in[], double *const d[]) {
  const double *w = in[0], *v = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    d[0][i] = w[i] == 0 ? 0 : v[i];
    d[1][i] = w[i];
  }
}


const Kernel perilune_mixture[] = {
  {.name = "log_term", .n_in = 2, .value = log_term, .partials = log_term_partials},
  {.name = "term",     .n_in = 2, .value = term,     .partials = term_partials},
  {.name = NULL}
};
