/*
** uniform.c - Uniform(low, high), constant on [low, high]
**
**   log p(x) = -log(high - low),    F(x) = (x - low)/(high - low)
**
** Everything is measured from the nearer end, so that either tail is exact.
*/
#include "kernel/kernel.h"
#include "special/vmath.h"


static inline double inside (double x, double low, double high) {
  return ((x >= low) & (x <= high)) ? 1.0 : 0.0;
}

/* (x - low)/(high - low), kept within 0 and 1; NaN stays */
static inline double share (double x, double low, double high) {
  return clamp((x - low) / (high - low), 0.0, 1.0);
}

/* log of the part below, given the part above */
static inline double log_share (double below, double above) {
  return below < 0.5 ? vlog(below) : vlog1p(-above);
}

/* the point with the part p of [low, high] below it */
static inline double point (double p, double low, double high) {
  double width = high - low, up = fma(p, width, low), down = fma(p - 1, width, high);
  double x = p < 0.5 ? up : down;
  return ((p >= 0) & (p <= 1)) ? x : (double)NAN;
}


static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++) {
    double level = -vlog(high[i] - low[i]), off = x[i] == x[i] ? -HUGE_VAL : x[i];
    out[i] = ((x[i] >= low[i]) & (x[i] <= high[i])) ? level : off;
  }
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++) {
    double slope = inside(x[i], low[i], high[i]) / (high[i] - low[i]);
    d[0][i] = 0;
    d[1][i] = slope;
    d[2][i] = -slope;
  }
}


static void cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++) out[i] = share(x[i], low[i], high[i]);
}

static void sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++) out[i] = share(x[i], high[i], low[i]);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++)
    out[i] = log_share(share(x[i], low[i], high[i]), share(x[i], high[i], low[i]));
}

static void log_sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++)
    out[i] = log_share(share(x[i], high[i], low[i]), share(x[i], low[i], high[i]));
}

/* The slopes of F, times `by`: 1/F for log F, -1 for the upper tail. */
static inline void slopes (size_t i, double x, double low, double high, double by,
                           double *const d[]) {
  double slope = inside(x, low, high) * by / (high - low);
  d[0][i] = slope;
  d[1][i] = -slope * share(x, high, low);
  d[2][i] = -slope * share(x, low, high);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) slopes(i, in[0][i], in[1][i], in[2][i], 1, d);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) slopes(i, in[0][i], in[1][i], in[2][i], -1, d);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++)
    slopes(i, in[0][i], in[1][i], in[2][i], 1 / share(in[0][i], in[1][i], in[2][i]), d);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++)
    slopes(i, in[0][i], in[1][i], in[2][i], -1 / share(in[0][i], in[2][i], in[1][i]), d);
}


static void icdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = point(in[0][i], in[1][i], in[2][i]);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *p = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++) {
    d[0][i] = high[i] - low[i];
    d[1][i] = 1 - p[i];
    d[2][i] = p[i];
  }
}

static void isf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = point(in[0][i], in[2][i], in[1][i]);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *q = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++) {
    d[0][i] = low[i] - high[i];
    d[1][i] = q[i];
    d[2][i] = 1 - q[i];
  }
}


static void entropy (size_t n, const double *const in[], double *out) {
  const double *low = in[0], *high = in[1];
  for (size_t i = 0; i < n; i++) out[i] = vlog(high[i] - low[i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *low = in[0], *high = in[1];
  for (size_t i = 0; i < n; i++) {
    double slope = 1 / (high[i] - low[i]);
    d[0][i] = -slope;
    d[1][i] = slope;
  }
}


/* u <= 1 - 2^-53 outweighs the rounding of the width: never above high */
static void rsample (size_t n, const double *const in[], double *out) {
  const double *u = in[0], *low = in[1], *high = in[2];
  for (size_t i = 0; i < n; i++) out[i] = fma(u[i], high[i] - low[i], low[i]);
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
  {.name = "rsample",  .n_in = 3, .value = rsample,  .partials = icdf_partials,
   .noise = "uniform"},
  {.name = NULL}
};
