/*
** generalizednormal.c - GeneralizedNormal(loc, scale, shape), from Laplace's law to the uniform
**
**   log p(x) = -|z|^b - log(2 scale Gamma(1 + 1/b)),    z = (x - loc)/scale, b = shape
**
** y = |z|^b is a gamma variable of shape a = 1/b, so a tail is half of Q(a, y). For large b,
** y underflows while |z| is still near 1; there Q(a, y) = 1 - |z|/Gamma(1 + a) exactly.
*/
#include "kernel/implicit.h"
#include "random/gammas.h"
#include "random/noise.h"
#include "special/incgamma.h"
#include "special/vgamma.h"
#include "special/vpow.h"

static const double TINY_POWER = 1e-200;   /* of y: below, only |z| is left */


/* |z|, or where that has no number 2^-1200 |z| */
typedef struct Size {
  double z;
  int is_far;
} Size;

#define SHRUNK      0x1p-600
#define LOG_FAR     831.7766166719343          /* log 2^1200 */
#define LOG_FAR_LOW 3.6710345963156847709e-14

VECTOR Size size_of (double x, double loc, double scale) {
  double z = fabs((x - loc) / scale), far = fabs(SHRUNK * x - SHRUNK * loc) / (scale / SHRUNK);
  return (Size) {z == HUGE_VAL ? far : z, z == HUGE_VAL};
}

/* |z|^exponent, exponent > 0 */
VECTOR double power (Size size, double exponent) {
  Pair l = log_pair(size.z);
  Pair sum = fast_sum(size.is_far ? LOG_FAR : 0.0, log_edges(size.z, l.hi));
  double low = sum.lo + (size.is_far ? LOG_FAR_LOW + l.lo : l.lo);
  double p = exponent * sum.hi, rest = fma(exponent, low, fma(exponent, sum.hi, -p));
  return exp_pair(clamp(p, -800.0, 800.0), fabs(p) < 800.0 ? rest : 0.0);
}

VECTOR double log_size (Size size) { return vlog(size.z) + (size.is_far ? LOG_FAR : 0.0); }


/* {=====================================================
** Density
** ====================================================== */

VECTOR double log_density (double x, double loc, double scale, double shape) {
  double y = power(size_of(x, loc, scale), shape);
  return -y - vlgamma_pos(1 + 1 / shape) - vlog(2 * scale);
}

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *shape = in[3];
  EVERY for (size_t i = 0; i < n; i++) out[i] = log_density(x[i], loc[i], scale[i], shape[i]);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *shape = in[3];
  double *dx = d[0], *dloc = d[1], *dscale = d[2], *dshape = d[3];
  EVERY for (size_t i = 0; i < n; i++) {
    Size size = size_of(x[i], loc[i], scale[i]);
    double a = 1 / shape[i], y = power(size, shape[i]), off = x[i] - loc[i];
    double slope = size.z == 0 ? 0.0 : -shape[i] * y / off;
    double twist = size.z == 0 ? 0.0 : -y * log_size(size);
    dx[i] = slope;
    dloc[i] = -slope;
    dscale[i] = fma(shape[i], y, -1) / scale[i];
    dshape[i] = fma(a * a, vdigamma_pos(1 + a), twist);
  }
}

/* }====================================================== */


/* {=====================================================
** Tails
** ====================================================== */

static double gamma1p (double a) { return vexp(vlgamma_pos(1 + a)); }

static Size size_at (const double *at) { return size_of(at[0], at[1], at[2]); }

/* the part beyond |z| of the half that it is in */
static double share (Size size, double shape) {
  double a = 1 / shape, y = power(size, shape);
  if (y == HUGE_VAL) return 0;
  return y < TINY_POWER ? 1 - size.z / gamma1p(a) : special_gammaincc(a, y);
}

static double log_share (Size size, double shape) {
  double a = 1 / shape, y = power(size, shape);
  if (y == HUGE_VAL) return -HUGE_VAL;
  return y < TINY_POWER ? vlog1p(-size.z / gamma1p(a)) : special_log_gammaincc(a, y);
}

/* is the middle on the side of the tail? */
static int is_beyond (const double *at, int upper) {
  return upper ? at[0] < at[1] : at[0] > at[1];
}

/* the upper tail is the lower one of -z */
static double tail (const double *at, int upper) {
  double t = 0.5 * share(size_at(at), at[3]);
  return is_beyond(at, upper) ? 1 - t : t;
}

static double log_tail (const double *at, int upper) {
  Size size = size_at(at);
  return is_beyond(at, upper) ? vlog1p(-0.5 * share(size, at[3])) : log_share(size, at[3]) - LN2;
}

static double density_at (const double *at) { return log_density(at[0], at[1], at[2], at[3]); }

/* dz/db = -(z/b) (log|z| + a^2 (dy/da)/y) at fixed P(a, y); a psi(1 + a) in the limit y = 0 */
static void slopes (const double *at, double *dx) {
  Size size = size_at(at);
  double z = (at[0] - at[1]) / at[2], a = 1 / at[3], y = power(size, at[3]);
  double twist = a * vdigamma_pos(1 + a);
  if (y >= TINY_POWER) twist = fma(a * a, special_gamma_dx_da(a, y) / y, log_size(size));
  dx[0] = 1;
  dx[1] = z;
  dx[2] = -at[2] * a * z * twist;
}

/* }====================================================== */


/* {=====================================================
** Quantiles
** ====================================================== */

/* |z| with the given tail <= 1/2 beyond it; near the centre from 1 - 2 tail, which is exact (and 0
** at the centre, though Gamma(1 + a) may be too large for a double) */
static double distance (double tail, double shape) {
  double a = 1 / shape, inner = 2 * (0.5 - tail);
  if (inner == 0) return 0;
  double y = tail > 0.25 ? special_gammaincinv(a, inner) : special_gammainccinv(a, 2 * tail);
  return y < TINY_POWER ? inner * gamma1p(a) : power((Size) {y, 0}, a);
}

static double quantile (const double *at, int upper) {
  double p = upper ? 1 - at[0] : at[0], q = upper ? at[0] : 1 - at[0];
  if (!((p >= 0) & (q >= 0))) return (double) NAN;
  double z = distance(p < q ? p : q, at[3]);
  return fma(at[2], p < q ? -z : z, at[1]);
}

enum { OPERANDS = 4 };

static const Implicit family = {
  .log_density = density_at, .slopes = slopes,
  .tail = tail, .log_tail = log_tail, .quantile = quantile
};

#include "kernel/implicit_kernels.h"

/* }====================================================== */


/* {=====================================================
** Moments and draws
** ====================================================== */

/* scale^2 Gamma(3a)/Gamma(a) = scale^2/3 Gamma(1 + 3a)/Gamma(1 + a) */
VECTOR double variance_of (double scale, double a) {
  double root = scale * vexp(0.5 * vlgamma_delta(1 + a, 2 * a));
  return root * root / 3;
}

static void variance (size_t n, const double *const in[], double *out) {
  const double *scale = in[1], *shape = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = variance_of(scale[i], 1 / shape[i]);
}

static void variance_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[1], *shape = in[2];
  double *dloc = d[0], *dscale = d[1], *dshape = d[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double a = 1 / shape[i], v = variance_of(scale[i], a);
    dloc[i] = 0;
    dscale[i] = 2 * v / scale[i];
    dshape[i] = -v * a * a * fma(3, vdigamma_pos(fma(3, a, 1)), -vdigamma_pos(1 + a));
  }
}

static void entropy (size_t n, const double *const in[], double *out) {
  const double *scale = in[1], *shape = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double a = 1 / shape[i];
    out[i] = a + vlgamma_pos(1 + a) + vlog(2 * scale[i]);
  }
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[1], *shape = in[2];
  double *dloc = d[0], *dscale = d[1], *dshape = d[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double a = 1 / shape[i];
    dloc[i] = 0;
    dscale[i] = 1 / scale[i];
    dshape[i] = -a * a * (1 + vdigamma_pos(1 + a));
  }
}


/* z = v G^a, v uniform on (-1, 1) and G a gamma variable of shape 1 + a */
static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  const double *loc = in[0], *scale = in[1], *shape = in[2];
  double raised[GAMMAS_BLOCK], size[GAMMAS_BLOCK], depth[GAMMAS_BLOCK];   /* depths are 0 */
  EVERY for (size_t i = 0; i < n; i++) raised[i] = 1 + 1 / shape[i];
  noise_uniform(g, 0, first, n, out);
  gammas(g, 1, first, n, raised, size, depth);
  EVERY for (size_t i = 0; i < n; i++) {
    double z = 2 * (out[i] - 0.5) * power((Size) {size[i], 0}, 1 / shape[i]);
    out[i] = fma(scale[i], z, loc[i]);
  }
}

/* }====================================================== */


const Kernel perilune_generalizednormal[] = {
  {.name = "log_prob", .n_in = 4, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 4, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 4, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 4, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 4, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 4, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 4, .value = isf,      .partials = isf_partials},
  {.name = "variance", .n_in = 3, .value = variance, .partials = variance_partials},
  {.name = "entropy",  .n_in = 3, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 4, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
