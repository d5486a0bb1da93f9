/*
** vdensity.h - the standard normal density, and its quotient by Phi
*/
#ifndef PERILUNE_VDENSITY_H
#define PERILUNE_VDENSITY_H

#include "special/constants.h"
#include "special/verf.h"
#include "special/vmath.h"


/* phi(z) = e^(-z^2/2)/sqrt(2 pi), the rounding error of z^2 made good */
VECTOR double vdensity (double z) {
  double square = z * z, rest = fma(z, z, -square);
  double p = exp_pair(clamp(-0.5 * square, -800.0, 0.0), square < 1600 ? -0.5 * rest : 0.0);
  return INV_SQRT_2PI * p;
}

/* phi(z)/Phi(z), the slope of log Phi: no tail underflows on the way */
VECTOR double vhazard (double z) {
  double left = SQRT_2_OVER_PI / verfcx(-SQRT_HALF * z);
  return z < 0 ? left : vdensity(z) / vndtr(z);
}

#endif
