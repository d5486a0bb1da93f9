/*
** normal.c - KL(Normal || q)
**
** To Normal, with r = s1/s2, e = r - 1 and d = (m1 - m2)/s2:
**
**   KL = (e^2 + d^2)/2 + (e - log r)
**
** Every term is a square or an excess, so nothing cancels when p is near q;
** the excess reads log r off the mantissas, so nothing overflows before KL.
*/
#include "kernel/kernel.h"
#include "special/vmath.h"
#include "special/vratio.h"


static void to_normal (size_t n, const double *const in[], double *out) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
  for (size_t i = 0; i < n; i++) {
    double a = s1[i], b = s2[i];
    Relative r = vrelative(a, b, m1[i] - m2[i]);
    double squares = 0.5 * fma(r.e, r.e, r.y * r.y);
    double kl = squares + vexcess_of(r.e, a, b);
    double edge = (a >= 0) & (b >= 0) ? HUGE_VAL : (double)NAN;
    out[i] = (a > 0) & (b > 0) & (b < HUGE_VAL) ? kl : edge;
  }
}

static void to_normal_partials (size_t n, const double *const in[], double *const d[]) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
  for (size_t i = 0; i < n; i++) {
    Relative r = vrelative(s1[i], s2[i], m1[i] - m2[i]);
    double gap = r.e * (r.e + 2);            /* r^2 - 1 */
    if (d[0] != NULL) d[0][i] = r.y / s2[i];
    if (d[1] != NULL) d[1][i] = gap / s1[i];
    if (d[2] != NULL) d[2][i] = -r.y / s2[i];
    if (d[3] != NULL) d[3][i] = -fma(r.y, r.y, gap) / s2[i];
  }
}


const Kernel perilune_kl_normal[] = {
  {.name = "Normal", .n_in = 4, .value = to_normal, .partials = to_normal_partials},
  {.name = NULL}
};
