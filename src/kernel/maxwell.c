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
#include "kernel/kernel.h"
#include "random/noise.h"
#include "special/incgamma.h"
#include "special/verf.h"
#include "special/vmath.h"

static const double C = 0.79788456080286535588, LOG_C = -0.22579135264472743236;
static const double LOG_C_3 = -1.3244036413128371238;   /* log(c/3) */
static const double HALF_ROOT = 0.70710678118654752440;
static const double NEAR = 1.5;    /* below it F comes from S, above it from 1 - F */
static const double FAR = 40;      /* from here on e^-t is 0 */
enum { TERMS = 20 };               /* of S for z < NEAR */


static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *scale = in[1];
  for (size_t i = 0; i < n; i++) {
    double z = x[i] / scale[i];
    double inside = fma(-0.5 * z, z, fma(2.0, vlog_ratio(x[i], scale[i]), LOG_C));
    inside = z == HUGE_VAL ? -HUGE_VAL : inside - vlog(scale[i]);   /* no inf - inf */
    out[i] = x[i] < 0 ? -HUGE_VAL : inside;
  }
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *scale = in[1];
  double *dx = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    double z = x[i] / scale[i];
    dx[i] = x[i] < 0 ? 0.0 : 2 / x[i] - z / scale[i];
    dscale[i] = x[i] < 0 ? 0.0 : fma(z, z, -3) / scale[i];
  }
}


/* {=====================================================
** Functions of z >= 0
** ====================================================== */

VECTOR double least (double a, double b) { return a > b ? b : a; }

/* e^(-z^2/2), the rounding error of the square made good */
VECTOR double bell (double z) {
  double y = least(z, FAR), t = 0.5 * y * y;
  return exp_pair(-t, fma(-0.5 * y, y, t));
}

/* S, for z < NEAR */
VECTOR double series (double z) {
  double y = least(z, NEAR), square = y * y, s = 1;
  for (int k = TERMS; k > 0; k--) s = fma(square * (1.0 / (2 * k + 3)), s, 1.0);
  return s;
}

/* (1 - F)/e^-t */
VECTOR double excess (double z) { return fma(C, z, verfcx(z * HALF_ROOT)); }

VECTOR double upper_tail (double z) { return bell(z) * excess(least(z, FAR)); }

VECTOR double lower_tail (double z) {
  double near = C / 3 * z * z * z * bell(z) * series(z);
  return z < NEAR ? near : 1 - upper_tail(z);
}

/* dF/dz */
VECTOR double density (double z) {
  double y = least(z, FAR);
  return C * y * y * bell(z);
}

/* }====================================================== */


/* {=====================================================
** Tails
** ====================================================== */

VECTOR double ratio (double x, double scale) { return (x <= 0 ? 0.0 : x) / scale; }

/* finite, so that z times a vanishing slope is 0 */
VECTOR double finite_ratio (double x, double scale) {
  return least(ratio(x, scale), 1.7976931348623157e308);
}

/* From the slope in z; nothing changes below 0. */
VECTOR void spread_slope (double x, double scale, double slope, double *dx, double *dscale) {
  double s = x < 0 ? 0.0 : slope / scale;
  *dx = s;
  *dscale = -finite_ratio(x, scale) * s;
}

static void cdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = lower_tail(ratio(in[0][i], in[1][i]));
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *scale = in[1];
  for (size_t i = 0; i < n; i++)
    spread_slope(x[i], scale[i], density(finite_ratio(x[i], scale[i])), &d[0][i], &d[1][i]);
}


static void sf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = upper_tail(ratio(in[0][i], in[1][i]));
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *scale = in[1];
  for (size_t i = 0; i < n; i++)
    spread_slope(x[i], scale[i], -density(finite_ratio(x[i], scale[i])), &d[0][i], &d[1][i]);
}


/* near 0 it is log z^3, beyond the range of z */
static void log_cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *scale = in[1];
  for (size_t i = 0; i < n; i++) {
    double z = ratio(x[i], scale[i]), above = x[i] <= 0 ? 0.0 : x[i];
    double power = fma(3.0, vlog_ratio(above, scale[i]), LOG_C_3);
    double near = fma(-0.5 * z, z, power) + vlog(series(z)), far = vlog1p(-upper_tail(z));
    out[i] = z < NEAR ? near : far;
  }
}

/* from the slope in log z, which is 3/S near 0 */
static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *scale = in[1];
  double *dx = d[0], *dscale = d[1];
  for (size_t i = 0; i < n; i++) {
    double z = finite_ratio(x[i], scale[i]);
    double near = 3 / series(z), far = z * density(z) / lower_tail(z);
    double e = x[i] < 0 ? 0.0 : z < NEAR ? near : far;
    dx[i] = e / x[i];
    dscale[i] = -e / scale[i];
  }
}


static void log_sf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    double z = ratio(in[0][i], in[1][i]);
    double near = vlog1p(-lower_tail(z)), far = fma(-0.5 * z, z, vlog(excess(z)));
    out[i] = z < NEAR ? near : z == HUGE_VAL ? -HUGE_VAL : far;
  }
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *scale = in[1];
  for (size_t i = 0; i < n; i++) {
    double z = finite_ratio(x[i], scale[i]);
    double slope = -C * z * (z / excess(z));
    spread_slope(x[i], scale[i], slope, &d[0][i], &d[1][i]);
  }
}

/* }====================================================== */


/* {=====================================================
** Quantiles, entropy, draws
** ====================================================== */

static double lower_quantile (double p) { return sqrt(2 * special_gammaincinv(1.5, p)); }
static double upper_quantile (double q) { return sqrt(2 * special_gammainccinv(1.5, q)); }

static void icdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = in[1][i] * lower_quantile(in[0][i]);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double z = lower_quantile(in[0][i]);
    d[0][i] = in[1][i] / density(z);
    d[1][i] = z;
  }
}


static void isf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = in[1][i] * upper_quantile(in[0][i]);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double z = upper_quantile(in[0][i]);
    d[0][i] = -in[1][i] / density(z);
    d[1][i] = z;
  }
}


/* log(2 pi)/2 + Euler's constant - 1/2, and log(scale) */
static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = vlog(in[0][i]) + 0.99615419810620560239;
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) d[0][i] = 1 / in[0][i];
}


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

/* }====================================================== */


const Kernel perilune_maxwell[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 2, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample",  .n_in = 2, .draw = draw,      .partials = draw_partials},
  {.name = NULL}
};
