/*
** transformednormal.h - the Normal seen through a change of variable
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

#include "kernel/kernel.h"
#include "special/pair.h"
#include "special/vmath.h"

#define HALF_LOG_2PI 0.91893853320467274178

/* What a family's file says: the change of variable. */
typedef struct Change {
  Pair (*y) (double x);
  double (*x) (Pair y);
  double (*dx_dy) (double x);        /* at x, */
  double (*dx_dy_at) (Pair y);       /* or at y */
  double (*log_dx_dy) (double y);
  double (*growth) (double x);       /* the slope of log(dx/dy) in y */
} Change;

typedef double OfNormal (double z);


VECTOR double normal_z (Pair y, double loc, double scale) {
  return ((y.hi - loc) + y.lo) / scale;
}


/* out = f(z), for cdf, sf and their logarithms */
VECTOR void transformed_value (size_t n, const double *const in[], double *out,
                               Change by, OfNormal *f) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = f(normal_z(by.y(x[i]), loc[i], scale[i]));
}

VECTOR void transformed_partials (size_t n, const double *const in[],
                                  double *const d[], Change by, OfNormal *slope) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  double *dx = d[0], *dloc = d[1], *dscale = d[2];
  for (size_t i = 0; i < n; i++) {
    double z = normal_z(by.y(x[i]), loc[i], scale[i]), s = slope(z) / scale[i];
    int outside = fabs(z) == HUGE_VAL;
    dx[i] = outside ? 0.0 : s / by.dx_dy(x[i]);
    dloc[i] = outside ? 0.0 : -s;
    dscale[i] = outside ? 0.0 : -z * s;
  }
}


VECTOR void transformed_log_density (size_t n, const double *const in[], double *out,
                                     Change by) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) {
    Pair y = by.y(x[i]);
    double z = normal_z(y, loc[i], scale[i]);
    double inside = fma(-0.5 * z, z, -HALF_LOG_2PI) - vlog(scale[i]) - by.log_dx_dy(y.hi);
    out[i] = fabs(z) == HUGE_VAL ? -HUGE_VAL : inside;
  }
}

VECTOR void transformed_log_density_partials (size_t n, const double *const in[],
                                              double *const d[], Change by) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  double *dx = d[0], *dloc = d[1], *dscale = d[2];
  for (size_t i = 0; i < n; i++) {
    double z = normal_z(by.y(x[i]), loc[i], scale[i]), s = z / scale[i];
    int outside = fabs(z) == HUGE_VAL;
    dx[i] = outside ? 0.0 : -(s + by.growth(x[i])) / by.dx_dy(x[i]);
    dloc[i] = outside ? 0.0 : s;
    dscale[i] = outside ? 0.0 : fma(z, z, -1) / scale[i];
  }
}


/* loc + scale z with what rounding takes from it; the rest is NaN if z is infinite */
VECTOR Pair normal_y (double z, double loc, double scale) {
  Pair p = exact_product(scale, z), y = exact_sum(loc, p.hi);
  return (Pair) {y.hi, y.lo + p.lo};
}

/* out = x(loc + scale f(p)), for icdf, isf and samplers */
VECTOR void transformed_quantile (size_t n, const double *const in[], double *out,
                                  Change by, OfNormal *f) {
  const double *p = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = by.x(normal_y(f(p[i]), loc[i], scale[i]));
}

VECTOR void transformed_quantile_partials (size_t n, const double *const in[],
                                           double *const d[], Change by, OfNormal *f,
                                           OfNormal *slope) {
  const double *p = in[0], *loc = in[1], *scale = in[2];
  double *dp = d[0], *dloc = d[1], *dscale = d[2];
  for (size_t i = 0; i < n; i++) {
    double z = f(p[i]), s = by.dx_dy_at(normal_y(z, loc[i], scale[i]));
    dp[i] = s == 0 ? 0.0 : s * scale[i] * slope(p[i]);
    dloc[i] = s;
    dscale[i] = s == 0 ? 0.0 : s * z;
  }
}

#endif
