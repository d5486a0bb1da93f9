/*
** normal.c - Normal(loc, scale), the bell curve
**
**   log p(x) = -z^2/2 - log(2 pi)/2 - log(scale),    F(x) = Phi(z)
**
** Tails are never computed as 1 - something: the upper tail is the lower one
** of -z, and logarithms of tails go through the scaled erfc.
*/
#include "kernel/standard.h"
#include "special/constants.h"
#include "special/vdensity.h"
#include "special/verf.h"


VECTOR double log_density (double z) { return fma(-0.5 * z, z, -HALF_LOG_2PI); }
VECTOR double log_density_slope (double z) { return -z; }
VECTOR double moment (double z) { return -z * z; }

VECTOR double quantile_slope (double p) { return 1 / vdensity(vndtri(p)); }

/* the noise is standard normal already */
VECTOR double as_it_is (double z) { return z; }
VECTOR double one (double z) { return (void)z, 1; }

static const StandardLaw law = {
  .log_density = log_density, .log_density_slope = log_density_slope,
  .cdf         = vndtr,       .cdf_slope         = vdensity,
  .log_cdf     = vlog_ndtr,   .log_cdf_slope     = vhazard,
  .icdf        = vndtri,      .icdf_slope        = quantile_slope,
  .from_noise  = as_it_is,    .from_noise_slope  = one,
  .entropy     = 0.5 + HALF_LOG_2PI,
  .symmetric   = 1,
  .moment      = moment,      .moment_share = 0.5, .moment_constant = -HALF_LOG_2PI
};

#include "kernel/standard_kernels.h"

const Kernel perilune_normal[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials,
   .shortcuts = &(const Shortcuts) {.block_sums = log_prob_totals}},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = standard_entropy_partials},
  {.name = "rsample", .n_in = 3, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "normal"}},
  {.name = NULL}
};
