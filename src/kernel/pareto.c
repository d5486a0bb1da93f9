/*
** pareto.c - Pareto(scale, alpha), the power law above scale
**
**   log p(x) = log(alpha/x) - t,    F(x) = 1 - e^-t,    t = alpha log(x/scale)
*/
#include "kernel/hazard.h"
#include "kernel/power.h"
#include "kernel/subnormal.h"


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

VECTOR double log_hazard (const double v[], double d[]) {
  double l = vlog_ratio(v[0], v[1]);
  int outside = v[0] < v[1];
  d[0] = outside ? 0 : 1 / (l * v[0]);
  d[1] = outside ? 0 : -1 / (l * v[1]);
  d[2] = v[0] > v[1] ? 1 / v[2] : 0;
  return vlog(lifted(v[2]) * (outside ? 0.0 : l)) - lift(v[2]);
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

enum { OPERANDS = 3, LONG_SLOPES = 0 };

static const HazardLaw waiting_time = {
  .hazard      = hazard,      .hazard_slopes      = hazard_slopes,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .log_hazard  = log_hazard
};

#include "kernel/hazard_kernels.h"


VECTOR Moment entropy_at (double scale, double alpha) {
  double value = vlog_ratio(scale, alpha) + (1 + 1 / alpha);
  return (Moment) {value, 1 / scale, -(1 + 1 / alpha) / alpha};
}

static const Moments moments = {.entropy = entropy_at};

#include "kernel/moments_kernels.h"


const Kernel perilune_pareto[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 3, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "exponential"}},
  {.name = NULL}
};
