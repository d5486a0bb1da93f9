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
#include "special/vtrig.h"

#define LOG_2_OVER_PI (-0.45158270528945486473)
#define TWO_PI_INVERSE 0.63661977236758134308   /* 2/pi */
#define HALF_PI 1.5707963267948966192


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

static void log_prob (size_t n, const double *const in[], double *out) {
  halfline_log_density(n, in, out, log_density);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *scale = in[1];
  double *dx = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    double m = lesser(x[i], scale[i]), p = 1 / fma(m, m, 1);
    double balance = (m - 1) * (m + 1) * p;
    int near = x[i] < scale[i];
    double slope = near ? -2 * m * p / scale[i] : -2 * p / x[i];
    dx[i] = x[i] < 0 ? 0.0 : slope;
    dscale[i] = x[i] < 0 ? 0.0 : (near ? balance : -balance) / scale[i];
  }
}


/* F as a function of x and scale, or 1 - F of scale and x */
VECTOR double tail (double a, double b) { return TWO_PI_INVERSE * vatan(a / b); }
VECTOR double other_tail (double x, double scale) { return tail(scale, x); }

/* F'(z) below z = 1, z F'(z) beyond */
VECTOR double bend (double x, double scale) {
  double m = lesser(x, scale);
  return TWO_PI_INVERSE * (x < scale ? 1.0 : m) / fma(m, m, 1);
}

/* The partials of a function with the slope s below z = 1, and with the slope
   s in log z beyond. */
VECTOR void bent_partials (size_t i, double x, double scale, double s, double *dx,
                           double *dscale) {
  double by_log = x < scale ? x / scale * s : s;
  dx[i] = x < 0 ? 0.0 : s / (x < scale ? scale : x);
  dscale[i] = x < 0 ? 0.0 : -by_log / scale;
}

static void cdf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, tail);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  double *dx = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++)
    bent_partials(i, in[0][i], in[1][i], bend(in[0][i], in[1][i]), dx, dscale);
}

static void sf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, other_tail);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  double *dx = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++)
    bent_partials(i, in[0][i], in[1][i], -bend(in[0][i], in[1][i]), dx, dscale);
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

static void log_cdf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, log_tail);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_drift_partials(n, in, d, log_tail_drift);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  halfline_value(n, in, out, log_other_tail);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *scale = in[1];
  double *dx = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    double r = scale[i] / x[i], inside = -bend(x[i], scale[i]) / tail(scale[i], x[i]);
    double s = ((x[i] > 0) & (r < HALFLINE_TINY)) ? -1.0 : inside;
    bent_partials(i, x[i], scale[i], s, dx, dscale);
  }
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

static void icdf (size_t n, const double *const in[], double *out) {
  halfline_quantile(n, in, out, quantile);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_quantile_partials(n, in, d, quantile, quantile_slope);
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

static void isf (size_t n, const double *const in[], double *out) {
  halfline_quantile(n, in, out, upper_quantile);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  halfline_quantile_partials(n, in, d, upper_quantile, upper_quantile_slope);
}


/* log(2 pi) */
static void entropy (size_t n, const double *const in[], double *out) {
  halfline_entropy(n, in, out, 1.8378770664093454836);
}


const Kernel perilune_halfcauchy[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 2, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = halfline_entropy_partials},
  {.name = "rsample",  .n_in = 2, .value = icdf,     .partials = icdf_partials,
   .noise = "uniform"},
  {.name = NULL}
};
