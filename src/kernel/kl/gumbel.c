/*
** gumbel.c - KL(Gumbel || q)
**
** To Gumbel, that of extreme.h with r = scale1/scale2 and z = (loc2 - loc1)/scale2.
*/
#include "kernel/kernel.h"
#include "kernel/kl/extreme.h"


VECTOR Extremes extremes (double loc1, double scale1, double loc2, double scale2) {
  return (Extremes) {
    .above = scale1, .below = scale2, .e = (scale1 - scale2) / scale2,
    .z = (loc2 - loc1) / scale2
  };
}

static void to_gumbel (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = extreme_divergence(extremes(in[0][i], in[1][i], in[2][i], in[3][i]));
}

static void to_gumbel_partials (size_t n, const double *const in[], double *const d[]) {
  const double *loc1 = in[0], *scale1 = in[1], *loc2 = in[2], *scale2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    Extremes p = extremes(loc1[i], scale1[i], loc2[i], scale2[i]);
    ExtremeSlopes s = extreme_slopes(p);
    double r = scale1[i] / scale2[i];
    d[0][i] = -s.rise / scale2[i];
    d[1][i] = fma(s.rise, s.psi, s.tilt) / scale2[i];
    d[2][i] = s.rise / scale2[i];
    d[3][i] = fma(-s.rise, fma(s.psi, r, p.z), -s.tilt * r) / scale2[i];
  }
}


const Kernel perilune_kl_gumbel[] = {
  {.name = "Gumbel", .n_in = 4, .value = to_gumbel, .partials = to_gumbel_partials},
  {.name = NULL}
};
