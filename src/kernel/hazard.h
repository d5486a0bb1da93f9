/*
** hazard.h - families that are an exponential waiting time, transformed
**
**   X = x(e),   e standard exponential,   t(x) the inverse of x(e)
**
** If t increases, 1 - F(x) = e^-t and t is the cumulative hazard; if it falls,
** F(x) = e^-t and the two tails change places. A kernel gives t as a pair (an
** exponent of -700 magnifies its rounding), x(e), and their slopes, all
** VECTOR functions of a point {x or e, parameters...}. Outside the support t is 0 or
** inf with slopes 0.
*/
#ifndef PERILUNE_HAZARD_H
#define PERILUNE_HAZARD_H

#include "kernel/sided.h"
#include "special/pair.h"
#include "special/vmath.h"

typedef Pair Hazard (const double v[]);
typedef double LogHazard (const double v[], double d[]);

/* What a family's file says: functions of {x, parameters...} and their slopes. */
typedef struct HazardLaw {
  int falls;                            /* does t fall as x grows? */
  Hazard *hazard;                       /* t */
  Pointwise *log_density, *quantile;    /* quantile: x from {e, parameters...} */
  PointwiseSlopes *hazard_slopes, *log_density_slopes, *quantile_slopes;
  LogHazard *log_hazard;   /* log t, for t of less than FEW_DIGITS, and its slopes, for any t */
} HazardLaw;


/* by times a slope, 0 where either is */
VECTOR double slope_product (double by, double s) {
  double product = by * s;
  product = by == 0 ? 0.0 : product;
  return s == 0 ? 0.0 : product;
}


/* {=====================================================
** The two tails, functions of t, and their derivatives
** ====================================================== */

/* e^-t: the part that still waits */
VECTOR double waiting (Pair t) {
  double e = vexp(-t.hi);
  return fma(-t.lo, e, e);
}

VECTOR double waiting_slope (Pair t) { return -vexp(-t.hi); }

/* 1 - e^-t */
VECTOR double arrived (Pair t) {
  double p = -vexpm1(-t.hi);
  return fma(t.lo, 1 - p, p);
}

VECTOR double arrived_slope (Pair t) { return vexp(-t.hi); }

VECTOR double log_waiting (Pair t) { return -t.hi - t.lo; }
VECTOR double log_waiting_slope (Pair t) { return (void)t, -1; }

VECTOR double log_arrived (Pair t) { return vlog1mexp(-t.hi); }
VECTOR double log_arrived_slope (Pair t) { return 1 / vexpm1(t.hi); }

/* }====================================================== */


/* {=====================================================
** Quantiles: x(e) at the e that a probability stands for
** ====================================================== */

/* e with the part p of the waiting times below it; adding 0 makes -0 into 0 */
VECTOR double wait_below (double p) {
  double e = 0.0 - vlog1p(-p);
  return p < 0 ? (double)NAN : e;
}

VECTOR double wait_below_slope (double p) { return 1 / (1 - p); }

/* e with the part q above it */
VECTOR double wait_above (double q) {
  double e = 0.0 - vlog(q);
  return q > 1 ? (double)NAN : e;
}

VECTOR double wait_above_slope (double q) { return -1 / q; }

/* }====================================================== */

#endif
