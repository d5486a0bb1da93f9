/*
** lognormal.c - LogNormal(loc, scale), the exponential of a Normal
**
**   log p(x) = -z^2/2 - log(2 pi)/2 - log(scale) - log x,    F(x) = Phi(z),
**   z = (log x - loc)/scale
**
** Moments are exponentials of loc + k scale^2, the exponent taken as a pair.
*/
#include "kernel/moments.h"
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

static const Change change = {
  .y = log_of, .x = exp_of, .dx_dy = same, .dx_dy_at = exp_of, .log_dx_dy = same, .growth = constant
};

enum { LONG_SLOPES = 0 };

#include "kernel/transformednormal_kernels.h"


/* e^(h (loc + k scale^2)) for powers of two h and small k */
VECTOR double exp_square (double loc, double scale, double k, double h) {
  Pair t = exact_product(scale, scale), y = exact_sum(loc, k * t.hi);
  return exp_of((Pair) {h * y.hi, h * fma(k, t.lo, y.lo)});
}

VECTOR Moment mean_at (double loc, double scale) {
  double m = exp_square(loc, scale, 0.5, 1);
  return (Moment) {m, m, scale * m};
}

VECTOR Moment mode_at (double loc, double scale) {
  double m = exp_square(loc, scale, -1, 1);
  return (Moment) {m, m, -2 * scale * m};
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

VECTOR Moment stddev_at (double loc, double scale) {
  double s = deviation(loc, scale);
  return (Moment) {s, s, deviation_drift(scale) * s};
}


VECTOR Moment entropy_at (double loc, double scale) {
  return (Moment) {loc + (vlog(scale) + (0.5 + HALF_LOG_2PI)), 1, 1 / scale};
}

static const Moments moments = {
  .mean = mean_at, .mode = mode_at, .stddev = stddev_at, .entropy = entropy_at
};

#include "kernel/moments_kernels.h"

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
  {.name = "rsample", .n_in = 3, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "normal"}},
  {.name = NULL}
};
