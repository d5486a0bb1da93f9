/*
** moments_kernels.h - the kernels of moments (moments.h)
**
** To be included once by a family's file, below its `static const Moments moments`. A family
** lists in its table those that it has functions for.
*/
#include "kernel/moments.h"


static inline void mean (size_t n, const double *const in[], double *out) {
  moment_value(n, in, out, moments.mean);
}

static inline void mean_partials (size_t n, const double *const in[], double *const d[]) {
  moment_partials(n, in, d, moments.mean);
}

static inline void mode (size_t n, const double *const in[], double *out) {
  moment_value(n, in, out, moments.mode);
}

static inline void mode_partials (size_t n, const double *const in[], double *const d[]) {
  moment_partials(n, in, d, moments.mode);
}

static inline void stddev (size_t n, const double *const in[], double *out) {
  moment_value(n, in, out, moments.stddev);
}

static inline void stddev_partials (size_t n, const double *const in[], double *const d[]) {
  moment_partials(n, in, d, moments.stddev);
}

static inline void variance (size_t n, const double *const in[], double *out) {
  moment_value(n, in, out, moments.variance);
}

static inline void variance_partials (size_t n, const double *const in[], double *const d[]) {
  moment_partials(n, in, d, moments.variance);
}

static inline void entropy (size_t n, const double *const in[], double *out) {
  moment_value(n, in, out, moments.entropy);
}

static inline void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  moment_partials(n, in, d, moments.entropy);
}
