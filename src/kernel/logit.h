/*
** logit.h - the logistic function and its inverse, the logit a pair
**
** The absolute error of y becomes the relative error of x = 1/(1 + e^-y). Where y is large, or was
** divided by something small, a double is not enough.
*/
#ifndef PERILUNE_LOGIT_H
#define PERILUNE_LOGIT_H

#include "special/pair.h"
#include "special/vmath.h"
#include "special/vpow.h"


/* log(x/(1 - x)), the quotient taken as a pair */
VECTOR Pair logit_of (double x) {
  Pair q = pair_ratio((Pair) {x, 0.0}, fast_sum(1.0, -x)), l = log_pair(q.hi);
  Pair y = exact_sum(l.hi, l.lo + q.lo / q.hi);
  double hi = x >= 1 ? HUGE_VAL : log_edges(q.hi, y.hi);
  return (Pair) {x <= 0 ? -HUGE_VAL : hi, ((x > 0) & (x < 1)) ? y.lo : 0.0};
}

/* e^-|y| */
VECTOR double decay (Pair y) {
  double a = fabs(y.hi), lo = a < 800 ? y.lo : 0.0;
  return exp_pair(a > 800 ? -800.0 : -a, y.hi < 0 ? lo : -lo);
}

VECTOR double sigmoid_of (Pair y) {
  double e = decay(y);
  return (y.hi < 0 ? e : 1.0) / (1 + e);
}

/* x(1 - x) */
VECTOR double slope_at (Pair y) {
  double e = decay(y);
  return e / (1 + e) / (1 + e);
}

/* log(x(1 - x)) */
VECTOR double logistic_log_slope (double y) {
  return fma(-2.0, log1p_unit(vexp(-fabs(y))), -fabs(y));
}

#endif
