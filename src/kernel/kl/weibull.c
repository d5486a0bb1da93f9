/*
** weibull.c - KL(Weibull || q)
**
** To Weibull, that of extreme.h with r = k2/k1 and z = k2 log(scale1/scale2).
*/
#include "kernel/kernel.h"
#include "kernel/kl/extreme.h"


VECTOR Extremes extremes (double scale1, double k1, double scale2, double k2) {
  return (Extremes) {
    .above = k2, .below = k1, .e = (k2 - k1) / k1, .z = k2 * vlog_ratio(scale1, scale2)
  };
}

static void to_weibull (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = extreme_divergence(extremes(in[0][i], in[1][i], in[2][i], in[3][i]));
}

static void to_weibull_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale1 = in[0], *k1 = in[1], *scale2 = in[2], *k2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    ExtremeSlopes s = extreme_slopes(extremes(scale1[i], k1[i], scale2[i], k2[i]));
    double gap = vlog_ratio(scale1[i], scale2[i]), r = k2[i] / k1[i];
    d[0][i] = s.rise * k2[i] / scale1[i];
    d[1][i] = fma(-s.rise, s.psi, -s.tilt) * r / k1[i];
    d[2][i] = -s.rise * k2[i] / scale2[i];
    d[3][i] = fma(s.rise, gap + s.psi / k1[i], s.tilt / k1[i]);
  }
}


const Kernel perilune_kl_weibull[] = {
  {.name = "Weibull", .n_in = 4, .value = to_weibull, .partials = to_weibull_partials},
  {.name = NULL}
};
