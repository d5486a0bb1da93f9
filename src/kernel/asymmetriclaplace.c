/*
** asymmetriclaplace.c - AsymmetricLaplace(loc, scale, asymmetry), two exponential
** laws back to back
**
**   log p(x) = t - log(scale (k + 1/k)),    t = z/k for z < 0, -z k else
**   F(x) = below e^t for z < 0,             1 - above e^t else
**   below = k^2/(1 + k^2),  above = 1/(1 + k^2),  k = asymmetry,  z = (x - loc)/scale
**
** A tail that reaches across loc is the mass of its own side plus that of the other side times
** 1 - e^t: nothing cancels, however small the mass of its own side is.
*/
#include "kernel/sided.h"
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

typedef struct Position { double z, t; Masses mass; } Position;

VECTOR Position place (const double v[]) {
  double k = v[3], z = (v[0] - v[1]) / v[2];
  return (Position) {.z = z, .t = z < 0 ? z / k : -z * k, .mass = masses(k)};
}

/* -dz/dk at a fixed probability; its product with the density of z is dF/dk */
VECTOR double speed (int left, double t, Masses m, double k) {
  double on_left = fma(2.0, m.above, -t), on_right = fma(2.0, m.below, -t) / k / k;
  return left ? on_left : on_right;
}

/* the density of z */
VECTOR double density (Position a, double k) { return vexp(a.t) / (k + 1 / k); }


VECTOR double log_density (const double v[]) { return place(v).t - log_width(v[2], v[3]); }

VECTOR void log_density_slopes (const double v[], double d[]) {
  double scale = v[2], k = v[3];
  Position a = place(v);
  double slope = (a.z < 0 ? 1 / k : -k) / scale;
  d[0] = slope;
  d[1] = -slope;
  d[2] = (-1 - a.t) / scale;
  d[3] = ((a.z < 0 ? -a.t : a.t) - (a.mass.below - a.mass.above)) / k;
}


/* {=====================================================
** Tails
** ====================================================== */

VECTOR double across (double t, double own, double other) { return fma(-other, vexpm1(t), own); }

VECTOR double tail_at (int inside, double t, double own, double other) {
  double near = own * vexp(t), far = across(t, own, other);
  return inside ? near : far;
}

/* from the other side, by the smaller of the tail and the rest */
VECTOR double log_tail_at (int inside, double t, double own, double other, double log_own) {
  double rest = other * vexp(t);
  double small = vlog(across(t, own, other)), large = vlog1p(-rest);
  double far = rest < 0.5 ? large : small;
  return inside ? log_own + t : far;
}

VECTOR double tail (const double v[], int upper) {
  Position a = place(v);
  return upper ? tail_at(a.z > 0, a.t, a.mass.above, a.mass.below)
               : tail_at(a.z < 0, a.t, a.mass.below, a.mass.above);
}

VECTOR double log_tail (const double v[], int upper) {
  double k = v[3];
  Position a = place(v);
  return upper ? log_tail_at(a.z >= 0, a.t, a.mass.above, a.mass.below, log_mass(1 / k, k))
               : log_tail_at(a.z <= 0, a.t, a.mass.below, a.mass.above, log_mass(k, 1 / k));
}

/* across loc from a side of next to no mass: l^2 + l |z|, l the lesser of k and 1/k */
VECTOR double log_tiny_tail (const double v[], int upper) {
  double k = v[3], lesser = k < 1 ? k : 1 / k;
  Position a = place(v);
  if (upper ? a.z >= 0 : a.z <= 0) return log_mass(upper ? 1 / k : k, upper ? k : 1 / k) + a.t;
  return -fabs(vlog(k)) + vlog(lesser + fabs(a.z));
}

VECTOR int has_tiny_tail (int upper) { return (void)upper, 1; }

/* of a function of z and k with the slope s in z, as tails move with k */
VECTOR void slopes (const double v[], Position a, double s, double d[]) {
  double by_x = s / v[2];
  d[0] = by_x;
  d[1] = -by_x;
  d[2] = -slope_times(by_x, a.z);
  d[3] = slope_times(s, speed(a.z < 0, a.t, a.mass, v[3]));
}

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  Position a = place(v);
  double p = density(a, v[3]);
  slopes(v, a, upper ? -p : p, d);
}

VECTOR void log_tail_slopes (const double v[], int upper, double d[]) {
  double k = v[3];
  Position a = place(v);
  double across_loc = upper ? across(a.t, a.mass.above, a.mass.below)
                            : across(a.t, a.mass.below, a.mass.above);
  double lesser = k < 1 ? k : 1 / k, tiny_far = 1 / (lesser + fabs(a.z));   /* of log_tiny_tail */
  int tiny = across_loc < FEW_DIGITS;
  double far = tiny ? tiny_far : density(a, k) / across_loc;
  slopes(v, a, upper ? (a.z >= 0 ? -k : -far) : (a.z <= 0 ? 1 / k : far), d);
  double by_k = (upper ? -1 : 1) * fma(lesser, tiny_far, 1.0) / k;
  d[3] = tiny & (upper ? a.z < 0 : a.z > 0) ? by_k : d[3];
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

VECTOR Quantile between (Pair p, Pair q, double k) {
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

VECTOR Quantile by_side (double p, double k, int upper) {
  Pair own = {p, 0}, rest = fast_sum(1, -p);
  return upper ? between(rest, own, k) : between(own, rest, k);
}

VECTOR double unfold (Quantile a, double k) { return a.left ? k * a.t : -a.t / k; }

VECTOR double quantile (const double v[], int upper) {
  double k = v[3];
  return fma(v[2], unfold(by_side(v[0], k, upper), k), v[1]);
}

VECTOR void quantile_slopes (const double v[], int upper, double d[]) {
  double scale = v[2], k = v[3];
  Quantile a = by_side(v[0], k, upper);
  double slope = (a.left ? k : 1 / k) / (a.left ? a.p : a.q);   /* dz/dp */
  d[0] = (upper ? -scale : scale) * slope;
  d[1] = 1;
  d[2] = unfold(a, k);
  d[3] = -scale * speed(a.left, a.t, a.mass, k);
}

/* }====================================================== */


static const SidedLaw law = {
  .operands    = 4,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .tail        = tail,        .tail_slopes        = tail_slopes,
  .log_tail    = log_tail,    .log_tail_slopes    = log_tail_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .log_tiny_tail = log_tiny_tail, .has_tiny_tail  = has_tiny_tail
};

#include "kernel/density_kernels.h"
#include "kernel/sided_kernels.h"


static void entropy (size_t n, const double *const in[], double *out) {
  const double *scale = in[1], *k = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = 1 + log_width(scale[i], k[i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[1], *k = in[2];
  double *dloc = d[0], *dscale = d[1], *dk = d[2];
  EVERY for (size_t i = 0; i < n; i++) {
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
  {.name = "rsample", .n_in = 4, .value = icdf, .partials = icdf_partials,
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
