/*
** vratio.h - r - 1 - log r of a ratio r, without cancellation
**
**   excess(a, b) = r - 1 - log r >= 0,    r = a/b
**
** for Kullback-Leibler divergences between scales or rates.
** Kernels take it in two steps: vexcess, fast, for all elements, and
** vexcess_wide afterwards for the few, if any, that are not vratio_plain.
*/
#ifndef PERILUNE_VRATIO_H
#define PERILUNE_VRATIO_H

#include "special/vmath.h"

/* Is 1/b exact to the last bit or so, and r = a/b far from the ends of the
   range? False for anything that is not positive and finite. */
VECTOR int vratio_plain (double r, double b) {
  return (r > 0x1p-1000) & (r < 0x1p1000) & (b > 0x1p-1000) & (b < 0x1p1000);
}

/*
** excess from r and e = r - 1, which the caller knows better than r tells.
** With r = 2^-n (1 + f) and s = f/(2 + f), log r = -n ln 2 + 2s + s R(s^2).
** For n = 0, f is e itself and e - 2s = e s, so nothing cancels.
*/
VECTOR double vexcess (double r, double e) {
  LogReduction l = log_reduce(r, 1.0);
  double f = l.n == 0 ? e : l.f;
  double s = f / (2.0 + f), z = s * s;
  double near = e * s, far = fma(l.n, LN2, fma(-2.0, s, e));
  return fma(-s * z, log_series(z), l.n == 0 ? near : far);
}

/* excess for all a, b: +inf where one is 0 or infinite, NaN where negative */
VECTOR double vexcess_wide (double a, double b) {
  double e = (a - b) / b, gap = vlog_ratio(a, b);
  double near = -vlog1pmx(e);
  double edge = ((a >= 0) & (b >= 0)) ? HUGE_VAL : (double)NAN;
  double inside = fabs(gap) < 0.25 ? near : e - gap;
  return ((a > 0) & (b > 0) & (a < HUGE_VAL) & (b < HUGE_VAL)) ? inside : edge;
}

#endif
