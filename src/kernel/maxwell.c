/*
** maxwell.c - Maxwell(scale), the length of a vector of three Normals
**
**   log p(x) = log(c z^2) - t - log(scale),    z = x/scale >= 0,  t = z^2/2,  c = sqrt(2/pi)
**   F(x)     = c/3 z^3 e^-t S,                 S = 1 + z^2/5 (1 + z^2/7 (1 + ...))
**   1 - F(x) = e^-t (erfcx(z/sqrt 2) + c z)
**
** t has the law Gamma(3/2, 1): quantiles are those of it, and a draw is the root of twice an
** exponential number and a squared normal one.
*/
#include "kernel/halfline.h"
#include "random/noise.h"
#include "special/constants.h"
#include "special/incgamma.h"
#include "special/verf.h"
#include "special/vmath.h"

static const double LOG_C_3 = -1.3244036413128371238;   /* log(c/3) */
static const double SERIES_BELOW = 1.5;   /* of z: below it F comes from S, above it from 1 - F */
static const double NO_TAIL_FROM = 40;    /* of z: from here on e^-t is 0 */
enum { SERIES_TERMS = 20 };               /* of S for z < SERIES_BELOW */


/* log z beyond the range of z; x = inf brings inf - inf */
VECTOR double log_density (double x, double scale) {
  double z = x / scale;
  double inside = fma(-0.5 * z, z, fma(2.0, vlog_ratio(x, scale), HALF_LOG_2_OVER_PI));
  return z == HUGE_VAL ? -HUGE_VAL : inside;
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  double x = v[0], scale = v[1], z = x / scale;
  d[0] = x < 0 ? 0.0 : 2 / x - z / scale;
  d[1] = x < 0 ? 0.0 : fma(z, z, -3) / scale;
}


VECTOR double least (double a, double b) { return a > b ? b : a; }

/* e^(-z^2/2), the rounding error of the square made good */
VECTOR double bell (double z) {
  double y = least(z, NO_TAIL_FROM), t = 0.5 * y * y;
  return exp_pair(-t, fma(-0.5 * y, y, t));
}

/* S, for z < SERIES_BELOW */
VECTOR double series (double z) {
  double y = least(z, SERIES_BELOW), square = y * y, s = 1;
  for (int k = SERIES_TERMS; k > 0; k--) s = fma(square * (1.0 / (2 * k + 3)), s, 1.0);
  return s;
}

/* (1 - F)/e^-t */
VECTOR double excess (double z) { return fma(SQRT_2_OVER_PI, z, verfcx(z * SQRT_HALF)); }

VECTOR double above (double z) { return bell(z) * excess(least(z, NO_TAIL_FROM)); }

VECTOR double below (double z) {
  double near = SQRT_2_OVER_PI / 3 * z * z * z * bell(z) * series(z);
  return z < SERIES_BELOW ? near : 1 - above(z);
}

/* dF/dz, and d(1 - F)/dz */
VECTOR double density (double z) {
  double y = least(z, NO_TAIL_FROM);
  return SQRT_2_OVER_PI * y * y * bell(z);
}
VECTOR double fall (double z) { return -density(z); }

VECTOR double lower_tail (double x, double scale) { return below(x / scale); }
VECTOR double upper_tail (double x, double scale) { return above(x / scale); }


/* near 0 it is log z^3, beyond the range of z */
VECTOR double log_lower_tail (double x, double scale) {
  double z = x / scale, power = fma(3.0, vlog_ratio(x, scale), LOG_C_3);
  double near = fma(-0.5 * z, z, power) + vlog(series(z)), far = vlog1p(-above(z));
  return z < SERIES_BELOW ? near : far;
}

VECTOR double log_lower_tail_drift (double z) {
  double near = 3 / series(z), far = z * density(z) / below(z);
  return z < SERIES_BELOW ? near : far;
}

VECTOR double log_upper_tail (double x, double scale) {
  double z = x / scale;
  double near = vlog1p(-below(z)), far = fma(-0.5 * z, z, vlog(excess(z)));
  return z < SERIES_BELOW ? near : z == HUGE_VAL ? -HUGE_VAL : far;
}

VECTOR double log_upper_tail_slope (double z) { return -SQRT_2_OVER_PI * z * (z / excess(z)); }


VECTOR double quantile (double p) { return sqrt(2 * special_gammaincinv(1.5, p)); }
VECTOR double quantile_slope (double p) { return 1 / density(quantile(p)); }
VECTOR double upper_quantile (double q) { return sqrt(2 * special_gammainccinv(1.5, q)); }
VECTOR double upper_quantile_slope (double q) { return -1 / density(upper_quantile(q)); }

static const HalflineLaw halfline = {
  .log_density = log_density,
  .cdf         = lower_tail,     .cdf_slope          = density,
  .sf          = upper_tail,     .sf_slope           = fall,
  .log_cdf     = log_lower_tail, .log_cdf_drift      = log_lower_tail_drift,
  .log_sf      = log_upper_tail, .log_sf_slope       = log_upper_tail_slope,
  .icdf        = quantile,       .icdf_slope         = quantile_slope,
  .isf         = upper_quantile, .isf_slope          = upper_quantile_slope,
  .entropy     = HALF_LOG_2PI + EULER_GAMMA - 0.5
};

#include "kernel/halfline_kernels.h"


static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  const double *scale = in[0];
  double normal[KERNEL_DRAW_MAX];
  noise_exponential(g, 0, first, n, out);
  noise_normal(g, 1, first, n, normal);
  for (size_t i = 0; i < n; i++)
    out[i] = scale[i] * sqrt(fma(normal[i], normal[i], 2 * out[i]));
}

static void draw_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *scale = in[1];
  for (size_t i = 0; i < n; i++) {
    d[0][i] = 1;
    d[1][i] = x[i] / scale[i];
  }
}


const Kernel perilune_maxwell[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 2, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample",  .n_in = 2, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
