/*
** halfcauchy.c - HalfCauchy(scale), the magnitude of a centred Cauchy
**
**   log p(x) = log(2/pi) - log(1 + z^2) - log(scale),
**   F(x) = (2/pi) atan(z),   1 - F(x) = (2/pi) atan(1/z),   z = x/scale >= 0
**
** The upper tail is the lower one with x and scale exchanged. Neither z nor
** its square need be in range: beyond 1 everything is a function of 1/z.
*/
#include "kernel/halfline.h"
#include "special/constants.h"
#include "special/vtrig.h"


/* z or 1/z, whichever is at most 1 */
VECTOR double lesser (double x, double scale) {
  double z = x / scale, inverse = scale / x;
  return x < scale ? z : inverse;
}

VECTOR double log_density (double x, double scale) {
  double m = lesser(x, scale), near = log1p_unit(m * m);
  double far = fma(2.0, vlog_ratio(x, scale), near);
  return LOG_2_OVER_PI - (x < scale ? near : far);
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  double x = v[0], scale = v[1], m = lesser(x, scale), p = 1 / fma(m, m, 1);
  double balance = (m - 1) * (m + 1) * p;
  int near = x < scale;
  double slope = near ? -2 * m * p / scale : -2 * p / x;
  d[0] = x < 0 ? 0.0 : slope;
  d[1] = x < 0 ? 0.0 : (near ? balance : -balance) / scale;
}

/* F as a function of x and scale, or 1 - F of scale and x */
VECTOR double tail (double a, double b) { return TWO_OVER_PI * vatan(a / b); }
VECTOR double other_tail (double x, double scale) { return tail(scale, x); }

/* F'(z) below z = 1, z F'(z) beyond */
VECTOR double bend (double x, double scale) {
  double m = lesser(x, scale);
  return TWO_OVER_PI * (x < scale ? 1.0 : m) / fma(m, m, 1);
}

/* The slopes of a function with the slope s below z = 1, and with the slope
   s in log z beyond. */
VECTOR void bent_slopes (const double v[], double s, double d[]) {
  double x = v[0], scale = v[1], by_log = x < scale ? x / scale * s : s;
  d[0] = x < 0 ? 0.0 : s / (x < scale ? scale : x);
  d[1] = x < 0 ? 0.0 : -by_log / scale;
}

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  double s = bend(v[0], v[1]);
  bent_slopes(v, upper ? -s : s, d);
}


/* log of tail(a, b) */
VECTOR double log_tail (double a, double b) {
  double r = a / b, start = vlog_ratio(a, b) + LOG_2_OVER_PI;
  double near = vlog(tail(a, b)), far = vlog1p(-tail(b, a));
  double inside = r < 1 ? near : far;
  return r < HALFLINE_TINY ? start : inside;
}

VECTOR double log_other_tail (double x, double scale) { return log_tail(scale, x); }

/* z p(z)/F(z) */
VECTOR double log_tail_drift (double z) {
  double inside = 1 / ((z + 1 / z) * vatan(z));
  return z < HALFLINE_TINY ? 1.0 : inside;
}

VECTOR void log_other_tail_slopes (const double v[], double d[]) {
  double x = v[0], scale = v[1], r = scale / x, inside = -bend(x, scale) / tail(scale, x);
  bent_slopes(v, ((x > 0) & (r < HALFLINE_TINY)) ? -1.0 : inside, d);
}


/* tan(pi p/2) from sine and cosine of a part of a turn, exact at either end */
VECTOR double quantile (double p) {
  double s, c;
  vsincos2pi(0.25 * p, &s, &c);
  double inside = p < HALFLINE_TINY ? HALF_PI * p : fabs(s / c);
  return ((p >= 0) & (p <= 1)) ? inside : (double)NAN;
}

VECTOR double quantile_slope (double p) {
  double s, c;
  vsincos2pi(0.25 * p, &s, &c);
  return HALF_PI / (c * c);
}

VECTOR double upper_quantile (double q) {
  double s, c;
  vsincos2pi(0.25 * q, &s, &c);
  return ((q >= 0) & (q <= 1)) ? fabs(c / s) : (double)NAN;
}

VECTOR double upper_quantile_slope (double q) {
  double s, c;
  vsincos2pi(0.25 * q, &s, &c);
  return -HALF_PI / (s * s);
}

static const HalflineLaw halfline = {
  .log_density = log_density,
  .cdf         = tail,           .sf                 = other_tail,
  .tail_slopes = tail_slopes,
  .log_cdf     = log_tail,       .log_cdf_drift      = log_tail_drift,
  .log_sf      = log_other_tail, .log_sf_slopes      = log_other_tail_slopes,
  .icdf        = quantile,       .icdf_slope         = quantile_slope,
  .isf         = upper_quantile, .isf_slope          = upper_quantile_slope,
  .entropy     = LOG_2PI
};

#include "kernel/halfline_kernels.h"

const Kernel perilune_halfcauchy[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 2, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 2, .value = icdf, .partials = icdf_partials,
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
