/*
** vpow.h - powers, and the logarithm as a pair that they need
**
**   x^y = e^(y log x)
**
** y magnifies the error of log x up to 745 times, so the logarithm carries ten
** bits and more beyond a double: of log(1 + f) = 2s + s R(s^2), see vmath.h, the
** first terms 2s + 2s^3/3 + 2s^5/5 are summed as pairs.
*/
#ifndef PERILUNE_VPOW_H
#define PERILUNE_VPOW_H

#include "special/pair.h"
#include "special/vmath.h"


/* (R(z) - 2z/3 - 2z^2/5)/z^3 on z <= 0.02945, error of z^3 times it 2^-72 relative to 2 */
VECTOR double pow_series (double z) {
  double z2 = z * z;
  double a = fma(z, 0.22222222220009757443, 0.28571428571433166166);
  double b = fma(z, 0.15384572866483270381, 0.18181818605866456595);
  double c = fma(z, 0.11685015511421935341, 0.13335764415588405307);
  c = fma(z2, 0.11911186774085248674, c);
  return fma(z2, fma(z2, c, b), a);
}

/* log x for x in (0, inf) as a pair, relative error about 2^-68 */
VECTOR Pair log_pair (double x) {
  LogReduction r = log_reduce(x, log_scale(x));
  Pair s = pair_quotient(r.f, fast_sum(2.0, r.f));
  Pair z = pair_product(s, s);
  Pair c = fast_sum(0.4, z.hi * pow_series(z.hi));
  c = pair_product(z, (Pair) {c.hi, c.lo - 2.2204460492503132041e-17});
  Pair b = fast_sum(0.66666666666666662966, c.hi);
  b = pair_product(z, (Pair) {b.hi, b.lo + (c.lo + 3.7007434154171882626e-17)});
  Pair a = pair_product(s, b);
  Pair t = fast_sum(2.0 * s.hi, a.hi);
  Pair u = fast_sum(-r.n * LN2_HIGH, t.hi);
  double low = fma(-r.n, LN2_LOW, t.lo + fma(2.0, s.lo, a.lo));
  return fast_sum(u.hi, u.lo + low);
}

/* signs, integers and infinities as in C's pow */
VECTOR double vpow (double x, double y) {
  double a = fabs(x);
  Pair l = log_pair(a);
  l.hi = log_edges(a, l.hi);
  double p = y * l.hi;
  double low = fma(y, l.hi, -p) + y * l.lo;
  double r = exp_pair(clamp(p, -800.0, 800.0), fabs(p) < 800.0 ? low : 0.0);
  int integer = floor(y) == y;
  int odd = integer && floor(0.5 * y) != 0.5 * y;
  r = a == 1.0 && y == y ? 1.0 : r;
  r = odd ? copysign(r, x) : r;
  r = x < 0 && !integer && a < HUGE_VAL ? (double) NAN : r;
  return y == 0 || x == 1.0 ? 1.0 : r;
}

#endif
