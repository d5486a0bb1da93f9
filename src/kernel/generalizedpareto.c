/*
** generalizedpareto.c - GeneralizedPareto(loc, scale, concentration), excesses
** over a high threshold
**
**   log p(x) = -log(scale) - (1 + c) t,     F(x) = 1 - e^-t
**   t        = log(1 + w)/c,                w = c z,  z = (x - loc)/scale >= 0
**   x        = loc + scale (e^(c t) - 1)/c
**
** c = concentration. For c < 0 the support ends at loc - scale/c; for c = 0, t is
** z itself. All inputs being exact, scale (1 + w) = scale + c (x - loc) is summed as a
** pair, so that nothing is lost near the upper end.
*/
#include "kernel/hazard.h"
#include "kernel/power.h"


/*
** loc - scale/c rounded upwards, so that what is below it is inside; +inf for c >= 0.
** A little more than half an ulp of x, added, leads to the next number above x.
*/
VECTOR double upper_end (double loc, double scale, double c) {
  double q = -scale / c, rest = fma(-q, c, -scale) / c;
  Pair s = exact_sum(loc, q);
  s = fast_sum(s.hi, s.lo + rest);
  double next = s.hi + fabs(s.hi) * 1.1102230246251568e-16;
  double end = s.lo > 0 ? next : s.hi;
  return ((c < 0) & (q < HUGE_VAL)) ? end : HUGE_VAL;
}

/* z, w and 1 + w, the last relative to its own size */
typedef struct Excess { Pair z; double w, y; Pair log_y; } Excess;

/* a power of 2 that keeps c (x - loc) and its remainder within range */
VECTOR double range_factor (double d, double c) {
  double f = fabs(d) > 0x1p700 ? 0x1p-300 : 1.0;
  f = fabs(d) < 0x1p-600 ? 0x1p300 : f;
  return f * (fabs(c) > 0x1p300 ? 0x1p-720 : 1.0);
}

/* below the support as at its lower end, above as at its upper end */
VECTOR Excess excess (double x, double loc, double scale, double c) {
  double upper = upper_end(loc, scale, c), from = x < loc ? loc : x;
  Pair d = exact_sum(from > upper ? upper : from, -loc);
  double f = range_factor(d.hi, c), s = f * scale, end = c < 0 ? 0.0 : HUGE_VAL;
  Pair g = pair_scale(c, (Pair) {f * d.hi, f * d.lo});
  Pair a = exact_sum(s, g.hi);
  a = fast_sum(a.hi, a.lo + g.lo);
  a.hi = a.hi < 0 ? 0.0 : a.hi;
  a.hi = x >= upper ? end : a.hi;
  Pair l = log_ratio_pair(a.hi, s);
  l = fast_sum(l.hi, fabs(l.hi) < HUGE_VAL ? l.lo + a.lo / a.hi : 0.0);
  double z = d.hi / scale, rest = (fma(-z, scale, d.hi) + d.lo) / scale;
  return (Excess) {
    .z = {z, z < HUGE_VAL ? rest : 0.0}, .w = c * z, .y = a.hi / s, .log_y = l
  };
}

/* log(1 + w)/c; z (1 - w/2 + w^2/3) for small w */
VECTOR Pair excess_time (Excess e, double c) {
  Pair far = pair_ratio(e.log_y, (Pair) {c, 0.0});
  double bend = e.z.hi * e.w * fma(e.w, 0.33333333333333333333, -0.5);
  Pair near = fast_sum(e.z.hi, e.z.lo + (e.z.hi < HUGE_VAL ? bend : 0.0));
  int small = (fabs(e.w) < 0x1p-20) | (c == 0);
  double hi = small ? near.hi : far.hi, lo = small ? near.lo : far.lo;
  return (Pair) {hi, hi < HUGE_VAL ? lo : 0.0};
}

VECTOR Pair hazard (const double v[]) {
  return excess_time(excess(v[0], v[1], v[2], v[3]), v[3]);
}

/*
** dt/dc = (z/(1 + w) - t)/c = -z^2 ((log(1 + w) - w)/w^2 + 1/(1 + w)); the second form
** for small w, where the first cancels
*/
VECTOR double time_slope (Excess e, double t, double c) {
  double w = clamp(e.w, -0.5, 0.5);
  double series = fma(w, 0.66666666666666666667, -0.5);
  double near = fabs(w) < 1e-8 ? series : -vlog1pmx(w) / (w * w) - 1 / (1 + w);
  double far = (e.z.hi / e.y - t) / c;
  return fabs(e.w) < 0.5 ? e.z.hi * e.z.hi * near : far;
}

/* `value` on the support, `off` beside it; NaN where x is */
VECTOR double within (const double v[], double value, double off) {
  double y = v[0] < v[1] ? off : value;
  return v[0] > upper_end(v[1], v[2], v[3]) ? off : y;
}

VECTOR void hazard_slopes (const double v[], double d[]) {
  Excess e = excess(v[0], v[1], v[2], v[3]);
  double rate = 1 / (v[2] * e.y), t = excess_time(e, v[3]).hi;
  rate = within(v, rate, 0.0);
  d[0] = rate;
  d[1] = -rate;
  d[2] = -e.z.hi * rate;
  d[3] = within(v, time_slope(e, t, v[3]), 0.0);
}

VECTOR double log_density (const double v[]) {
  Pair t = hazard(v);
  double c1 = 1 + v[3], fall = c1 == 0 ? 0.0 : c1 * t.hi;
  double level = -vlog(v[2]) - fma(c1, t.lo, fall);
  return within(v, v[0] == v[0] ? level : v[0], -HUGE_VAL);
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  Excess e = excess(v[0], v[1], v[2], v[3]);
  double c1 = 1 + v[3], rate = 1 / (v[2] * e.y), t = excess_time(e, v[3]).hi;
  rate = within(v, rate, 0.0);
  d[0] = -c1 * rate;
  d[1] = c1 * rate;
  d[2] = (e.z.hi - 1) * rate;
  d[3] = within(v, fma(-c1, time_slope(e, t, v[3]), -t), 0.0);
}

/* (e^(c t) - 1)/c; t where c t is as good as 0 */
VECTOR double excess_quantile (double t, double c) {
  double v = c * t, z = vexpm1(v) / c;
  z = fabs(v) < 1e-17 ? t : z;
  return c == 0 ? t : z;
}

VECTOR double quantile (const double v[]) {
  double x = fma(v[2], excess_quantile(v[0], v[3]), v[1]);
  return v[0] == HUGE_VAL ? upper_end(v[1], v[2], v[3]) : x;
}

/* dz/dc = (t e^v - (e^v - 1)/c)/c, v = c t; t^2 ((e^v - 1)/v - (e^v - 1 - v)/v^2) for small v */
VECTOR double quantile_bend (double t, double c) {
  double v = c * t, small = clamp(v, -0.34, 0.34);
  double tail = exp_tail(small), near = t * t * fma(small, tail, 1 - tail);
  double far = fma(t, vexp(v), -excess_quantile(t, c)) / c;
  return fabs(v) < 0.34 ? near : far;
}

VECTOR void quantile_slopes (const double v[], double d[]) {
  d[0] = v[2] * vexp(v[3] * v[0]);
  d[1] = 1;
  d[2] = excess_quantile(v[0], v[3]);
  d[3] = v[2] * quantile_bend(v[0], v[3]);
}

enum { OPERANDS = 4, LONG_SLOPES = 1 };

static const HazardLaw waiting_time = {
  .hazard      = hazard,      .hazard_slopes      = hazard_slopes,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes
};

#include "kernel/hazard_kernels.h"


static void entropy (size_t n, const double *const in[], double *out) {
  const double *scale = in[1], *c = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlog(scale[i]) + (1 + c[i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    d[0][i] = 0;
    d[1][i] = 1 / scale[i];
    d[2][i] = 1;
  }
}


const Kernel perilune_generalizedpareto[] = {
  {.name = "log_prob", .n_in = 4, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 4, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 4, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 4, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 4, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 4, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 4, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 3, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 4, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "exponential"}},
  {.name = NULL}
};
