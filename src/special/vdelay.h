/*
** vdelay.h - t + e^-t - 1 and e^t - 1 - t, without cancellation for small t
*/
#ifndef PERILUNE_VDELAY_H
#define PERILUNE_VDELAY_H

#include "special/vmath.h"

/* for t >= 0; while the reduction of -t leaves it as it is, t^2 q(-t), see vmath.h */
VECTOR double vdelay (double t) {
  ExpReduction e = exp_reduce(clamp(-t, -750.0, 0.0));
  double tail = exp_tail(e.hi), square = e.hi * e.hi;
  double power = (1.0 + fma(square, tail, e.hi)) * e.scale1 * e.scale2;
  return t < 0.34 ? square * tail : (t - 1.0) + power;
}

/* e^t - 1 - t, for any t */
VECTOR double vexp_surplus (double t) {
  double near = t * t * exp_tail(clamp(t, -0.34, 0.34));
  return fabs(t) < 0.34 ? near : vexpm1(t) - t;
}

#endif
