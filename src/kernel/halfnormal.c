/*
** halfnormal.c - HalfNormal(scale), the magnitude of a centred Normal
**
**   log p(x) = log(2/pi)/2 - z^2/2 - log(scale),    F(x) = erf(z/sqrt(2)),
**   z = x/scale >= 0
*/
#include "kernel/halfline.h"
#include "special/vdensity.h"
#include "special/verf.h"

#define HALF_LOG_2_OVER_PI (-0.22579135264472743236)
#define SQRT_2_OVER_PI 0.79788456080286535588
#define SQRT_HALF 0.70710678118654752440


VECTOR double log_density (double x, double scale) {
  double z = x / scale;
  return fma(-0.5 * z, z, HALF_LOG_2_OVER_PI);
}

static void log_prob (size_t n, const double *const in[], double *out) {
  halfline_log_density(n, in, out, log_density);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *scale = in[1];
  double *dx = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    double z = x[i] / scale[i];
    dx[i] = x[i] < 0 ? 0.0 : -z / scale[i];
    dscale[i] = x[i] < 0 ? 0.0 : fma(z, z, -1) / scale[i];
  }
}


VECTOR double lower_tail (double x, double scale) { return verf(x / scale * SQRT_HALF); }
VECTOR double lower_tail_slope (double z) { return 2 * vdensity(z); }

static void cdf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, lower_tail);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_partials(n, in, d, lower_tail_slope);
}


VECTOR double upper_tail (double x, double scale) { return 2 * vndtr(-x / scale); }
VECTOR double upper_tail_slope (double z) { return -2 * vdensity(z); }

static void sf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, upper_tail);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_partials(n, in, d, upper_tail_slope);
}


/* log z + log(2/pi)/2 for the smallest z, whatever the range of z itself */
VECTOR double log_lower_tail (double x, double scale) {
  double z = x / scale, start = vlog_ratio(x, scale) + HALF_LOG_2_OVER_PI;
  double near = vlog(verf(z * SQRT_HALF)), far = vlog1p(-2 * vndtr(-z));
  double inside = z < 0.7 ? near : far;
  return z < HALFLINE_TINY ? start : inside;
}

/* z p(z)/F(z) */
VECTOR double log_lower_tail_drift (double z) {
  double c = z > 40 ? 40 : z;
  double inside = 2 * c * vdensity(c) / verf(c * SQRT_HALF);
  return z < HALFLINE_TINY ? 1.0 : inside;
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, log_lower_tail);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_drift_partials(n, in, d, log_lower_tail_drift);
}


/* log(1 - erf) near 0; log erfcx - z^2/2, both negative, beyond */
VECTOR double log_upper_tail (double x, double scale) {
  double z = x / scale, c = z > 1e160 ? 1e160 : z;
  double near = vlog1p(-verf(z * SQRT_HALF));
  double far = fma(-0.5 * z, z, vlog(erfcx_positive(c * SQRT_HALF)));
  return z < 0.7 ? near : far;
}

VECTOR double log_upper_tail_slope (double z) {
  return -SQRT_2_OVER_PI / verfcx(z * SQRT_HALF);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, log_upper_tail);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_partials(n, in, d, log_upper_tail_slope);
}


/* sqrt(2) times the inverse of erf or erfc, rounded once */
VECTOR double quantile (double p) {
  double z = verfinv(p), x = fma(z, 0.41421356237309504880, z);
  return p < 0 ? (double)NAN : x;
}

VECTOR double quantile_slope (double p) { return 0.5 / vdensity(quantile(p)); }

static void icdf (size_t n, const double *const in[], double *out) {
  halfline_quantile(n, in, out, quantile);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_quantile_partials(n, in, d, quantile, quantile_slope);
}


VECTOR double upper_quantile (double q) {
  double z = verfcinv(q), x = fma(z, 0.41421356237309504880, z);
  return q > 1 ? (double)NAN : x;
}

VECTOR double upper_quantile_slope (double q) { return -0.5 / vdensity(upper_quantile(q)); }

static void isf (size_t n, const double *const in[], double *out) {
  halfline_quantile(n, in, out, upper_quantile);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_quantile_partials(n, in, d, upper_quantile, upper_quantile_slope);
}


static void entropy (size_t n, const double *const in[], double *out) {
  halfline_entropy(n, in, out, 0.5 - HALF_LOG_2_OVER_PI);
}


/* the noise is standard normal */
VECTOR double magnitude (double z) { return fabs(z); }
VECTOR double magnitude_slope (double z) { return copysign(1.0, z); }

static void rsample (size_t n, const double *const in[], double *out) {
  halfline_quantile(n, in, out, magnitude);
}

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_quantile_partials(n, in, d, magnitude, magnitude_slope);
}


const Kernel perilune_halfnormal[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 2, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = halfline_entropy_partials},
  {.name = "rsample",  .n_in = 2, .value = rsample,  .partials = rsample_partials,
   .noise = "normal"},
  {.name = NULL}
};
