/*
** implicit.h - derivatives of tails, quantiles and draws, from density and slopes alone
**
** If x moves as dx/dtheta when a parameter moves and the probability below x stays, then
**
**   dF/dtheta = -p dx/dtheta,   d quantile/dtheta = dx/dtheta,   d draw/dtheta = dx/dtheta
**
** A family gives its log density and these slopes at one point, {x, parameters...}, and
** implicit_kernels.h the kernels. They are for families whose tails are dear: nothing there
** vectorises.
*/
#ifndef PERILUNE_IMPLICIT_H
#define PERILUNE_IMPLICIT_H

#include "kernel/sided.h"

typedef struct Implicit {
  Pointwise *log_density;
  void (*slopes) (const double *at, double *dx);   /* dx/d parameter, each of them */
  Sided *tail, *log_tail, *quantile;
} Implicit;

#endif
