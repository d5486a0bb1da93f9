/*
** binomial_law.h - laws that count successes: Binomial, NegativeBinomial, BetaBinomial
**
** With x successes and y failures among n = x + y trials, p + q = 1, the chance of one
** given x, log(Gamma(n + 1)/(Gamma(x + 1) Gamma(y + 1)) p^x q^y), is
**
**   mu(n) - mu(x) - mu(y) - D(x, np) - D(y, nq) + log(n/(2 pi x y))/2
**
** where D(x, m) = x log(x/m) + m - x and mu is the error of Stirling's formula: nothing
** cancels (C. Loader, "Fast and accurate computation of binomial probabilities",
** 2000). The tails of the first two laws are incomplete beta functions,
**
**   P(X <= k) = I_q(a, k + 1),   slope along the logit  -d,   d = q^a p^(k+1)/B(a, k+1)
**
** with a = n - k for Binomial and a = total_count for NegativeBinomial.
*/
#ifndef PERILUNE_BINOMIAL_LAW_H
#define PERILUNE_BINOMIAL_LAW_H

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
VECTOR double binomial_deviance (double x, double n, double p, double log_p) {
  double m = n * p, d = m - x;
  double near = -x * vlog1pmx(d / x);
  double far = fma(x, vlog_ratio(x, n) + log_p, d);
  return fabs(d) <= 0.5 * m + 0.5 * x ? near : far;
}

/* D(x, np) + D(y, nq), n = x + y, both positive */
VECTOR double binomial_deviances (double x, double y, double n, Odds o) {
  return binomial_deviance(x, n, o.p, o.log_p) + binomial_deviance(y, n, o.q, o.log_q);
}

/* psi(z + k) - psi(z) - log(1 + k/z) for z >= 9/4, k >= 0 */
VECTOR double digamma_step (double z, double k) {
  double r = 1 / z, s = 1 / (z + k);
  return fma(0.5 * k * r, s, digamma_far(r * r) - digamma_far(s * s));
}

/* psi(z + k) - psi(z) + log q, z > 0, without cancellation for large z */
VECTOR double binomial_slope (double z, double k, Odds o) {
  double gap = fma(k, o.q, -z * o.p) / z;   /* (z + k) q/z - 1 */
  double log_gap = fabs(gap) < 0.5 ? vlog1p(gap) : vlog1p(k / z) - o.log_q;
  double near = vdigamma_pos(z + k) - vdigamma_pos(z) - o.log_q;
  return z < 2.25 ? near : log_gap + digamma_step(z, k);
}


/* What a family's file says. The law begins at 0 and ends where a = 0. */
typedef struct BinomialLaw {
  double (*log_prob) (double k, double total, double logit);
  double (*total_slope) (double k, double total, Odds o);   /* of log P */
  double (*logit_slope) (double k, double total, Odds o);
  double (*shape) (double k, double total);                 /* a */
  double (*height) (double k, double total);                /* d/(p P(k)) */
  double (*steepness) (double k, double logit);             /* d/P(k + 1) */
  double (*last) (double total);                            /* outcome */
  double (*start) (double z, double total, Odds o);         /* near the quantile of Phi(z) */
} BinomialLaw;

#endif
