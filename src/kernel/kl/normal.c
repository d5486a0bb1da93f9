/*
** normal.c - KL(Normal || q)
**
** To Normal, with r = s1/s2, e = r - 1 and d = (m1 - m2)/s2:
**
**   KL = (e^2 + d^2)/2 + (e - log r)
**
** Every term is a square or an excess, so nothing cancels when p is near q.
*/
#include "kernel/kernel.h"
#include "special/vmath.h"
#include "special/vratio.h"


static double to_normal_wide (double m1, double s1, double m2, double s2) {
  double e = (s1 - s2) / s2, d = (m1 - m2) / s2;
  return 0.5 * fma(e, e, d * d) + vexcess_wide(s1, s2);
}

/* Puts right what is not plain. */
static void mend (size_t n, const double *const in[], double *out) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
  EVERY for (size_t i = 0; i < n; i++)
    if (!vratio_plain(s1[i] * (1 / s2[i]), s2[i]))
      out[i] = to_normal_wide(m1[i], s1[i], m2[i], s2[i]);
}

static void to_normal (size_t n, const double *const in[], double *out) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    double inverse = 1 / s2[i], r = s1[i] * inverse;
    double e = (s1[i] - s2[i]) * inverse, y = (m1[i] - m2[i]) * inverse;
    out[i] = 0.5 * fma(e, e, y * y) + vexcess(r, e);
    odd |= !vratio_plain(r, s2[i]);
  }
  if (odd) mend(n, in, out);
}

static void to_normal_partials (size_t n, const double *const in[], double *const d[]) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
  double *dm1 = d[0], *ds1 = d[1];
  double *dm2 = d[2], *ds2 = d[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double inverse = 1 / s2[i];
    double e = (s1[i] - s2[i]) * inverse, y = (m1[i] - m2[i]) * inverse;
    double gap = e * (e + 2);                /* r^2 - 1 */
    dm1[i] = y * inverse;
    ds1[i] = gap / s1[i];
    dm2[i] = -y * inverse;
    ds2[i] = fma(-y, y, -gap) * inverse;
  }
}

static void to_normal_both (size_t n, const double *const in[], double *out,
                            double *const d[]) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
  double *dm1 = d[0], *ds1 = d[1];
  double *dm2 = d[2], *ds2 = d[3];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    double inverse = 1 / s2[i], r = s1[i] * inverse;
    double e = (s1[i] - s2[i]) * inverse, y = (m1[i] - m2[i]) * inverse;
    double gap = e * (e + 2);
    odd |= !vratio_plain(r, s2[i]);
    out[i] = 0.5 * fma(e, e, y * y) + vexcess(r, e);
    dm1[i] = y * inverse;
    ds1[i] = gap / s1[i];
    dm2[i] = -y * inverse;
    ds2[i] = fma(-y, y, -gap) * inverse;
  }
  if (odd) mend(n, in, out);
}


const Kernel perilune_kl_normal[] = {
  {.name = "Normal", .n_in = 4, .value = to_normal, .partials = to_normal_partials,
   .shortcuts = &(const Shortcuts) {.both = to_normal_both}},
  {.name = NULL}
};
