/*
** exponential.c - Exponential(rate), the waiting time without memory
**
**   log p(x) = log(rate) - t,    F(x) = 1 - e^-t,    t = rate x >= 0
*/
#include "kernel/sided.h"
#include "special/vmath.h"


/* t, and 0 below the support, where cdf and sf are those of x = 0 */
VECTOR double waited (const double v[]) { return v[0] < 0 ? 0.0 : v[1] * v[0]; }

VECTOR double log_density (const double v[]) {
  double inside = fma(-v[1], v[0], vlog(v[1]));
  return v[0] < 0 ? -HUGE_VAL : inside;
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  d[0] = v[0] < 0 ? 0 : -v[1];
  d[1] = v[0] < 0 ? 0 : 1 / v[1] - v[0];
}


VECTOR double tail (const double v[], int upper) {
  double t = waited(v);
  return upper ? vexp(-t) : -vexpm1(-t);
}

VECTOR double log_tail (const double v[], int upper) {
  double t = waited(v);
  return upper ? -t : vlog1mexp(-t);
}

/* A function g of t has the partials g' rate and g' x. */
VECTOR void slopes (const double v[], double slope, double d[]) {
  double inside = v[0] < 0 ? 0 : slope;
  d[0] = inside * v[1];
  d[1] = slope_times(inside, v[0]);
}

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  double e = vexp(-waited(v));
  slopes(v, upper ? -e : e, d);
}

/* log t, beyond the range of t; and the sides on which it is a tail */
VECTOR double log_tiny_tail (const double v[], int upper) {
  return (void)upper, vlog(v[1]) + vlog(v[0] < 0 ? 0.0 : v[0]);
}

VECTOR int has_tiny_tail (int upper) { return !upper; }

VECTOR void log_tail_slopes (const double v[], int upper, double d[]) {
  double t = waited(v);
  slopes(v, upper ? -1 : 1 / vexpm1(t), d);
  double least = v[0] < 0 ? 1.0 : t, by_x = 1 / v[0], by_rate = 1 / v[1];
  if (upper) return;
  d[0] = least < FEW_DIGITS ? by_x : d[0];
  d[1] = least < FEW_DIGITS ? by_rate : d[1];
}


VECTOR double quantile (const double v[], int upper) {
  double p = v[0], t = upper ? -vlog(p) : -vlog1p(-p);
  return (upper ? p > 1 : p < 0) ? (double)NAN : t / v[1];
}

VECTOR void quantile_slopes (const double v[], int upper, double d[]) {
  double p = v[0], rate = v[1], t = upper ? vlog(p) : vlog1p(-p);
  d[0] = (upper ? -1 : 1) / ((upper ? p : 1 - p) * rate);
  d[1] = t / rate / rate;
}

/* the noise is t */
VECTOR double from_noise (const double v[]) { return v[0] / v[1]; }

VECTOR void from_noise_slopes (const double v[], double d[]) {
  d[0] = 1 / v[1];
  d[1] = -v[0] / v[1] / v[1];
}

static const SidedLaw law = {
  .operands    = 2,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .tail        = tail,        .tail_slopes        = tail_slopes,
  .log_tail    = log_tail,    .log_tail_slopes    = log_tail_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .log_tiny_tail = log_tiny_tail, .has_tiny_tail  = has_tiny_tail,
  .from_noise  = from_noise,  .from_noise_slopes  = from_noise_slopes
};

#include "kernel/density_kernels.h"
#include "kernel/rsample_kernels.h"
#include "kernel/sided_kernels.h"


static void entropy (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = 1 - vlog(in[0][i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = -1 / in[0][i];
}


const Kernel perilune_exponential[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 2, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 2, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "exponential"}},
  {.name = NULL}
};
