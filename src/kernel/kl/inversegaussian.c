/*
** inversegaussian.c - KL(InverseGaussian || q)
**
** To InverseGaussian, with r = l2/l1 and y = (m1 - m2)/m2:
**
**   KL = (r - 1 - log r)/2 + y^2 l2/(2 m1)
*/
#include "kernel/kernel.h"
#include "special/vratio.h"


static void to_inversegaussian (size_t n, const double *const in[], double *out) {
  const double *m1 = in[0], *l1 = in[1], *m2 = in[2], *l2 = in[3];
  for (size_t i = 0; i < n; i++) {
    double y = (m1[i] - m2[i]) / m2[i];
    out[i] = 0.5 * fma(y * l2[i], y / m1[i], vexcess_wide(l2[i], l1[i]));
  }
}

static void to_inversegaussian_partials (size_t n, const double *const in[], double *const d[]) {
  const double *m1 = in[0], *l1 = in[1], *m2 = in[2], *l2 = in[3];
  double *dm1 = d[0], *dl1 = d[1], *dm2 = d[2], *dl2 = d[3];
  for (size_t i = 0; i < n; i++) {
    double y = (m1[i] - m2[i]) / m2[i], e = (l2[i] - l1[i]) / l1[i];
    double per_mean = l2[i] / m1[i];
    dm1[i] = 0.5 * y * (1 / m1[i] + 1 / m2[i]) * per_mean;
    dl1[i] = -0.5 * e / l1[i];
    dm2[i] = -y * (l2[i] / m2[i]) / m2[i];
    dl2[i] = 0.5 * fma(y, y / m1[i], e / l2[i]);
  }
}


const Kernel perilune_kl_inversegaussian[] = {
  {.name = "InverseGaussian", .n_in = 4, .value = to_inversegaussian,
   .partials = to_inversegaussian_partials},
  {.name = NULL}
};
