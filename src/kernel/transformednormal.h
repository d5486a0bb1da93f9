/*
** transformednormal.h - families that are an increasing function of a Normal
**
** x has such a law when y(x), increasing, is Normal(loc, scale):
**
**   log p(x) = -z^2/2 - log(2 pi)/2 - log(scale) - log(dx/dy),   z = (y - loc)/scale
**   F(x)     = Phi(z),    x = x(loc + scale z)
**
** A family gives y(x), x(y) and dx/dy as VECTOR functions. y is a pair, since
** a small scale magnifies its rounding, and is infinite outside the support.
*/
#ifndef PERILUNE_TRANSFORMEDNORMAL_H
#define PERILUNE_TRANSFORMEDNORMAL_H

#include "special/pair.h"

/* What a family's file says: the change of variable. */
typedef struct Change {
  Pair (*y) (double x);
  double (*x) (Pair y);
  double (*dx_dy) (double x);        /* at x, */
  double (*dx_dy_at) (Pair y);       /* or at y */
  double (*log_dx_dy) (double y);
  double (*growth) (double x);       /* the slope of log(dx/dy) in y */
} Change;

#endif
