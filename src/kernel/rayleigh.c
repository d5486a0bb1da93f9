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

VECTOR void log_density_slopes (const double v[], double d[]) {
  double x = v[0], scale = v[1], z = x / scale;
  d[0] = x < 0 ? 0.0 : 1 / x - z / scale;
  d[1] = x < 0 ? 0.0 : fma(z, z, -2) / scale;
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

VECTOR double upper_tail (double x, double scale) { return bell(x / scale); }
VECTOR double upper_tail_slope (double z) { return -z * bell(z); }

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

VECTOR double log_upper_tail (double x, double scale) {
  double z = x / scale;
  return -0.5 * z * z;
}

VECTOR double log_upper_tail_slope (double z) { return -z; }

/* sqrt(-2 log(1 - p)), NaN outside of [0, 1] */
VECTOR double quantile (double p) { return sqrt(fma(-2.0, vlog1p(-p), 0.0)); }

/* 1/(q z), infinite where q is 0 and z is not finite */
VECTOR double slope_between (double q, double z) { return 1 / (q * (z > 1e3 ? 1e3 : z)); }
VECTOR double quantile_slope (double p) { return slope_between(1 - p, quantile(p)); }

VECTOR double upper_quantile (double q) { return sqrt(fma(-2.0, vlog(q), 0.0)); }
VECTOR double upper_quantile_slope (double q) { return -slope_between(q, upper_quantile(q)); }

/* the noise is exponential: it is t */
VECTOR double length (double t) { return sqrt(2 * t); }
VECTOR double length_slope (double t) { return 1 / sqrt(2 * t); }

static const HalflineLaw halfline = {
  .log_density = log_density,
  .cdf         = lower_tail,     .cdf_slope          = lower_tail_slope,
  .sf          = upper_tail,     .sf_slope           = upper_tail_slope,
  .log_cdf     = log_lower_tail, .log_cdf_drift      = log_lower_tail_drift,
  .log_sf      = log_upper_tail, .log_sf_slope       = log_upper_tail_slope,
  .icdf        = quantile,       .icdf_slope         = quantile_slope,
  .isf         = upper_quantile, .isf_slope          = upper_quantile_slope,
  .from_noise  = length,         .from_noise_slope   = length_slope,
  .entropy     = 0.94203424217079377559   /* 1 + Euler's constant/2 - log(2)/2 */
};

#include "kernel/halfline_kernels.h"

const Kernel perilune_rayleigh[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 2, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 2, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "exponential"}},
  {.name = NULL}
};
