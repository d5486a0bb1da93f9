/*
** loguniform.c - LogUniform(low, high): log x is uniform
**
**   log p(x) = -log x - log(L),    F(x) = log(x/low)/L,    L = log(high/low)
**
** Logarithms of quotients keep their digits when the ends are close, and do
** not overflow when they are far apart. With r = L/2,
**
**   mean = (high - low)/L,    stddev = mean sqrt(r coth r - 1)
*/
#include "kernel/kernel.h"
#include "special/vmath.h"
#include "special/vpow.h"


static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++) {
    double level = -vlog(vlog_ratio(high[i], low[i])) - vlog(x[i]);
    double off = x[i] == x[i] ? -HUGE_VAL : x[i];
    out[i] = ((x[i] >= low[i]) & (x[i] <= high[i])) ? level : off;
  }
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *low = in[1], *high = in[2];
  double *dx = d[0], *dlow = d[1], *dhigh = d[2];
  for (size_t i = 0; i < n; i++) {
    double inside = ((x[i] >= low[i]) & (x[i] <= high[i])) ? 1.0 : 0.0;
    double slope = inside / vlog_ratio(high[i], low[i]);
    dx[i] = inside == 0 ? 0.0 : -1 / x[i];
    dlow[i] = slope / low[i];
    dhigh[i] = -slope / high[i];
  }
}


/* log(x/low)/L, from the nearer end, within 0 and 1; `a` and `b` are low and
   high, or high and low for the part above */
VECTOR double share (double x, double a, double b) {
  double length = vlog_ratio(b, a);
  double near = fabs(vlog_ratio(x, a) / length), far = vlog_ratio(b, x) / length;
  return near < 0.5 ? near : 1 - far;
}

VECTOR double share_below (double x, double low, double high) {
  return share(clamp(x, low, high), low, high);
}

VECTOR double share_above (double x, double low, double high) {
  return share(clamp(x, low, high), high, low);
}

/* log of the part below, given the part above */
VECTOR double log_share (double below, double above) {
  double near = vlog(below), far = vlog1p(-above);
  return below < 0.5 ? near : far;
}

static void cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++) out[i] = share_below(x[i], low[i], high[i]);
}

static void sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++) out[i] = share_above(x[i], low[i], high[i]);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++)
    out[i] = log_share(share_below(x[i], low[i], high[i]), share_above(x[i], low[i], high[i]));
}

static void log_sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++)
    out[i] = log_share(share_above(x[i], low[i], high[i]), share_below(x[i], low[i], high[i]));
}


/* Partials that are these numbers over L times x, low and high; 0 off the support. */
VECTOR void slopes (size_t i, const double *const in[], double by_x, double by_low,
                    double by_high, double *const d[]) {
  double x = in[0][i], low = in[1][i], high = in[2][i], inverse = 1 / vlog_ratio(high, low);
  int outside = (x < low) | (x > high);
  d[0][i] = outside ? 0.0 : by_x * inverse / x;
  d[1][i] = outside ? 0.0 : by_low * inverse / low;
  d[2][i] = outside ? 0.0 : by_high * inverse / high;
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double below = share_below(in[0][i], in[1][i], in[2][i]);
    double above = share_above(in[0][i], in[1][i], in[2][i]);
    slopes(i, in, 1, -above, -below, d);
  }
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double below = share_below(in[0][i], in[1][i], in[2][i]);
    double above = share_above(in[0][i], in[1][i], in[2][i]);
    slopes(i, in, -1, above, below, d);
  }
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double below = share_below(in[0][i], in[1][i], in[2][i]);
    double above = share_above(in[0][i], in[1][i], in[2][i]);
    slopes(i, in, 1 / below, -above / below, -1, d);
  }
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double below = share_below(in[0][i], in[1][i], in[2][i]);
    double above = share_above(in[0][i], in[1][i], in[2][i]);
    slopes(i, in, -1 / above, 1, below / above, d);
  }
}


/* the point with log x the part p, at most 1/2, of the way from log a to log b */
VECTOR double part_way (double p, double a, double b) {
  Pair start = log_pair(a), way = pair_add(log_pair(b), pair_negative(start));
  Pair y = pair_add(start, pair_scale(p, way));
  return exp_pair(clamp(y.hi, -800.0, 800.0), y.lo);
}

/* the point the part p of the way from a to b; rounding must not lead beyond them */
VECTOR double point (double p, double a, double b) {
  double x = part_way(p < 0.5 ? p : 1 - p, p < 0.5 ? a : b, p < 0.5 ? b : a);
  x = clamp(x, a < b ? a : b, a < b ? b : a);
  x = p == 0 ? a : x;
  x = p == 1 ? b : x;
  return ((p >= 0) & (p <= 1)) ? x : (double)NAN;
}

static void icdf (size_t n, const double *const in[], double *out) {
  const double *p = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++) out[i] = point(p[i], low[i], high[i]);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *p = in[0], *low = in[1], *high = in[2];
  double *dp = d[0], *dlow = d[1], *dhigh = d[2];
  for (size_t i = 0; i < n; i++) {
    double x = point(p[i], low[i], high[i]);
    dp[i] = x * vlog_ratio(high[i], low[i]);
    dlow[i] = (1 - p[i]) * (x / low[i]);
    dhigh[i] = p[i] * (x / high[i]);
  }
}

static void isf (size_t n, const double *const in[], double *out) {
  const double *q = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++) out[i] = point(q[i], high[i], low[i]);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *q = in[0], *low = in[1], *high = in[2];
  double *dq = d[0], *dlow = d[1], *dhigh = d[2];
  for (size_t i = 0; i < n; i++) {
    double x = point(q[i], high[i], low[i]);
    dq[i] = -x * vlog_ratio(high[i], low[i]);
    dlow[i] = q[i] * (x / low[i]);
    dhigh[i] = (1 - q[i]) * (x / high[i]);
  }
}


/* (e^x - 1 - x)/x^2 */
VECTOR double second_difference (double x) {
  double near = exp_tail(x), far = (vexpm1(x) - x) / x / x;
  return fabs(x) < 0.34 ? near : far;
}

static void mean (size_t n, const double *const in[], double *out) {
  const double *low = in[0], *high = in[1];
  for (size_t i = 0; i < n; i++) out[i] = (high[i] - low[i]) / vlog_ratio(high[i], low[i]);
}

static void mean_partials (size_t n, const double *const in[], double *const d[]) {
  const double *low = in[0], *high = in[1];
  double *dlow = d[0], *dhigh = d[1];
  for (size_t i = 0; i < n; i++) {
    double length = vlog_ratio(high[i], low[i]);
    dlow[i] = second_difference(length);
    dhigh[i] = second_difference(-length);
  }
}


/* r coth r - 1: Gauss's fraction r^2/(3 + r^2/(5 + ...)), or 2r/(e^2r - 1) + r - 1 */
VECTOR double coth_excess (double r) {
  double z = r > 2 ? 4.0 : r * r, near = 25.0;
  near = 23 + z / near;
  near = 21 + z / near;
  near = 19 + z / near;
  near = 17 + z / near;
  near = 15 + z / near;
  near = 13 + z / near;
  near = 11 + z / near;
  near = 9 + z / near;
  near = 7 + z / near;
  near = 5 + z / near;
  near = z / (3 + z / near);
  double far = (2 * r / vexpm1(2 * r) - 1) + r;
  return r < 1.5 ? near : far;
}

/* standard deviation over mean: r/sqrt(3) where r^2 vanishes */
VECTOR double variation (double r) {
  double root = sqrt(coth_excess(r));
  return r < 1e-9 ? r * 0.57735026918962576451 : root;
}

/* minus the slope of variation(r) in log(low), with k = r coth r - 1, k' = (r^2 - k(1 + k))/r */
VECTOR double variation_slope (double r) {
  double k = coth_excess(r);
  double inside = fma(-k, 1 + k, r * r) / (4 * r * variation(r));
  return r < 1e-9 ? 0.28867513459481288225 : inside;
}

static void stddev (size_t n, const double *const in[], double *out) {
  const double *low = in[0], *high = in[1];
  for (size_t i = 0; i < n; i++) {
    double length = vlog_ratio(high[i], low[i]);
    out[i] = (high[i] - low[i]) / length * variation(0.5 * length);
  }
}

static void stddev_partials (size_t n, const double *const in[], double *const d[]) {
  const double *low = in[0], *high = in[1];
  double *dlow = d[0], *dhigh = d[1];
  for (size_t i = 0; i < n; i++) {
    double length = vlog_ratio(high[i], low[i]), mean = (high[i] - low[i]) / length;
    double v = variation(0.5 * length), s = variation_slope(0.5 * length);
    dlow[i] = fma(second_difference(length), v, -(mean / low[i]) * s);
    dhigh[i] = fma(second_difference(-length), v, mean / high[i] * s);
  }
}


static void entropy (size_t n, const double *const in[], double *out) {
  const double *low = in[0], *high = in[1];
  for (size_t i = 0; i < n; i++)
    out[i] = 0.5 * (vlog(low[i]) + vlog(high[i])) + vlog(vlog_ratio(high[i], low[i]));
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *low = in[0], *high = in[1];
  double *dlow = d[0], *dhigh = d[1];
  for (size_t i = 0; i < n; i++) {
    double slope = 1 / vlog_ratio(high[i], low[i]);
    dlow[i] = (0.5 - slope) / low[i];
    dhigh[i] = (0.5 + slope) / high[i];
  }
}


const Kernel perilune_loguniform[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "mean",     .n_in = 2, .value = mean,     .partials = mean_partials},
  {.name = "stddev",   .n_in = 2, .value = stddev,   .partials = stddev_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample",  .n_in = 3, .value = icdf,     .partials = icdf_partials,
   .noise = "uniform"},
  {.name = NULL}
};
