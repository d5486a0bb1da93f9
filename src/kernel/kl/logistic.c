/*
** logistic.c - KL(Logistic || q)
**
** To Logistic with the same scale s, with y = |loc1 - loc2|/s,
**
**   KL = K(y) = y coth(y/2) - 2
**
** The caller checks that the scales are equal. The partials are those in all four parameters, each
** moved alone:
**
**   dKL/dy = (y^2 - K^2 - 2K)/(2y),   dKL/dscale1 = (K^2 + 4K - y^2)/(4s)
**
** and, because KL depends on ratios only, y dKL/dy + s dKL/dscale1 + s dKL/dscale2 = 0.
*/
#include "kernel/kernel.h"
#include "special/vmath.h"

static const double LINEAR_FROM = 80;   /* from here on K = y - 2 to the last bit */


/* K/y^2 in powers of x = y^2 <= 1, by Bernoulli's numbers */
VECTOR double divergence_series (double x) {
  double x2 = x * x, x4 = x2 * x2;
  double p = fma(x, -4.3497373971161237461e-16, 1.7172124112555689128e-14);
  p = fma(p, x4, cubic(x, x2, 4.1753513975736197958e-8,
      -1.056838027737498637e-9, 2.6765073061369357666e-11, -6.7793605926451657337e-13));
  return fma(p, x4, cubic(x, x2, 0.16666666666666666667,
      -0.0027777777777777777778, 0.000066137566137566137566, -1.6534391534391534392e-6));
}

VECTOR double divergence (double y) {
  double x = y * y, far = (y - 2) + 2 * y / vexpm1(clamp(y, 1.0, LINEAR_FROM));
  double value = y < 1 ? x * divergence_series(clamp(x, 0.0, 1.0)) : far;
  return y < HUGE_VAL ? value : y;
}

static void to_logistic (size_t n, const double *const in[], double *out) {
  const double *loc1 = in[0], *loc2 = in[2], *scale2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) out[i] = divergence(fabs(loc1[i] - loc2[i]) / scale2[i]);
}

static void to_logistic_partials (size_t n, const double *const in[], double *const d[]) {
  const double *loc1 = in[0], *loc2 = in[2], *scale2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double y = (loc1[i] - loc2[i]) / scale2[i], k = divergence(fabs(y)), x = y * y;
    double steep = fabs(y) < LINEAR_FROM ? (x - k * (k + 2)) / (2 * y) : copysign(1.0, y);
    double along = y == 0 ? 0 : steep;
    double spread = fabs(y) < LINEAR_FROM ? 0.25 * (k * (k + 4) - x) : -1.0;
    d[0][i] = along / scale2[i];
    d[1][i] = spread / scale2[i];
    d[2][i] = -along / scale2[i];
    d[3][i] = fma(-y, along, -spread) / scale2[i];
  }
}


const Kernel perilune_kl_logistic[] = {
  {.name = "same_scale", .n_in = 4, .value = to_logistic, .partials = to_logistic_partials},
  {.name = NULL}
};
