/*
** logistic.c - Logistic(loc, scale), whose distribution function is the sigmoid
**
**   log p(x) = -|z| - 2 log(1 + e^-|z|) - log(scale)
**   F(x) = 1/(1 + e^-z),    z = (x - loc)/scale
**
** e^-|z| never overflows, so both tails keep their digits; sf at z is cdf at -z,
** isf at q is minus icdf at q.
*/
#include "kernel/standard.h"


VECTOR double log_density (double z) {
  double a = fabs(z);
  return fma(-2.0, log1p_unit(vexp(-a)), -a);
}

VECTOR double log_density_slope (double z) { return -vtanh(0.5 * z); }

static void log_prob (size_t n, const double *const in[], double *out) {
  standard_log_density(n, in, out, log_density);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  standard_log_density_partials(n, in, d, log_density_slope);
}


VECTOR double density (double z) {
  double e = vexp(-fabs(z)), s = 1 + e;
  return e / (s * s);
}

static void cdf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, vsigmoid);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, density);
}


VECTOR double upper_tail (double z) { return vsigmoid(-z); }
VECTOR double upper_tail_slope (double z) { return -density(z); }

static void sf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, upper_tail);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, upper_tail_slope);
}


/* the logarithm of either tail has the other tail as its slope */
VECTOR double log_lower_tail (double z) { return -vsoftplus(-z); }

static void log_cdf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, log_lower_tail);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, upper_tail);
}


VECTOR double log_upper_tail (double z) { return -vsoftplus(z); }
VECTOR double log_upper_tail_slope (double z) { return -vsigmoid(z); }

static void log_sf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, log_upper_tail);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, log_upper_tail_slope);
}


/* log(p/(1 - p)); about its zero at 1/2 as log1p((2p - 1)/(1 - p)), 2p - 1 exact */
VECTOR double quantile (double p) {
  double q = 1 - p, tail = vlog(p / q), middle = vlog1p((2 * p - 1) / q);
  return fabs(p - 0.5) < 0.25 ? middle : tail;
}

VECTOR double quantile_slope (double p) { return 1 / (p * (1 - p)); }

static void icdf (size_t n, const double *const in[], double *out) {
  standard_quantile(n, in, out, quantile);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_quantile_partials(n, in, d, quantile, quantile_slope);
}


VECTOR double upper_quantile (double q) { return -quantile(q); }
VECTOR double upper_quantile_slope (double q) { return -quantile_slope(q); }

static void isf (size_t n, const double *const in[], double *out) {
  standard_quantile(n, in, out, upper_quantile);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_quantile_partials(n, in, d, upper_quantile, upper_quantile_slope);
}


static void entropy (size_t n, const double *const in[], double *out) {
  standard_entropy(n, in, out, 2.0);
}


const Kernel perilune_logistic[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = standard_entropy_partials},
  {.name = "rsample",  .n_in = 3, .value = icdf,     .partials = icdf_partials,
   .noise = "uniform"},
  {.name = NULL}
};
