/*
** geometric.c - Geometric(logits), failures before the first success
**
**   p = sigmoid(l),   s = -log(1 - p) = softplus(l)
**   log P(k) = log p - k s,   P(X > k) = e^(-(k + 1) s),   k = 0, 1, 2, ...
**
** Logits hold p and 1 - p to full precision, however small either is. For
** p = 1, s = inf, all of the mass is at 0.
*/
#include "kernel/discrete_quantile.h"
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

VECTOR double log_mass (const double v[]) {
  double x = v[0], l = v[1], off = x == x ? -HUGE_VAL : x;
  double failures = x == 0 ? 0 : x * vsoftplus(l);
  return is_outcome(x) ? 0 - vsoftplus(-l) - failures : off;
}

/* 1 - p - x p */
VECTOR void log_mass_slopes (const double v[], double d[]) {
  double slope = fma(-v[0], vsigmoid(v[1]), vsigmoid(-v[1]));
  d[0] = 0;
  d[1] = is_outcome(v[0]) ? slope : 0;
}


VECTOR double tail (const double v[], int upper) {
  double h = hazard(v[0], v[1]);
  return upper ? vexp(-h) : 0 - vexpm1(-h);
}

VECTOR double log_tail (const double v[], int upper) {
  double h = hazard(v[0], v[1]);
  return upper ? 0 - h : vlog1mexp(-h);
}

/* d hazard/dl = (x + 1) p, or 0 where the hazard does not change the tail */
VECTOR double hazard_slope (double x, double l, double hazard) {
  double slope = (floor(x) + 1) * vsigmoid(l);
  double inside = hazard < HUGE_VAL ? slope : 0;
  return x < 0 ? 0 : inside;
}

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  double h = hazard(v[0], v[1]), slope = hazard_slope(v[0], v[1], h);
  d[0] = 0;
  d[1] = (upper ? -slope : slope) * vexp(-h);
}

/* e^-h/(1 - e^-h) = 1/(e^h - 1) */
VECTOR void log_tail_slopes (const double v[], int upper, double d[]) {
  double h = hazard(v[0], v[1]), slope = hazard_slope(v[0], v[1], h);
  double lower = v[0] < 0 ? 0 : slope / vexpm1(h);
  d[0] = 0;
  d[1] = upper ? -slope : lower;
}


/*
** The smallest outcome k with k + 1 >= h/s, h = -log(1 - p) or -log(q). The quotient counts as
** reached (discrete_quantile.h) if it is missed by what rounding may do to it: to the logit and
** to s and h, relatively; and to p by half an ulp, which moves h by ulp/(1 - p).
*/
VECTOR double outcome_at (double h, double half_ulp, double l) {
  double s = vsoftplus(l), x = h / s;
  double slack = fma(x, fma(DBL_EPSILON, fabs(l), QUANTILE_SLACK), half_ulp / s);
  double k = ceil(x - (slack < 0.25 ? slack : 0.25)) - 1;
  k = k > 0 ? k : 0;
  return s == HUGE_VAL ? 0 : x == HUGE_VAL ? x : k;
}

VECTOR double quantile (const double v[], int upper) {
  double p = v[0], l = v[1], ulp = p > 0.5 ? 0x1p-54 / (1 - p) : 0;
  double lower = outcome_at(-vlog1p(-p), ulp, l);
  double k = upper ? outcome_at(-vlog(p), p > 0.5 ? 0x1p-53 : 0, l) : lower;
  return ((p >= 0) & (p <= 1)) ? k : (double)NAN;
}

static const SidedLaw law = {
  .operands    = 2,
  .log_density = log_mass, .log_density_slopes = log_mass_slopes,
  .tail        = tail,     .tail_slopes        = tail_slopes,
  .log_tail    = log_tail, .log_tail_slopes    = log_tail_slopes,
  .quantile    = quantile
};

#include "kernel/density_kernels.h"
#include "kernel/sided_kernels.h"


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
  EVERY for (size_t i = 0; i < n; i++) out[i] = vsoftplus(-l[i]) + entropy_of_failures(l[i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *l = in[0];
  double *dl = d[0];
  EVERY for (size_t i = 0; i < n; i++) dl[i] = -entropy_of_failures(l[i]);
}


/* an exponential waiting time counted in steps of s */
static void sample (size_t n, const double *const in[], double *out) {
  const double *e = in[0], *l = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = floor(e[i] / vsoftplus(l[i]));
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
  {.name = "sample", .n_in = 2, .value = sample, .integer = 1,
   .sampler = &(const Sampler) {.noise = "exponential"}},
  {.name = NULL}
};
