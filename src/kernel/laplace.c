/*
** laplace.c - Laplace(loc, scale), an exponential law on either side
**
**   log p(x) = -|z| - log 2 - log(scale)
**   F(x) = e^z/2 for z < 0, 1 - e^-z/2 else,    z = (x - loc)/scale
**
** The smaller tail e^-|z|/2 is the one computed; sf at z is cdf at -z, isf at
** q is minus icdf at q.
*/
#include "kernel/standard.h"


VECTOR double log_density (double z) { return -fabs(z) - LN2; }

VECTOR double log_density_slope (double z) {
  double below = z < 0 ? 1.0 : -z;   /* 0 at the peak; NaN stays */
  return z > 0 ? -1.0 : below;
}

VECTOR double log_density_moment (double z) { return -fabs(z); }

static void log_prob (size_t n, const double *const in[], double *out) {
  standard_log_density(n, in, out, log_density);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  standard_log_density_partials(n, in, d, log_density_slope);
}

static void log_prob_totals (size_t n, const double *const in[], double *out) {
  standard_log_density_totals(n, in, out, log_density_slope, log_density_moment, 1, -LN2);
}


VECTOR double smaller_tail (double z) { return 0.5 * vexp(-fabs(z)); }

VECTOR double lower_tail (double z) {
  double tail = smaller_tail(z);
  return z < 0 ? tail : 1 - tail;
}

static void cdf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, lower_tail);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, smaller_tail);
}


VECTOR double upper_tail (double z) { return lower_tail(-z); }
VECTOR double upper_tail_slope (double z) { return -smaller_tail(z); }

static void sf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, upper_tail);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, upper_tail_slope);
}


VECTOR double log_lower_tail (double z) {
  double far = vlog1p(-smaller_tail(z));
  return z < 0 ? z - LN2 : far;
}

VECTOR double log_lower_tail_slope (double z) {
  double tail = smaller_tail(z), far = tail / (1 - tail);
  return z < 0 ? 1.0 : far;
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, log_lower_tail);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, log_lower_tail_slope);
}


VECTOR double log_upper_tail (double z) { return log_lower_tail(-z); }
VECTOR double log_upper_tail_slope (double z) { return -log_lower_tail_slope(-z); }

static void log_sf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, log_upper_tail);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, log_upper_tail_slope);
}


/* log 2p below the median, and twice the upper tail above it; 1 - p is exact there */
VECTOR double quantile (double p) {
  double l = vlog(2 * (p < 0.5 ? p : 1 - p));
  return p < 0.5 ? l : -l;
}

VECTOR double quantile_slope (double p) { return 1 / (p < 0.5 ? p : 1 - p); }

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
  standard_entropy(n, in, out, 1.69314718055994530942);   /* 1 + log 2 */
}


const Kernel perilune_laplace[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials,
   .totals = log_prob_totals},
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
