/*
** halfline_kernels.h - the kernels of a family on the half line (halfline.h)
**
** To be included once by a family's file, below its `static const HalflineLaw law`. A family
** lists in its table those that it has functions for.
*/
#include "kernel/halfline.h"


static inline void log_prob (size_t n, const double *const in[], double *out) {
  halfline_log_density(n, in, out, law.log_density);
}

static inline void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(2, n, in, d, law.log_density_slopes);
}


/* by the slope in z, or by those in x and scale */
VECTOR void tail_partials (size_t n, const double *const in[], double *const d[],
                           OfRatio *slope, PointwiseSlopes *slopes) {
  if (slopes) pointwise_partials(2, n, in, d, slopes);
  else halfline_partials(n, in, d, slope);
}

static inline void cdf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, law.cdf);
}

static inline void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, law.cdf_slope, law.cdf_slopes);
}

static inline void sf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, law.sf);
}

static inline void sf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, law.sf_slope, law.sf_slopes);
}

static inline void log_cdf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, law.log_cdf);
}

static inline void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_drift_partials(n, in, d, law.log_cdf_drift);
}

static inline void log_sf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, law.log_sf);
}

static inline void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, law.log_sf_slope, law.log_sf_slopes);
}


static inline void icdf (size_t n, const double *const in[], double *out) {
  halfline_quantile(n, in, out, law.icdf);
}

static inline void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_quantile_partials(n, in, d, law.icdf, law.icdf_slope);
}

static inline void isf (size_t n, const double *const in[], double *out) {
  halfline_quantile(n, in, out, law.isf);
}

static inline void isf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_quantile_partials(n, in, d, law.isf, law.isf_slope);
}

static inline void rsample (size_t n, const double *const in[], double *out) {
  halfline_quantile(n, in, out, law.from_noise);
}

static inline void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_quantile_partials(n, in, d, law.from_noise, law.from_noise_slope);
}


static inline void entropy (size_t n, const double *const in[], double *out) {
  halfline_entropy(n, in, out, law.entropy);
}
