/*
** implicit.h - derivatives of tails, quantiles and draws, from density and slopes alone
**
** Let dx/dtheta be the slope of x along a parameter while the probability below x is fixed. Then
**
**   dF/dtheta = -p dx/dtheta,   d quantile/dtheta = dx/dtheta,   d draw/dtheta = dx/dtheta
**
** A family gives its log density and these slopes at one point, {x, parameters...}, and
** implicit_kernels.h the kernels; with the slopes of its log density, density_kernels.h makes
** those of log_prob. They are for families whose tails are expensive: nothing there is
** vectorised.
*/
#ifndef PERILUNE_IMPLICIT_H
#define PERILUNE_IMPLICIT_H

#include "kernel/sided.h"

typedef struct Implicit {
  Pointwise *log_density;
  PointwiseSlopes *log_density_slopes;   /* or NULL, where log_prob is written out */
  void (*slopes) (const double *at, double *dx);   /* dx/d parameter, each of them */
  Sided *tail, *log_tail, *quantile;
  Sided *hazard;   /* the density over a tail, or NULL: the difference of their logarithms says it */
  int falls_on;    /* does log p fall for ever, at least linearly? Far out its slope is the hazard */
} Implicit;

#endif
