/*
** inversegaussian.c - KL(InverseGaussian || q)
**
** To InverseGaussian, with r = l2/l1 and y = (m1 - m2)/m2:
**
**   KL = (r - 1 - log r)/2 + y^2 l2/(2 m1)
**
** where the last term is 0 for two infinite means, and infinite for m1 alone.
*/
#include "kernel/kernel.h"
#include "special/vratio.h"


/* y, for an infinite m2 as well */
VECTOR double offset (double m1, double m2) {
  return m2 == HUGE_VAL ? -1.0 : (m1 - m2) / m2;
}

/* y^2 l2/m1 for an infinite m1 */
VECTOR double without_end (double m2) { return m2 == HUGE_VAL ? 0.0 : HUGE_VAL; }

static void to_inversegaussian (size_t n, const double *const in[], double *out) {
  const double *m1 = in[0], *l1 = in[1], *m2 = in[2], *l2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double y = offset(m1[i], m2[i]), excess = vexcess_wide(l2[i], l1[i]);
    double finite = fma(y * l2[i], y / m1[i], excess);
    out[i] = 0.5 * (m1[i] == HUGE_VAL ? excess + without_end(m2[i]) : finite);
  }
}

static void to_inversegaussian_partials (size_t n, const double *const in[], double *const d[]) {
  const double *m1 = in[0], *l1 = in[1], *m2 = in[2], *l2 = in[3];
  double *dm1 = d[0], *dl1 = d[1], *dm2 = d[2], *dl2 = d[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double y = offset(m1[i], m2[i]), e = (l2[i] - l1[i]) / l1[i];
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
