/*
** divided.h - how far a polynomial in 1/(x + s) rises above its tangent, without cancellation
**
** With F(u) = u P(u) a polynomial, u = 1/(x + s), and d = b - a,
**
**   F(u_b) - F(u_a) - dF/dx(a) d = d^2 u_a^2 u_b (F[u_a, u_a] + u_b F[u_a, u_a, u_b])
**
** where the brackets are divided differences, which repeated Horner schemes give.
*/
#ifndef PERILUNE_DIVIDED_H
#define PERILUNE_DIVIDED_H

#include "special/vector.h"

/* P, F[a, a], and F[a, a] + u_b F[a, a, b] */
typedef struct Divided { double value, slope, rise; } Divided;

/* the highest coefficient */
VECTOR Divided divided_start (double c) { return (Divided) {c, c, c}; }

/* the next one */
VECTOR Divided divided_step (Divided p, double ua, double ub, double c) {
  p.value = fma(p.value, ua, c);
  p.slope = fma(p.slope, ua, p.value);
  p.rise = fma(p.rise, ub, p.slope);
  return p;
}

#endif
