/*
** gradients.c - a sum and its derivatives, both in one loop
**
** out has the sum, then one array for each parameter.
*/
#include "hand.h"
#include "special/vgamma.h"
#include "special/vmath.h"

#define HALF_LOG_2PI 0.91893853320467274178

/* (r^2 + d^2 - 1)/2 - log r,  r = s1/s2,  d = (m1 - m2)/s2 */
static void kl_normal (size_t n, int threads, double *const in[], double *out) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
  double *dm1 = out + 1, *ds1 = dm1 + n, *dm2 = ds1 + n, *ds2 = dm2 + n, sum = 0;
#pragma omp parallel for simd num_threads(threads) reduction(+: sum)
  for (size_t i = 0; i < n; i++) {
    double inverse = 1 / s2[i], r = s1[i] * inverse, d = (m1[i] - m2[i]) * inverse;
    double squares = fma(r, r, d * d);
    sum += 0.5 * (squares - 1) - vlog(r);
    dm1[i] = d * inverse;
    ds1[i] = r * inverse - 1 / s1[i];
    dm2[i] = -d * inverse;
    ds2[i] = (1 - squares) * inverse;
  }
  out[0] = sum;
}

/* a2 log(b1/b2) + log G(a2)/G(a1) + (a1 - a2) psi(a1) + a1 (b2 - b1)/b1 */
static void kl_gamma (size_t n, int threads, double *const in[], double *out) {
  const double *a1 = in[0], *b1 = in[1], *a2 = in[2], *b2 = in[3];
  double *da1 = out + 1, *db1 = da1 + n, *da2 = db1 + n, *db2 = da2 + n, sum = 0;
#pragma omp parallel for simd num_threads(threads) reduction(+: sum)
  for (size_t i = 0; i < n; i++) {
    double lgamma1, digamma1, lgamma2, digamma2, r = b2[i] / b1[i], log_r = vlog(r);
    double gap = a1[i] - a2[i], e = a1[i] * r - a2[i];
    vlgamma_digamma(a1[i], &lgamma1, &digamma1);
    vlgamma_digamma(a2[i], &lgamma2, &digamma2);
    sum += lgamma2 - lgamma1 + gap * digamma1 + a1[i] * (r - 1) - a2[i] * log_r;
    da1[i] = gap * vtrigamma_pos(a1[i]) + (r - 1);
    db1[i] = -e / b1[i];
    da2[i] = digamma2 - digamma1 - log_r;
    db2[i] = e / b2[i];
  }
  out[0] = sum;
}

/* sum of log N(x; 0.1, 1.2), and its derivatives in loc and scale */
static void likelihood (size_t n, int threads, double *const in[], double *out) {
  const double *x = in[0];
  double loc = 0.1, scale = 1.2, inverse = 1 / scale, sum = 0, squares = 0, count = (double)n;
#pragma omp parallel for simd num_threads(threads) reduction(+: sum, squares)
  for (size_t i = 0; i < n; i++) {
    double z = (x[i] - loc) * inverse;
    sum += z;
    squares += z * z;
  }
  out[0] = -0.5 * squares - count * (vlog(scale) + HALF_LOG_2PI);
  out[1] = sum * inverse;
  out[2] = (squares - count) * inverse;
}

/* sum of log N(y; mu, sqrt s2), s2' = a0 + a1 (y - mu)^2 + b1 s2, with derivatives in mu, a0, a1 and
   b1; by forward differentiation, which keeps nothing */
static void garch (size_t n, int threads, double *const in[], double *out) {
  const double *y = in[0];
  double mu = 0.1, a0 = 0.5, a1 = 0.3, b1 = 0.4, s2 = 1, sum = 0;
  double d[4] = {0, 0, 0, 0}, total[4] = {0, 0, 0, 0};
  (void)threads;
  for (size_t t = 0; t < n; t++) {
    double z = y[t] - mu, ratio = z * z / s2, slope = 0.5 * (ratio - 1) / s2;
    sum -= 0.5 * (ratio + vlog(s2)) + HALF_LOG_2PI;
    for (int k = 0; k < 4; k++) total[k] += slope * d[k];
    total[0] += z / s2;
    d[0] = b1 * d[0] - 2 * a1 * z;
    d[1] = b1 * d[1] + 1;
    d[2] = b1 * d[2] + z * z;
    d[3] = b1 * d[3] + s2;
    s2 = a0 + a1 * (z * z) + b1 * s2;
  }
  out[0] = sum;
  for (int k = 0; k < 4; k++) out[1 + k] = total[k];
}

#define E3 1000
#define E6 1000000

const Workload workloads[] = {
  {"kl Normal, n = 1e3", E3, kl_normal, {{E3, SPREAD}, {E3, SPREAD}, {E3, SPREAD}, {E3, SPREAD}},
   .parts = {1, E3, E3, E3, E3}},
  {"kl Normal, n = 1e6", E6, kl_normal, {{E6, SPREAD}, {E6, SPREAD}, {E6, SPREAD}, {E6, SPREAD}},
   .parts = {1, E6, E6, E6, E6}},
  {"kl Gamma, n = 1e6", E6, kl_gamma, {{E6, SPREAD}, {E6, SPREAD}, {E6, SPREAD}, {E6, SPREAD}},
   .parts = {1, E6, E6, E6, E6}},
  {"Normal likelihood, two numbers, n = 1e6", E6, likelihood, {{E6, NORMAL}}, .parts = {1, 1, 1}},
  {"garch(1, 1), T = 200, replayed", 200, garch, {{200, NORMAL}}, .parts = {1, 1, 1, 1, 1}},
  {NULL, 0, NULL}
};
