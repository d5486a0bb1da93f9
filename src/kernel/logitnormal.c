/*
** logitnormal.c - LogitNormal(loc, scale), the logistic function of a Normal
**
**   log p(x) = -z^2/2 - log(2 pi)/2 - log(scale) - log(x(1 - x)),  F(x) = Phi(z),
**   z = (logit x - loc)/scale
**
** Moments, mode and entropy have no closed form: see logitmoments.h.
*/
#include "kernel/logit.h"
#include "kernel/logitmoments.h"
#include "kernel/transformednormal.h"


VECTOR double slope_of (double x) { return x * (1 - x); }
VECTOR double growth (double x) { return fma(-2.0, x, 1); }

static const Change change = {
  .y = logit_of, .x = sigmoid_of, .dx_dy = slope_of, .dx_dy_at = slope_at,
  .log_dx_dy = logistic_log_slope, .growth = growth
};

enum { LONG_SLOPES = 1 };

#include "kernel/transformednormal_kernels.h"


static const Moments moments = {
  .mean = mean_at, .mode = mode_at, .stddev = stddev_at, .entropy = entropy_at
};

#include "kernel/moments_kernels.h"

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
  {.name = "rsample", .n_in = 3, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "normal"}},
  {.name = NULL}
};
