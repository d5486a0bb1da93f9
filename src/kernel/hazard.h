/*
** hazard.h - families that are an exponential waiting time, transformed
**
**   X = x(e),   e standard exponential,   t(x) the inverse of x(e)
**
** If t increases, 1 - F(x) = e^-t and t is the cumulative hazard; if it falls,
** F(x) = e^-t and the two tails change places. A kernel gives t as a pair (an
** exponent of -700 magnifies its rounding), x(e), and their slopes, all
** VECTOR functions of the operands v[0] = x or e, v[1], ... = parameters; the
** loops are written here, once, and inlined. Outside the support t is 0 or inf
** with slopes 0.
*/
#ifndef PERILUNE_HAZARD_H
#define PERILUNE_HAZARD_H

#include "kernel/pointwise.h"
#include "special/pair.h"
#include "special/vmath.h"

typedef Pair Hazard (const double v[]);
typedef double OfPair (Pair t);
typedef double OfNumber (double p);

/* What a family's file says: functions of {x, parameters...} and their slopes. */
typedef struct HazardLaw {
  int operands;                            /* x and two or three parameters */
  int falls;                               /* does t fall as x grows? */
  Hazard *hazard;                          /* t */
  Pointwise *log_density, *quantile;       /* quantile: x from {e, parameters...} */
  PointwiseSlopes *hazard_slopes, *log_density_slopes, *quantile_slopes;
  Pointwise *mean, *stddev, *entropy;      /* of the parameters alone */
  PointwiseSlopes *mean_slopes, *stddev_slopes, *entropy_slopes;
} HazardLaw;


/* by times a slope, 0 where either is */
VECTOR double slope_product (double by, double s) {
  double product = by * s;
  product = by == 0 ? 0.0 : product;
  return s == 0 ? 0.0 : product;
}

VECTOR void scatter (int m, double *const d[], size_t i, double by, const double s[]) {
  d[0][i] = slope_product(by, s[0]);
  d[1][i] = slope_product(by, s[1]);
  d[2][i] = slope_product(by, s[2]);
  if (m > 3) d[3][i] = slope_product(by, s[3]);
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

VECTOR void hazard_value (int m, size_t n, const double *const in[], double *out,
                          Hazard *hazard, OfPair *tail) {
  for (size_t i = 0; i < n; i++) {
    double v[POINT_MAX];
    point_gather(m, in, i, v);
    out[i] = tail(hazard(v));
  }
}

VECTOR void hazard_partials (int m, size_t n, const double *const in[], double *const d[],
                             Hazard *hazard, PointwiseSlopes *slopes, OfPair *tail_slope) {
  double *const to[] = {d[0], d[1], d[2], d[m > 3 ? 3 : 0]};
  for (size_t i = 0; i < n; i++) {
    double v[POINT_MAX], s[POINT_MAX];
    point_gather(m, in, i, v);
    slopes(v, s);
    scatter(m, to, i, tail_slope(hazard(v)), s);
  }
}

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

/* a sampler's noise is e itself */
VECTOR double wait_given (double e) { return e; }
VECTOR double wait_given_slope (double e) { return (void)e, 1; }

VECTOR void hazard_quantile (int m, size_t n, const double *const in[], double *out,
                             Pointwise *quantile, OfNumber *wait) {
  for (size_t i = 0; i < n; i++) {
    double v[POINT_MAX];
    point_gather(m, in, i, v);
    v[0] = wait(v[0]);
    out[i] = quantile(v);
  }
}

VECTOR void hazard_quantile_partials (int m, size_t n, const double *const in[],
                                      double *const d[], PointwiseSlopes *slopes, OfNumber *wait,
                                      OfNumber *wait_slope) {
  double *const to[] = {d[0], d[1], d[2], d[m > 3 ? 3 : 0]};
  for (size_t i = 0; i < n; i++) {
    double v[POINT_MAX], s[POINT_MAX];
    point_gather(m, in, i, v);
    double by = wait_slope(v[0]);
    v[0] = wait(v[0]);
    slopes(v, s);
    s[0] *= by;
    scatter(m, to, i, 1, s);
  }
}

/* }====================================================== */


/* the partials of a density */
VECTOR void hazard_density_partials (int m, size_t n, const double *const in[],
                                     double *const d[], PointwiseSlopes *slopes) {
  double *const to[] = {d[0], d[1], d[2], d[m > 3 ? 3 : 0]};
  for (size_t i = 0; i < n; i++) {
    double v[POINT_MAX], s[POINT_MAX];
    point_gather(m, in, i, v);
    slopes(v, s);
    scatter(m, to, i, 1, s);
  }
}

#endif
