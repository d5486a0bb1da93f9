/*
** vhyperbolic.h - sinh and asinh
*/
#ifndef PERILUNE_VHYPERBOLIC_H
#define PERILUNE_VHYPERBOLIC_H

#include "special/constants.h"
#include "special/vmath.h"

/* (e + e/(1 + e))/2 with e = e^|x| - 1; two factors where e^|x| overflows and sinh does not */
VECTOR double vsinh (double x) {
  double size = fabs(x), e = vexpm1(size < 709 ? size : 709.0), half = vexp(0.5 * size);
  double near = 0.5 * (e + e / (1 + e)), far = 0.5 * half * half;
  return copysign(size < 709 ? near : far, x);
}

/* log(1 + y + y^2/(1 + sqrt(1 + y^2))), y = |x| */
VECTOR double vasinh (double x) {
  double size = fabs(x), y = size < 1e150 ? size : 1e150, square = y * y;
  double near = vlog1p(y + square / (1 + sqrt(1 + square))), far = vlog(size) + LN2;
  return copysign(size < 1e150 ? near : far, x);
}

#endif
