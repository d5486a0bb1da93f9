/*
** transformednormal_kernels.h - the kernels of a transformed Normal (transformednormal.h)
**
** To be included once by a family's file, below its `static const Change change`.
*/
#include "kernel/transformednormal.h"
#include "special/vdensity.h"
#include "special/verf.h"


static void log_prob (size_t n, const double *const in[], double *out) {
  transformed_log_density(n, in, out, change);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_log_density_partials(n, in, d, change);
}


VECTOR double upper_tail (double z) { return vndtr(-z); }
VECTOR double upper_tail_slope (double z) { return -vdensity(z); }
VECTOR double log_upper_tail (double z) { return vlog_ndtr(-z); }
VECTOR double log_upper_tail_slope (double z) { return -vhazard(-z); }

static void cdf (size_t n, const double *const in[], double *out) {
  transformed_value(n, in, out, change, vndtr);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_partials(n, in, d, change, vdensity);
}

static void sf (size_t n, const double *const in[], double *out) {
  transformed_value(n, in, out, change, upper_tail);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_partials(n, in, d, change, upper_tail_slope);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  transformed_value(n, in, out, change, vlog_ndtr);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_partials(n, in, d, change, vhazard);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  transformed_value(n, in, out, change, log_upper_tail);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_partials(n, in, d, change, log_upper_tail_slope);
}


VECTOR double quantile_slope (double p) { return 1 / vdensity(vndtri(p)); }
VECTOR double upper_quantile (double q) { return -vndtri(q); }
VECTOR double upper_quantile_slope (double q) { return -quantile_slope(q); }
VECTOR double as_it_is (double z) { return z; }
VECTOR double one (double z) { return (void)z, 1; }

static void icdf (size_t n, const double *const in[], double *out) {
  transformed_quantile(n, in, out, change, vndtri);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_quantile_partials(n, in, d, change, vndtri, quantile_slope);
}

static void isf (size_t n, const double *const in[], double *out) {
  transformed_quantile(n, in, out, change, upper_quantile);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_quantile_partials(n, in, d, change, upper_quantile, upper_quantile_slope);
}

static void rsample (size_t n, const double *const in[], double *out) {
  transformed_quantile(n, in, out, change, as_it_is);
}

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_quantile_partials(n, in, d, change, as_it_is, one);
}
