/*
** vratio.h - how far two positive numbers are apart, without cancellation
**
**   excess(a, b) = a/b - 1 - log(a/b) >= 0
**
** the heart of every Kullback-Leibler divergence between scales. With
** a/b = 2^-n ma/mb, mantissas within a factor sqrt(2) of each other,
** s = (ma - mb)/(ma + mb) and e = a/b - 1:
**
**   log(a/b) = -n ln 2 + 2s + s R(s^2)
**   excess   = e s - s R(s^2)   for n = 0, since then e - 2s = e s exactly
*/
#ifndef PERILUNE_VRATIO_H
#define PERILUNE_VRATIO_H

#include "special/vmath.h"


/* a/b - 1 and y/b; b is brought to the middle of the range first, so that
   1/b is a normal number whatever b. */
typedef struct Relative { double e, y; } Relative;

static inline Relative vrelative (double a, double b, double y) {
  double up = b < 0x1p-900 ? 0x1p200 : 1.0;
  double c = b > 0x1p900 ? 0x1p-200 : up;
  double inverse = 1.0 / (b * c);
  return (Relative) {.e = (a * c - b * c) * inverse, .y = y * c * inverse};
}

/* excess(a, b), given e = a/b - 1; for positive finite a and b */
static inline double vexcess_of (double e, double a, double b) {
  LogReduction ra = mantissa_reduce(a), rb = mantissa_reduce(b);
  double above = ra.f > SQRT2 * rb.f ? 1.0 : 0.0;
  double below = rb.f > SQRT2 * ra.f ? 1.0 : 0.0;
  double n = (ra.n - rb.n) - (above - below);
  double ma = fma(below, ra.f, ra.f), mb = fma(above, rb.f, rb.f);
  double s = (ma - mb) / (ma + mb);
  double z = s * s;
  double near = e * s, far = fma(n, LN2, fma(-2.0, s, e));
  return fma(-s * z, log_series(z), n == 0 ? near : far);
}

#endif
