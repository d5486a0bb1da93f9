/*
** zeroinflatedpoisson.c - ZeroInflatedPoisson(gate, rate), a count that may be shut off
**
**   P(0) = g + (1 - g) e^-r,   P(k) = (1 - g) Pois(k),   P(X > k) = (1 - g) Pois(X > k)
**
** Everything from Poisson(rate), see poisson.h. Sums have positive terms only; what is
** near 1 is taken from its complement.
*/
#include "kernel/kernel.h"
#include "kernel/outcome.h"
#include "kernel/poisson.h"
#include "special/verf.h"

enum { GATE_LANE = POISSON_LANES };


/* P(0) and its logarithm, from 1 - P(0) while that is small */
VECTOR double zero (double g, double r) { return fma(1 - g, vexp(-r), g); }

VECTOR double log_zero (double g, double r) {
  double other = (g - 1) * vexpm1(-r), far = vlog(zero(g, r));
  far = g == 0 ? -r : far;
  return other < 0.5 ? vlog1p(-other) : far;
}


static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *g = in[1], *r = in[2];
  for (size_t i = 0; i < n; i++) {
    double open = vlog1p(-g[i]) + poisson_log_prob(x[i], r[i]);
    out[i] = poisson_at_outcome(x[i], x[i] == 0 ? log_zero(g[i], r[i]) : open);
  }
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *g = in[1], *r = in[2];
  double *dx = d[0], *dg = d[1], *dr = d[2];
  for (size_t i = 0; i < n; i++) {
    double p = zero(g[i], r[i]), hit = poisson_at_outcome(x[i], 0) == 0 ? 1 : 0;
    double gate = x[i] == 0 ? -vexpm1(-r[i]) / p : -1 / (1 - g[i]);
    double rate = x[i] == 0 ? (g[i] - 1) * vexp(-r[i]) / p : (x[i] - r[i]) / r[i];
    dx[i] = 0;
    dg[i] = hit == 0 ? 0 : gate;
    dr[i] = hit == 0 ? 0 : rate;
  }
}


static double lower (double x, double g, double r) {
  return x < 0 ? 0 : fma(1 - g, poisson_cdf(x, r), g);
}

static double upper (double x, double g, double r) {
  return x < 0 ? 1 : (1 - g) * poisson_sf(x, r);
}

static double log_lower (double x, double g, double r) {
  double above = upper(x, g, r);
  if (above < 0.5) return vlog1p(-above);
  return g == 0 ? poisson_log_cdf(x, r) : vlog(lower(x, g, r));
}

static double log_upper (double x, double g, double r) {
  double below = lower(x, g, r);
  return below < 0.5 ? vlog1p(-below) : vlog1p(-g) + poisson_log_sf(x, r);
}

static void cdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = lower(in[0][i], in[1][i], in[2][i]);
}

static void sf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = upper(in[0][i], in[1][i], in[2][i]);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = log_lower(in[0][i], in[1][i], in[2][i]);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = log_upper(in[0][i], in[1][i], in[2][i]);
}

/* the slopes of the cdf times `by`: Pois(X > k) in the gate, -(1 - g) Pois(k) in the rate */
static void slopes (size_t i, const double *const in[], double by, double *const d[]) {
  double x = in[0][i], g = in[1][i], r = in[2][i];
  double p = vexp(poisson_log_step(x, r));
  d[0][i] = 0;
  d[1][i] = x >= 0 ? by * poisson_sf(x, r) : 0;
  d[2][i] = x >= 0 ? by * (g - 1) * p : 0;
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) slopes(i, in, 1, d);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) slopes(i, in, -1, d);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) slopes(i, in, 1 / lower(in[0][i], in[1][i], in[2][i]), d);
}

/* relative to a tail that may underflow */
static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *g = in[1], *r = in[2];
  for (size_t i = 0; i < n; i++) {
    double slope = vexp(poisson_log_step(x[i], r[i]) - poisson_log_sf(x[i], r[i]));
    int inside = (x[i] >= 0) & (x[i] < HUGE_VAL);
    d[0][i] = 0;
    d[1][i] = inside ? -1 / (1 - g[i]) : 0;
    d[2][i] = inside ? slope : 0;
  }
}


static double tail (double k, const double *params, int is_upper) {
  return is_upper ? upper(k, params[0], params[1]) : lower(k, params[0], params[1]);
}

/* the quantile for p, or for the upper tail p */
static double quantile (double p, double g, double r, int is_upper) {
  double params[] = {g, r}, q = is_upper ? p : 1 - p;
  Stairs stairs = {tail, NULL, 0, HUGE_VAL, params};
  if (!(p >= 0 && p <= 1)) return (double)NAN;
  if (g == 1 || r == 0) return 0;
  if (p == (is_upper ? 0 : 1)) return HUGE_VAL;
  double z = -vndtri(clamp(q / (1 - g), 1e-300, 1));
  return outcome_quantile(&stairs, poisson_near(z, r), level_of(p, is_upper, OUTCOME_SLACK));
}

static void icdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = quantile(in[0][i], in[1][i], in[2][i], 0);
}

static void isf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = quantile(in[0][i], in[1][i], in[2][i], 1);
}


/* -P(0) log P(0) - (1 - g) log(1 - g) (1 - e^-r) + (1 - g) (H - r e^-r), H that of Poisson(r) */
static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    double g = in[0][i], r = in[1][i], open = 1 - g, p = zero(g, r);
    double at_zero = p > 0 ? -p * log_zero(g, r) : 0;
    double gate = open > 0 ? open * vlog1p(-g) * vexpm1(-r) : 0;
    out[i] = at_zero + gate + open * fma(-r, vexp(-r), poisson_entropy(r));
  }
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double g = in[0][i], r = in[1][i], e = vexp(-r);
    double gap = log_zero(g, r) - vlog1p(-g);
    d[0][i] = fma(vexpm1(-r), gap, fma(r, e, -poisson_entropy(r)));
    d[1][i] = (1 - g) * fma(e, gap + r, poisson_entropy_slope(r));
  }
}


static void sample (const Philox *g, uint64_t first, size_t n, const double *const in[],
                    double *out) {
  const double *gate = in[0], *rate = in[1];
  double u[POISSON_BLOCK];
  poisson_draw(g, first, n, rate, out);
  noise_uniform(g, GATE_LANE, first, n, u);
  for (size_t i = 0; i < n; i++) out[i] = u[i] < gate[i] ? 0 : out[i];
}


const Kernel perilune_zeroinflatedpoisson[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .slow = 1, .value = icdf, .flat = 1},
  {.name = "isf",      .n_in = 3, .slow = 1, .value = isf, .flat = 1},
  {.name = "entropy",  .n_in = 2, .slow = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "sample",   .n_in = 3, .draw = sample,    .integer = 1},
  {.name = NULL}
};
