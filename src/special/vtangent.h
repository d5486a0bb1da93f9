/*
** vtangent.h - how far log Gamma rises above its tangent, without cancellation
**
**   gap(a, d) = log Gamma(b) - log Gamma(a) - psi(a) d >= 0,    b = a + d
**
** for Kullback-Leibler divergences between shapes. With Stirling's formula and
** D(b, a) = b log(b/a) - d, e(b, a) = d/a - log(b/a),
**
**   gap = D + e/2 + M,   M the same gap of Binet's function mu
**
** where each part is positive. mu(x) is a polynomial F in u = 1/(x + 1/2), x >= 2, so M comes
** from divided differences of F:  M = d^2 u_a^2 u_b (F[a,a] + u_b F[a,a,b]).
** Smaller arguments by the recurrence:  gap(a, d) = gap(a + 1, d) + e(b, a).
*/
#ifndef PERILUNE_VTANGENT_H
#define PERILUNE_VTANGENT_H

#include "special/divided.h"
#include "special/vmath.h"

/* from here on mu is F; M is off by at most 2^-49.9 of the gap */
static const double TANGENT_FROM = 2;


/* log(1 + e) = 2s + tail for 1 + e within sqrt(2) of 1, else `whole`; r = 1 + e */
typedef struct TangentLog { int near; double s, tail, whole; } TangentLog;

VECTOR TangentLog tangent_log (double r, double e) {
  LogReduction l = log_reduce(r, 1.0);
  double f = l.n == 0 ? e : l.f, s = f / (2.0 + f), z = s * s, tail = s * z * log_series(z);
  return (TangentLog) {l.n == 0, s, tail, fma(-l.n, LN2, fma(2.0, s, tail))};
}

/* F[a,a] + u_b F[a,a,b]; fitted for the error of mu'' relative to psi' */
VECTOR double tangent_series (double ua, double ub) {
  Divided f = divided_start(0.0005196817774139045774);
  f = divided_step(f, ua, ub, -0.00170014806532732107335);
  f = divided_step(f, ua, ub, 0.00255600998006284952435);
  f = divided_step(f, ua, ub, -0.00169262326195970968385);
  f = divided_step(f, ua, ub, 0.000443777720812370651604);
  f = divided_step(f, ua, ub, 0.00104554334023830528978);
  f = divided_step(f, ua, ub, 0.00111829776562683236037);
  f = divided_step(f, ua, ub, 0.00183548787251311165724);
  f = divided_step(f, ua, ub, 0.00624994316451706268356);
  f = divided_step(f, ua, ub, 0.0180555617729267109827);
  f = divided_step(f, ua, ub, 0.0416666662978510814555);
  return divided_step(f, ua, ub, 0.0833333333453747428851).rise;
}

/* M for a, b >= 2 */
VECTOR double tangent_binet (double a, double b, double d) {
  double sa = a + 0.5, sb = b + 0.5, v = 1 / (sa * sb), ua = sb * v, ub = sa * v;
  return (d * ua) * (d * ub) * ua * tangent_series(ua, ub);
}

/* D + e/2 for a, b >= 2:  (b - 1/2) log(b/a) - d + d/(2a); nearby the first order cancels */
VECTOR double tangent_stirling (double a, double b, double d) {
  double inverse = 1 / a, y = d * inverse;
  TangentLog l = tangent_log(b * inverse, y);
  double near = l.s * fma(0.5, y, d), far = fma(0.5, y, -d);
  return fma(b - 0.5, l.near ? l.tail : l.whole, l.near ? near : far);
}

/* e(b, a) + e(b + 1, a + 1), one logarithm for both, given v = 1/(a(a + 1)) */
VECTOR double tangent_steps (double a, double b, double d, double v) {
  double linear = d * (a + a + 1) * v, square = d * d * v, w = linear + square;
  TangentLog l = tangent_log(b * (b + 1) * v, w);
  double near = fma(w, l.s, -l.tail) - square;
  return l.near ? near : linear - l.whole;
}

/* for a and b within 1e-100 and 1e100, d = b - a, which the caller may know better */
VECTOR double vtangent_gap (double a, double b, double d) {
  int low = (a < TANGENT_FROM) | (b < TANGENT_FROM);
  double shift = low ? 2 : 0, x = a + shift, y = b + shift;
  double steps = tangent_steps(a, b, d, 1 / (a * (a + 1)));
  return tangent_stirling(x, y, d) + (tangent_binet(x, y, d) + (low ? steps : 0.0));
}

#endif
