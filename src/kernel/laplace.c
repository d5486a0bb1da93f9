/*
** laplace.c - Laplace(loc, scale), an exponential law on either side
**
**   log p(x) = -|z| - log 2 - log(scale)
**   F(x) = e^z/2 for z < 0, 1 - e^-z/2 else,    z = (x - loc)/scale
**
** The smaller tail e^-|z|/2 is the one computed; sf at z is cdf at -z, isf at
** q is minus icdf at q.
*/
#include "kernel/standard.h"


VECTOR double log_density (double z) { return -fabs(z) - LN2; }

VECTOR double log_density_slope (double z) {
  double below = z < 0 ? 1.0 : -z;   /* 0 at the peak; NaN stays */
  return z > 0 ? -1.0 : below;
}

VECTOR double moment (double z) { return -fabs(z); }


VECTOR double smaller_tail (double z) { return 0.5 * vexp(-fabs(z)); }

VECTOR double lower_tail (double z) {
  double tail = smaller_tail(z);
  return z < 0 ? tail : 1 - tail;
}

VECTOR double log_lower_tail (double z) {
  double far = vlog1p(-smaller_tail(z));
  return z < 0 ? z - LN2 : far;
}

VECTOR double log_lower_tail_slope (double z) {
  double tail = smaller_tail(z), far = tail / (1 - tail);
  return z < 0 ? 1.0 : far;
}


/* log 2p below the median, and twice the upper tail above it; 1 - p is exact there */
VECTOR double quantile (double p) {
  double l = vlog(2 * (p < 0.5 ? p : 1 - p));
  return p < 0.5 ? l : -l;
}

VECTOR double quantile_slope (double p) { return 1 / (p < 0.5 ? p : 1 - p); }

static const StandardLaw law = {
  .log_density = log_density,    .log_density_slope = log_density_slope,
  .cdf         = lower_tail,     .cdf_slope         = smaller_tail,
  .log_cdf     = log_lower_tail, .log_cdf_slope     = log_lower_tail_slope,
  .icdf        = quantile,       .icdf_slope        = quantile_slope,
  .entropy     = 1 + LN2,
  .symmetric   = 1,
  .moment      = moment,         .moment_share = 1, .moment_constant = -LN2
};

#include "kernel/standard_kernels.h"

const Kernel perilune_laplace[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials,
   .shortcuts = &(const Shortcuts) {.block_sums = log_prob_totals}},
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
