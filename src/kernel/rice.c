/*
** rice.c - Rice(nu, sigma), the length of a vector of two Normals about a point at distance nu
**
**   log p(x) = log(x/sigma^2) - (x - nu)^2/(2 sigma^2) + log(e^-w I0(w)),   w = x nu/sigma^2
**
** y = x^2/(2 sigma^2) has Marcum's law with m = 1 and a = nu^2/(2 sigma^2): tails are those of it.
*/
#include "kernel/implicit.h"
#include "kernel/quantile_search.h"
#include "random/noise.h"
#include "special/bessel.h"
#include "special/bessel_order.h"
#include "special/verf.h"
#include "special/constants.h"
#include "special/legendre.h"
#include "special/marcum.h"
#include "special/vhypot.h"

/* at {x, nu, sigma}: z = x/sigma, k = nu/sigma, and z - k, of which rounding of these leaves few digits */
typedef struct Score { double z, k, gap; } Score;

/* from this k on it is a normal law, but for a part of 1/k^2 */
static const double NORMAL = 1e8;

VECTOR Score score_of (const double v[]) {
  return (Score) {v[0] / v[2], v[1] / v[2], (v[0] - v[1]) / v[2]};
}

/* of z */
VECTOR double log_standard (double z, double k, double gap) {
  double w = z * k;
  double bessel = w < HUGE_VAL ? vlog(vi0e(w)) : -0.5 * (vlog(z) + vlog(k)) - HALF_LOG_2PI;
  double inside = fma(-0.5 * gap, gap, vlog(z) + bessel);
  return z == HUGE_VAL ? -HUGE_VAL : inside;
}

/* normal where k overflows: x/nu is 1 there, or x is too far away */
VECTOR double log_density (const double v[]) {
  Score s = score_of(v);
  double normal = fma(-0.5 * s.gap, s.gap, -HALF_LOG_2PI);
  double standard = log_standard(v[0] < 0 ? 1.0 : s.z, s.k, s.gap);
  double inside = (s.k == HUGE_VAL ? normal : standard) - vlog(v[2]);
  return v[0] < 0 ? -HUGE_VAL : inside;
}

/* d log p/dz and d log p/dk of the standard law: I1/I0 is 1 - c */
VECTOR void log_density_slopes (const double v[], double d[]) {
  Score s = score_of(v);
  double w = s.z * s.k, c = w < 1e300 ? vbessel_ratio_c(w) : 0.0;
  double by_z = 1 / s.z - s.gap - s.k * c, by_k = s.gap - s.z * c;
  int off = v[0] < 0;
  d[0] = off ? 0.0 : by_z / v[2];
  d[1] = off ? 0.0 : by_k / v[2];
  d[2] = off ? 0.0 : -(fma(s.z, by_z, s.k * by_k) + 1) / v[2];
}

static double log_tail (const double v[], int upper) {
  Score s = score_of(v);
  if (s.z < 0) return upper ? 0 : -HUGE_VAL;
  double gap = s.gap - 0.5 / s.k;   /* normal, but for a part of 1/k^2 */
  if (s.k > NORMAL) return vlog_ndtr(upper ? -gap : gap);
  if (!upper && s.z < 1e-150)   /* y, the first term but for e^-a, would lose digits */
    return fma(2.0, vlog(s.z), -LN2) - 0.5 * s.k * s.k;
  return marcum_log_tail(1, 0.5 * s.k * s.k, 0.5 * s.z * s.z, upper);
}

static double tail (const double v[], int upper) {
  Score s = score_of(v);
  int is_upper = 0.5 * s.z * s.z >= 1 + 0.5 * s.k * s.k;
  double small = vexp(log_tail(v, is_upper));
  return upper == is_upper ? small : 1 - small;
}

/* with the slope of z in k, A(w) = I1/I0: x = sigma z(k) */
static void slopes (const double *at, double *dx) {
  Score s = score_of(at);
  double by_k = s.z > 0 && s.z < HUGE_VAL ? vbessel_i1_over_i0(fmin(s.z * s.k, 1e300)) : 0;
  dx[0] = by_k;
  dx[1] = s.z > 0 && s.z < HUGE_VAL ? s.z - s.k * by_k : 0;
}

static double log_density_slope (const double v[]) {
  double d[3];
  log_density_slopes(v, d);
  return d[0];
}

static double quantile (const double *at, int upper) {
  SearchedLaw law = {3, log_tail, log_density, 0, HUGE_VAL, log_density_slope};
  double p = at[0], k = at[1] / at[2];
  if (k > NORMAL && p > 0 && p < 1) return fma(at[2], (upper ? -vndtri(p) : vndtri(p)) + 0.5 / k, at[1]);
  double z = sqrt(2 * marcum_near(1, 0.5 * k * k, at[0], upper));
  return search_quantile(law, at, upper, at[2] * z);
}

enum { OPERANDS = 3 };

static const Implicit family = {
  .log_density = log_density, .log_density_slopes = log_density_slopes, .slopes = slopes,
  .tail = tail, .log_tail = log_tail, .quantile = quantile
};

#include "kernel/implicit_kernels.h"
#include "kernel/density_kernels.h"


/* {=====================================================
** Moments of the standard law, functions of k
** ====================================================== */

typedef struct Value { double value, slope; } Value;

/* sqrt(pi/2) ((1 + t) I0e(t/2) + t I1e(t/2)), t = k^2/2; the slope is sqrt(pi/8) k (I0e + I1e) */
static Value mean_of (double k) {
  double t = 0.5 * k * k, i0 = vi0e(0.5 * t), i1 = vi1e(0.5 * t);
  if (k > 1e7) return (Value) {k + 0.5 / k, 1 - 0.5 / k / k};
  return (Value) {SQRT_HALF_PI * fma(t, i0 + i1, i0), 0.5 * SQRT_HALF_PI * k * (i0 + i1)};
}

/* 2 + k^2 - mean^2; for large t with mean = k (1 + d) it is 2 - k^2 d (2 + d) */
static Value variance_of (double k) {
  double t = 0.5 * k * k;
  Value m = mean_of(k);
  if (t < 40) return (Value) {fma(k, k, 2.0) - m.value * m.value, 2 * (k - m.value * m.slope)};
  double td = 0, slope = 0, term = 1;   /* t d, terms ((-1/2)_j)^2/j! t^(1-j), and its slope */
  for (int j = 1; j < 24; j++) {
    double up = j - 1.5;
    term *= up * up / j * (j == 1 ? 1 : 1 / t);
    td += term;
    slope -= (j - 1) * term / t;
  }
  double d = td / t, by_d = (slope - d) / t;
  return (Value) {2 - 2 * td * (2 + d), -2 * k * (slope * (2 + d) + td * by_d)};
}

static void mean (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = in[1][i] * mean_of(in[0][i] / in[1][i]).value;
}

/* of sigma f(k): by nu it is f', by sigma f - k f' */
static void scaled_slopes (Value f, double k, size_t i, double *const d[]) {
  d[0][i] = f.slope;
  d[1][i] = fma(-k, f.slope, f.value);
}

static void mean_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double k = in[0][i] / in[1][i];
    scaled_slopes(mean_of(k), k, i, d);
  }
}

static Value stddev_of (double k) {
  Value v = variance_of(k);
  double sd = sqrt(v.value);
  return (Value) {sd, 0.5 * v.slope / sd};
}

static void stddev (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = in[1][i] * stddev_of(in[0][i] / in[1][i]).value;
}

static void stddev_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double k = in[0][i] / in[1][i];
    scaled_slopes(stddev_of(k), k, i, d);
  }
}

/* the mode: 1/z - z + k A(z k) = 0, between k and sqrt(1 + k^2) */
static Value mode_of (double k) {
  if (k > 1e7) return (Value) {k + 0.5 / k, 1};
  double low = fmax(k, 0.9), high = sqrt(fma(k, k, 1)) * (1 + 1e-15), z = 0.5 * (low + high);
  double a = 0, bend = 0;
  for (int step = 0; step < 100; step++) {
    double w = z * k, c = vbessel_ratio_c(w), rest = 1 / z - (z - k) - k * c;
    a = 1 - c;
    bend = bessel_order(0, w).slope;   /* A'(w) */
    if (rest > 0) low = z;
    else high = z;
    double next = z + rest / (1 / (z * z) + 1 - k * k * bend);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (!(fabs(next - z) > 2e-16 * z)) break;
    z = next;
  }
  return (Value) {z, (a + z * k * bend) / (1 / (z * z) + 1 - k * k * bend)};
}

static void mode (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = in[1][i] * mode_of(in[0][i] / in[1][i]).value;
}

static void mode_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double k = in[0][i] / in[1][i];
    scaled_slopes(mode_of(k), k, i, d);
  }
}

/* -int p log p dz over z from k - 9.6 to k + 10.6, in panels; the slope is -E[log p d log p/dk] */
static Value entropy_of (double k) {
  enum { PANELS = 8 };
  if (k > 1e7) return (Value) {0.5 + HALF_LOG_2PI, 0};
  double from = fmax(0, k - 9.6), width = (k + 10.6 - from) / PANELS, f[LEGENDRE], g[LEGENDRE];
  Value sum = {0, 0};
  for (int j = 0; j < PANELS; j++) {
    int is_first = from == 0 && j == 0;   /* z log z: in the fourth root of z */
    for (int i = 0; i < LEGENDRE; i++) {
      double u = legendre_node[i], cube = is_first ? u * u * u : 1;
      double dz = width * (is_first ? 4 * cube : 1);
      double z = from + width * (j + u * cube), l = log_standard(z, k, z - k);
      f[i] = -dz * l * vexp(l);
      g[i] = f[i] * (z - k - z * vbessel_ratio_c(z * k));
    }
    sum.value += legendre_sum(f);
    sum.slope += legendre_sum(g);
  }
  return sum;
}

static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = vlog(in[1][i]) + entropy_of(in[0][i] / in[1][i]).value;
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double sigma = in[1][i], k = in[0][i] / sigma, slope = entropy_of(k).slope;
    d[0][i] = slope / sigma;
    d[1][i] = (1 - k * slope) / sigma;
  }
}

/* }====================================================== */


static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  const double *nu = in[0], *sigma = in[1];
  double other[KERNEL_DRAW_MAX];
  noise_normal(g, 0, first, n, out);
  noise_normal(g, 1, first, n, other);
  for (size_t i = 0; i < n; i++) out[i] = vhypot(fma(sigma[i], out[i], nu[i]), sigma[i] * other[i]);
}


const Kernel perilune_rice[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .slow = 1, .value = cdf,     .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .slow = 1, .value = sf,      .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .slow = 1, .value = log_cdf, .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .slow = 1, .value = log_sf,  .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .slow = 1, .value = icdf,    .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .slow = 1, .value = isf,     .partials = isf_partials},
  {.name = "mean",     .n_in = 2, .value = mean,     .partials = mean_partials},
  {.name = "stddev",   .n_in = 2, .value = stddev,   .partials = stddev_partials},
  {.name = "mode",     .n_in = 2, .value = mode,     .partials = mode_partials},
  {.name = "entropy",  .n_in = 2, .slow = 1, .value = entropy, .partials = entropy_partials},
  {.name = "rsample", .n_in = 3, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
