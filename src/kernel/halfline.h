/*
** halfline.h - families of x >= 0 that are scaled copies of one law
**
** Such a family is known by functions of z = x/scale. A kernel gives them,
** VECTOR functions, and the loops are written here, once:
**
**   F(x) = G(z),   log p(x) = g(z) - log(scale),   x = scale z(p)
**
** Functions take x and scale, not z, because logarithms of tails outlive the
** range of z. A slope is df/dz; a drift is df/d log z, for functions that
** grow like log z from x = 0. Below 0 everything stands as at 0.
*/
#ifndef PERILUNE_HALFLINE_H
#define PERILUNE_HALFLINE_H

#include "kernel/pointwise.h"
#include "special/vmath.h"

typedef double OfScaled (double x, double scale);
typedef double OfRatio (double z);

/* What a family's file says. */
typedef struct HalflineLaw {
  OfScaled *log_density;                /* g */
  PointwiseSlopes *log_density_slopes;  /* of log p(x) itself, in {x, scale} */
  OfScaled *cdf, *sf, *log_cdf, *log_sf;
  OfRatio *cdf_slope, *sf_slope, *log_cdf_drift, *log_sf_slope;
  PointwiseSlopes *cdf_slopes, *sf_slopes, *log_sf_slopes;   /* in place of a slope in z */
  OfRatio *icdf, *icdf_slope, *isf, *isf_slope;
  OfRatio *from_noise, *from_noise_slope;   /* z from a sampler's noise */
  double entropy;                           /* of the law with scale 1 */
} HalflineLaw;

/* below this z, terms of relative order z^2 vanish */
static const double HALFLINE_TINY = 1e-9;


/* z, 0 below the support, and finite, so that z times a vanishing slope is 0 */
VECTOR double halfline_ratio (double x, double scale) {
  return clamp(x / scale, 0.0, 1.7976931348623157e308);
}


/* out = f(x, scale), for cdf, sf and their logarithms */
VECTOR void halfline_value (size_t n, const double *const in[], double *out,
                            OfScaled *f) {
  const double *x = in[0], *scale = in[1];
  for (size_t i = 0; i < n; i++) out[i] = f(x[i] <= 0 ? 0.0 : x[i], scale[i]);
}

VECTOR void halfline_partials (size_t n, const double *const in[],
                               double *const d[], OfRatio *slope) {
  const double *x = in[0], *scale = in[1];
  double *dx = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    double z = halfline_ratio(x[i], scale[i]), s = slope(z) / scale[i];
    s = x[i] < 0 ? 0.0 : s;
    dx[i] = s;
    dscale[i] = -z * s;
  }
}

VECTOR void halfline_drift_partials (size_t n, const double *const in[],
                                     double *const d[], OfRatio *drift) {
  const double *x = in[0], *scale = in[1];
  double *dx = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    double e = drift(halfline_ratio(x[i], scale[i]));
    e = x[i] < 0 ? 0.0 : e;
    dx[i] = e / x[i];
    dscale[i] = -e / scale[i];
  }
}


/* out = g(x, scale) - log(scale) */
VECTOR void halfline_log_density (size_t n, const double *const in[], double *out,
                                  OfScaled *g) {
  const double *x = in[0], *scale = in[1];
  for (size_t i = 0; i < n; i++) {
    double inside = g(x[i], scale[i]) - vlog(scale[i]);
    out[i] = x[i] < 0 ? -HUGE_VAL : inside;
  }
}


/* out = scale f(p), for icdf, isf and samplers */
VECTOR void halfline_quantile (size_t n, const double *const in[], double *out,
                               OfRatio *f) {
  const double *p = in[0], *scale = in[1];
  for (size_t i = 0; i < n; i++) out[i] = scale[i] * f(p[i]);
}

VECTOR void halfline_quantile_partials (size_t n, const double *const in[],
                                        double *const d[], OfRatio *f,
                                        OfRatio *slope) {
  const double *p = in[0], *scale = in[1];
  double *dp = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    dp[i] = scale[i] * slope(p[i]);
    dscale[i] = f(p[i]);
  }
}


/* entropy of the law with scale 1, plus log(scale) */
VECTOR void halfline_entropy (size_t n, const double *const in[], double *out,
                              double constant) {
  const double *scale = in[0];
  for (size_t i = 0; i < n; i++) out[i] = vlog(scale[i]) + constant;
}

static inline void halfline_entropy_partials (size_t n, const double *const in[],
                                              double *const d[]) {
  const double *scale = in[0];
  double *dscale = d[0];
  for (size_t i = 0; i < n; i++) dscale[i] = 1 / scale[i];
}

#endif
