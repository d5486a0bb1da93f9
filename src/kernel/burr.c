/*
** burr.c - Burr(concentration1, concentration0, scale), Burr's law of type XII
**
**   log p(x) = log(c k/scale) + (c - 1) l - t - log(1 + w),    F(x) = 1 - e^-t
**   t        = k log(1 + w),    w = e^(c l) = (x/scale)^c,     l = log(x/scale)
**
** c = concentration1, k = concentration0. w has the law of a ratio of Gamma variables, and
** overflows where log(1 + w) = c l + log(1 + 1/w) does not.
*/
#include "kernel/hazard.h"
#include "kernel/power.h"
#include "kernel/subnormal.h"
#include "special/gamma.h"

/* c l, log(1 + w) as a pair, and w/(1 + w) */
typedef struct Ratio { Pair l, u, grown; double share; } Ratio;

VECTOR Ratio ratio_of (const double v[]) {
  Pair l = power_log(v[0], v[3]), u = exponent_product(v[1], l);
  double w = vexp(u.hi < 0 ? u.hi : -u.hi);   /* or 1/w, where that is less than 1 */
  double rest = vlog1p(w), fine = u.hi < 0 ? 0.0 : u.lo;
  rest = u.hi < 0 ? fma(u.lo, w / (1 + w), rest) : rest;
  Pair g = fast_sum(u.hi > 0 ? u.hi : 0.0, rest);
  g.hi = u.hi == HUGE_VAL ? u.hi : g.hi;
  g.lo = u.hi == HUGE_VAL ? 0.0 : g.lo + fine;
  return (Ratio) {l, u, g, (u.hi < 0 ? w : 1.0) / (1 + w)};
}

VECTOR Pair hazard (const double v[]) {
  Ratio r = ratio_of(v);
  Pair t = pair_scale(v[2], r.grown);
  double hi = v[2] * r.grown.hi == HUGE_VAL ? HUGE_VAL : t.hi;
  int tiny = r.u.hi < -600;   /* w may underflow */
  hi = tiny ? scaled_exp(v[2], r.u) : hi;
  return (Pair) {v[0] == v[0] ? hi : v[0], (tiny | (hi == HUGE_VAL)) ? 0.0 : t.lo};
}

VECTOR void hazard_slopes (const double v[], double d[]) {
  Ratio r = ratio_of(v);
  int inside = (v[0] > 0) & (v[0] < HUGE_VAL);
  double pace = v[1] * v[2] * r.share;
  d[0] = inside ? pace / v[0] : 0.0;
  d[1] = inside ? v[2] * r.l.hi * r.share : 0.0;
  d[2] = inside ? r.grown.hi : 0.0;
  d[3] = inside ? -pace / v[3] : 0.0;
}

VECTOR double log_hazard (const double v[], double d[]) {
  Ratio r = ratio_of(v);
  int inside = (v[0] > 0) & (v[0] < HUGE_VAL);
  double by_u = r.u.hi < -40 ? 1.0 : r.share / r.grown.hi;
  d[0] = inside ? by_u * (v[1] / v[0]) : 0.0;
  d[1] = inside ? by_u * r.l.hi : 0.0;
  d[2] = inside ? 1 / v[2] : 0.0;
  d[3] = inside ? -by_u * (v[1] / v[3]) : 0.0;
  double power = r.u.hi < -40 ? r.u.hi + r.u.lo : 0.0, rest = r.u.hi < -40 ? 1.0 : r.grown.hi;
  return vlog(lifted(v[2]) * rest) - lift(v[2]) + power;
}

/* for w > 1 powers of x are taken together: -(1 + c k) l - (k + 1) log(1 + 1/w) */
VECTOR double log_density (const double v[]) {
  double c = v[1], k = v[2];
  Ratio r = ratio_of(v);
  double level = vlog(c) + vlog_ratio(k, v[3]), rest = (r.grown.hi - r.u.hi) + r.grown.lo;
  rest = r.u.hi > 1e10 ? 0.0 : rest;   /* log(1 + 1/w): what u was rounded by is more */
  double power = c == 1 ? 0.0 : (c - 1) * r.l.hi;
  double near = level + power - (k + 1) * r.grown.hi;
  double decline = r.l.hi == 0 ? 0.0 : fma(c, k, 1.0) * r.l.hi;
  double far = level - decline - (k + 1) * (rest > 0 ? rest : 0.0);
  far = v[0] == HUGE_VAL ? -HUGE_VAL : far;
  double inside = r.u.hi < 0 ? near : far;
  return v[0] < 0 ? -HUGE_VAL : inside;
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  double c = v[1], k = v[2];
  Ratio r = ratio_of(v);
  double fall = (k + 1) * r.share;
  d[0] = v[0] < 0 ? 0.0 : (c - 1 - c * fall) / v[0];
  d[1] = v[0] < 0 ? 0.0 : fma(r.l.hi, 1 - fall, 1 / c);
  d[2] = v[0] < 0 ? 0.0 : 1 / k - r.grown.hi;
  d[3] = v[0] < 0 ? 0.0 : c * (fall - 1) / v[3];
}

/* log w from m = e/k = log(1 + w), which may underflow */
VECTOR Pair log_of_growth (double e, double k) {
  double m = e / k, small = m < 1 ? m : 1.0;
  Pair near = log_ratio_pair(e, k);
  double bend = small > 0x1p-60 ? vlog(vexpm1(small) / small) : 0.0;
  near = fast_sum(near.hi, fabs(near.hi) < HUGE_VAL ? near.lo + bend : 0.0);
  Pair far = fast_sum(m, vlog1mexp(-m));
  double hi = m < HUGE_VAL ? far.hi : m, lo = m < HUGE_VAL ? far.lo : 0.0;
  return (Pair) {m < 1 ? near.hi : hi, m < 1 ? near.lo : lo};
}

VECTOR double quantile (const double v[]) {
  return scaled_exp(v[3], exponent_quotient(log_of_growth(v[0], v[2]), v[1]));
}

VECTOR void quantile_slopes (const double v[], double d[]) {
  double x = quantile(v), m = v[0] / v[2];
  double pace = x / v[1] / -vexpm1(-m) / v[2];   /* (1 + w)/w = 1/(1 - e^-m) */
  d[0] = pace;
  d[1] = -x * log_of_growth(v[0], v[2]).hi / v[1] / v[1];
  d[2] = -pace * m;
  d[3] = x / v[3];
}

enum { OPERANDS = 4, LONG_SLOPES = 1 };

static const HazardLaw waiting_time = {
  .hazard      = hazard,      .hazard_slopes      = hazard_slopes,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .log_hazard  = log_hazard
};

#include "kernel/hazard_kernels.h"


/* log(scale) - log(c k) + 1 + (1 - 1/c) (gamma + psi(k + 1)) + 1/(c k) */
static void entropy (size_t n, const double *const in[], double *out) {
  const double *c = in[0], *k = in[1], *scale = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double h = EULER_GAMMA + vdigamma_pos(k[i] + 1);
    out[i] = (vlog(scale[i]) - vlog(c[i]) - vlog(k[i])) + 1 + (1 - 1 / c[i]) * h + 1 / c[i] / k[i];
  }
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *c = in[0], *k = in[1], *scale = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double h = EULER_GAMMA + vdigamma_pos(k[i] + 1);
    d[0][i] = ((h - 1 / k[i]) / c[i] - 1) / c[i];
    d[1][i] = (1 - 1 / c[i]) * vtrigamma_pos(k[i] + 1) - (1 + 1 / c[i] / k[i]) / k[i];
    d[2][i] = 1 / scale[i];
  }
}


/* {=====================================================
** Moments: with j = 1/c, E (X/scale)^r = Gamma(k - r j) Gamma(1 + r j)/Gamma(k)
** ====================================================== */

enum { SERIES_TERMS = 9 };

/* log Gamma(a - j) - 2 log Gamma(a) + log Gamma(a + j), and its derivatives */
typedef struct Second { double value, by_centre, by_step; } Second;

/* by the even derivatives at a, for j < a/8 */
static Second second_series (double a, double j) {
  Second s = {0, 0, 0};
  double by = 1;   /* 2 j^(2 n - 1)/(2 n)! */
  for (int n = 1; n <= SERIES_TERMS; n++) {
    by = n == 1 ? j : by * (j / (2 * n - 1)) * (j / (2 * n));
    double even = special_polygamma(2 * n - 1, a);
    s.value += by * j * even;
    s.by_centre += by * j * special_polygamma(2 * n, a);
    s.by_step += 2 * n * by * even;
  }
  return s;
}

static Second second_difference (double a, double j) {
  if (j < 0.125 * a) return second_series(a, j);
  double down = vdigamma_pos(a - j), up = vdigamma_pos(a + j);
  return (Second) {
    (vlgamma_pos(a - j) - vlgamma_pos(a)) + (vlgamma_pos(a + j) - vlgamma_pos(a)),
    (down - vdigamma_pos(a)) + (up - vdigamma_pos(a)), up - down
  };
}

/* a moment, and its slopes in c and k */
typedef struct Moment3 { double value, slope[2]; } Moment3;

/* scale e^L: L and its slopes in j and k */
static Moment3 moment_from (double c, double scale, double log_value, double by_j, double by_k) {
  double m = scaled_exp(scale, (Pair) {log_value, 0.0});
  return (Moment3) {m, {-m * by_j / c / c, m * by_k}};
}

static Moment3 mean_of (double c, double k, double scale) {
  double j = 1 / c, rest = k - j;
  if (!(rest > 0)) return (Moment3) {k == k && c == c ? HUGE_VAL : (double)NAN, {0, 0}};
  double log_m = vlgamma_pos(1 + j) - vlgamma_delta(rest, j);
  return moment_from(c, scale, log_m, vdigamma_pos(1 + j) - vdigamma_pos(rest),
                     vdigamma_pos(rest) - vdigamma_pos(k));
}

/* sd = mean sqrt(e^G - 1) */
static Moment3 stddev_of (double c, double k, double scale) {
  double j = 1 / c, centre = k - j;
  if (!(k - 2 * j > 0)) return (Moment3) {k == k && c == c ? HUGE_VAL : (double)NAN, {0, 0}};
  Second s = second_difference(centre, j);
  Gap gap = moment_gap(j, 1 + j, 1 + 2 * j);
  double g = s.value + gap.value, by = 0.5 / -vexpm1(-g);
  double log_m = vlgamma_pos(1 + j) - vlgamma_delta(centre, j);
  double by_j = vdigamma_pos(1 + j) - vdigamma_pos(centre)
                + by * (s.by_step - s.by_centre + gap.slope);
  double by_k = vdigamma_pos(centre) - vdigamma_pos(k) + by * s.by_centre;
  return moment_from(c, scale * sqrt(vexpm1(g)), log_m, by_j, by_k);
}

static void moment_values (size_t n, const double *const in[], double *out,
                           Moment3 (*f) (double, double, double)) {
  for (size_t i = 0; i < n; i++) out[i] = f(in[0][i], in[1][i], in[2][i]).value;
}

static void moment_slopes (size_t n, const double *const in[], double *const d[],
                           Moment3 (*f) (double, double, double)) {
  for (size_t i = 0; i < n; i++) {
    Moment3 m = f(in[0][i], in[1][i], in[2][i]);
    d[0][i] = m.slope[0];
    d[1][i] = m.slope[1];
    d[2][i] = m.value < HUGE_VAL ? m.value / in[2][i] : 0.0;
  }
}

static void mean (size_t n, const double *const in[], double *out) {
  moment_values(n, in, out, mean_of);
}
static void mean_partials (size_t n, const double *const in[], double *const d[]) {
  moment_slopes(n, in, d, mean_of);
}
static void stddev (size_t n, const double *const in[], double *out) {
  moment_values(n, in, out, stddev_of);
}
static void stddev_partials (size_t n, const double *const in[], double *const d[]) {
  moment_slopes(n, in, d, stddev_of);
}

/* }====================================================== */


const Kernel perilune_burr[] = {
  {.name = "log_prob", .n_in = 4, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 4, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 4, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 4, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 4, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 4, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 4, .value = isf,      .partials = isf_partials},
  {.name = "mean",     .n_in = 3, .value = mean,     .partials = mean_partials},
  {.name = "stddev",   .n_in = 3, .value = stddev,   .partials = stddev_partials},
  {.name = "entropy",  .n_in = 3, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 4, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "exponential"}},
  {.name = NULL}
};
