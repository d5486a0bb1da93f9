/*
** pareto.c - Pareto(scale, alpha), the power law above scale
**
**   log p(x) = log(alpha/x) - t,    F(x) = 1 - e^-t,    t = alpha log(x/scale)
*/
#include "kernel/hazard.h"
#include "kernel/power.h"


VECTOR Pair hazard (const double v[]) {
  Pair l = log_ratio_pair(v[0] < v[1] ? v[1] : v[0], v[1]);
  return exponent_product(v[2], l);
}

VECTOR void hazard_slopes (const double v[], double d[]) {
  int outside = v[0] < v[1];
  d[0] = outside ? 0 : v[2] / v[0];
  d[1] = outside ? 0 : -v[2] / v[1];
  d[2] = outside ? 0 : vlog_ratio(v[0], v[1]);
}

VECTOR double log_density (const double v[]) {
  Pair t = hazard(v);
  double inside = (vlog_ratio(v[2], v[0]) - t.hi) - t.lo;
  return v[0] < v[1] ? -HUGE_VAL : inside;
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  int outside = v[0] < v[1];
  d[0] = outside ? 0 : -(v[2] + 1) / v[0];
  d[1] = outside ? 0 : v[2] / v[1];
  d[2] = outside ? 0 : 1 / v[2] - vlog_ratio(v[0], v[1]);
}

/* scale e^(e/alpha) */
VECTOR double quantile (const double v[]) {
  return scaled_exp(v[1], exponent_quotient((Pair) {v[0], 0.0}, v[2]));
}

VECTOR void quantile_slopes (const double v[], double d[]) {
  double x = quantile(v);
  d[0] = x / v[2];
  d[1] = x / v[1];
  d[2] = -x * (v[0] / v[2]) / v[2];
}


static void log_prob (size_t n, const double *const in[], double *out) {
  hazard_density(3, n, in, out, log_density);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  hazard_density_partials(3, n, in, d, log_density_slopes);
}


static void cdf (size_t n, const double *const in[], double *out) {
  hazard_value(3, n, in, out, hazard, arrived);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  hazard_partials(3, n, in, d, hazard, hazard_slopes, arrived_slope);
}


static void sf (size_t n, const double *const in[], double *out) {
  hazard_value(3, n, in, out, hazard, waiting);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  hazard_partials(3, n, in, d, hazard, hazard_slopes, waiting_slope);
}


static void log_cdf (size_t n, const double *const in[], double *out) {
  hazard_value(3, n, in, out, hazard, log_arrived);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  hazard_partials(3, n, in, d, hazard, hazard_slopes, log_arrived_slope);
}


static void log_sf (size_t n, const double *const in[], double *out) {
  hazard_value(3, n, in, out, hazard, log_waiting);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  hazard_partials(3, n, in, d, hazard, hazard_slopes, log_waiting_slope);
}


static void icdf (size_t n, const double *const in[], double *out) {
  hazard_quantile(3, n, in, out, quantile, wait_below);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  hazard_quantile_partials(3, n, in, d, quantile_slopes, wait_below, wait_below_slope);
}


static void isf (size_t n, const double *const in[], double *out) {
  hazard_quantile(3, n, in, out, quantile, wait_above);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  hazard_quantile_partials(3, n, in, d, quantile_slopes, wait_above, wait_above_slope);
}


static void rsample (size_t n, const double *const in[], double *out) {
  hazard_quantile(3, n, in, out, quantile, wait_given);
}

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  hazard_quantile_partials(3, n, in, d, quantile_slopes, wait_given, wait_given_slope);
}


static void entropy (size_t n, const double *const in[], double *out) {
  const double *scale = in[0], *alpha = in[1];
  for (size_t i = 0; i < n; i++) out[i] = vlog_ratio(scale[i], alpha[i]) + (1 + 1 / alpha[i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[0], *alpha = in[1];
  for (size_t i = 0; i < n; i++) {
    d[0][i] = 1 / scale[i];
    d[1][i] = -(1 + 1 / alpha[i]) / alpha[i];
  }
}


const Kernel perilune_pareto[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample",  .n_in = 3, .value = rsample,  .partials = rsample_partials,
   .noise = "exponential"},
  {.name = NULL}
};
