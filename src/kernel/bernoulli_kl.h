/*
** bernoulli_kl.h - KL(Bernoulli || Bernoulli) on logits a and b
**
** With p = sigmoid(a), D = b - a and f(d) = e^d - 1 - d,
**
**   KL = log(1 + p X),   X = f((1 - p) D) + (1 - p) f(-p D)/p
**
** where nothing cancels when b is near a; further out log(1 + e^b) - log(1 + e^a) - p D. For a > 0
** both signs are changed, so that p <= 1/2.
*/
#ifndef PERILUNE_BERNOULLI_KL_H
#define PERILUNE_BERNOULLI_KL_H

#include "special/vmath.h"

static const double BERNOULLI_KL_NEAR = 1;   /* |D| */


/* (e^d - 1 - d)/d^2 for |d| <= 1, from the half of d: e^d - 1 = (e^(d/2) - 1)(e^(d/2) + 1) */
VECTOR double bernoulli_kl_curve (double d) {
  double h = 0.25 * d, q = exp_tail(h), w = fma(h, q, 1.0);   /* (e^h - 1)/h */
  double q2 = 0.25 * fma(w, w, 2.0 * q), w2 = fma(2.0 * h, q2, 1.0);
  return 0.25 * fma(w2, w2, 2.0 * q2);
}

/* X for |D| <= 1 */
VECTOR double bernoulli_kl_excess (double p, double rest, double gap) {
  double x = rest * gap, y = -p * gap;
  return x * x * bernoulli_kl_curve(x) + rest * p * gap * gap * bernoulli_kl_curve(y);
}

/* KL of the coin */
VECTOR double bernoulli_kl_divergence (double a, double b) {
  double l = -fabs(a), m = a > 0 ? -b : b, gap = m - l;
  double p = vsigmoid(l), rest = vsigmoid(-l);
  double near = vlog1p(p * bernoulli_kl_excess(p, rest, gap));
  double mean = p == 0 ? 0.0 : p * gap;
  double far = (vsoftplus(m) - vsoftplus(l)) - mean;
  double value = fabs(gap) <= BERNOULLI_KL_NEAR ? near : far;
  double edge = ((fabs(m) == HUGE_VAL) & (l > -HUGE_VAL)) ? HUGE_VAL : value;
  edge = ((l == -HUGE_VAL) & (m == m)) ? vsoftplus(m) : edge;
  return a == b ? 0.0 : edge;
}

/* sigmoid(b) - sigmoid(a) */
VECTOR double bernoulli_kl_rise (double a, double b) {
  double near = vexpm1(b - a) * vsigmoid(a) * vsigmoid(-b), far = vsigmoid(b) - vsigmoid(a);
  return fabs(b - a) <= BERNOULLI_KL_NEAR ? near : far;
}

#endif
