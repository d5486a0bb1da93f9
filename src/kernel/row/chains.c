/*
** chains.c - what the draws of m chains, rows of n numbers, say of their common mean
**
**   rhat = sqrt((B/W + n - 1)/n),   B = n var(means),   W = mean(variances)
**   ess  = m n/(-1 + 2 sum of rho_t),   rho_t = 1 - (W - mean autocovariance at lag t)/V,
**          V = (n - 1)/n W + var(means), summed by Geyer's initial monotone sequence
**
** A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Buerkner, "Rank-normalization, folding,
** and localization", Bayesian Analysis 16 (2021). NaN where all draws are the same, or some not
** finite.
*/
#include <math.h>

#include "kernel/kernel.h"
#include "special/eight.h"
#include "special/vmath.h"

#define LEAST 4    /* draws of a chain whose autocorrelation can be told */

/* Chains without their means, and what these are. */
typedef struct Chains {
  size_t m, n;
  double *centred;         /* m n numbers, in the scratch */
  double within;           /* W */
  double between;          /* the variance of the means; 0 of a single chain */
} Chains;

static size_t room (const size_t dims[]) { return dims[0] * dims[1] + dims[0]; }


static double join (const Eight *s) {
  Four both = s->low + s->high;
  return (both[0] + both[2]) + (both[1] + both[3]);
}

static double sum_of (size_t n, const double *x) {
  Eight s = {{0}, {0}}, a;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    eight_load(&a, x + i);
    s.low += a.low;
    s.high += a.high;
  }
  double sum = join(&s);
  for (; i < n; i++) sum += x[i];
  return sum;
}

static double dot_of (size_t n, const double *x, const double *y) {
  Eight s = {{0}, {0}}, a, b;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    eight_load(&a, x + i);
    eight_load(&b, y + i);
    s.low += a.low * b.low;
    s.high += a.high * b.high;
  }
  double sum = join(&s);
  for (; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static double variance (size_t n, const double *x) {
  double mean = sum_of(n, x) / (double)n, sum = 0;
  for (size_t i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
  return sum / (double)(n - 1);
}

/* The mean over chains of the autocovariance, with divisor n. */
static double autocovariance (const Chains *c, size_t lag) {
  double sum = 0;
  for (size_t i = 0; i < c->m; i++)
    sum += dot_of(c->n - lag, c->centred + i * c->n, c->centred + i * c->n + lag);
  return sum / (double)c->n / (double)c->m;
}

static Chains centre (size_t m, size_t n, const double *x, double *scratch) {
  double *mean = scratch + m * n;
  Chains c = {.m = m, .n = n, .centred = scratch};
  for (size_t i = 0; i < m; i++, x += n) {
    mean[i] = sum_of(n, x) / (double)n;
    for (size_t j = 0; j < n; j++) c.centred[i * n + j] = x[j] - mean[i];
  }
  c.within = autocovariance(&c, 0) * (double)n / (double)(n - 1);
  c.between = m > 1 ? variance(m, mean) : 0;
  return c;
}

static int is_usable (size_t m, size_t n, const double *x) {
  int differ = 0;
  if (m == 0 || !(fabs(sum_of(m * n, x)) < INFINITY)) return 0;
  for (size_t i = 1; i < m * n; i++) differ |= x[i] != x[0];
  return differ;
}


static void rhat (const Batch *b, double *out) {
  size_t m = b->dims[0], n = b->dims[1];
  for (size_t r = 0; r < b->n && !stops(b->stop); r++) {
    const double *x = event(b, 0, r);
    out[r] = NAN;
    if (m < 2 || n < 2 || !is_usable(m, n, x)) continue;
    Chains c = centre(m, n, x, b->scratch);
    out[r] = sqrt(((double)n * c.between / c.within + (double)(n - 1)) / (double)n);
  }
}


static double autocorrelation (const Chains *c, double total, size_t lag) {
  return 1 - (c->within - autocovariance(c, lag)) / total;
}

/* -1 + 2 sum of rho_t: by pairs, while these are positive, none larger than the one before; of the
   pair after the last the first counts once. */
static double time_of (Stop stop, const Chains *c) {
  double total = c->within * (double)(c->n - 1) / (double)c->n + c->between;
  double even = 1, odd = autocorrelation(c, total, 1), pair = INFINITY, sum = 0;
  size_t lag = 0;
  while (lag + 5 < c->n && even + odd > 0 && !stops(stop)) {
    if (even + odd < pair) pair = even + odd;
    sum += pair;
    lag += 2;
    even = autocorrelation(c, total, lag);
    odd = autocorrelation(c, total, lag + 1);
  }
  return -1 + 2 * sum + (even > 0 || even + odd >= 0 ? even : 0);
}

static void ess (const Batch *b, double *out) {
  size_t m = b->dims[0], n = b->dims[1];
  for (size_t r = 0; r < b->n && !stops(b->stop); r++) {
    const double *x = event(b, 0, r);
    out[r] = NAN;
    if (n < LEAST || !is_usable(m, n, x)) continue;
    Chains c = centre(m, n, x, b->scratch);
    double count = (double)(m * n), time = time_of(b->stop, &c), least = vlog(10) / vlog(count);
    out[r] = count / (time > least ? time : least);
  }
}


const Kernel perilune_row_chains[] = {
  {.name = "rhat", .n_in = 1,
   .rows = &(const RowKernel) {.signature = "(m,n)->()", .run = rhat, .scratch = room, .whole = 1}},
  {.name = "ess", .n_in = 1,
   .rows = &(const RowKernel) {.signature = "(m,n)->()", .run = ess, .scratch = room, .whole = 1}},
  {.name = NULL}
};
