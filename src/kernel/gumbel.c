/*
** gumbel.c - Gumbel(loc, scale), the limit law of maxima
**
**   log p(x) = -z - w - log(scale),    F(x) = e^-w,    w = e^-z,  z = (x - loc)/scale
**
** w has the law Exponential(1). The upper tail is 1 - e^-w = w - ..., and its logarithm is -z where
** w underflows.
*/
#include "kernel/standard.h"


VECTOR double beyond (double z) { return vexp(-z); }

/* z is stopped where w is infinite already, lest infinities of both signs meet */
VECTOR double log_density (double z) { return -((z < -800 ? -800 : z) + beyond(z)); }
VECTOR double log_density_slope (double z) { return vexpm1(-z); }

/* e^-w, with w carried as a pair: as an exponent it is up to 745 */
VECTOR double lower_tail (double z) {
  ExpReduction e = exp_reduce(clamp(-z, -750.0, 7.0));
  Pair s = fast_sum(1.0, e.hi);
  Pair w = fast_sum(s.hi, fma(e.hi * e.hi, exp_tail(e.hi), s.lo + e.lo));
  double scale = e.scale1 * e.scale2;
  return exp_pair(-w.hi * scale, -w.lo * scale);
}

VECTOR double density (double z) { return vexp(log_density(z)); }

VECTOR double upper_tail (double z) { return -vexpm1(-beyond(z)); }
VECTOR double upper_tail_slope (double z) { return -density(z); }

VECTOR double log_lower_tail (double z) { return -beyond(z); }

/* from the smaller tail; far out log(1 - e^-w) = -z - w/2 + O(w^2) */
VECTOR double log_upper_tail (double z) {
  double middle = vlog(upper_tail(z)), below = vlog1p(-lower_tail(z));
  double far = fma(-0.5, beyond(z), -z);
  double above = z > 20 ? far : middle;
  return z < 0 ? below : above;
}

/* -w/(e^w - 1); the bounds are where it is 1, and where it is 0 */
VECTOR double log_upper_tail_slope (double z) {
  double w = clamp(beyond(z), 1e-300, 750.0);
  return -w / vexpm1(w);
}

/* -log(-log p); about its zero at 1/e from g = e p - 1, as -log1p(-log1p(g)) */
VECTOR double quantile (double p) {
  double g = fma(p, 2.7182818284590450908, -1) + p * 1.4456468917292501366e-16;
  double far = -vlog(-vlog(p)), near = -vlog1p(-vlog1p(g));
  return fabs(g) < 0.4 ? near : far;
}

VECTOR double quantile_slope (double p) {
  double slope = -1 / (p * vlog(p));
  return p == 0 ? HUGE_VAL : slope;
}

VECTOR double upper_quantile (double q) {
  double tail = -vlog(-vlog1p(-q)), body = quantile(1 - q);
  return q < 0.5 ? tail : body;
}

VECTOR double upper_quantile_slope (double q) {
  double slope = 1 / ((1 - q) * vlog1p(-q));
  return q == 1 ? -HUGE_VAL : slope;
}

/* the noise is w */
VECTOR double from_beyond (double w) { return -vlog(w); }
VECTOR double from_beyond_slope (double w) { return -1 / w; }

static const StandardLaw law = {
  .log_density = log_density,    .log_density_slope = log_density_slope,
  .cdf         = lower_tail,     .cdf_slope         = density,
  .sf          = upper_tail,     .sf_slope          = upper_tail_slope,
  .log_cdf     = log_lower_tail, .log_cdf_slope     = beyond,
  .log_sf      = log_upper_tail, .log_sf_slope      = log_upper_tail_slope,
  .icdf        = quantile,       .icdf_slope        = quantile_slope,
  .isf         = upper_quantile,   .isf_slope         = upper_quantile_slope,
  .from_noise  = from_beyond,    .from_noise_slope  = from_beyond_slope,
  .entropy     = 1 + EULER_GAMMA
};

#include "kernel/standard_kernels.h"

const Kernel perilune_gumbel[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = standard_entropy_partials},
  {.name = "rsample", .n_in = 3, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "exponential"}},
  {.name = NULL}
};
