/*
** loss.c - losses, element by element
**
**   kl_div(x, t)     = t (log t - x),    x = log q and t = p
**   kl_div_log(x, t) = e^t (t - x),      x = log q and t = log p
**
** both 0 where p is 0, whatever q is, and NaN where p < 0.
*/
#include "kernel/kernel.h"
#include "kernel/simplex.h"
#include "special/vmath.h"
#include "special/vrun.h"


static void any_terms (size_t n, const double *x, const double *t, double shift, double *out) {
  EVERY for (size_t i = 0; i < n; i++) {
    double term = fma(t[i], vlog(t[i]) - (x[i] - shift), 0.0);
    out[i] = ((t[i] == 0) & (x[i] == x[i])) ? 0 : term;
  }
}

/* n <= RUN. A finite logarithm leaves 0 where t is, unless x is infinite. */
static void run_of_terms (size_t n, const double *x, const double *t, double shift,
                          double *restrict out) {
  LogRun run;
  uint64_t odd = (uint64_t)log_run(n, t, &run);
  EVERY for (size_t i = 0; i < n; i++) {
    double term = fma(t[i], log_run_at(&run, i) - (x[i] - shift), 0.0);
    out[i] = term;
    odd |= term != term;
  }
  if (odd) any_terms(n, x, t, shift, out);
}

/* t (log t - (x - shift)) */
static void terms (size_t n, const double *x, const double *t, double shift, double *out) {
  for (size_t i = 0; i < n; i += RUN)
    run_of_terms(run_length(n - i), x + i, t + i, shift, out + i);
}

static void kl_div (size_t n, const double *const in[], double *out) {
  terms(n, in[0], in[1], 0, out);
}

static void kl_div_first (size_t n, const double *const in[], double *d) {
  EVERY for (size_t i = 0; i < n; i++) d[i] = 0 - in[1][i];
}

/* -t and log t + 1 - x */
static void kl_div_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *t = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double slope = vlog(t[i]) + 1 - x[i];
    d[0][i] = 0 - t[i];
    d[1][i] = slope;
  }
}


static void kl_div_log (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *t = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double term = vexp(t[i]) * (t[i] - x[i]);
    out[i] = ((t[i] == -HUGE_VAL) & (x[i] == x[i])) ? 0 : term;
  }
}

static void kl_div_log_first (size_t n, const double *const in[], double *d) {
  EVERY for (size_t i = 0; i < n; i++) d[i] = 0 - vexp(in[1][i]);
}

/* -e^t and e^t (t - x + 1) */
static void kl_div_log_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *t = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double p = vexp(t[i]), slope = p * (t[i] - x[i] + 1);
    d[0][i] = 0 - p;
    d[1][i] = t[i] == -HUGE_VAL ? 0 : slope;
  }
}


/*
** Rows of logits, normalised on the way: with m their largest and S = sum_j exp(x_j - m),
**   kl_div_logits(x, t) = sum_j t_j (log t_j - (x_j - m)) + log S sum_j t_j
*/
enum { FEW = 64,   /* outcomes whose largest is near enough to the largest of all */
       OPERATIONS = 16 * RUN };

static const double HEAVY = 1e6;   /* the log of a lighter S costs no digits */

/* e_j = exp(x_j - shift); returns their sum */
static double weights_from (Stop stop, size_t k, const double *x, double shift,
                            double *restrict e) {
  ExpRun run;
  for (size_t j = 0; j < k && !stops_at(stop, j / RUN, OPERATIONS); j += RUN) {
    size_t n = run_length(k - j);
    exp_run(n, x + j, shift, &run);
    EVERY for (size_t i = 0; i < n; i++) e[j + i] = exp_run_at(&run, i);
  }
  return simplex_total(stop, k, e);
}

/* with m for the shift, or the largest of a few if that does as well */
static double weights (Stop stop, size_t k, const double *x, double *shift, double *e) {
  double sum = weights_from(stop, k, x, *shift = simplex_shift(stop, k < FEW ? k : FEW, x), e);
  if (sum >= 1 && sum < HEAVY) return sum;
  return weights_from(stop, k, x, *shift = simplex_shift(stop, k, x), e);
}

static size_t row_scratch (const size_t dims[]) {
  return dims[0];
}

static void kl_div_logits (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *t = event(b, 1, r);
    double shift, sum = weights(b->stop, k, x, &shift, b->scratch);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; j = end)
      terms(end - j, x + j, t + j, shift, b->scratch + j);
    out[r] = fma(vlog(sum), simplex_total(b->stop, k, t),
                 simplex_total(b->stop, k, b->scratch));
  }
}

/* up (e_j/S sum_i t_i - t_j) */
static void logits_slopes (Stop stop, size_t k, const double *x, const double *t, double up,
                           double *d) {
  double shift, sum = weights(stop, k, x, &shift, d), scale = up * simplex_total(stop, k, t) / sum;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) d[j] = fma(scale, d[j], -up * t[j]);
}

/* up (log t_j + 1 - (x_j - m - log S)) */
static void target_slopes (Stop stop, size_t k, const double *x, const double *t, double up,
                           double *d) {
  double shift = simplex_shift(stop, k, x), log_sum = vlog(simplex_sum(stop, k, x, shift, k));
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) d[j] = up * (vlog(t[j]) + 1 - ((x[j] - shift) - log_sum));
}

static void kl_div_logits_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *t = event(b, 1, r);
    if (is_wanted(b, 0)) logits_slopes(b->stop, k, x, t, upstream[r], d[0] + r * k);
    if (is_wanted(b, 1)) target_slopes(b->stop, k, x, t, upstream[r], d[1] + r * k);
  }
}


const Kernel perilune_loss[] = {
  {.name = "kl_div", .n_in = 2, .value = kl_div, .partials = kl_div_partials,
   .shortcuts = &(const Shortcuts) {.first_partial = kl_div_first}},
  {.name = "kl_div_log", .n_in = 2, .value = kl_div_log, .partials = kl_div_log_partials,
   .shortcuts = &(const Shortcuts) {.first_partial = kl_div_log_first}},
  {.name = "kl_div_logits", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k),(k)->()", .run = kl_div_logits, .scratch = row_scratch,
     .adjoint = kl_div_logits_adjoint}},
  {.name = NULL}
};
