/*
** logistic.c - Logistic(loc, scale), whose distribution function is the sigmoid
**
**   log p(x) = -|z| - 2 log(1 + e^-|z|) - log(scale)
**   F(x) = 1/(1 + e^-z),    z = (x - loc)/scale
**
** e^-|z| never overflows, so both tails keep their digits; sf at z is cdf at -z,
** isf at q is minus icdf at q.
*/
#include "kernel/standard.h"


VECTOR double log_density (double z) {
  double a = fabs(z);
  return fma(-2.0, log1p_unit(vexp(-a)), -a);
}

VECTOR double log_density_slope (double z) { return -vtanh(0.5 * z); }

VECTOR double density (double z) {
  double e = vexp(-fabs(z)), s = 1 + e;
  return e / (s * s);
}

/* the logarithm of either tail has the other tail as its slope */
VECTOR double log_lower_tail (double z) { return -vsoftplus(-z); }
VECTOR double upper_tail (double z) { return vsigmoid(-z); }

/* log(p/(1 - p)); about its zero at 1/2 as log1p((2p - 1)/(1 - p)), 2p - 1 exact */
VECTOR double quantile (double p) {
  double q = 1 - p, tail = vlog(p / q), middle = vlog1p((2 * p - 1) / q);
  return fabs(p - 0.5) < 0.25 ? middle : tail;
}

VECTOR double quantile_slope (double p) { return 1 / (p * (1 - p)); }

static const StandardLaw law = {
  .log_density = log_density,    .log_density_slope = log_density_slope,
  .cdf         = vsigmoid,       .cdf_slope         = density,
  .log_cdf     = log_lower_tail, .log_cdf_slope     = upper_tail,
  .icdf        = quantile,       .icdf_slope        = quantile_slope,
  .entropy     = 2,
  .symmetric   = 1
};

#include "kernel/standard_kernels.h"

const Kernel perilune_logistic[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = standard_entropy_partials},
  {.name = "rsample", .n_in = 3, .value = icdf, .partials = icdf_partials,
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
