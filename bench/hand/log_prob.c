/*
** log_prob.c - densities, one fused loop each
*/
#include "hand.h"
#include "special/vgamma.h"
#include "special/vmath.h"

#define HALF_LOG_2PI 0.91893853320467274178
#define HALF_LOG_PI  0.57236494292470008707

static void normal (size_t n, int threads, double *const in[], double *restrict out) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) {
    double z = (x[i] - loc[i]) / scale[i];
    out[i] = -0.5 * z * z - vlog(scale[i]) - HALF_LOG_2PI;
  }
}

static void gamma_density (size_t n, int threads, double *const in[], double *restrict out) {
  const double *x = in[0], *a = in[1], *rate = in[2];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) {
    double t = rate[i] * x[i];
    out[i] = a[i] * vlog(t) - vlog(x[i]) - t - vlgamma_pos(a[i]);
  }
}

static void beta (size_t n, int threads, double *const in[], double *restrict out) {
  const double *x = in[0], *a = in[1], *b = in[2];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) {
    double share = x[i] - 0.5, sum = a[i] + b[i];
    double log_beta = vlgamma_pos(a[i]) + vlgamma_pos(b[i]) - vlgamma_pos(sum);
    out[i] = (a[i] - 1) * vlog(share) + (b[i] - 1) * vlog1p(-share) - log_beta;
  }
}

static void student (size_t n, int threads, double *const in[], double *restrict out) {
  const double *x = in[0], *df = in[1], *loc = in[2], *scale = in[3];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) {
    double z = (x[i] - loc[i]) / scale[i], half = 0.5 * df[i] + 0.5;
    double log_area = vlgamma_pos(0.5 * df[i]) - vlgamma_pos(half) + vlog(scale[i] * sqrt(df[i]));
    out[i] = -half * vlog1p(z * z / df[i]) - log_area - HALF_LOG_PI;
  }
}

static void poisson (size_t n, int threads, double *const in[], double *restrict out) {
  const double *x = in[0], *rate = in[1];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) {
    double k = floor(8 * x[i] - 4);
    out[i] = k * vlog(rate[i]) - rate[i] - vlgamma_pos(k + 1);
  }
}

const Workload workloads[] = {
  {"Normal",   1000000, normal},
  {"Gamma",    1000000, gamma_density},
  {"Beta",     1000000, beta},
  {"StudentT", 1000000, student},
  {"Poisson",  1000000, poisson},
  {NULL, 0, NULL}
};
