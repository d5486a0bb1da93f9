/*
** vhypot.h - sqrt(x^2 + y^2)
**
** The larger is brought to where squares neither overflow nor lose digits, and the root is
** corrected by what it leaves over (Borges, An improved algorithm for hypot(a, b), 2019). C
** libraries differ in the last digit of theirs.
*/
#ifndef PERILUNE_VHYPOT_H
#define PERILUNE_VHYPOT_H

#include "special/vector.h"

typedef struct Legs { double large, small, unit; } Legs;

VECTOR Legs scaled_legs (double x, double y) {
  double a = fabs(x), b = fabs(y);
  double large = a > b ? a : b, small = a > b ? b : a;
  double unit = large > 0x1p500 ? 0x1p600 : large < 0x1p-400 ? 0x1p-600 : 1.0;
  return (Legs) {large / unit, small / unit, unit};
}

/* in units of l.unit */
VECTOR double long_side (Legs l) {
  double a = l.large, b = l.small, h = sqrt(fma(a, a, b * b));
  double squared = h * h, leg = a * a;
  double rest = fma(-b, b, squared - leg) + (fma(h, h, -squared) - fma(a, a, -leg));
  return h > 0 ? h - rest / (2 * h) : h;
}

/* of what is NaN: NaN, or inf where y is infinite */
VECTOR double vhypot (double x, double y) {
  Legs l = scaled_legs(x, y);
  double h = long_side(l) * l.unit;
  return l.large == HUGE_VAL ? l.large : h;
}

#endif
