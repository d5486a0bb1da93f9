/*
** asymmetriclaplace.c - AsymmetricLaplace(loc, scale, asymmetry), two exponential
** laws back to back
**
**   log p(x) = t - log(scale (k + 1/k)),    t = z/k for z < 0, -z k else
**   F(x) = below e^t for z < 0,             1 - above e^t else
**   below = k^2/(1 + k^2),  above = 1/(1 + k^2),  k = asymmetry,  z = (x - loc)/scale
**
** A tail seen from the other side is its own mass plus the other one times 1 - e^t:
** nothing cancels, however small the own mass is.
*/
#include "kernel/kernel.h"
#include "kernel/subnormal.h"
#include "special/vmath.h"


typedef struct Masses { double below, above; } Masses;

/* the larger mass is what the smaller leaves, so that together they are 1 */
VECTOR Masses masses (double k) {
  double square = k * k, small = (k < 1 ? square : 1.0) / (1 + square);
  return (Masses) {.below = k < 1 ? small : 1 - small, .above = k < 1 ? 1 - small : small};
}

/* log(k^2/(1 + k^2)): log of the mass below, or with k and 1/k exchanged, above */
VECTOR double log_mass (double k, double inverse) {
  double lesser = k < 1 ? k : inverse, power = 2 * vlog(k);
  return (k < 1 ? power : 0.0) - log1p_unit(lesser * lesser);
}

/* scale (k + 1/k) = scale (1 + l^2)/l, l the lesser of k and 1/k */
VECTOR double log_width (double scale, double k) {
  double lesser = k < 1 ? k : 1 / k;
  return vlog_ratio(scale * fma(lesser, lesser, 1.0), lesser);
}

typedef struct Place { double z, t; Masses mass; } Place;

VECTOR Place place (double x, double loc, double scale, double k) {
  double z = (x - loc) / scale;
  return (Place) {.z = z, .t = z < 0 ? z / k : -z * k, .mass = masses(k)};
}

/* -dz/dk at a fixed probability; its product with the density of z is dF/dk */
VECTOR double speed (int left, double t, Masses m, double k) {
  double on_left = fma(2.0, m.above, -t), on_right = fma(2.0, m.below, -t) / k / k;
  return left ? on_left : on_right;
}

/* the density of z */
VECTOR double density (Place a, double k) { return vexp(a.t) / (k + 1 / k); }


static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *k = in[3];
  for (size_t i = 0; i < n; i++)
    out[i] = place(x[i], loc[i], scale[i], k[i]).t - log_width(scale[i], k[i]);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *k = in[3];
  double *dx = d[0], *dloc = d[1], *dscale = d[2], *dk = d[3];
  for (size_t i = 0; i < n; i++) {
    Place a = place(x[i], loc[i], scale[i], k[i]);
    double slope = (a.z < 0 ? 1 / k[i] : -k[i]) / scale[i];
    dx[i] = slope;
    dloc[i] = -slope;
    dscale[i] = (-1 - a.t) / scale[i];
    dk[i] = ((a.z < 0 ? -a.t : a.t) - (a.mass.below - a.mass.above)) / k[i];
  }
}


/* {=====================================================
** Tails: functions of the place and k, and their slopes in z
** ====================================================== */

typedef double Tail (Place a, double k);

VECTOR void tail_value (size_t n, const double *const in[], double *out, Tail *f) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *k = in[3];
  for (size_t i = 0; i < n; i++)
    out[i] = f(place(x[i], loc[i], scale[i], k[i]), k[i]);
}

VECTOR void tail_partials (size_t n, const double *const in[], double *const d[], Tail *slope) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *k = in[3];
  double *dx = d[0], *dloc = d[1], *dscale = d[2], *dk = d[3];
  for (size_t i = 0; i < n; i++) {
    Place a = place(x[i], loc[i], scale[i], k[i]);
    double s = slope(a, k[i]), by_x = s / scale[i];
    dx[i] = by_x;
    dloc[i] = -by_x;
    dscale[i] = -slope_times(by_x, a.z);
    dk[i] = slope_times(s, speed(a.z < 0, a.t, a.mass, k[i]));
  }
}

VECTOR double across (double t, double own, double other) { return fma(-other, vexpm1(t), own); }

VECTOR double tail (int inside, double t, double own, double other) {
  double near = own * vexp(t), far = across(t, own, other);
  return inside ? near : far;
}

/* from the other side, by the smaller of the tail and the rest */
VECTOR double log_tail (int inside, double t, double own, double other, double log_own) {
  double rest = other * vexp(t);
  double small = vlog(across(t, own, other)), large = vlog1p(-rest);
  double far = rest < 0.5 ? large : small;
  return inside ? log_own + t : far;
}

VECTOR double lower_tail (Place a, double k) {
  return (void)k, tail(a.z < 0, a.t, a.mass.below, a.mass.above);
}

static void cdf (size_t n, const double *const in[], double *out) {
  tail_value(n, in, out, lower_tail);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, density);
}


VECTOR double upper_tail (Place a, double k) {
  return (void)k, tail(a.z > 0, a.t, a.mass.above, a.mass.below);
}

VECTOR double upper_tail_slope (Place a, double k) { return -density(a, k); }

static void sf (size_t n, const double *const in[], double *out) {
  tail_value(n, in, out, upper_tail);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, upper_tail_slope);
}


VECTOR double log_lower_tail (Place a, double k) {
  return log_tail(a.z <= 0, a.t, a.mass.below, a.mass.above, log_mass(k, 1 / k));
}

VECTOR double log_lower_tail_slope (Place a, double k) {
  double far = density(a, k) / across(a.t, a.mass.below, a.mass.above);
  return a.z <= 0 ? 1 / k : far;
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  tail_value(n, in, out, log_lower_tail);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, log_lower_tail_slope);
}


VECTOR double log_upper_tail (Place a, double k) {
  return log_tail(a.z >= 0, a.t, a.mass.above, a.mass.below, log_mass(1 / k, k));
}

VECTOR double log_upper_tail_slope (Place a, double k) {
  double far = -density(a, k) / across(a.t, a.mass.above, a.mass.below);
  return a.z >= 0 ? -k : far;
}

static void log_sf (size_t n, const double *const in[], double *out) {
  tail_value(n, in, out, log_upper_tail);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, log_upper_tail_slope);
}

/* }====================================================== */


/* {=====================================================
** Quantiles
** ====================================================== */

/*
** z from the parts p below and q = 1 - p above it. With g = p - k^2 q, which is
** negative on the left and 0 at z = 0,
**
**   t = log(p/below) = log1p(g/k^2) on the left,  log(q/above) = log1p(-g) on the right
**
** by the first form where t is large, by the second where it is not: g is exact enough,
** being taken from pairs. Where k^2 could leave the range of doubles one mass is as good as 1, and
** the other, at most 1e-300, is compared with the part on its side.
*/
typedef struct Quantile { int left; double t, p, q; Masses mass; } Quantile;

VECTOR Quantile quantile (Pair p, Pair q, double k) {
  Masses m = masses(k);
  double safe = clamp(k, 1e-150, 1e150);
  Pair square = exact_product(safe, safe), share = pair_product(square, q);
  double g = (p.hi - share.hi) + (p.lo - share.lo);
  g = k < 1e-150 ? p.hi - m.below : g;
  g = k > 1e150 ? m.above - q.hi : g;
  g = p.hi == 0 ? -1.0 : g;
  g = q.hi == 0 ? 1.0 : g;
  int left = g < 0;
  double on_left = k > 1e150 ? g : g / square.hi;
  on_left = k < 1e-150 ? -1.0 : on_left;
  double gap = left ? on_left : (k > 1e150 ? -1.0 : -g);
  double tail = left ? p.hi : q.hi, ratio = lifted(tail) / (left ? m.below : m.above);
  double near = vlog1p(gap), far = vlog(ratio) - lift(tail), t = gap > -0.5 ? near : far;
  t = ((p.hi == 0) | (q.hi == 0)) ? -HUGE_VAL : t;
  return (Quantile) {.left = left, .t = t, .p = p.hi, .q = q.hi, .mass = m};
}

VECTOR Quantile by_lower (double p, double k) {
  return quantile((Pair) {p, 0}, fast_sum(1, -p), k);
}

VECTOR Quantile by_upper (double q, double k) {
  return quantile(fast_sum(1, -q), (Pair) {q, 0}, k);
}

VECTOR double unfold (Quantile a, double k) { return a.left ? k * a.t : -a.t / k; }

/* dz/dp */
VECTOR double quantile_slope (Quantile a, double k) {
  return (a.left ? k : 1 / k) / (a.left ? a.p : a.q);
}

static void icdf (size_t n, const double *const in[], double *out) {
  const double *p = in[0], *loc = in[1], *scale = in[2], *k = in[3];
  for (size_t i = 0; i < n; i++)
    out[i] = fma(scale[i], unfold(by_lower(p[i], k[i]), k[i]), loc[i]);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *p = in[0], *scale = in[2], *k = in[3];
  double *dp = d[0], *dloc = d[1], *dscale = d[2], *dk = d[3];
  for (size_t i = 0; i < n; i++) {
    Quantile a = by_lower(p[i], k[i]);
    dp[i] = scale[i] * quantile_slope(a, k[i]);
    dloc[i] = 1;
    dscale[i] = unfold(a, k[i]);
    dk[i] = -scale[i] * speed(a.left, a.t, a.mass, k[i]);
  }
}

static void isf (size_t n, const double *const in[], double *out) {
  const double *q = in[0], *loc = in[1], *scale = in[2], *k = in[3];
  for (size_t i = 0; i < n; i++)
    out[i] = fma(scale[i], unfold(by_upper(q[i], k[i]), k[i]), loc[i]);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *q = in[0], *scale = in[2], *k = in[3];
  double *dq = d[0], *dloc = d[1], *dscale = d[2], *dk = d[3];
  for (size_t i = 0; i < n; i++) {
    Quantile a = by_upper(q[i], k[i]);
    dq[i] = -scale[i] * quantile_slope(a, k[i]);
    dloc[i] = 1;
    dscale[i] = unfold(a, k[i]);
    dk[i] = -scale[i] * speed(a.left, a.t, a.mass, k[i]);
  }
}

/* }====================================================== */


static void entropy (size_t n, const double *const in[], double *out) {
  const double *scale = in[1], *k = in[2];
  for (size_t i = 0; i < n; i++) out[i] = 1 + log_width(scale[i], k[i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[1], *k = in[2];
  double *dloc = d[0], *dscale = d[1], *dk = d[2];
  for (size_t i = 0; i < n; i++) {
    Masses m = masses(k[i]);
    dloc[i] = 0;
    dscale[i] = 1 / scale[i];
    dk[i] = (m.below - m.above) / k[i];
  }
}


const Kernel perilune_asymmetriclaplace[] = {
  {.name = "log_prob", .n_in = 4, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 4, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 4, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 4, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 4, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 4, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 4, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 3, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample",  .n_in = 4, .value = icdf,     .partials = icdf_partials,
   .noise = "uniform"},
  {.name = NULL}
};
