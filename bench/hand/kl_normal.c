/*
** kl_normal.c - KL(Normal || Normal) by the textbook formula, one fused loop
**
**   KL = (r^2 + d^2 - 1)/2 - log r,    r = s1/s2,  d = (m1 - m2)/s2
*/
#include "hand.h"
#include "special/vmath.h"

static void kl (size_t n, int threads, double *const in[], double *restrict out) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) {
    double inverse = 1 / s2[i], r = s1[i] * inverse, d = (m1[i] - m2[i]) * inverse;
    out[i] = 0.5 * (fma(r, r, d * d) - 1) - vlog(r);
  }
}

#define E3 1000
#define E5 100000
#define E6 1000000
#define E7 10000000

const Workload workloads[] = {
  {"n = 1e3", E3, kl, {{E3, NORMAL}, {E3, SPREAD}, {E3, NORMAL}, {E3, SPREAD}}},
  {"n = 1e5", E5, kl, {{E5, NORMAL}, {E5, SPREAD}, {E5, NORMAL}, {E5, SPREAD}}},
  {"n = 1e6", E6, kl, {{E6, NORMAL}, {E6, SPREAD}, {E6, NORMAL}, {E6, SPREAD}}},
  {"n = 1e7", E7, kl, {{E7, NORMAL}, {E7, SPREAD}, {E7, NORMAL}, {E7, SPREAD}}},
  {NULL, 0, NULL}
};
