/*
** geometric.c - Geometric(logits), failures before the first success
**
**   p = sigmoid(l),   s = -log(1 - p) = softplus(l)
**   log P(k) = log p - k s,   P(X > k) = e^(-(k + 1) s),   k = 0, 1, 2, ...
**
** Logits hold p and 1 - p to full precision, however small either is. For
** p = 1, s = inf, all of the mass is at 0.
*/
#include "kernel/kernel.h"
#include "kernel/outcome.h"
#include "special/vmath.h"


/* is x an outcome? */
VECTOR int is_outcome (double x) {
  return (x >= 0) & (x < HUGE_VAL) & (floor(x) == x);
}

/* -log P(X > x) at x >= 0; for x < 0 it is 0 */
VECTOR double hazard (double x, double l) {
  double trials = floor(x) + 1, inside = trials * vsoftplus(l);
  inside = x == HUGE_VAL ? x : inside;   /* also where no success is ever to be seen */
  return x < 0 ? 0 : inside;
}

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *l = in[1];
  for (size_t i = 0; i < n; i++) {
    double off = x[i] == x[i] ? -HUGE_VAL : x[i];
    double failures = x[i] == 0 ? 0 : x[i] * vsoftplus(l[i]);
    out[i] = is_outcome(x[i]) ? 0 - vsoftplus(-l[i]) - failures : off;
  }
}

/* 1 - p - x p */
static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *l = in[1];
  double *dx = d[0], *dl = d[1];
  for (size_t i = 0; i < n; i++) {
    double slope = fma(-x[i], vsigmoid(l[i]), vsigmoid(-l[i]));
    dx[i] = 0;
    dl[i] = is_outcome(x[i]) ? slope : 0;
  }
}


static void cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *l = in[1];
  for (size_t i = 0; i < n; i++) out[i] = 0 - vexpm1(-hazard(x[i], l[i]));
}

static void sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *l = in[1];
  for (size_t i = 0; i < n; i++) out[i] = vexp(-hazard(x[i], l[i]));
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *l = in[1];
  for (size_t i = 0; i < n; i++) out[i] = vlog1mexp(-hazard(x[i], l[i]));
}

static void log_sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *l = in[1];
  for (size_t i = 0; i < n; i++) out[i] = 0 - hazard(x[i], l[i]);
}

/* d hazard/dl = (x + 1) p, or 0 where the hazard does not change the tail */
VECTOR double hazard_slope (double x, double l, double hazard) {
  double slope = (floor(x) + 1) * vsigmoid(l);
  double inside = hazard < HUGE_VAL ? slope : 0;
  return x < 0 ? 0 : inside;
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *l = in[1];
  double *dx = d[0], *dl = d[1];
  for (size_t i = 0; i < n; i++) {
    double h = hazard(x[i], l[i]);
    dx[i] = 0;
    dl[i] = hazard_slope(x[i], l[i], h) * vexp(-h);
  }
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *l = in[1];
  double *dx = d[0], *dl = d[1];
  for (size_t i = 0; i < n; i++) {
    double h = hazard(x[i], l[i]);
    dx[i] = 0;
    dl[i] = -hazard_slope(x[i], l[i], h) * vexp(-h);
  }
}

/* e^-h/(1 - e^-h) = 1/(e^h - 1) */
static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *l = in[1];
  double *dx = d[0], *dl = d[1];
  for (size_t i = 0; i < n; i++) {
    double h = hazard(x[i], l[i]);
    dx[i] = 0;
    dl[i] = x[i] < 0 ? 0 : hazard_slope(x[i], l[i], h) / vexpm1(h);
  }
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *l = in[1];
  double *dx = d[0], *dl = d[1];
  for (size_t i = 0; i < n; i++) {
    dx[i] = 0;
    dl[i] = -hazard_slope(x[i], l[i], hazard(x[i], l[i]));
  }
}


/*
** The smallest outcome k with k + 1 >= h/s, h = -log(1 - p) or -log(q). The quotient counts as
** reached (outcome.h) if it is missed by what rounding may do to it: to the logit and
** to s and h, relatively; and to p by half an ulp, which moves h by ulp/(1 - p).
*/
VECTOR double quantile (double h, double half_ulp, double l) {
  double s = vsoftplus(l), x = h / s;
  double slack = fma(x, fma(DBL_EPSILON, fabs(l), OUTCOME_SLACK), half_ulp / s);
  double k = ceil(x - (slack < 0.25 ? slack : 0.25)) - 1;
  k = k > 0 ? k : 0;
  return s == HUGE_VAL ? 0 : x == HUGE_VAL ? x : k;
}

static void icdf (size_t n, const double *const in[], double *out) {
  const double *p = in[0], *l = in[1];
  for (size_t i = 0; i < n; i++) {
    double ulp = p[i] > 0.5 ? 0x1p-54 / (1 - p[i]) : 0, k = quantile(-vlog1p(-p[i]), ulp, l[i]);
    out[i] = ((p[i] >= 0) & (p[i] <= 1)) ? k : (double)NAN;
  }
}

static void isf (size_t n, const double *const in[], double *out) {
  const double *q = in[0], *l = in[1];
  for (size_t i = 0; i < n; i++) {
    double k = quantile(-vlog(q[i]), q[i] > 0.5 ? 0x1p-53 : 0, l[i]);
    out[i] = ((q[i] >= 0) & (q[i] <= 1)) ? k : (double)NAN;
  }
}


/* e^-l s, which is also minus the slope of the entropy; 1 in the limit of small p */
VECTOR double entropy_of_failures (double l) {
  double e = vexp(-fabs(l)), s = vsoftplus(l);
  double often = l == HUGE_VAL ? 0 : e * s;
  double rare = e == 0 ? 1 : s / e;
  return l < 0 ? rare : often;
}

/* -log p - (1 - p)/p log(1 - p) */
static void entropy (size_t n, const double *const in[], double *out) {
  const double *l = in[0];
  for (size_t i = 0; i < n; i++) out[i] = vsoftplus(-l[i]) + entropy_of_failures(l[i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *l = in[0];
  double *dl = d[0];
  for (size_t i = 0; i < n; i++) dl[i] = -entropy_of_failures(l[i]);
}


/* an exponential waiting time counted in steps of s */
static void sample (size_t n, const double *const in[], double *out) {
  const double *e = in[0], *l = in[1];
  for (size_t i = 0; i < n; i++) out[i] = floor(e[i] / vsoftplus(l[i]));
}


const Kernel perilune_geometric[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf, .flat = 1},
  {.name = "isf",      .n_in = 2, .value = isf, .flat = 1},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "sample",   .n_in = 2, .value = sample,   .noise = "exponential", .integer = 1},
  {.name = NULL}
};
