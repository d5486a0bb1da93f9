/*
** logitnormal.c - LogitNormal(loc, scale), the logistic function of a Normal
**
**   log p(x) = -z^2/2 - log(2 pi)/2 - log(scale) - log(x(1 - x)),  F(x) = Phi(z),
**   z = (logit x - loc)/scale
**
** Moments, mode and entropy have no closed form: see logitmoments.h.
*/
#include "kernel/logitmoments.h"
#include "kernel/transformednormal.h"
#include "special/vpow.h"


/* log(x/(1 - x)), the quotient taken as a pair */
VECTOR Pair logit_of (double x) {
  Pair q = pair_ratio((Pair) {x, 0.0}, fast_sum(1.0, -x)), l = log_pair(q.hi);
  Pair y = exact_sum(l.hi, l.lo + q.lo / q.hi);
  double hi = x >= 1 ? HUGE_VAL : log_edges(q.hi, y.hi);
  return (Pair) {x <= 0 ? -HUGE_VAL : hi, ((x > 0) & (x < 1)) ? y.lo : 0.0};
}

/* e^-|y| */
VECTOR double decay (Pair y) {
  double a = fabs(y.hi), lo = a < 800 ? y.lo : 0.0;
  return exp_pair(a > 800 ? -800.0 : -a, y.hi < 0 ? lo : -lo);
}

VECTOR double sigmoid_of (Pair y) {
  double e = decay(y);
  return (y.hi < 0 ? e : 1.0) / (1 + e);
}

VECTOR double slope_at (Pair y) {
  double e = decay(y);
  return e / (1 + e) / (1 + e);
}

VECTOR double slope_of (double x) { return x * (1 - x); }
VECTOR double growth (double x) { return fma(-2.0, x, 1); }

static const Change SIGMOID = {.y = logit_of, .x = sigmoid_of, .dx_dy = slope_of,
                               .dx_dy_at = slope_at, .log_dx_dy = logistic_log_slope,
                               .growth = growth};


static void log_prob (size_t n, const double *const in[], double *out) {
  transformed_log_density(n, in, out, SIGMOID);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_log_density_partials(n, in, d, SIGMOID);
}


static void cdf (size_t n, const double *const in[], double *out) {
  transformed_value(n, in, out, SIGMOID, vndtr);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_partials(n, in, d, SIGMOID, vdensity);
}

static void sf (size_t n, const double *const in[], double *out) {
  transformed_value(n, in, out, SIGMOID, upper_tail);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_partials(n, in, d, SIGMOID, upper_tail_slope);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  transformed_value(n, in, out, SIGMOID, vlog_ndtr);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_partials(n, in, d, SIGMOID, vhazard);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  transformed_value(n, in, out, SIGMOID, log_upper_tail);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_partials(n, in, d, SIGMOID, log_upper_tail_slope);
}


static void icdf (size_t n, const double *const in[], double *out) {
  transformed_quantile(n, in, out, SIGMOID, vndtri);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_quantile_partials(n, in, d, SIGMOID, vndtri, quantile_slope);
}

static void isf (size_t n, const double *const in[], double *out) {
  transformed_quantile(n, in, out, SIGMOID, upper_quantile);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_quantile_partials(n, in, d, SIGMOID, upper_quantile, upper_quantile_slope);
}

static void rsample (size_t n, const double *const in[], double *out) {
  transformed_quantile(n, in, out, SIGMOID, as_it_is);
}

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_quantile_partials(n, in, d, SIGMOID, as_it_is, one);
}


static inline void values (size_t n, const double *const in[], double *out,
                           Moment (*moment) (double, double)) {
  for (size_t i = 0; i < n; i++) out[i] = moment(in[0][i], in[1][i]).value;
}

static inline void partials (size_t n, const double *const in[], double *const d[],
                             Moment (*moment) (double, double)) {
  for (size_t i = 0; i < n; i++) {
    Moment m = moment(in[0][i], in[1][i]);
    d[0][i] = m.by_loc;
    d[1][i] = m.by_scale;
  }
}

static void mean (size_t n, const double *const in[], double *out) {
  values(n, in, out, mean_at);
}

static void mean_partials (size_t n, const double *const in[], double *const d[]) {
  partials(n, in, d, mean_at);
}

static void mode (size_t n, const double *const in[], double *out) {
  values(n, in, out, mode_at);
}

static void mode_partials (size_t n, const double *const in[], double *const d[]) {
  partials(n, in, d, mode_at);
}

static void stddev (size_t n, const double *const in[], double *out) {
  values(n, in, out, stddev_at);
}

static void stddev_partials (size_t n, const double *const in[], double *const d[]) {
  partials(n, in, d, stddev_at);
}

static void entropy (size_t n, const double *const in[], double *out) {
  values(n, in, out, entropy_at);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  partials(n, in, d, entropy_at);
}


const Kernel perilune_logitnormal[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "mean",     .n_in = 2, .slow = 1, .value = mean,     .partials = mean_partials},
  {.name = "mode",     .n_in = 2, .value = mode,     .partials = mode_partials},
  {.name = "stddev",   .n_in = 2, .slow = 1, .value = stddev,   .partials = stddev_partials},
  {.name = "entropy",  .n_in = 2, .slow = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample",  .n_in = 3, .value = rsample,  .partials = rsample_partials,
   .noise = "normal"},
  {.name = NULL}
};
