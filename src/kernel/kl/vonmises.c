/*
** vonmises.c - KL(VonMises || q)
**
** To VonMises, with s = sin((m1 - m2)/2) and the gap of bessel_gap.h for order 0:
**
**   KL = gap(k1, k2) + 2 k2 A(k1) s^2
*/
#include "kernel/kernel.h"
#include "special/bessel.h"
#include "special/bessel_gap.h"
#include "special/vtrig.h"


/* 2 s^2 */
static double turn (double m1, double m2) {
  double s = sin_any(0.5 * (m1 - m2));
  return 2 * s * s;
}

/* all as if far apart; those that are not in a second loop */
static void to_vonmises (size_t n, const double *const in[], double *out) {
  const double *m1 = in[0], *k1 = in[1], *m2 = in[2], *k2 = in[3];
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = fma(vbessel_ratio_c(k1[i]), k2[i] - k1[i], vlog_ratio(vi0e(k2[i]), vi0e(k1[i])));
  EVERY for (size_t i = 0; i < n; i++) {
    double gap = bessel_near(0, k1[i], k2[i]) ? bessel_gap(0, k1[i], k2[i]) : out[i];
    out[i] = fma(k2[i] * vbessel_i1_over_i0(k1[i]), turn(m1[i], m2[i]), gap);
  }
}

/* by k1: A'(k1) (k1 - k2 + 2 k2 s^2);  by k2: A(k2) - A(k1) + 2 A(k1) s^2 */
static void to_vonmises_partials (size_t n, const double *const in[], double *const d[]) {
  const double *m1 = in[0], *k1 = in[1], *m2 = in[2], *k2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double a = vbessel_i1_over_i0(k1[i]), twice = turn(m1[i], m2[i]);
    double pull = k2[i] * a * sin_any(m1[i] - m2[i]);
    d[0][i] = pull;
    d[1][i] = bessel_order(0, k1[i]).slope * fma(k2[i], twice, k1[i] - k2[i]);
    d[2][i] = -pull;
    d[3][i] = fma(a, twice, bessel_ratio_gap(0, k1[i], k2[i]));
  }
}


const Kernel perilune_kl_vonmises[] = {
  {.name = "VonMises", .n_in = 4, .value = to_vonmises, .partials = to_vonmises_partials},
  {.name = NULL}
};
