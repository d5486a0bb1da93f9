/*
** uniform.c - Uniform(low, high), constant on [low, high]
**
**   log p(x) = -log(high - low),    F(x) = (x - low)/(high - low)
**
** Everything is measured from the nearer end, so that either tail is exact.
*/
#include "kernel/sided.h"
#include "special/vmath.h"


VECTOR int inside (const double v[]) { return (v[0] >= v[1]) & (v[0] <= v[2]); }

VECTOR double log_density (const double v[]) {
  double x = v[0], level = -vlog(v[2] - v[1]), off = x == x ? -HUGE_VAL : x;
  return inside(v) ? level : off;
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  double slope = (inside(v) ? 1.0 : 0.0) / (v[2] - v[1]);
  d[0] = 0;
  d[1] = slope;
  d[2] = -slope;
}


/* (x - low)/(high - low), or from high for the upper tail, within 0 and 1; NaN stays. Never -0, of
   which f64.max, to which wasm's compilers turn the clamp, makes 0. */
VECTOR double tail (const double v[], int upper) {
  double from = v[upper ? 2 : 1], to = v[upper ? 1 : 2];
  return clamp((v[0] - from) / (to - from), 0.0, 1.0) + 0.0;
}

VECTOR double log_tail (const double v[], int upper) {
  double part = tail(v, upper), other = tail(v, !upper);
  return part < 0.5 ? vlog(part) : vlog1p(-other);
}

VECTOR double log_tiny_tail (const double v[], int upper) {
  double from = v[upper ? 2 : 1], part = upper ? from - v[0] : v[0] - from;
  return vlog_ratio(part < 0 ? 0.0 : part, v[2] - v[1]);
}

VECTOR int has_tiny_tail (int upper) { return (void)upper, 1; }

/* The slopes of F, times `by`: 1/F for log F, -1 for the upper tail. */
VECTOR void slopes (const double v[], double by, double d[]) {
  double slope = (inside(v) ? 1.0 : 0.0) * by / (v[2] - v[1]);
  d[0] = slope;
  d[1] = -slope * tail(v, 1);
  d[2] = -slope * tail(v, 0);
}

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  slopes(v, upper ? -1 : 1, d);
}

VECTOR void log_tail_slopes (const double v[], int upper, double d[]) {
  double part = tail(v, upper), from = v[upper ? 2 : 1];
  slopes(v, (upper ? -1 : 1) / part, d);
  double least = inside(v) ? part : 1.0;
  double own = 1 / (v[0] - from), fade = 1 / (v[2] - v[1]);   /* of log(x - low) - log(width) */
  d[0] = least < FEW_DIGITS ? own : d[0];
  d[1] = least < FEW_DIGITS ? (upper ? fade : -own) : d[1];
  d[2] = least < FEW_DIGITS ? (upper ? -own : -fade) : d[2];
}

/* the point with the part p of [low, high] below it, or above it */
VECTOR double quantile (const double v[], int upper) {
  double p = v[0], from = v[upper ? 2 : 1], to = v[upper ? 1 : 2], width = to - from;
  double near = fma(p, width, from), far = fma(p - 1, width, to), x = p < 0.5 ? near : far;
  return ((p >= 0) & (p <= 1)) ? x : (double)NAN;
}

VECTOR void quantile_slopes (const double v[], int upper, double d[]) {
  double p = v[0];
  d[0] = upper ? v[1] - v[2] : v[2] - v[1];
  d[1] = upper ? p : 1 - p;
  d[2] = upper ? 1 - p : p;
}

static const SidedLaw law = {
  .operands    = 3,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .tail        = tail,        .tail_slopes        = tail_slopes,
  .log_tail    = log_tail,    .log_tail_slopes    = log_tail_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .log_tiny_tail = log_tiny_tail, .has_tiny_tail  = has_tiny_tail
};

#include "kernel/density_kernels.h"
#include "kernel/sided_kernels.h"


static void entropy (size_t n, const double *const in[], double *out) {
  const double *low = in[0], *high = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlog(high[i] - low[i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *low = in[0], *high = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double slope = 1 / (high[i] - low[i]);
    d[0][i] = -slope;
    d[1][i] = slope;
  }
}


/* u <= 1 - 2^-53 outweighs the rounding of the width: never above high */
static void rsample (size_t n, const double *const in[], double *out) {
  const double *u = in[0], *low = in[1], *high = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = fma(u[i], high[i] - low[i], low[i]);
}


const Kernel perilune_uniform[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 3, .value = rsample, .partials = icdf_partials,
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
