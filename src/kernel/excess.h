/*
** excess.h - t = log(1 + c z)/c, z = (x - loc)/scale, which for c = 0 is z itself
**
** All inputs being exact, scale (1 + w) = scale + c (x - loc) is summed as a pair, so that nothing
** is lost near the end loc - scale/c of a support, where it is 0. The inverse is
** z = (e^(c t) - 1)/c.
*/
#ifndef PERILUNE_EXCESS_H
#define PERILUNE_EXCESS_H

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
  double f = fabs(d) > 0x1p700 ? 0x1p-300 : 1.0, down = fabs(d) < 1.0 ? 0x1p-64 : 0x1p-720;
  down = fabs(d) < 0x1p-600 ? 0x1p-300 : down;
  f = fabs(d) < 0x1p-600 ? 0x1p300 : f;
  return f * (fabs(c) > 0x1p300 ? down : 1.0);
}

/*
** Of x - loc = d, which is exact; where x is `at_end` of the support 1 + w is y_end, 0 or inf
*/
VECTOR Excess excess_of (Pair d, double scale, double c, int at_end, double y_end) {
  double f = range_factor(d.hi, c), s = f * scale;
  Pair g = pair_scale(c, (Pair) {f * d.hi, f * d.lo});
  Pair a = exact_sum(s, g.hi);
  a = fast_sum(a.hi, a.lo + g.lo);
  a.hi = a.hi < 0 ? 0.0 : a.hi;
  a.hi = at_end ? y_end : a.hi;
  Pair l = log_ratio_pair(a.hi, s);
  l = fast_sum(l.hi, fabs(l.hi) < HUGE_VAL ? l.lo + a.lo / a.hi : 0.0);
  double z = d.hi / scale, rest = (fma(-z, scale, d.hi) + d.lo) / scale;
  return (Excess) {
    .z = {z, fabs(z) < HUGE_VAL ? rest : 0.0}, .w = c * z, .y = a.hi / s, .log_y = l
  };
}

/* log(1 + w)/c; z (1 - w/2 + w^2/3) for small w */
VECTOR Pair excess_time (Excess e, double c) {
  Pair far = pair_ratio(e.log_y, (Pair) {c, 0.0});
  double bend = e.z.hi * e.w * fma(e.w, 0.33333333333333333333, -0.5);
  Pair near = fast_sum(e.z.hi, e.z.lo + (fabs(e.z.hi) < HUGE_VAL ? bend : 0.0));
  int small = (fabs(e.w) < 0x1p-20) | (c == 0);
  double hi = small ? near.hi : far.hi, lo = small ? near.lo : far.lo;
  return (Pair) {hi, fabs(hi) < HUGE_VAL ? lo : 0.0};
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

/* at {x, loc, scale, c}: `value` on the support from `low` on, `off` beside it; NaN where x is */
VECTOR double excess_within (const double v[], double low, double value, double off) {
  double y = v[0] < low ? off : value;
  return v[0] > upper_end(v[1], v[2], v[3]) ? off : y;
}

/* the slopes of t there */
VECTOR void excess_time_slopes (const double v[], double low, Excess e, double t, double d[]) {
  double rate = excess_within(v, low, 1 / (v[2] * e.y), 0.0);
  d[0] = rate;
  d[1] = -rate;
  d[2] = -e.z.hi * rate;
  d[3] = excess_within(v, low, time_slope(e, t, v[3]), 0.0);
}

/* (e^(c t) - 1)/c; t where c t is as good as 0 */
VECTOR double excess_quantile (double t, double c) {
  double v = c * t, z = vexpm1(v) / c;
  z = fabs(v) < 1e-17 ? t : z;
  return c == 0 ? t : z;
}

/* dz/dc = (t e^v - (e^v - 1)/c)/c, v = c t; t^2 ((e^v - 1)/v - (e^v - 1 - v)/v^2) for small v */
VECTOR double quantile_bend (double t, double c) {
  double v = c * t, small = clamp(v, -0.34, 0.34);
  double tail = exp_tail(small), near = t * t * fma(small, tail, 1 - tail);
  double e = vexp(v), far = fma(e > 0 ? t : 0.0, e, -excess_quantile(t, c)) / c;
  return fabs(v) < 0.34 ? near : far;
}

#endif
