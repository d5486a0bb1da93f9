/*
** normal.c - Normal(loc, scale), the bell curve
**
**   log p(x) = -z^2/2 - log(2 pi)/2 - log(scale),    F(x) = Phi(z)
**
** Tails are never computed as 1 - something: the upper tail is the lower one
** of -z, and logarithms of tails go through the scaled erfc.
*/
#include "kernel/standard.h"
#include "special/vdensity.h"
#include "special/verf.h"

#define HALF_LOG_2PI 0.91893853320467274178


VECTOR double log_density (double z) { return fma(-0.5 * z, z, -HALF_LOG_2PI); }
VECTOR double log_density_slope (double z) { return -z; }
VECTOR double log_density_moment (double z) { return -z * z; }

static void log_prob (size_t n, const double *const in[], double *out) {
  standard_log_density(n, in, out, log_density);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  standard_log_density_partials(n, in, d, log_density_slope);
}

static void log_prob_totals (size_t n, const double *const in[], double *out) {
  standard_log_density_totals(n, in, out, log_density_slope, log_density_moment, 0.5,
                              -HALF_LOG_2PI);
}


static void cdf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, vndtr);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, vdensity);
}


VECTOR double upper_tail (double z) { return vndtr(-z); }
VECTOR double upper_tail_slope (double z) { return -vdensity(z); }

static void sf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, upper_tail);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, upper_tail_slope);
}


static void log_cdf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, vlog_ndtr);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, vhazard);
}


VECTOR double log_upper_tail (double z) { return vlog_ndtr(-z); }
VECTOR double log_upper_tail_slope (double z) { return -vhazard(-z); }

static void log_sf (size_t n, const double *const in[], double *out) {
  standard_value(n, in, out, log_upper_tail);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_partials(n, in, d, log_upper_tail_slope);
}


VECTOR double quantile_slope (double p) { return 1 / vdensity(vndtri(p)); }

static void icdf (size_t n, const double *const in[], double *out) {
  standard_quantile(n, in, out, vndtri);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_quantile_partials(n, in, d, vndtri, quantile_slope);
}


VECTOR double upper_quantile (double q) { return -vndtri(q); }
VECTOR double upper_quantile_slope (double q) { return -quantile_slope(q); }

static void isf (size_t n, const double *const in[], double *out) {
  standard_quantile(n, in, out, upper_quantile);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_quantile_partials(n, in, d, upper_quantile, upper_quantile_slope);
}


static void entropy (size_t n, const double *const in[], double *out) {
  standard_entropy(n, in, out, 0.5 + HALF_LOG_2PI);
}


/* the noise is standard normal already */
VECTOR double as_it_is (double z) { return z; }
VECTOR double one (double z) { return (void)z, 1; }

static void rsample (size_t n, const double *const in[], double *out) {
  standard_quantile(n, in, out, as_it_is);
}

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  standard_quantile_partials(n, in, d, as_it_is, one);
}


const Kernel perilune_normal[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials,
   .totals = log_prob_totals},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = standard_entropy_partials},
  {.name = "rsample",  .n_in = 3, .value = rsample,  .partials = rsample_partials,
   .noise = "normal"},
  {.name = NULL}
};
