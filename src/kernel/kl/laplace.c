/*
** laplace.c - KL(Laplace || q)
**
** To Laplace, with r = s1/s2, e = r - 1 and t = |m1 - m2|/s1:
**
**   KL = r (t + e^-t - 1) + (e - log r)
**
** Neither term is negative, so nothing cancels when p is near q.
*/
#include "kernel/kernel.h"
#include "special/vdelay.h"
#include "special/vratio.h"


/* r t = |m1 - m2|/s2 is right where r or t is not */
static double to_laplace_wide (double m1, double s1, double m2, double s2) {
  double gap = fabs(m1 - m2), t = gap / s1, r = s1 / s2;
  double far = fma(r, vexpm1(-t), gap / s2);
  return (t < 1 ? r * vdelay(t) : far) + vexcess_wide(s1, s2);
}

static void to_laplace (size_t n, const double *const in[], double *out) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    double inverse = 1 / s2[i], r = s1[i] * inverse, e = (s1[i] - s2[i]) * inverse;
    double t = fabs(m1[i] - m2[i]) / s1[i];
    out[i] = fma(r, vdelay(t), vexcess(r, e));
    odd |= !(vratio_plain(r, s2[i]) & (t < 1e300));
  }
  for (size_t i = 0; odd && i < n; i++)
    if (!(vratio_plain(s1[i] * (1 / s2[i]), s2[i]) & (fabs(m1[i] - m2[i]) / s1[i] < 1e300)))
      out[i] = to_laplace_wide(m1[i], s1[i], m2[i], s2[i]);
}

/* (1 + t) e^-t - 1 = delay + t (e^-t - 1) */
static void to_laplace_partials (size_t n, const double *const in[], double *const d[]) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double e = (s1[i] - s2[i]) / s2[i], r = s1[i] / s2[i];
    double t = fabs(m1[i] - m2[i]) / s1[i], fall = vexpm1(-t), delay = vdelay(t);
    double slope = copysign(fall, m1[i] - m2[i]) / s2[i];   /* of the sign of m1 - m2 */
    d[0][i] = t > 0 ? slope : t;
    d[1][i] = fma(r, fma(t, fall, delay), e) / s1[i];
    d[2][i] = t > 0 ? -slope : t;
    d[3][i] = fma(-r, delay, -e) / s2[i];
  }
}


const Kernel perilune_kl_laplace[] = {
  {.name = "Laplace", .n_in = 4, .value = to_laplace, .partials = to_laplace_partials},
  {.name = NULL}
};
