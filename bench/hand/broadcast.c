/*
** broadcast.c - KL(Normal || Normal) of a matrix p against a smaller q
**
** Rows are short loops of their own; a transposed matrix is read as it lies.
*/
#include "hand.h"
#include "special/vmath.h"

#define SIDE 1000

static inline double kl (double m1, double s1, double m2, double s2) {
  double inverse = 1 / s2, r = s1 * inverse, d = (m1 - m2) * inverse;
  return 0.5 * (fma(r, r, d * d) - 1) - vlog(r);
}

static void scalar (size_t n, int threads, double *const in[], double *restrict out) {
  const double *m1 = in[0], *s1 = in[1];
  double m2 = in[2][0], s2 = in[3][0];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) out[i] = kl(m1[i], s1[i], m2, s2);
}

static void whole (size_t n, int threads, double *const in[], double *restrict out) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) out[i] = kl(m1[i], s1[i], m2[i], s2[i]);
}

static void rows (size_t n, int threads, double *const in[], double *restrict out, size_t width) {
  const double *m2 = in[2], *s2 = in[3];
#pragma omp parallel for num_threads(threads)
  for (size_t row = 0; row < n / width; row++) {
    const double *m1 = in[0] + row * width, *s1 = in[1] + row * width;
    double *to = out + row * width;
    for (size_t i = 0; i < width; i++) to[i] = kl(m1[i], s1[i], m2[i], s2[i]);
  }
}

static void row (size_t n, int threads, double *const in[], double *out) {
  rows(n, threads, in, out, SIDE);
}

static void row_of_10 (size_t n, int threads, double *const in[], double *out) {
  rows(n, threads, in, out, 10);
}

static void column (size_t n, int threads, double *const in[], double *restrict out) {
#pragma omp parallel for num_threads(threads)
  for (size_t row = 0; row < n / SIDE; row++) {
    const double *m1 = in[0] + row * SIDE, *s1 = in[1] + row * SIDE;
    double m2 = in[2][row], s2 = in[3][row], *to = out + row * SIDE;
    for (size_t i = 0; i < SIDE; i++) to[i] = kl(m1[i], s1[i], m2, s2);
  }
}

const Workload workloads[] = {
  {"q scalar",             1000000, scalar},
  {"q a row of 1000",      1000000, row},
  {"q a column of 1000",   1000000, column},
  {"all four transposed",  1000000, whole},
  {"q a row of 10",        1000000, row_of_10},
  {NULL, 0, NULL}
};
