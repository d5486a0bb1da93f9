/*
** log_prob.c - densities, one fused loop each
*/
#include "hand.h"
#include "special/vgamma.h"
#include "special/vmath.h"

#define HALF_LOG_2PI 0.91893853320467274178
#define HALF_LOG_PI  0.57236494292470008707

static void normal (size_t n, int threads, double *const in[], double *restrict out) {
  const double *loc = in[0], *scale = in[1], *x = in[2];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) {
    double z = (x[i] - loc[i]) / scale[i];
    out[i] = -0.5 * z * z - vlog(scale[i]) - HALF_LOG_2PI;
  }
}

static void gamma_density (size_t n, int threads, double *const in[], double *restrict out) {
  const double *a = in[0], *rate = in[1], *x = in[2];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) {
    double t = rate[i] * x[i];
    out[i] = a[i] * vlog(t) - vlog(x[i]) - t - vlgamma_pos(a[i]);
  }
}

static void beta (size_t n, int threads, double *const in[], double *restrict out) {
  const double *a = in[0], *b = in[1], *x = in[2];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) {
    double share = x[i] - 0.5, sum = a[i] + b[i];
    double log_beta = vlgamma_pos(a[i]) + vlgamma_pos(b[i]) - vlgamma_pos(sum);
    out[i] = (a[i] - 1) * vlog(share) + (b[i] - 1) * vlog1p(-share) - log_beta;
  }
}

static void student (size_t n, int threads, double *const in[], double *restrict out) {
  const double *df = in[0], *loc = in[1], *scale = in[2], *x = in[3];
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


/* Vectors of D: in[0] becomes the triangle L of the covariance A A^T + D, in[1] is the mean,
   in[2] has the vectors. */
#define D 8

static void cholesky (size_t n, double *const in[]) {
  double *a = in[0], c[D][D];
  (void)n;
  for (size_t i = 0; i < D; i++)
    for (size_t j = 0; j <= i; j++) {
      c[i][j] = i == j ? D : 0;
      for (size_t k = 0; k < D; k++) c[i][j] += a[i * D + k] * a[j * D + k];
    }
  for (size_t i = 0; i < D; i++)
    for (size_t j = 0; j <= i; j++) {
      double rest = c[i][j];
      for (size_t k = 0; k < j; k++) rest -= a[i * D + k] * a[j * D + k];
      a[i * D + j] = i == j ? sqrt(rest) : rest / a[j * D + j];
    }
}

/* column j of the inverse of L in row j */
static void invert (const double *l, double inverse[D][D]) {
  for (size_t j = 0; j < D; j++)
    for (size_t i = 0; i < D; i++) {
      double rest = i == j;
      for (size_t k = j; k < i; k++) rest -= l[i * D + k] * inverse[j][k];
      inverse[j][i] = i < j ? 0 : rest / l[i * D + i];
    }
}

/* -|L^-1 (x - mean)|^2/2 - sum log L_ii - D log(2 pi)/2 */
static void multivariate (size_t n, int threads, double *const in[], double *restrict out) {
  const double *mean = in[1], *x = in[2];
  double inverse[D][D], constant = D * HALF_LOG_2PI;
  invert(in[0], inverse);
  for (size_t i = 0; i < D; i++) constant += vlog(in[0][i * D + i]);
#pragma omp parallel for num_threads(threads)
  for (size_t r = 0; r < n; r++) {
    double z[D] = {0}, squares = 0;
    for (size_t j = 0; j < D; j++) {
      double d = x[r * D + j] - mean[j];
#pragma omp simd
      for (size_t i = 0; i < D; i++) z[i] = fma(inverse[j][i], d, z[i]);
    }
#pragma omp simd reduction(+: squares)
    for (size_t i = 0; i < D; i++) squares += z[i] * z[i];
    out[r] = -0.5 * squares - constant;
  }
}

#define N 1000000

/* (counts of the Poisson law are made up here, and not compared) */
const Workload workloads[] = {
  {"Normal",   N, normal,        {{N, NORMAL}, {N, SPREAD}, {N, NORMAL}}},
  {"Gamma",    N, gamma_density, {{N, SPREAD}, {N, SPREAD}, {N, SPREAD}}},
  {"Beta",     N, beta,          {{N, SPREAD}, {N, SPREAD}, {N, SPREAD}}},
  {"StudentT", N, student,       {{N, SPREAD}, {N, NORMAL}, {N, SPREAD}, {N, NORMAL}}},
  {"Poisson",  N, poisson},
  {"MultivariateNormal, 1e4 vectors of 8", 10000, multivariate,
   {{D * D, NORMAL}, {D, NORMAL}, {D * 10000, NORMAL}}, cholesky},
  {NULL, 0, NULL}
};
