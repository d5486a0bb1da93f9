/*
** loss.c - what a training step minimises, element by element
**
**   kl_div(x, t)     = t (log t - x),    x = log q and t = p
**   kl_div_log(x, t) = e^t (t - x),      x = log q and t = log p
**
** both 0 where p is 0, whatever q; where p < 0 there is no answer.
*/
#include "kernel/kernel.h"
#include "kernel/simplex.h"
#include "special/vmath.h"


/* A logarithm that is not infinite leaves 0 where t is; only -inf - x needs mending. */
static void kl_div (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *t = in[1];
  uint64_t odd = 0;
  for (size_t i = 0; i < n; i++) {
    double log_t = vlog(t[i]), least = -800, finite = log_t < least ? least : log_t;
    out[i] = fma(t[i], finite - x[i], 0.0);
    odd |= out[i] != out[i];
  }
  for (size_t i = 0; odd && i < n; i++)
    out[i] = ((t[i] == 0) & (x[i] == x[i])) ? 0 : out[i];
}

static void kl_div_first (size_t n, const double *const in[], double *d) {
  for (size_t i = 0; i < n; i++) d[i] = 0 - in[1][i];
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

static void kl_div_log_first (size_t n, const double *const in[], double *d) {
  for (size_t i = 0; i < n; i++) d[i] = 0 - vexp(in[1][i]);
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


/*
** Rows of logits, normalised on the way: with m their largest and S = sum_j exp(x_j - m),
**   kl_div_logits(x, t) = sum_j t_j (log t_j - (x_j - m)) + log S sum_j t_j
*/
enum { CHUNK = 64 };   /* outcomes computed before they are added */

VECTOR double surprise (double x, double t, double shift) {
  double term = t * (vlog(t) - (x - shift));
  return ((t == 0) & (x == x)) ? 0 : term;
}

/* sum_j t_j (log t_j - (x_j - m)), and S */
static double surprises (size_t k, const double *x, const double *t, double shift, double *sum) {
  double e[CHUNK], term[CHUNK], all = 0;
  *sum = 0;
  for (size_t j = 0; j < k; j += CHUNK, x += CHUNK, t += CHUNK) {
    size_t n = k - j < CHUNK ? k - j : CHUNK;
    for (size_t i = 0; i < n; i++) {
      e[i] = vexp(x[i] - shift);
      term[i] = surprise(x[i], t[i], shift);
    }
    *sum += simplex_total(n, e);
    all += simplex_total(n, term);
  }
  return all;
}

static void kl_div_logits (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *t = event(b, 1, r);
    double sum, all = surprises(k, x, t, simplex_shift(k, x), &sum);
    out[r] = fma(vlog(sum), simplex_total(k, t), all);
  }
}

/* exp(x_j - m)/S sum_i t_i - t_j */
static void kl_div_logits_first (const Batch *b, const double *upstream, double *d) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, d += k) {
    const double *x = event(b, 0, r), *t = event(b, 1, r);
    double up = upstream[r], shift = simplex_shift(k, x);
    for (size_t j = 0; j < k; j++) d[j] = vexp(x[j] - shift);
    double scale = up * simplex_total(k, t) / simplex_total(k, d);
    for (size_t j = 0; j < k; j++) d[j] = fma(scale, d[j], -up * t[j]);
  }
}

/* and log t_j + 1 - (x_j - m - log S) */
static void kl_div_logits_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  kl_div_logits_first(b, upstream, d[0]);
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *t = event(b, 1, r);
    double shift = simplex_shift(k, x), log_sum = vlog(simplex_sum(k, x, shift, k));
    for (size_t j = 0; j < k; j++)
      d[1][r * k + j] = upstream[r] * (vlog(t[j]) + 1 - ((x[j] - shift) - log_sum));
  }
}


const Kernel perilune_loss[] = {
  {.name = "kl_div",     .n_in = 2, .value = kl_div,     .partials = kl_div_partials,
   .first_partial = kl_div_first},
  {.name = "kl_div_log", .n_in = 2, .value = kl_div_log, .partials = kl_div_log_partials,
   .first_partial = kl_div_log_first},
  {.name = "kl_div_logits", .n_in = 2, .signature = "(k),(k)->()", .rows = kl_div_logits,
   .adjoint = kl_div_logits_adjoint, .first_adjoint = kl_div_logits_first},
  {.name = NULL}
};
