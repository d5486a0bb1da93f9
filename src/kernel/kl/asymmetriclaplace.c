/*
** asymmetriclaplace.c - KL(AsymmetricLaplace || q)
**
** To AsymmetricLaplace, with k for the asymmetry, c = k + 1/k, D = m1 - m2,
**
**   R = (s1 c1)/(s2 c2),   g = (k2/k1 - k1/k2)/c1,   j = k1 for D >= 0, 1/k1 for D < 0
**
**   KL = (R - 1 - log R) + R g^2 + g D/s2 + w,
**   w = (s1 c2)/(s2 c1) j^2 (t + e^-t - 1),   t = |D|/(s1 j)
**
** Only g D is ever negative, and near p = q all terms are of second order. Where g D and w are
** large and nearly cancel, R g^2 + g D/s2 + w is
**
**   k s1/s2 (j (t - 1) + 1/j) - R + w' e^-t,   k = k2 for D >= 0, 1/k2 for D < 0
**
** with w' = w/(t + e^-t - 1).
*/
#include "kernel/kernel.h"
#include "special/vdelay.h"
#include "special/vratio.h"

/* what value and slopes share; fall = e^-t - 1, weight = w', push = k s1/s2 (j (t - 1) + 1/j) */
typedef struct Terms { double r, e, g, shift, t, fall, weight, delay, push; } Terms;


VECTOR double sum_of (double k) { return k + 1 / k; }

/*
** R - 1 = (s1 - s2)/s2 c1/c2 + (c1 - c2)/c2, where c1 - c2 = (k1 - k2) (1 - 1/(k1 k2)) and
** k1 k2 - 1 has its rounding error in view; unless these two are large and opposite
*/
VECTOR Terms terms_of (double m1, double s1, double k1, double m2, double s2, double k2) {
  double c1 = sum_of(k1), c2 = sum_of(k2), ratio = c1 / c2, scales = s1 / s2, gap = m1 - m2;
  double apart = (k1 - k2) / c2 * (fma(k1, k2, -1) / k1 / k2), sizes = (s1 - s2) / s2 * ratio;
  double j = gap < 0 ? 1 / k1 : k1, k = gap < 0 ? 1 / k2 : k2, t = fabs(gap) / s1 / j;
  return (Terms) {
    .r = scales * ratio,
    .e = fabs(sizes) + fabs(apart) < 1 ? fma((s1 - s2) / s2, ratio, apart) : fma(scales, ratio, -1),
    .g = (k2 - k1) / k1 * (1 + k1 / k2) / c1, .shift = gap / s2,
    .t = t, .fall = vexpm1(-t), .weight = scales / ratio * j * j, .delay = vdelay(t),
    .push = k * scales * fma(j, t - 1, 1 / j)
  };
}

VECTOR double rest_of (Terms a) {
  double w = a.weight * a.delay, pull = a.g * a.shift, near = fma(a.r * a.g, a.g, pull) + w;
  double far = (a.push < HUGE_VAL ? a.push - a.r : a.push) + a.weight * (1 + a.fall);
  int cancels = (near < 0x1p-10 * (w + fabs(pull))) & (a.t > 1);
  return cancels ? far : near;
}

/* it is not negative but by rounding */
VECTOR double divergence (double excess, Terms a) {
  double kl = excess + rest_of(a);
  return kl < 0 ? 0 : kl;
}

static void to_asymmetriclaplace (size_t n, const double *const in[], double *out) {
  const double *m1 = in[0], *s1 = in[1], *k1 = in[2], *m2 = in[3], *s2 = in[4], *k2 = in[5];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    Terms a = terms_of(m1[i], s1[i], k1[i], m2[i], s2[i], k2[i]);
    out[i] = divergence(vexcess(a.r, a.e), a);
    odd |= !vratio_plain(a.r, 1);
  }
  for (size_t i = 0; odd && i < n; i++) {
    Terms a = terms_of(m1[i], s1[i], k1[i], m2[i], s2[i], k2[i]);
    if (!vratio_plain(a.r, 1))
      out[i] = divergence(vexcess_wide(s1[i] * sum_of(k1[i]), s2[i] * sum_of(k2[i])), a);
  }
}

/*
** With h = (k - 1/k)/c, the slope of log c in log k, and G = (k2/k1 + k1/k2)/c1, slopes in log s1
** and so on are
**
**   s1: e + R g^2 + w - v           s2: -(e + R g^2 + g D/s2 + w),      v = weight t (1 - e^-t)
**   D:  g/s2 + sign(D) weight (1 - e^-t)/(s1 j)
**   k1: h1 (e + R g^2 - w) - (2 R g + D/s2) (G + g h1) +- (2 w - v)
**   k2: -h2 (e + R g^2 - w) + (2 R g + D/s2) G
*/
static void to_asymmetriclaplace_partials (size_t n, const double *const in[], double *const d[]) {
  const double *m1 = in[0], *s1 = in[1], *k1 = in[2], *m2 = in[3], *s2 = in[4], *k2 = in[5];
  EVERY for (size_t i = 0; i < n; i++) {
    Terms a = terms_of(m1[i], s1[i], k1[i], m2[i], s2[i], k2[i]);
    double c1 = sum_of(k1[i]), side = m1[i] < m2[i] ? -1 : 1, j = side < 0 ? 1 / k1[i] : k1[i];
    double h1 = (k1[i] - 1 / k1[i]) / c1, h2 = (k2[i] - 1 / k2[i]) / sum_of(k2[i]);
    double big = (k2[i] / k1[i] + k1[i] / k2[i]) / c1;
    double w = a.weight * a.delay, v = -a.weight * a.t * a.fall;
    double scale = fma(a.r * a.g, a.g, a.e), turn = fma(2 * a.r, a.g, a.shift);
    double pull = a.g / s2[i] - side * a.weight * a.fall / (s1[i] * j);
    d[0][i] = pull;
    d[1][i] = (scale + (w - v)) / s1[i];
    d[2][i] = (h1 * (scale - w) - turn * fma(a.g, h1, big) + side * (2 * w - v)) / k1[i];
    d[3][i] = -pull;
    d[4][i] = -(scale + fma(a.g, a.shift, w)) / s2[i];
    d[5][i] = fma(turn, big, -h2 * (scale - w)) / k2[i];
  }
}


const Kernel perilune_kl_asymmetriclaplace[] = {
  {.name = "AsymmetricLaplace", .n_in = 6, .value = to_asymmetriclaplace,
   .partials = to_asymmetriclaplace_partials},
  {.name = NULL}
};
