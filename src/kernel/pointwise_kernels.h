/*
** pointwise_kernels.h - the kernels of a family that is given point by point (pointwise.h)
**
** To be included once by a family's file, below its `static const PointwiseLaw law`. A family
** lists in its table those that it has functions for.
*/
#include "kernel/pointwise.h"


static inline void log_prob (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands, n, in, out, law.log_density);
}

static inline void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands, n, in, d, law.log_density_slopes);
}

static inline void cdf (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands, n, in, out, law.cdf);
}

static inline void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands, n, in, d, law.cdf_slopes);
}

static inline void sf (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands, n, in, out, law.sf);
}

static inline void sf_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands, n, in, d, law.sf_slopes);
}

static inline void log_cdf (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands, n, in, out, law.log_cdf);
}

static inline void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands, n, in, d, law.log_cdf_slopes);
}

static inline void log_sf (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands, n, in, out, law.log_sf);
}

static inline void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands, n, in, d, law.log_sf_slopes);
}

static inline void icdf (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands, n, in, out, law.icdf);
}

static inline void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands, n, in, d, law.icdf_slopes);
}

static inline void isf (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands, n, in, out, law.isf);
}

static inline void isf_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands, n, in, d, law.isf_slopes);
}
