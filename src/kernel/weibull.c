/*
** weibull.c - Weibull(scale, concentration), waiting with a changing hazard
**
**   F(x) = 1 - e^-t,    t = (x/scale)^concentration,  x >= 0
**
** All formulas are those of power.h with k = concentration.
*/
#include "kernel/hazard.h"
#include "kernel/power.h"


VECTOR Pair hazard (const double v[]) { return power_hazard(v[0], v[1], v[2]); }

VECTOR void hazard_slopes (const double v[], double d[]) {
  power_hazard_slopes(v[0], v[1], v[2], d);
}

VECTOR double log_density (const double v[]) {
  return power_log_density(v[0], v[1], v[2]);
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  power_log_density_slopes(v[0], v[1], v[2], d);
}

VECTOR double quantile (const double v[]) { return power_quantile(v[0], v[1], v[2]); }

VECTOR void quantile_slopes (const double v[], double d[]) {
  power_quantile_slopes(v[0], v[1], v[2], d);
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


static void mean (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = power_mean(in[0][i], in[1][i]);
}

static void mean_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double s[2];
    power_mean_slopes(in[0][i], in[1][i], s);
    d[0][i] = s[0];
    d[1][i] = s[1];
  }
}


static void stddev (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = power_stddev(in[0][i], in[1][i]);
}

static void stddev_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double s[2];
    power_stddev_slopes(in[0][i], in[1][i], s);
    d[0][i] = s[0];
    d[1][i] = s[1];
  }
}


static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = power_entropy(in[0][i], in[1][i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double s[2];
    power_entropy_slopes(in[0][i], in[1][i], s);
    d[0][i] = s[0];
    d[1][i] = s[1];
  }
}


const Kernel perilune_weibull[] = {
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
  {.name = "rsample",  .n_in = 3, .value = rsample,  .partials = rsample_partials,
   .noise = "exponential"},
  {.name = NULL}
};
