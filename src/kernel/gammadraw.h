/*
** gammadraw.h - draws of unit gamma variables
**
** G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26
** (2000). For a shape a >= 1, with d = a - 1/3, w = z/(3 sqrt d), z normal and u uniform,
**
**   d (1 + w)^3   if   log(1 - u) < 3d B,   B = log(1 + w) - w + w^2/2 - w^3/3
**
** is a draw, 19 times out of 20 or more. (3d B is z^2/2 + d - dv + d log v of the paper, but
** keeps its digits for large a.) As -B < w^4/(4 (1 + min(w, 0))), most draws pass without a
** logarithm. For a < 1 a draw is one for a + 1, times e^(-e/a) with e exponential.
**
** A draw takes the lanes from `lane` to `lane` + GAMMA_LANES - 1: attempt k the lanes 2k
** and 2k + 1, and e the last one.
*/
#ifndef PERILUNE_GAMMADRAW_H
#define PERILUNE_GAMMADRAW_H

#include "random/noise.h"
#include "special/incgamma.h"
#include "special/vmath.h"

enum { GAMMA_BLOCK = 256, GAMMA_ATTEMPTS = 100, GAMMA_LANES = 2 * GAMMA_ATTEMPTS + 1 };

/* d and 1/(3 sqrt d) */
typedef struct GammaScale { double d, width; } GammaScale;


static inline int all_same (size_t n, const double *v) {
  uint64_t differ = 0;
  for (size_t i = 1; i < n; i++) differ |= v[i] != v[0];
  return differ == 0;
}

/* for a, raised by 1 below 1; NaN unless a is positive */
VECTOR GammaScale gamma_scale (double a) {
  double least = a > 0 ? 2.0 / 3 : (double) NAN;
  double d = a < 1 ? a + least : a - 1.0 / 3;
  return (GammaScale) {d, 1 / (3 * vsqrt(d))};
}

VECTOR double gamma_candidate (GammaScale g, double z) {
  double v = fma(g.width, z, 1.0);
  return g.d * v * (v * v);
}

/* Is the candidate accepted whatever its logarithm? */
VECTOR int gamma_passes (GammaScale g, double z, double u) {
  double w = g.width * z, w2 = w * w;
  return u * (w < 0 ? 1 + w : 1.0) > 0.75 * g.d * w2 * w2;
}

/* B for w > -1 */
static inline double gamma_bracket (double w) {
  double w2 = w * w;
  if (fabs(w) < 1e-3) return w2 * w2 * fma(w, fma(w, -1.0 / 6, 0.2), -0.25);
  return fma(w2, fma(w, -1.0 / 3, 0.5), vlog1p(w) - w);
}

static inline int gamma_accepts (GammaScale g, double z, double u) {
  double w = g.width * z;
  return w > -1 && vlog1p(-u) < 3 * g.d * gamma_bracket(w);
}

/* the attempt with z and u, then further ones; if all fail, the quantile of a uniform number */
static inline double gamma_insist (const Philox *g, uint32_t lane, uint64_t element,
                                   GammaScale scale, double z, double u) {
  if (!(scale.d < HUGE_VAL)) return scale.d;
  for (uint32_t k = 1; k < GAMMA_ATTEMPTS; k++) {
    if (gamma_accepts(scale, z, u)) return gamma_candidate(scale, z);
    noise_normal(g, lane + 2 * k, element, 1, &z);
    noise_uniform(g, lane + 2 * k + 1, element, 1, &u);
  }
  return special_gammaincinv(scale.d + 1.0 / 3, u);
}

/* one shape for all is the common case: its scale is computed once, with the same bits */
static inline void gamma_scales (size_t n, const double *a, double *d, double *width) {
  size_t differing = all_same(n, a) ? 1 : n;
  for (size_t i = 0; i < differing; i++) {
    GammaScale scale = gamma_scale(a[i]);
    d[i] = scale.d;
    width[i] = scale.width;
  }
  for (size_t i = differing; i < n; i++) {
    d[i] = d[0];
    width[i] = width[0];
  }
}

/*
** Draws of shape a[i] are unit[i] root[i]^2, in factors so that the caller can bring in a
** scale before a tiny draw underflows. root[i] is 1 unless a[i] < 1. n <= GAMMA_BLOCK.
*/
static inline void gamma_draw (const Philox *g, uint32_t lane, uint64_t first, size_t n,
                               const double *a, double *unit, double *root) {
  double z[GAMMA_BLOCK], u[GAMMA_BLOCK], d[GAMMA_BLOCK], width[GAMMA_BLOCK];
  uint64_t small = 0;
  noise_normal(g, lane, first, n, z);
  noise_uniform(g, lane + 1, first, n, u);
  gamma_scales(n, a, d, width);
  for (size_t i = 0; i < n; i++) {
    GammaScale scale = {d[i], width[i]};
    double x = gamma_candidate(scale, z[i]);
    unit[i] = gamma_passes(scale, z[i], u[i]) ? x : -1.0;
    root[i] = 1;
    small |= a[i] < 1;
  }
  for (size_t i = 0; i < n; i++)
    if (unit[i] < 0)
      unit[i] = gamma_insist(g, lane, first + i, (GammaScale) {d[i], width[i]}, z[i], u[i]);
  if (!small) return;
  noise_exponential(g, lane + GAMMA_LANES - 1, first, n, u);
  for (size_t i = 0; i < n; i++) {
    double power = vexp(-0.5 * u[i] / a[i]);
    root[i] = a[i] < 1 ? power : 1.0;
  }
}

#endif
