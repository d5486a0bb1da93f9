/*
** incgamma.h - the regularised incomplete gamma functions, their logarithms and inverses
**
** a > 0 is the shape, x >= 0 the argument. At the edges: P(0,x) = 1 for x > 0, P(inf,x) = 0
** for finite x, P(a,0) = 0, P(a,inf) = 1; outside the domain, and at (0,0) and (inf,inf), NaN.
** Nothing overflows or loses digits on the way: every value that a double can hold is reached.
*/
#ifndef PERILUNE_INCGAMMA_H
#define PERILUNE_INCGAMMA_H

#include "special/pair.h"

/* P(a,x), the lower tail */
double special_gammainc (double a, double x);

/* Q(a,x) = 1 - P(a,x), the upper tail, with its own relative accuracy */
double special_gammaincc (double a, double x);

/* log P and log Q, finite and accurate where P or Q underflows */
double special_log_gammainc (double a, double x);
double special_log_gammaincc (double a, double x);

/* P or, if `upper`, Q, and their logarithms, at an x of twice the precision: where a is large, P
   goes from 0 to 1 within few ulps of x, and from a = 1e32 on within less than one */
double special_gamma_tail (double a, Pair x, int upper);
double special_log_gamma_tail (double a, Pair x, int upper);

/* x with P(a,x) = p */
double special_gammaincinv (double a, double p);

/* x with Q(a,x) = q */
double special_gammainccinv (double a, double q);

/* dx/da at fixed P(a,x), that is -(dP/da)/(dP/dx): the pathwise derivative of a Gamma(a,1) draw */
double special_gamma_dx_da (double a, double x);

#endif
