/*
** standard_kernels.h - the kernels of a location-scale family (standard.h)
**
** To be included once by a family's file, below its `static const StandardLaw law`. A family
** lists in its table those that it has functions for.
*/
#include "kernel/standard.h"


VECTOR double law_sf (double z) { return law.symmetric ? law.cdf(-z) : law.sf(z); }
VECTOR double law_log_sf (double z) { return law.symmetric ? law.log_cdf(-z) : law.log_sf(z); }
VECTOR double law_isf (double q) { return law.symmetric ? -law.icdf(q) : law.isf(q); }

VECTOR double law_sf_slope (double z) {
  return law.symmetric ? -law.cdf_slope(-z) : law.sf_slope(z);
}

VECTOR double law_log_sf_slope (double z) {
  return law.symmetric ? -law.log_cdf_slope(-z) : law.log_sf_slope(z);
}

VECTOR double law_isf_slope (double q) {
  return law.symmetric ? -law.icdf_slope(q) : law.isf_slope(q);
}


static inline void log_prob (size_t n, const double *const in[], double *out) {
  standard_log_density(n, in, out, law.log_density);
}

static inline void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  standard_log_density_partials(n, in, d, law.log_density_slope);
}

static inline void log_prob_totals (size_t n, const double *const in[], double *out) {
  standard_log_density_totals(n, in, out, law.log_density_slope, law.moment,
                              law.moment_share, law.moment_constant);
}


static inline void cdf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, law.cdf);
}

static inline void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, law.cdf_slope);
}

static inline void sf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, law_sf);
}

static inline void sf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, law_sf_slope);
}

static inline void log_cdf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, law.log_cdf);
}

static inline void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, law.log_cdf_slope);
}

static inline void log_sf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, law_log_sf);
}

static inline void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, law_log_sf_slope);
}


static inline void icdf (size_t n, const double *const in[], double *out) {
  standard_quantile(n, in, out, law.icdf);
}

static inline void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_quantile_partials(n, in, d, law.icdf, law.icdf_slope);
}

static inline void isf (size_t n, const double *const in[], double *out) {
  standard_quantile(n, in, out, law_isf);
}

static inline void isf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_quantile_partials(n, in, d, law_isf, law_isf_slope);
}

static inline void rsample (size_t n, const double *const in[], double *out) {
  standard_quantile(n, in, out, law.from_noise);
}

static inline void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  standard_quantile_partials(n, in, d, law.from_noise, law.from_noise_slope);
}


static inline void entropy (size_t n, const double *const in[], double *out) {
  standard_entropy(n, in, out, law.entropy);
}
