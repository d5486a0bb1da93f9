/*
** polya.h - counts of n draws from Polya's urn, where each draw of a kind makes it more likely
**
** Of K kinds with weights a_j, whose sum is A, x_j are drawn with the probability
**
**   P(x) = N(x_1; a_1) ... N(x_K; a_K)/N(n; A),   N(x; a) = Gamma(x + a)/(Gamma(a) x!) p^x q^a
**
** whatever p is. With p = n/(n + A) the means of the negative binomials N are those of the
** counts, and in Loader's form (binomial_law.h) nothing is left to cancel, however large A is.
*/
#ifndef PERILUNE_POLYA_H
#define PERILUNE_POLYA_H

#include "kernel/binomial_law.h"
#include "special/constants.h"

/* n, A, p and q, and minus their logarithms */
typedef struct Urn { double n, total; Odds o; } Urn;

static inline Urn urn_of (double n, double total) {
  double m = n + total;
  return (Urn) {n, total, {n / m, total / m, vlog1p(total / n), vlog1p(n / total)}};
}

/* x log(x/(x + d)) + d, with x + d = np; minus_log_p is that of p */
VECTOR double polya_deviance (double x, double d, double n, double minus_log_p) {
  double near = -x * vlog1pmx(d / x), far = fma(x, vlog_ratio(x, n) + minus_log_p, d);
  return fabs(d) <= fma(0.5, d, x) ? near : far;
}

/* log N(x; a) for x = 0 and x >= 1/2 */
VECTOR double polya_log_weight (double x, double a, Urn u) {
  double x1 = x < 0.5 ? 1 : x, m = x1 + a, d = fma(x1, u.o.q, -a * u.o.p);
  double mu = stirlerr_above(m) - stirlerr_above(x1) - vstirlerr(a);
  double apart = polya_deviance(x1, -d, m, u.o.log_p) + polya_deviance(a, d, m, u.o.log_q);
  double value = (mu - apart) + fma(0.5, vlog(a / m / x1), -HALF_LOG_2PI);
  return x < 0.5 ? -a * u.o.log_q : value;
}

/* log N(x; a) at the mean x = na/A, where both deviances are 0 */
static inline double polya_log_peak (double x, double a) {
  double m = x + a, mu = stirlerr_above(m) - stirlerr_above(x) - vstirlerr(a);
  return mu + fma(0.5, vlog(a / m / x), -HALF_LOG_2PI);
}

static inline double polya_log_whole (Urn u) { return polya_log_peak(u.n, u.total); }

/* psi(a + x) - psi(a) - psi(A + n) + psi(A), the slope of log P along a */
VECTOR double polya_slope (double x, double a, double n, double total) {
  double gap = fma(x, total, -n * a) / (a * (n + total));   /* (1 + x/a)/(1 + n/A) - 1 */
  double log_gap = fabs(gap) < 0.5 ? vlog1p(gap) : vlog1p(x / a) - vlog1p(n / total);
  double near = (vdigamma_pos(a + x) - vdigamma_pos(a))
              - (vdigamma_pos(total + n) - vdigamma_pos(total));
  return a < 2.25 ? near : log_gap + (digamma_step(a, x) - digamma_step(total, n));
}

#endif
