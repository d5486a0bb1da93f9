/*
** maxwell.c - KL(Maxwell || q)
**
** To Maxwell, with r = scale1/scale2 and e = r - 1, three times the divergence of the Normals:
**
**   KL = 3 (e^2/2 + (e - log r))
*/
#include "kernel/kernel.h"
#include "special/vratio.h"


static void to_maxwell (size_t n, const double *const in[], double *out) {
  const double *scale1 = in[0], *scale2 = in[1];
  uint64_t odd = 0;
  for (size_t i = 0; i < n; i++) {
    double inverse = 1 / scale2[i], r = scale1[i] * inverse, e = (scale1[i] - scale2[i]) * inverse;
    out[i] = 3 * fma(0.5 * e, e, vexcess(r, e));
    odd |= !vratio_plain(r, scale2[i]);
  }
  for (size_t i = 0; odd && i < n; i++) {
    if (vratio_plain(scale1[i] * (1 / scale2[i]), scale2[i])) continue;
    double e = (scale1[i] - scale2[i]) / scale2[i];
    out[i] = 3 * fma(0.5 * e, e, vexcess_wide(scale1[i], scale2[i]));
  }
}

static void to_maxwell_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale1 = in[0], *scale2 = in[1];
  for (size_t i = 0; i < n; i++) {
    double e = (scale1[i] - scale2[i]) / scale2[i], gap = 3 * e * (e + 2);   /* 3 (r^2 - 1) */
    d[0][i] = gap / scale1[i];
    d[1][i] = -gap / scale2[i];
  }
}


const Kernel perilune_kl_maxwell[] = {
  {.name = "Maxwell", .n_in = 2, .value = to_maxwell, .partials = to_maxwell_partials},
  {.name = NULL}
};
