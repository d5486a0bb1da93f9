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
#include "kernel/moments.h"
#include "kernel/sided.h"
#include "special/vmath.h"
#include "special/vpow.h"


VECTOR double length_of (const double v[]) { return vlog_ratio(v[2], v[1]); }

VECTOR double log_density (const double v[]) {
  double x = v[0], level = -vlog(length_of(v)) - vlog(x), off = x == x ? -HUGE_VAL : x;
  return ((x >= v[1]) & (x <= v[2])) ? level : off;
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  double x = v[0], inside = ((x >= v[1]) & (x <= v[2])) ? 1.0 : 0.0;
  double slope = inside / length_of(v);
  d[0] = inside == 0 ? 0.0 : -1 / x;
  d[1] = slope / v[1];
  d[2] = -slope / v[2];
}


/* log(x/low)/L, from the nearer end, within 0 and 1; `a` and `b` are low and
   high, or high and low for the part above */
VECTOR double share (double x, double a, double b) {
  double length = vlog_ratio(b, a);
  double near = fabs(vlog_ratio(x, a) / length), far = vlog_ratio(b, x) / length;
  return near < 0.5 ? near : 1 - far;
}

VECTOR double tail (const double v[], int upper) {
  return share(clamp(v[0], v[1], v[2]), v[upper ? 2 : 1], v[upper ? 1 : 2]);
}

VECTOR double log_tail (const double v[], int upper) {
  double part = tail(v, upper), other = tail(v, !upper), near = vlog(part), far = vlog1p(-other);
  return part < 0.5 ? near : far;
}

/* Partials that are these numbers over L times x and the ends on the tail's side and on the
   other; 0 off the support. */
VECTOR void slopes (const double v[], int upper, double by_x, double by_near, double by_far,
                    double d[]) {
  double x = v[0], low = v[1], high = v[2], inverse = 1 / length_of(v);
  int outside = (x < low) | (x > high);
  d[0] = outside ? 0.0 : by_x * inverse / x;
  d[1] = outside ? 0.0 : (upper ? by_far : by_near) * inverse / low;
  d[2] = outside ? 0.0 : (upper ? by_near : by_far) * inverse / high;
}

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  double part = tail(v, upper), other = tail(v, !upper), sign = upper ? -1 : 1;
  slopes(v, upper, sign, -sign * other, -sign * part, d);
}

VECTOR void log_tail_slopes (const double v[], int upper, double d[]) {
  double part = tail(v, upper), other = tail(v, !upper), sign = upper ? -1 : 1;
  slopes(v, upper, sign / part, -sign * other / part, -sign, d);
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

VECTOR double quantile (const double v[], int upper) {
  return point(v[0], v[upper ? 2 : 1], v[upper ? 1 : 2]);
}

VECTOR void quantile_slopes (const double v[], int upper, double d[]) {
  double p = v[0], x = quantile(v, upper);
  d[0] = (upper ? -x : x) * length_of(v);
  d[1] = (upper ? p : 1 - p) * (x / v[1]);
  d[2] = (upper ? 1 - p : p) * (x / v[2]);
}

static const SidedLaw law = {
  .operands    = 3,           .long_slopes        = 1,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .tail        = tail,        .tail_slopes        = tail_slopes,
  .log_tail    = log_tail,    .log_tail_slopes    = log_tail_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes
};

#include "kernel/density_kernels.h"
#include "kernel/sided_kernels.h"


/* (e^x - 1 - x)/x^2 */
VECTOR double second_difference (double x) {
  double near = exp_tail(x), far = (vexpm1(x) - x) / x / x;
  return fabs(x) < 0.34 ? near : far;
}

VECTOR Moment mean_at (double low, double high) {
  double length = vlog_ratio(high, low);
  return (Moment) {(high - low) / length, second_difference(length), second_difference(-length)};
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

VECTOR Moment stddev_at (double low, double high) {
  double length = vlog_ratio(high, low), v = variation(0.5 * length);
  double s = variation_slope(0.5 * length);
  Moment mean = mean_at(low, high);
  return (Moment) {mean.value * v, fma(mean.by_first, v, -(mean.value / low) * s),
                   fma(mean.by_second, v, mean.value / high * s)};
}

VECTOR Moment entropy_at (double low, double high) {
  double length = vlog_ratio(high, low), slope = 1 / length;
  return (Moment) {0.5 * (vlog(low) + vlog(high)) + vlog(length), (0.5 - slope) / low,
                   (0.5 + slope) / high};
}

static const Moments moments = {.mean = mean_at, .stddev = stddev_at, .entropy = entropy_at};

#include "kernel/moments_kernels.h"


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
  {.name = "rsample", .n_in = 3, .value = icdf, .partials = icdf_partials,
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
