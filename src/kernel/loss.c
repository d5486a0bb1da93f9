/*
** loss.c - what a training step minimises, element by element
**
**   kl_div(x, t)     = t (log t - x),    x = log q and t = p
**   kl_div_log(x, t) = e^t (t - x),      x = log q and t = log p
**
** both 0 where p is 0, whatever q; where p < 0 there is no answer.
*/
#include "kernel/kernel.h"
#include "special/vmath.h"


static void kl_div (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *t = in[1];
  for (size_t i = 0; i < n; i++) {
    double term = t[i] * (vlog(t[i]) - x[i]);
    out[i] = ((t[i] == 0) & (x[i] == x[i])) ? 0 : term;
  }
}

/* -t and log t + 1 - x */
static void kl_div_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *t = in[1];
  for (size_t i = 0; i < n; i++) {
    double slope = vlog(t[i]) + 1 - x[i];
    d[0][i] = 0 - t[i];
    d[1][i] = slope;
  }
}


static void kl_div_log (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *t = in[1];
  for (size_t i = 0; i < n; i++) {
    double term = vexp(t[i]) * (t[i] - x[i]);
    out[i] = ((t[i] == -HUGE_VAL) & (x[i] == x[i])) ? 0 : term;
  }
}

/* -e^t and e^t (t - x + 1) */
static void kl_div_log_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *t = in[1];
  for (size_t i = 0; i < n; i++) {
    double p = vexp(t[i]), slope = p * (t[i] - x[i] + 1);
    d[0][i] = 0 - p;
    d[1][i] = t[i] == -HUGE_VAL ? 0 : slope;
  }
}


const Kernel perilune_loss[] = {
  {.name = "kl_div",     .n_in = 2, .value = kl_div,     .partials = kl_div_partials},
  {.name = "kl_div_log", .n_in = 2, .value = kl_div_log, .partials = kl_div_log_partials},
  {.name = NULL}
};
