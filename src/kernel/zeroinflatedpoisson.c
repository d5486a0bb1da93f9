/*
** zeroinflatedpoisson.c - ZeroInflatedPoisson(gate, rate): 0 with probability gate, else
** Poisson(rate)
**
**   P(0) = g + (1 - g) e^-r,   P(k) = (1 - g) Pois(k),   P(X > k) = (1 - g) Pois(X > k)
**
** Everything follows from Poisson(rate), see poisson.h. Sums have positive terms only; what is near
** 1 is computed from its complement.
*/
#include "kernel/kernel.h"
#include "kernel/discrete_quantile.h"
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


VECTOR double log_mass (const double v[]) {
  double x = v[0], g = v[1], r = v[2], open = vlog1p(-g) + poisson_log_prob(x, r);
  return poisson_at_outcome(x, x == 0 ? log_zero(g, r) : open);
}

VECTOR void log_mass_slopes (const double v[], double d[]) {
  double x = v[0], g = v[1], r = v[2], p = zero(g, r), hit = poisson_at_outcome(x, 0) == 0 ? 1 : 0;
  double gate = x == 0 ? -vexpm1(-r) / p : -1 / (1 - g);
  double rate = x == 0 ? (g - 1) * vexp(-r) / p : (x - r) / r;
  d[0] = 0;
  d[1] = hit == 0 ? 0 : gate;
  d[2] = hit == 0 ? 0 : rate;
}


static double tail (const double v[], int upper) {
  double x = v[0], g = v[1], r = v[2];
  if (x < 0) return upper ? 1 : 0;
  return upper ? (1 - g) * poisson_sf(x, r) : fma(1 - g, poisson_cdf(x, r), g);
}

static double log_tail (const double v[], int upper) {
  double x = v[0], g = v[1], r = v[2], other = tail(v, !upper);
  if (other < 0.5) return vlog1p(-other);
  if (upper) return vlog1p(-g) + poisson_log_sf(x, r);
  return g == 0 ? poisson_log_cdf(x, r) : vlog(tail(v, 0));
}

/* the slopes of the cdf times `by`: Pois(X > k) in the gate, -(1 - g) Pois(k) in the rate */
static void slopes (const double v[], double by, double d[]) {
  double x = v[0], g = v[1], r = v[2], p = vexp(poisson_log_step(x, r));
  d[0] = 0;
  d[1] = x >= 0 ? by * poisson_sf(x, r) : 0;
  d[2] = x >= 0 ? by * (g - 1) * p : 0;
}

/* relative to a tail that may underflow */
static void log_upper_slopes (const double v[], double d[]) {
  double x = v[0], slope = vexp(poisson_log_step(x, v[2]) - poisson_log_sf(x, v[2]));
  int inside = (x >= 0) & (x < HUGE_VAL);
  d[0] = 0;
  d[1] = inside ? -1 / (1 - v[1]) : 0;
  d[2] = inside ? slope : 0;
}

static void tail_slopes (const double v[], int upper, double d[]) {
  slopes(v, upper ? -1 : 1, d);
}

static void log_tail_slopes (const double v[], int upper, double d[]) {
  if (upper) log_upper_slopes(v, d);
  else slopes(v, 1 / tail(v, 0), d);
}

static double quantile (const double v[], int upper) {
  double p = v[0], g = v[1], r = v[2], q = upper ? p : 1 - p;
  Stairs stairs = {tail, NULL, 0, HUGE_VAL, 3, v};
  if (!(p >= 0 && p <= 1)) return (double)NAN;
  if (g == 1 || r == 0) return 0;
  if (p == (upper ? 0 : 1)) return HUGE_VAL;
  double z = -vndtri(clamp(q / (1 - g), 1e-300, 1));
  return outcome_quantile(&stairs, poisson_near(z, r), level_of(p, upper, QUANTILE_SLACK));
}

static const SidedLaw law = {
  .operands    = 3,
  .log_density = log_mass, .log_density_slopes = log_mass_slopes,
  .tail        = tail,     .tail_slopes        = tail_slopes,
  .log_tail    = log_tail, .log_tail_slopes    = log_tail_slopes,
  .quantile    = quantile
};

#include "kernel/density_kernels.h"
#include "kernel/sided_kernels.h"


/* -P(0) log P(0) - (1 - g) log(1 - g) (1 - e^-r) + (1 - g) (H - r e^-r), H that of Poisson(r) */
static void entropy (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) {
    double g = in[0][i], r = in[1][i], open = 1 - g, p = zero(g, r);
    double at_zero = p > 0 ? -p * log_zero(g, r) : 0;
    double gate = open > 0 ? open * vlog1p(-g) * vexpm1(-r) : 0;
    out[i] = at_zero + gate + open * fma(-r, vexp(-r), poisson_entropy(r));
  }
}

/* with a shut gate the gap is infinite, and the rate does not matter; nor does the gate where that is 0 */
static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double g = in[0][i], r = in[1][i], e = vexp(-r);
    double gap = log_zero(g, r) - vlog1p(-g);
    double gate = fma(vexpm1(-r), gap, fma(r, e, -poisson_entropy(r)));
    double rate = (1 - g) * fma(e, gap + r, poisson_entropy_slope(r));
    d[0][i] = r == 0 ? 0.0 : gate;
    d[1][i] = g == 1 ? 0.0 : rate;
  }
}


static void sample (const Philox *g, uint64_t first, size_t n, const double *const in[],
                    double *out) {
  const double *gate = in[0], *rate = in[1];
  double u[POISSON_BLOCK];
  poisson_draw(g, first, n, rate, out);
  noise_uniform(g, GATE_LANE, first, n, u);
  EVERY for (size_t i = 0; i < n; i++) out[i] = u[i] < gate[i] ? 0 : out[i];
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
  {.name = "sample", .n_in = 3, .integer = 1, .sampler = &(const Sampler) {.draw = sample}},
  {.name = NULL}
};
