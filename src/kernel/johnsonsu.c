/*
** johnsonsu.c - JohnsonSU(gamma, delta, loc, scale), Johnson's unbounded law
**
**   r = gamma + delta asinh(z) is standard normal,    z = (x - loc)/scale
**   log p(x) = log(delta/scale) - log(1 + z^2)/2 - r^2/2 - log(2 pi)/2
**   x        = loc + scale sinh((r - gamma)/delta)
*/
#include "kernel/sided.h"
#include "special/constants.h"
#include "special/legendre.h"
#include "special/vdensity.h"
#include "special/verf.h"
#include "special/vhyperbolic.h"

/* z, asinh(z) and r at {x, gamma, delta, loc, scale} */
typedef struct Score { double z, y, r; } Score;

VECTOR Score score_of (const double v[]) {
  double z = (v[0] - v[3]) / v[4], y = vasinh(z);
  return (Score) {z, y, fma(v[2], y, v[1])};
}

/* log sqrt(1 + z^2), z = sinh(y) */
VECTOR double log_cosh (double y) { return (fabs(y) - LN2) + vlog1p(vexp(-2 * fabs(y))); }

VECTOR double log_density (const double v[]) {
  Score s = score_of(v);
  double near = fabs(s.z) < 1 ? 0.5 * vlog1p(s.z * s.z) : log_cosh(s.y);
  double level = fma(-0.5 * s.r, s.r, vlog(v[2]) - vlog(v[4]) - HALF_LOG_2PI) - near;
  return fabs(s.z) == HUGE_VAL ? -HUGE_VAL : level;
}

/* z/sqrt(1 + z^2), and 1/sqrt(1 + z^2) */
VECTOR double share (double z) {
  double w = fabs(z) > 1e100 ? 1.0 : fabs(z) / sqrt(fma(z, z, 1.0));
  return copysign(w, z);
}

VECTOR double rest (double z) { return fabs(z) > 1e100 ? 1 / fabs(z) : 1 / sqrt(fma(z, z, 1.0)); }

/* of r: by x, gamma, delta, loc, scale */
VECTOR void score_slopes (const double v[], Score s, double d[]) {
  double pace = v[2] * rest(s.z) / v[4];
  d[0] = pace;
  d[1] = 1;
  d[2] = s.y;
  d[3] = -pace;
  d[4] = -v[2] * share(s.z) / v[4];
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  Score s = score_of(v);
  double t = share(s.z), by = rest(s.z) / v[4], slope = -by * fma(v[2], s.r, t);
  d[0] = slope;
  d[1] = -s.r;
  d[2] = fma(-s.r, s.y, 1 / v[2]);
  d[3] = -slope;
  d[4] = (fma(t, fma(v[2], s.r, t), -1.0)) / v[4];
}

VECTOR double tail (const double v[], int upper) {
  double r = score_of(v).r;
  return vndtr(upper ? -r : r);
}

VECTOR double log_tail (const double v[], int upper) {
  double r = score_of(v).r;
  return vlog_ndtr(upper ? -r : r);
}

/* by the slopes of r; no parameter moves what is infinite */
VECTOR void times_score_slopes (const double v[], Score s, double by, double d[]) {
  score_slopes(v, s, d);
  by = fabs(s.r) < HUGE_VAL ? by : 0.0;
  d[0] *= by;
  d[1] *= by;
  d[2] = by == 0 ? 0.0 : by * d[2];
  d[3] *= by;
  d[4] *= by;
}

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  Score s = score_of(v);
  double p = vdensity(s.r);
  times_score_slopes(v, s, upper ? -p : p, d);
}

VECTOR void log_tail_slopes (const double v[], int upper, double d[]) {
  Score s = score_of(v);
  times_score_slopes(v, s, upper ? -vhazard(-s.r) : vhazard(s.r), d);
}

/* x from {r, gamma, delta, loc, scale} */
VECTOR double from_normal (const double v[]) {
  double z = vsinh((v[0] - v[1]) / v[2]);
  return z == 0 ? v[3] : fma(v[4], z, v[3]);
}

VECTOR void from_normal_slopes (const double v[], double d[]) {
  double y = (v[0] - v[1]) / v[2], z = vsinh(y);
  double cosh = fabs(z) < 1e100 ? sqrt(fma(z, z, 1.0)) : fabs(z), pace = v[4] * cosh;
  d[0] = pace / v[2];
  d[1] = -pace / v[2];
  d[2] = -pace * y / v[2];
  d[3] = 1;
  d[4] = z;
}

VECTOR double normal_quantile (double p, int upper) {
  double r = vndtri(p);
  return upper ? -r : r;
}

VECTOR double quantile (const double v[], int upper) {
  double at[POINT_MAX] = {normal_quantile(v[0], upper), v[1], v[2], v[3], v[4]};
  return from_normal(at);
}

VECTOR void quantile_slopes (const double v[], int upper, double d[]) {
  double at[POINT_MAX] = {normal_quantile(v[0], upper), v[1], v[2], v[3], v[4]};
  from_normal_slopes(at, d);
  d[0] *= (upper ? -1 : 1) / vdensity(at[0]);
}

static const SidedLaw law = {
  .operands    = 5,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .tail        = tail,        .tail_slopes        = tail_slopes,
  .log_tail    = log_tail,    .log_tail_slopes    = log_tail_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .from_noise  = from_normal, .from_noise_slopes  = from_normal_slopes
};

#include "kernel/density_kernels.h"
#include "kernel/rsample_kernels.h"
#include "kernel/sided_kernels.h"


/* {=====================================================
** Mode: x = loc + scale sinh(y), tanh(y) + delta (gamma + delta y) = 0
** ====================================================== */

static double mode_score (double gamma, double delta) {
  double y = 0, low = fmin(-gamma / delta, 0), high = fmax(-gamma / delta, 0), lift = delta * gamma;
  if (gamma == 0) return 0;
  for (int step = 0; step < 200; step++) {
    double t = vtanh(y), value = t + fma(delta * delta, y, lift);
    if (value < 0) low = y;
    else high = y;
    double next = y - value / (1 - t * t + delta * delta);
    if (!(next > low && next < high)) next = 0.5 * low + 0.5 * high;
    if (!(fabs(next - y) > 1e-16 * fabs(y))) return next;
    y = next;
  }
  return y;
}

static void mode (size_t n, const double *const in[], double *out) {
  const double *gamma = in[0], *delta = in[1], *loc = in[2], *scale = in[3];
  for (size_t i = 0; i < n; i++) {
    double z = vsinh(mode_score(gamma[i], delta[i]));
    out[i] = z == 0 ? loc[i] : fma(scale[i], z, loc[i]);
  }
}

static void mode_partials (size_t n, const double *const in[], double *const d[]) {
  const double *gamma = in[0], *delta = in[1], *scale = in[3];
  for (size_t i = 0; i < n; i++) {
    double y = mode_score(gamma[i], delta[i]), t = vtanh(y), z = vsinh(y);
    double pace = scale[i] * sqrt(fma(z, z, 1.0)) / (1 - t * t + delta[i] * delta[i]);
    d[0][i] = -pace * delta[i];
    d[1][i] = -pace * fma(2 * delta[i], y, gamma[i]);
    d[2][i] = 1;
    d[3][i] = z;
  }
}

/* }====================================================== */


/* {=====================================================
** Entropy: (1 + log(2 pi))/2 + log(scale/delta) + E log cosh(Y), Y from Normal(m, s),
** m = -gamma/delta, s = 1/delta
** ====================================================== */

/* E log cosh(Y), and its slopes in m and s, E tanh(Y) and s E sech(Y)^2 */
typedef struct Bend { double value, by_m, by_s; } Bend;

enum { PANELS = 8 };

/* adds what |Y| lacks on one side of 0: of v = |y|, log(1 + e^-2v), and for the slopes
   1 - tanh(v) = 2/(e^2v + 1) and sech(v)^2 */
static void add_side (double m, double s, double sign, Bend *sum) {
  double from = fmax(0, sign * m - 9.5 * s), to = fmin(20, sign * m + 9.5 * s);
  for (int j = PANELS - 1; j >= 0 && from < to; j--) {
    double width = (to - from) / PANELS, f[LEGENDRE], g[LEGENDRE], h[LEGENDRE];
    for (int i = 0; i < LEGENDRE; i++) {
      double v = from + width * (j + legendre_node[i]), e = vexp(-2 * v);
      double p = width * vdensity((v - sign * m) / s) / s;
      f[i] = p * vlog1p(e);
      g[i] = p * 2 * e / (1 + e);
      h[i] = p * 4 * e / (1 + e) / (1 + e);
    }
    sum->value += legendre_sum(f);
    sum->by_m -= sign * legendre_sum(g);
    sum->by_s += s * legendre_sum(h);
  }
}

static Bend bend_of (double m, double s) {
  double z = m / s, odd = verf(z * SQRT_HALF);
  Bend sum = {2 * s * vdensity(z) + m * odd - LN2, odd, 0};
  if (!(fabs(z) < HUGE_VAL)) sum.value = fabs(m) - LN2;
  add_side(m, s, -1, &sum);
  add_side(m, s, 1, &sum);
  return sum;
}

static void entropy (size_t n, const double *const in[], double *out) {
  const double *gamma = in[0], *delta = in[1], *scale = in[3];
  for (size_t i = 0; i < n; i++)
    out[i] = 0.5 + HALF_LOG_2PI + (vlog(scale[i]) - vlog(delta[i]))
             + bend_of(-gamma[i] / delta[i], 1 / delta[i]).value;
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *gamma = in[0], *delta = in[1], *scale = in[3];
  for (size_t i = 0; i < n; i++) {
    double s = 1 / delta[i], m = -gamma[i] * s;
    Bend b = bend_of(m, s);
    d[0][i] = -b.by_m * s;
    d[1][i] = -s - (b.by_m * m + b.by_s * s) * s;
    d[2][i] = 0;
    d[3][i] = 1 / scale[i];
  }
}

/* }====================================================== */


const Kernel perilune_johnsonsu[] = {
  {.name = "log_prob", .n_in = 5, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 5, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 5, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 5, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 5, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 5, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 5, .value = isf,      .partials = isf_partials},
  {.name = "mode",     .n_in = 4, .value = mode,     .partials = mode_partials},
  {.name = "entropy",  .n_in = 4, .slow = 1, .value = entropy, .partials = entropy_partials},
  {.name = "rsample", .n_in = 5, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "normal"}},
  {.name = NULL}
};
