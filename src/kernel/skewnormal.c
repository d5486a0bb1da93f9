/*
** skewnormal.c - SkewNormal(loc, scale, skewness), an asymmetric bell curve
**
**   p(x) = 2/scale phi(z) Phi(w z),    F(x) = Phi(z) - 2 T(z, w),    z = (x - loc)/scale
**
** with w = skewness and Owen's T. For w >= 0 (else x and w change their signs) everything
** comes from R = 2T(|z|, inf) - 2T(|z|, w), the light tail (src/special/owen.h):
**
**   z < 0:  F = R        z >= 0:  F = erf(z/sqrt(2)) + R,   1 - F = erfc(z/sqrt(2)) - R
**
** and the last difference is at least half of erfc.
*/
#include "kernel/implicit.h"
#include "kernel/subnormal.h"
#include "random/noise.h"
#include "special/constants.h"
#include "special/legendre.h"
#include "special/owen.h"
#include "special/vdensity.h"
#include "special/verf.h"
#include "special/vtrig.h"


/* the smaller tail, mass e^-(z^2/2 + depth), and which it is */
typedef struct LightTail { double z, mass, depth; int lower; } LightTail;


/* {=====================================================
** Density
** ====================================================== */

/* w z, also where z is infinite */
VECTOR double leaning (double z, double skewness) {
  return skewness == 0 ? 0.0 : skewness * z;
}

VECTOR double log_standard (double z, double skewness) {
  return fma(-0.5 * z, z, LN2 - HALF_LOG_2PI) + vlog_ndtr(leaning(z, skewness));
}

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *skewness = in[3];
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = log_standard((x[i] - loc[i]) / scale[i], skewness[i]) - vlog(scale[i]);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *skewness = in[3];
  double *dx = d[0], *dloc = d[1], *dscale = d[2], *dskewness = d[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double z = (x[i] - loc[i]) / scale[i], hazard = vhazard(leaning(z, skewness[i]));
    double slope = fma(skewness[i], hazard, -z);
    dx[i] = slope / scale[i];
    dloc[i] = -slope / scale[i];
    dscale[i] = fma(-z, slope, -1) / scale[i];
    dskewness[i] = z * hazard;
  }
}

/* }====================================================== */


/* {=====================================================
** Tails
** ====================================================== */

static LightTail tail_leaning_up (double z, double skewness) {
  double h = fabs(z);
  OwenTail r = special_owen_tail(h, skewness);
  if (z < 0) return (LightTail) {z, r.mass, r.depth, 1};
  double scaled = r.mass * vexp(-r.depth), growth = h < 1 ? vexp(0.5 * h * h) : 2;
  double lower = fma(growth, verf(SQRT_HALF * h), scaled);
  if (lower < 0.5 * growth) return (LightTail) {z, lower, 0, 1};
  return (LightTail) {z, verfcx(SQRT_HALF * h) - scaled, 0, 0};
}

/* so far out that only the squares count: they are -log of the tail, or overflow */
static LightTail tail_beyond (double z, double skewness) {
  double lean = leaning(z, skewness);
  return (LightTail) {z, z == z ? 1.0 : z, lean < 0 ? 0.5 * lean * lean : 0.0, z < 0};
}

static LightTail tail_of (double z, double skewness) {
  if (!(fabs(z) < 1e150)) return tail_beyond(z, skewness);
  LightTail t = tail_leaning_up(skewness < 0 ? -z : z, fabs(skewness));
  if (skewness < 0) t.lower = !t.lower;
  return t;
}

static double tail_small (LightTail t) {
  double square = t.z * t.z, rest = fma(t.z, t.z, -square);
  double fall = exp_pair(clamp(-0.5 * square, -800.0, 0.0), square < 1600 ? -0.5 * rest : 0.0);
  return t.mass * fall * vexp(-t.depth);
}

static double tail_value (LightTail t, int lower) {
  double small = tail_small(t);
  return t.lower == lower ? small : 1 - small;
}

static double tail_log (LightTail t, int lower) {
  if (t.lower != lower) return vlog1p(-tail_small(t));
  return fma(-0.5 * t.z, t.z, vlog(t.mass) - t.depth);
}

static double z_at (const double *at) { return (at[0] - at[1]) / at[2]; }

static double tail (const double *at, int upper) {
  return tail_value(tail_of(z_at(at), at[3]), !upper);
}

static double log_tail (const double *at, int upper) {
  return tail_log(tail_of(z_at(at), at[3]), !upper);
}

static double density_at (const double *at) { return log_standard(z_at(at), at[3]) - vlog(at[2]); }

/* dF/dw = -2 phi(z) phi(wz)/(1 + w^2), and the density is 2 phi(z) Phi(wz) */
static void slopes (const double *at, double *dx) {
  double z = z_at(at);
  dx[0] = 1;
  dx[1] = z;
  dx[2] = at[2] * vhazard(leaning(z, at[3])) / fma(at[3], at[3], 1);
}

/* }====================================================== */


/* {=====================================================
** Quantiles
** ====================================================== */

/* sqrt(1 + w^2) */
VECTOR double hypotenuse (double w) {
  double a = fabs(w);
  return a < 1e8 ? vsqrt(fma(a, a, 1)) : a;
}

/*
** A start from which Newton's steps for the logarithm of a tail, which is concave, have one
** sign, for w >= 0: F(z) <= F(0) + erf(z/sqrt(2)) above 0, 1 - F(z) <= erfc(z/sqrt(2)); and below 0
** about Phi(sqrt(1 + w^2) z).
*/
static double start (double p, double q, double skewness) {
  double centre = INV_PI * vatan(1 / skewness);   /* F(0) */
  if (p >= q) return -vndtri(half_of(q));
  if (p < centre) return vndtri(p) / hypotenuse(skewness);
  return SQRT2 * verfinv(p - centre);
}

static double standard_quantile (double p, double q, double skewness) {
  if (!((p >= 0) & (q >= 0))) return (double) NAN;
  if (p == 0 || q == 0) return p == 0 ? -HUGE_VAL : HUGE_VAL;
  if (skewness < 0) return -standard_quantile(q, p, -skewness);
  int lower = p < q;
  double goal = vlog(lower ? p : q), z = start(p, q, skewness);
  double least = 1e-17 / hypotenuse(skewness);
  for (int step = 0; step < 60; step++) {
    double at = tail_log(tail_of(z, skewness), lower);
    double move = (goal - at) * vexp(at - log_standard(z, skewness));
    z += lower ? move : -move;
    if (!(fabs(move) > fma(2e-16, fabs(z), least))) break;
  }
  return z;
}

static double quantile (const double *at, int upper) {
  double p = upper ? 1 - at[0] : at[0], q = upper ? at[0] : 1 - at[0];
  return fma(at[2], standard_quantile(p, q, at[3]), at[1]);
}

enum { OPERANDS = 4 };

static const Implicit family = {
  .log_density = density_at, .slopes = slopes,
  .tail = tail, .log_tail = log_tail, .quantile = quantile
};

#include "kernel/implicit_kernels.h"

/* }====================================================== */


/* {=====================================================
** Mode and entropy
** ====================================================== */

/*
** The z with z = w phi(wz)/Phi(wz), or for w > 1 the y = wz with y/w^2 = phi(y)/Phi(y). The right
** side falls and is convex, so Newton climbs from 0.
*/
static double standard_mode (double skewness) {
  double w = fabs(skewness), m = w > 1 ? w : 1.0, factor = w / m, pull = 1 / m / m, v = 0;
  for (int step = 0; step < 60; step++) {
    double y = factor * v, hazard = vhazard(y);
    double move = fma(factor, hazard, -pull * v) / fma(factor * factor * hazard, y + hazard, pull);
    v += move;
    if (!(move > 2e-16 * v)) break;
  }
  return copysign(v / m, skewness);
}

static void mode (size_t n, const double *const in[], double *out) {
  const double *loc = in[0], *scale = in[1], *skewness = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = fma(scale[i], standard_mode(skewness[i]), loc[i]);
}

static void mode_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[1], *skewness = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double w = skewness[i], z = standard_mode(w), y = w * z, hazard = vhazard(y);
    double bend = hazard * (y + hazard);
    d[0][i] = 1;
    d[1][i] = z;
    d[2][i] = scale[i] * fma(-y, bend, hazard) / fma(w * w, bend, 1);
  }
}


/*
** Integrals over all z of functions that vanish like e^(-(1 + w^2) z^2/2), w >= 0:
** E log Phi(wZ), and minus the slope of the entropy in w
*/
static double shrinkage_integrand (double z, double w) {
  double l = vlog_ndtr(w * z);
  return 2 * vdensity(z) * vexp(l) * l;
}

static double slope_integrand (double z, double w) {
  return 2 * vdensity(z) * vdensity(w * z) * z * vlog_ndtr(w * z);
}

static double integral (double w, double (*f) (double, double)) {
  double up[LEGENDRE], down[LEGENDRE], width = vsqrt(2 * LEGENDRE_DEPTH) / hypotenuse(w);
  for (int i = 0; i < LEGENDRE; i++) {
    up[i] = f(width * legendre_node[i], w);
    down[i] = f(-width * legendre_node[i], w);
  }
  return width * (legendre_sum(up) + legendre_sum(down));
}

static void entropy (size_t n, const double *const in[], double *out) {
  const double *scale = in[1], *skewness = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double shrinkage = integral(fabs(skewness[i]), shrinkage_integrand) + LN2;
    out[i] = vlog(scale[i]) + (0.5 + HALF_LOG_2PI - shrinkage);
  }
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[1], *skewness = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double slope = integral(fabs(skewness[i]), slope_integrand);
    d[0][i] = 0;
    d[1][i] = 1 / scale[i];
    d[2][i] = skewness[i] < 0 ? slope : -slope;
  }
}

/* }====================================================== */


/* z = (w |n0| + n1)/sqrt(1 + w^2), n0 and n1 normal */
static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  const double *loc = in[0], *scale = in[1], *skewness = in[2];
  double half[KERNEL_DRAW_MAX];
  noise_normal(g, 0, first, n, out);
  noise_normal(g, 1, first, n, half);
  EVERY for (size_t i = 0; i < n; i++) {
    double root = hypotenuse(skewness[i]);
    double z = fma(skewness[i] / root, fabs(half[i]), out[i] / root);
    out[i] = fma(scale[i], z, loc[i]);
  }
}


const Kernel perilune_skewnormal[] = {
  {.name = "log_prob", .n_in = 4, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 4, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 4, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 4, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 4, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 4, .slow = 1, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 4, .slow = 1, .value = isf,      .partials = isf_partials},
  {.name = "mode",     .n_in = 3, .value = mode,     .partials = mode_partials},
  {.name = "entropy",  .n_in = 3, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 4, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
