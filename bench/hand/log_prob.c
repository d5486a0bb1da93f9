/*
** log_prob.c - densities, one fused loop each
*/
#include "hand.h"
#include "special/vmath.h"

#define HALF_LOG_2PI 0.91893853320467274178

static void normal (size_t n, int threads, double *const in[], double *restrict out) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) {
    double z = (x[i] - loc[i]) / scale[i];
    out[i] = -0.5 * z * z - vlog(scale[i]) - HALF_LOG_2PI;
  }
}

const Workload workloads[] = {
  {"Normal", 1000000, normal},
  {NULL, 0, NULL}
};
