/*
** halfnormal.c - HalfNormal(scale), the magnitude of a centred Normal
**
**   log p(x) = log(2/pi)/2 - z^2/2 - log(scale),    F(x) = erf(z/sqrt(2)),
**   z = x/scale >= 0
*/
#include "kernel/halfline.h"
#include "special/constants.h"
#include "special/vdensity.h"
#include "special/verf.h"


VECTOR double log_density (double x, double scale) {
  double z = x / scale;
  return fma(-0.5 * z, z, HALF_LOG_2_OVER_PI);
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  double x = v[0], scale = v[1], z = x / scale;
  d[0] = x < 0 ? 0.0 : -z / scale;
  d[1] = x < 0 ? 0.0 : fma(z, z, -1) / scale;
}

VECTOR double lower_tail (double x, double scale) { return verf(x / scale * SQRT_HALF); }
VECTOR double lower_tail_slope (double z) { return 2 * vdensity(z); }

VECTOR double upper_tail (double x, double scale) { return 2 * vndtr(-x / scale); }
VECTOR double upper_tail_slope (double z) { return -2 * vdensity(z); }

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

/* sqrt(2) times the inverse of erf or erfc, rounded once */
VECTOR double quantile (double p) {
  double z = verfinv(p), x = fma(z, SQRT2_MINUS_1, z);
  return p < 0 ? (double)NAN : x;
}

VECTOR double quantile_slope (double p) { return 0.5 / vdensity(quantile(p)); }

VECTOR double upper_quantile (double q) {
  double z = verfcinv(q), x = fma(z, SQRT2_MINUS_1, z);
  return q > 1 ? (double)NAN : x;
}

VECTOR double upper_quantile_slope (double q) { return -0.5 / vdensity(upper_quantile(q)); }

/* the noise is standard normal */
VECTOR double magnitude (double z) { return fabs(z); }
VECTOR double magnitude_slope (double z) { return copysign(1.0, z); }

static const HalflineLaw halfline = {
  .log_density = log_density,
  .cdf         = lower_tail,     .cdf_slope          = lower_tail_slope,
  .sf          = upper_tail,     .sf_slope           = upper_tail_slope,
  .log_cdf     = log_lower_tail, .log_cdf_drift      = log_lower_tail_drift,
  .log_sf      = log_upper_tail, .log_sf_slope       = log_upper_tail_slope,
  .icdf        = quantile,       .icdf_slope         = quantile_slope,
  .isf         = upper_quantile, .isf_slope          = upper_quantile_slope,
  .from_noise  = magnitude,      .from_noise_slope   = magnitude_slope,
  .entropy     = 0.5 - HALF_LOG_2_OVER_PI
};

#include "kernel/halfline_kernels.h"

const Kernel perilune_halfnormal[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 2, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 2, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "normal"}},
  {.name = NULL}
};
