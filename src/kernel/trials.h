/*
** trials.h - laws that count successes: Binomial, NegativeBinomial, BetaBinomial
**
** With x successes and y failures among n = x + y trials, p + q = 1, the chance of one
** given x, log(Gamma(n + 1)/(Gamma(x + 1) Gamma(y + 1)) p^x q^y), is
**
**   mu(n) - mu(x) - mu(y) - D(x, np) - D(y, nq) + log(n/(2 pi x y))/2
**
** where D(x, m) = x log(x/m) + m - x and mu is what Stirling's formula lacks of log Gamma:
** nothing cancels (C. Loader, "Fast and accurate computation of binomial probabilities",
** 2000). The tails of the first two laws are incomplete beta functions,
**
**   P(X <= k) = I_q(a, k + 1),   slope along the logit  -d,   d = q^a p^(k+1)/B(a, k+1)
**
** with a = n - k for Binomial and a = total_count for NegativeBinomial.
*/
#ifndef PERILUNE_TRIALS_H
#define PERILUNE_TRIALS_H

#include "special/incbeta.h"
#include "special/vgamma.h"
#include "special/vmath.h"


/* p and q = 1 - p, and minus their logarithms, finite where p or q underflows */
typedef struct Odds { double p, q, log_p, log_q; } Odds;

VECTOR Odds odds_of (double logit) {
  return (Odds) {vsigmoid(logit), vsigmoid(-logit), vsoftplus(-logit), vsoftplus(logit)};
}

/* is x an outcome, last or before it? */
VECTOR int is_outcome (double x, double last) {
  return (x >= 0) & (x <= last) & (x < HUGE_VAL) & (floor(x) == x);
}

/* -inf off the outcomes; NaN stays */
VECTOR double at_outcome (double x, double last, double value) {
  double off = x == x ? -HUGE_VAL : x;
  return is_outcome(x, last) ? value : off;
}


/* D(x, np) for x > 0, given p and -log p */
VECTOR double trials_deviance (double x, double n, double p, double log_p) {
  double m = n * p, d = m - x;
  double near = -x * vlog1pmx(d / x);
  double far = fma(x, vlog_ratio(x, n) + log_p, d);
  return fabs(d) <= 0.5 * m + 0.5 * x ? near : far;
}

/* D(x, np) + D(y, nq), n = x + y, both positive */
VECTOR double trials_deviances (double x, double y, double n, Odds o) {
  return trials_deviance(x, n, o.p, o.log_p) + trials_deviance(y, n, o.q, o.log_q);
}

/* psi(z + k) - psi(z) - log(1 + k/z) for z >= 9/4, k >= 0 */
VECTOR double digamma_step (double z, double k) {
  double r = 1 / z, s = 1 / (z + k);
  return fma(0.5 * k * r, s, digamma_far(r * r) - digamma_far(s * s));
}

/* psi(z + k) - psi(z) + log q, z > 0, without cancellation for large z */
VECTOR double trials_slope (double z, double k, Odds o) {
  double gap = fma(k, o.q, -z * o.p) / z;   /* (z + k) q/z - 1 */
  double log_gap = fabs(gap) < 0.5 ? vlog1p(gap) : vlog1p(k / z) - o.log_q;
  double near = vdigamma_pos(z + k) - vdigamma_pos(z) - o.log_q;
  return z < 2.25 ? near : log_gap + digamma_step(z, k);
}


/* {=====================================================
** Tails
** ====================================================== */

/*
** a, and log(d/p) at an outcome k; the law begins at 0 and ends where a = 0
*/
typedef struct Trials {
  double (*shape) (double k, double total);
  double (*log_height) (double k, double total, double logit);
} Trials;

/* a tail of less than that is its first term, d/a or d/(k + 1) */
static const double TRIALS_TINY = 1e-290;

/* log P(X <= x), or log P(X > x) */
static inline double trials_log_tail (const Trials *t, double x, double total, double logit,
                                      int upper) {
  double k = floor(x), a = t->shape(k, total);
  Odds o = odds_of(logit);
  if (!(k == k && a == a && logit == logit)) return (double)NAN;
  if (k < 0) return upper ? 0 : -HUGE_VAL;
  if (a <= 0 || k == HUGE_VAL) return upper ? -HUGE_VAL : 0;
  if (o.p < TRIALS_TINY || o.q < TRIALS_TINY) {
    int rare = o.p < TRIALS_TINY;
    double log_tail = t->log_height(k, total, logit) - o.log_p - vlog(rare ? k + 1 : a);
    return rare == upper ? log_tail : vlog1mexp(log_tail < 0 ? log_tail : 0);
  }
  double bulk = k * o.log_p;   /* all that counts of so far a tail: there are no such beta functions */
  if (k > 1e290 && bulk > 1e20 * (1 + a)) return upper ? -bulk : 0;
  return upper ? special_log_betaincc_xy(a, k + 1, o.q, o.p)
               : special_log_betainc_xy(a, k + 1, o.q, o.p);
}

static inline double trials_tail (const Trials *t, double x, double total, double logit,
                                  int upper) {
  double k = floor(x), a = t->shape(k, total);
  Odds o = odds_of(logit);
  if (!(k >= 0 && a > 0 && k < HUGE_VAL && o.p >= TRIALS_TINY && o.q >= TRIALS_TINY))
    return vexp(trials_log_tail(t, x, total, logit, upper));
  return upper ? special_betaincc_xy(a, k + 1, o.q, o.p)
               : special_betainc_xy(a, k + 1, o.q, o.p);
}

/*
** What the rounding of the logit, and of p and q made of it, may change in a tail: `slope` is
** that of the tail along the logit, relative to the probability of the outcome next to it, of
** which it is a small part.
*/
static inline double trials_noise (double slope, double log_prob, double logit) {
  double rounding = 0x1p-50 * (1 + fabs(logit));
  return fmin(rounding * slope, 0.25) * vexp(log_prob);
}

/*
** Slopes of log P(X <= x) + shift, or of the upper tail's, along total and logit: the
** shift -log P(X <= x) makes them those of the logarithm, 0 those of the tail itself.
*/
static inline void trials_slopes (const Trials *t, double x, double total, double logit,
                                  int upper, double shift, double *dtotal, double *dlogit) {
  double k = floor(x), a = t->shape(k, total), da, db;
  Odds o = odds_of(logit);
  *dtotal = *dlogit = 0;
  if (!(k >= 0 && a > 0 && k < HUGE_VAL)) return;
  if (shift == HUGE_VAL) {   /* an empty tail, whose logarithm goes with that of p^(k+1) or q^a */
    *dlogit = upper ? k + 1 : -a;
    return;
  }
  double height = vexp(t->log_height(k, total, logit) + shift);   /* d/p */
  if (!(height > 0)) return;
  *dlogit = upper ? height * o.p : -height * o.p;
  if (o.q <= o.p) special_beta_dx(a, k + 1, o.q, &da, &db);
  else {
    special_beta_dx(k + 1, a, o.p, &db, &da);
    da = -da;
  }
  *dtotal = (upper ? da : -da) * (height / o.q);
}

/* the four kernels of tails, operands x, total, logit */
static inline void trials_tails (const Trials *t, size_t n, const double *const in[],
                                 double *out, int upper) {
  for (size_t i = 0; i < n; i++) out[i] = trials_tail(t, in[0][i], in[1][i], in[2][i], upper);
}

static inline void trials_log_tails (const Trials *t, size_t n, const double *const in[],
                                     double *out, int upper) {
  for (size_t i = 0; i < n; i++) out[i] = trials_log_tail(t, in[0][i], in[1][i], in[2][i], upper);
}

static inline void trials_tail_partials (const Trials *t, size_t n, const double *const in[],
                                         double *const d[], int upper) {
  for (size_t i = 0; i < n; i++) {
    d[0][i] = 0;
    trials_slopes(t, in[0][i], in[1][i], in[2][i], upper, 0, &d[1][i], &d[2][i]);
  }
}

static inline void trials_log_tail_partials (const Trials *t, size_t n, const double *const in[],
                                             double *const d[], int upper) {
  for (size_t i = 0; i < n; i++) {
    double shift = -trials_log_tail(t, in[0][i], in[1][i], in[2][i], upper);
    d[0][i] = 0;
    trials_slopes(t, in[0][i], in[1][i], in[2][i], upper, shift, &d[1][i], &d[2][i]);
  }
}

/* }====================================================== */

#endif
