/*
** rayleigh.c - Rayleigh(scale), the length of a plane vector of two Normals
**
**   log p(x) = log z - t - log(scale),    F(x) = 1 - e^-t,
**   z = x/scale >= 0,  t = z^2/2
*/
#include "kernel/halfline.h"
#include "special/vmath.h"


/* log z beyond the range of z; x = inf brings inf - inf */
VECTOR double log_density (double x, double scale) {
  double z = x / scale;
  double inside = fma(-0.5 * z, z, vlog_ratio(x, scale));
  return z == HUGE_VAL ? -HUGE_VAL : inside;
}

static void log_prob (size_t n, const double *const in[], double *out) {
  halfline_log_density(n, in, out, log_density);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *scale = in[1];
  double *dx = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    double z = x[i] / scale[i];
    dx[i] = x[i] < 0 ? 0.0 : 1 / x[i] - z / scale[i];
    dscale[i] = x[i] < 0 ? 0.0 : fma(z, z, -2) / scale[i];
  }
}


/* e^(-z^2/2), the rounding error of the square made good */
VECTOR double bell (double z) {
  double c = z > 40 ? 40 : z;
  double t = 0.5 * c * c;
  return exp_pair(-t, fma(-0.5 * c, c, t));
}

VECTOR double lower_tail (double x, double scale) {
  double z = x / scale;
  return -vexpm1(-0.5 * z * z);
}

VECTOR double lower_tail_slope (double z) { return z * bell(z); }

static void cdf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, lower_tail);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_partials(n, in, d, lower_tail_slope);
}


VECTOR double upper_tail (double x, double scale) { return bell(x / scale); }
VECTOR double upper_tail_slope (double z) { return -z * bell(z); }

static void sf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, upper_tail);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_partials(n, in, d, upper_tail_slope);
}


/* log(z^2/2) for the smallest z, where the square would underflow */
VECTOR double log_lower_tail (double x, double scale) {
  double z = x / scale, start = fma(2.0, vlog_ratio(x, scale), -LN2);
  double inside = vlog1mexp(-0.5 * z * z);
  return z < HALFLINE_TINY ? start : inside;
}

/* z^2/(e^t - 1) */
VECTOR double log_lower_tail_drift (double z) {
  double c = z > 1e3 ? 1e3 : z, t = 0.5 * c * c;
  double inside = 2 * t / vexpm1(t);
  return z < HALFLINE_TINY ? 2.0 : inside;
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, log_lower_tail);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_drift_partials(n, in, d, log_lower_tail_drift);
}


VECTOR double log_upper_tail (double x, double scale) {
  double z = x / scale;
  return -0.5 * z * z;
}

VECTOR double log_upper_tail_slope (double z) { return -z; }

static void log_sf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, log_upper_tail);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_partials(n, in, d, log_upper_tail_slope);
}


/* sqrt(-2 log(1 - p)), NaN outside of [0, 1] */
VECTOR double quantile (double p) { return sqrt(fma(-2.0, vlog1p(-p), 0.0)); }

/* 1/(q z), infinite where q is 0 and z is not finite */
VECTOR double slope_between (double q, double z) { return 1 / (q * (z > 1e3 ? 1e3 : z)); }
VECTOR double quantile_slope (double p) { return slope_between(1 - p, quantile(p)); }

static void icdf (size_t n, const double *const in[], double *out) {
  halfline_quantile(n, in, out, quantile);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_quantile_partials(n, in, d, quantile, quantile_slope);
}


VECTOR double upper_quantile (double q) { return sqrt(fma(-2.0, vlog(q), 0.0)); }
VECTOR double upper_quantile_slope (double q) { return -slope_between(q, upper_quantile(q)); }

static void isf (size_t n, const double *const in[], double *out) {
  halfline_quantile(n, in, out, upper_quantile);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_quantile_partials(n, in, d, upper_quantile, upper_quantile_slope);
}


/* 1 + Euler's constant/2 - log(2)/2 */
static void entropy (size_t n, const double *const in[], double *out) {
  halfline_entropy(n, in, out, 0.94203424217079377559);
}


/* the noise is exponential: it is t */
VECTOR double length (double t) { return sqrt(2 * t); }
VECTOR double length_slope (double t) { return 1 / sqrt(2 * t); }

static void rsample (size_t n, const double *const in[], double *out) {
  halfline_quantile(n, in, out, length);
}

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_quantile_partials(n, in, d, length, length_slope);
}


const Kernel perilune_rayleigh[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 2, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = halfline_entropy_partials},
  {.name = "rsample",  .n_in = 2, .value = rsample,  .partials = rsample_partials,
   .noise = "exponential"},
  {.name = NULL}
};
