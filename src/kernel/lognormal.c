/*
** lognormal.c - LogNormal(loc, scale), the exponential of a Normal
**
**   log p(x) = -z^2/2 - log(2 pi)/2 - log(scale) - log x,    F(x) = Phi(z),
**   z = (log x - loc)/scale
**
** Moments are exponentials of loc + k scale^2, the exponent taken as a pair.
*/
#include "kernel/transformednormal.h"
#include "special/vpow.h"


VECTOR Pair log_of (double x) {
  Pair y = log_pair(x);
  double hi = log_edges(x, y.hi);
  return (Pair) {x < 0 ? -HUGE_VAL : hi, ((x > 0) & (x < HUGE_VAL)) ? y.lo : 0.0};
}

VECTOR double exp_of (Pair y) {
  return exp_pair(clamp(y.hi, -800.0, 800.0), fabs(y.hi) < 800 ? y.lo : 0.0);
}

VECTOR double same (double x) { return x; }
VECTOR double constant (double x) { return (void)x, 1; }

static const Change EXP = {.y = log_of, .x = exp_of, .dx_dy = same, .dx_dy_at = exp_of,
                           .log_dx_dy = same, .growth = constant};


static void log_prob (size_t n, const double *const in[], double *out) {
  transformed_log_density(n, in, out, EXP);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_log_density_partials(n, in, d, EXP);
}


static void cdf (size_t n, const double *const in[], double *out) {
  transformed_value(n, in, out, EXP, vndtr);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_partials(n, in, d, EXP, vdensity);
}

static void sf (size_t n, const double *const in[], double *out) {
  transformed_value(n, in, out, EXP, upper_tail);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_partials(n, in, d, EXP, upper_tail_slope);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  transformed_value(n, in, out, EXP, vlog_ndtr);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_partials(n, in, d, EXP, vhazard);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  transformed_value(n, in, out, EXP, log_upper_tail);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_partials(n, in, d, EXP, log_upper_tail_slope);
}


static void icdf (size_t n, const double *const in[], double *out) {
  transformed_quantile(n, in, out, EXP, vndtri);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_quantile_partials(n, in, d, EXP, vndtri, quantile_slope);
}

static void isf (size_t n, const double *const in[], double *out) {
  transformed_quantile(n, in, out, EXP, upper_quantile);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_quantile_partials(n, in, d, EXP, upper_quantile, upper_quantile_slope);
}

static void rsample (size_t n, const double *const in[], double *out) {
  transformed_quantile(n, in, out, EXP, as_it_is);
}

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  transformed_quantile_partials(n, in, d, EXP, as_it_is, one);
}


/* e^(h (loc + k scale^2)) for powers of two h and small k */
VECTOR double exp_square (double loc, double scale, double k, double h) {
  Pair t = exact_product(scale, scale), y = exact_sum(loc, k * t.hi);
  return exp_of((Pair) {h * y.hi, h * fma(k, t.lo, y.lo)});
}

static void mean (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = exp_square(in[0][i], in[1][i], 0.5, 1);
}

static void mean_partials (size_t n, const double *const in[], double *const d[]) {
  double *dloc = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    double m = exp_square(in[0][i], in[1][i], 0.5, 1);
    dloc[i] = m;
    dscale[i] = in[1][i] * m;
  }
}

static void mode (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = exp_square(in[0][i], in[1][i], -1, 1);
}

static void mode_partials (size_t n, const double *const in[], double *const d[]) {
  double *dloc = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    double m = exp_square(in[0][i], in[1][i], -1, 1);
    dloc[i] = m;
    dscale[i] = -2 * in[1][i] * m;
  }
}


/* sqrt(1 - e^(-scale^2)), where the square may underflow */
VECTOR double spread (double scale) {
  double root = sqrt(-vexpm1(-scale * scale));
  return scale < 1e-9 ? scale : root;
}

/* spread e^(loc + scale^2), in halves that overflow later */
VECTOR double deviation (double loc, double scale) {
  double half = exp_square(loc, scale, 1, 0.5);
  return spread(scale) * half * half;
}

/* its partial with respect to scale over itself, by d spread^2/d scale = 2 scale (1 - spread^2) */
VECTOR double deviation_drift (double scale) {
  double r = scale / spread(scale);
  return fma(r, 1 / spread(scale), scale);
}

static void stddev (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = deviation(in[0][i], in[1][i]);
}

static void stddev_partials (size_t n, const double *const in[], double *const d[]) {
  double *dloc = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    double s = deviation(in[0][i], in[1][i]);
    dloc[i] = s;
    dscale[i] = deviation_drift(in[1][i]) * s;
  }
}


static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = in[0][i] + (vlog(in[1][i]) + (0.5 + HALF_LOG_2PI));
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  double *dloc = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    dloc[i] = 1;
    dscale[i] = 1 / in[1][i];
  }
}


const Kernel perilune_lognormal[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "mean",     .n_in = 2, .value = mean,     .partials = mean_partials},
  {.name = "mode",     .n_in = 2, .value = mode,     .partials = mode_partials},
  {.name = "stddev",   .n_in = 2, .value = stddev,   .partials = stddev_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample",  .n_in = 3, .value = rsample,  .partials = rsample_partials,
   .noise = "normal"},
  {.name = NULL}
};
