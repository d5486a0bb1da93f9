/*
** standard.h - families that are shifted and scaled copies of one law
**
** A location-scale family is known by the functions of its standard member:
**
**   log p(x) = g(z) - log(scale),   F(x) = G(z),   z = (x - loc)/scale
**   x        = loc + scale z(p)
**
** A kernel gives such a function, a VECTOR function of one number, and its
** slope; the loops over x, loc and scale are written here, once. They are
** always inlined, so that the function given becomes part of the loop.
*/
#ifndef PERILUNE_STANDARD_H
#define PERILUNE_STANDARD_H

#include "kernel/repeated.h"
#include "kernel/kernel.h"
#include "special/vector.h"
#include "special/vmath.h"

typedef double Standard (double);

/* What a family's file says of z: each function, and its slope. A symmetric law needs no
   functions of its upper tail. */
typedef struct StandardLaw {
  Standard *log_density, *log_density_slope;
  Standard *cdf, *cdf_slope, *log_cdf, *log_cdf_slope;
  Standard *sf, *sf_slope, *log_sf, *log_sf_slope;
  Standard *icdf, *icdf_slope, *isf, *isf_slope;
  Standard *from_noise, *from_noise_slope;   /* z from a sampler's noise */
  double entropy;
  int symmetric;                             /* sf(z) = cdf(-z), isf(q) = -icdf(q) */
  /* where log_density(z) = share moment(z) + constant, moment(z) = z log_density_slope(z) */
  Standard *moment;
  double moment_share, moment_constant;
} StandardLaw;


/* out = f(z), for cdf, sf and their logarithms */
VECTOR void standard_value (size_t n, const double *const in[], double *out,
                            Standard *f) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = f((x[i] - loc[i]) / scale[i]);
}

VECTOR void standard_partials (size_t n, const double *const in[],
                               double *const d[], Standard *slope) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  double *dx = d[0], *dloc = d[1], *dscale = d[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double z = (x[i] - loc[i]) / scale[i], s = slope(z) / scale[i];
    dx[i] = s;
    dloc[i] = -s;
    dscale[i] = -slope_times(s, z);
  }
}


/* out = g(z) - log(scale) */
VECTOR void standard_log_density (size_t n, const double *const in[], double *out,
                                  Standard *g) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  if (all_same(n, scale)) {
    double shared = scale[0], log_shared = vlog(shared);
    EVERY for (size_t i = 0; i < n; i++) out[i] = g((x[i] - loc[i]) / shared) - log_shared;
    return;
  }
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = g((x[i] - loc[i]) / scale[i]) - vlog(scale[i]);
}

/* A factor that brings a scale to where its inverse has all digits. */
VECTOR double to_middle (double scale) {
  return scale < 0x1p-1000 ? 0x1p600 : scale > 0x1p1000 ? 0x1p-600 : 1;
}

VECTOR void standard_log_density_partials (size_t n, const double *const in[],
                                           double *const d[], Standard *slope) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  double *dx = d[0], *dloc = d[1], *dscale = d[2];
  if (all_same(n, scale) && to_middle(scale[0]) == 1) {
    double inverse = 1 / scale[0];
    EVERY for (size_t i = 0; i < n; i++) {
      double z = (x[i] - loc[i]) * inverse, s = slope(z);
      dx[i] = s * inverse;
      dloc[i] = -s * inverse;
      dscale[i] = fma(-z, s, -1) * inverse;
    }
    return;
  }
  EVERY for (size_t i = 0; i < n; i++) {
    double by = to_middle(scale[i]), inverse = 1 / (scale[i] * by);
    double z = (x[i] - loc[i]) * by * inverse, s = slope(z);
    dx[i] = s * inverse * by;
    dloc[i] = -s * inverse * by;
    dscale[i] = fma(-z, s, -1) * inverse * by;
  }
}

#define STANDARD_LANES 16

/* the sum of f(z) over a block */
VECTOR double standard_sum (size_t n, const double *x, double loc, double scale,
                            Standard *f) {
  double by = to_middle(scale), inverse = 1 / (scale * by), lane[STANDARD_LANES] = {0};
  size_t i = 0;
  for (; i + STANDARD_LANES <= n; i += STANDARD_LANES)
    for (size_t j = 0; j < STANDARD_LANES; j++)
      lane[j] += f((x[i + j] - loc) * by * inverse);
  for (size_t j = 0; i < n; i++, j++) lane[j] += f((x[i] - loc) * by * inverse);
  for (size_t width = STANDARD_LANES / 2; width > 0; width /= 2)
    for (size_t j = 0; j < width; j++) lane[j] += lane[j + width];
  return lane[0];
}

/* for a law with g(z) = share z g'(z) + constant; `moment` is z g'(z) */
VECTOR void standard_log_density_totals (size_t n, const double *const in[], double *out,
                                         Standard *slope, Standard *moment, double share,
                                         double constant) {
  double loc = in[1][0], scale = in[2][0], count = (double)n;
  double by = to_middle(scale), inverse = 1 / (scale * by);
  double moments = standard_sum(n, in[0], loc, scale, moment);
  out[0] = fma(share, moments, count * (constant - vlog(scale)));
  out[1] = -standard_sum(n, in[0], loc, scale, slope) * inverse * by;
  out[2] = -(moments + count) * inverse * by;
}


/* out = loc + scale f(p), for icdf, isf and samplers */
VECTOR void standard_quantile (size_t n, const double *const in[], double *out,
                               Standard *f) {
  const double *p = in[0], *loc = in[1], *scale = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = fma(scale[i], f(p[i]), loc[i]);
}

VECTOR void standard_quantile_partials (size_t n, const double *const in[],
                                        double *const d[], Standard *f,
                                        Standard *slope) {
  const double *p = in[0], *scale = in[2];
  double *dp = d[0], *dloc = d[1], *dscale = d[2];
  EVERY for (size_t i = 0; i < n; i++) {
    dp[i] = scale[i] * slope(p[i]);
    dloc[i] = 1;
    dscale[i] = f(p[i]);
  }
}


/* entropy of the standard member plus log(scale); operands loc, scale */
VECTOR void standard_entropy (size_t n, const double *const in[], double *out,
                              double constant) {
  const double *scale = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlog(scale[i]) + constant;
}

static inline void standard_entropy_partials (size_t n, const double *const in[],
                                              double *const d[]) {
  const double *scale = in[1];
  double *dloc = d[0], *dscale = d[1];
  EVERY for (size_t i = 0; i < n; i++) {
    dloc[i] = 0;
    dscale[i] = 1 / scale[i];
  }
}

#endif
