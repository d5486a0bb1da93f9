/*
** cauchy.c - KL(Cauchy || q)
**
** To Cauchy, with D = m1 - m2:
**
**   KL = log(1 + ((s1 - s2)^2 + D^2)/(4 s1 s2)) = log(h^2/(4 s1 s2)),   h^2 = (s1 + s2)^2 + D^2
*/
#include "kernel/kernel.h"
#include "special/vmath.h"


/* the second form, with a quarter of h, which does not overflow */
static double to_cauchy_wide (double m1, double s1, double m2, double s2) {
  double gap = fabs(0.25 * m1 - 0.25 * m2), sum = 0.25 * s1 + 0.25 * s2;
  double large = gap > sum ? gap : sum, small = gap > sum ? sum : gap, ratio = small / large;
  double h = large * sqrt(fma(ratio, ratio, 1));
  return vlog_ratio(h, s1) + vlog_ratio(h, s2) + 2 * LN2;
}

/* Are 1/s1 and 1/s2 exact to the last bit or so, and was the argument of the logarithm finite? */
VECTOR int plain (double s1, double s2, double kl) {
  int usual = (s1 > 0x1p-1000) & (s1 < 0x1p1000) & (s2 > 0x1p-1000) & (s2 < 0x1p1000);
  return usual & (kl < HUGE_VAL);
}

static void to_cauchy (size_t n, const double *const in[], double *out) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    double half1 = 0.5 / s1[i], half2 = 0.5 / s2[i], e = s1[i] - s2[i], gap = m1[i] - m2[i];
    out[i] = vlog1p(fma(e * half1, e * half2, (gap * half1) * (gap * half2)));
    odd |= !plain(s1[i], s2[i], out[i]);
  }
  for (size_t i = 0; odd && i < n; i++)
    if (!plain(s1[i], s2[i], out[i]))
      out[i] = to_cauchy_wide(m1[i], s1[i], m2[i], s2[i]);
}

/* with a = (s1 - s2)/(s1 + s2), y = D/(s1 + s2) */
static void to_cauchy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double sum = s1[i] + s2[i], a = (s1[i] - s2[i]) / sum, y = (m1[i] - m2[i]) / sum;
    double share = 1 / fma(y, y, 1), pull = 2 * (y * share) / sum;
    d[0][i] = pull;
    d[1][i] = fma(-y, y, a) * share / s1[i];
    d[2][i] = -pull;
    d[3][i] = fma(-y, y, -a) * share / s2[i];
  }
}


const Kernel perilune_kl_cauchy[] = {
  {.name = "Cauchy", .n_in = 4, .value = to_cauchy, .partials = to_cauchy_partials},
  {.name = NULL}
};
