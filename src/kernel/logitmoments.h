/*
** logitmoments.h - moments of x = 1/(1 + e^-Y), Y being Normal(loc, scale)
**
**   E f(Y) = sum over k of weight_k f(y_k)
**
** by the trapezoidal rule, which for f analytic near the real line converges
** exponentially (Trefethen and Weideman 2014). f bends about Y = 0 and has
** poles at +-i pi. For scale < 1, or where Y is never near 0, the step is
** 3/8 scale. Else the rule is applied in v, y = 2 sinh v, fine about 0 and
** coarse far from it, at multiples of a power of two, so that v is exact.
** All weights are positive: averages of positive functions keep their relative
** accuracy, however small they are. So loc <= 0 is assumed, where x is small;
** 1 - x has the law with -loc.
**
** `reach` is how many scales above loc the integrand may matter, 9 + 2 scale
** for x^2, which grows like e^2y; below loc 9 always suffice. That makes 49 to
** 54 nodes for scale < 1, 75 for scale 1, 250 for 100, 22000 for 1e300.
*/
#ifndef PERILUNE_LOGITMOMENTS_H
#define PERILUNE_LOGITMOMENTS_H

#include "kernel/logit.h"
#include "kernel/moments.h"
#include "special/constants.h"
#include "special/vdensity.h"
#include "special/vmath.h"

/* nodes first, first + 1, ..., last; z = step k, or v = step k if stretched */
typedef struct Rule { double loc, scale, step, first, last; int stretched; } Rule;

/* y = loc + scale z */
typedef struct NormalNode { double y, z, weight; } NormalNode;


/* {=====================================================
** The rule
** ====================================================== */

static inline double stretch (double y) {   /* asinh(y/2) */
  double a = 0.5 * fabs(y);
  double v = a > 1e8 ? vlog(a) + LN2 : vlog(a + sqrt(fma(a, a, 1.0)));
  return copysign(v, y);
}

/* The widest step with 1/step^2 >= 9^2 + (loc^2 + 4)/(scale/2)^2: errors of
   e^(-pi^2/(2 step)) by the bend, e^(-2 pi^2 (scale/(step |loc|))^2) by the bell. */
static inline double stretched_step (double loc, double scale) {
  double a = 2 * loc / scale, b = 4 / scale, least = 81 + a * a + b * b, step = 0.0625;
  while (step * step * least > 1) step *= 0.5;
  return step;
}

/* the rule for loc <= 0 */
static inline Rule rule_of (double loc, double scale, double reach) {
  Rule r = {loc, scale, 0.375, 0, 0, (scale >= 1) & (loc + reach * scale >= 0)};
  double low = -9, high = reach;
  if (r.stretched) {
    r.step = stretched_step(loc, scale);
    low = stretch(fma(-9, scale, loc));
    high = stretch(fma(reach, scale, loc));
  }
  r.first = floor(low / r.step);
  r.last = ceil(high / r.step);
  return r;
}

static inline NormalNode node_of (const Rule *r, double k) {
  double t = k * r->step;
  if (!r->stretched)
    return (NormalNode) {fma(r->scale, t, r->loc), t, r->step * vdensity(t)};
  double e = vexp(t), y = e - 1 / e, z = (y - r->loc) / r->scale;
  return (NormalNode) {y, z, r->step * ((e + 1 / e) / r->scale) * vdensity(z)};
}

/* }====================================================== */


/* {=====================================================
** Moments for loc <= 0
** ====================================================== */

static inline Rule moment_rule (double loc, double scale) {
  return rule_of(loc, scale, 9 + (scale < 19.5 ? 2 * scale : 39));
}

/* E x, with x' = x(1 - x); E x'z is scale E x'(1 - 2x), which is better for small scales */
static inline Moment mean_of (double loc, double scale) {
  Rule r = moment_rule(loc, scale);
  Moment m = {0, 0, 0};
  for (double k = r.first; k <= r.last; k++) {
    NormalNode node = node_of(&r, k);
    double x = vsigmoid(node.y), slope = x * vsigmoid(-node.y) * node.weight;
    m.value += node.weight * x;
    m.by_first += slope;
    m.by_second += slope * (scale < 1 ? scale * (1 - 2 * x) : node.z);
  }
  return m;
}

/* x less its value at loc, for a small scale without cancellation; else x */
static inline double departure (NormalNode node, double loc, double scale) {
  double x = vsigmoid(node.y);
  return scale < 1 ? x * vsigmoid(-loc) * -vexpm1(-scale * node.z) : x;
}

/* the square root of E (x - mean)^2, squares taken relative to the mean; since
   E (x - mean) = 0, of the slope x(1 - x) only what differs from loc counts */
static inline Moment stddev_of (double loc, double scale) {
  Rule r = moment_rule(loc, scale);
  Moment m = {0, 0, 0};
  double mean = 0, centre = 0;
  for (double k = r.first; k <= r.last; k++) {
    NormalNode node = node_of(&r, k);
    mean += node.weight * vsigmoid(node.y);
    centre += node.weight * departure(node, loc, scale);
  }
  for (double k = r.first; k <= r.last && mean > 0; k++) {
    NormalNode node = node_of(&r, k);
    double x = vsigmoid(node.y), slope = x * vsigmoid(-node.y);
    double gone = departure(node, loc, scale), u = (gone - centre) / mean;
    m.value += node.weight * u * u;
    m.by_first += node.weight * u * (scale < 1 ? gone * (1 - x - vsigmoid(loc)) : slope);
    m.by_second += node.weight * u * slope * node.z;
  }
  double root = sqrt(m.value);
  if (root == 0) return m;
  return (Moment) {mean * root, m.by_first / root, m.by_second / root};
}

/* log(scale) + log(2 pi e)/2 + E log(x(1 - x)) */
static inline Moment entropy_of (double loc, double scale) {
  Rule r = rule_of(loc, scale, 9);
  Moment m = {0, 0, 0};
  for (double k = r.first; k <= r.last; k++) {
    NormalNode node = node_of(&r, k);
    double lean = vtanh(0.5 * node.y) * node.weight;
    m.value += node.weight * logistic_log_slope(node.y);
    m.by_first -= lean;
    m.by_second -= lean * node.z;
  }
  m.value += vlog(scale) + HALF_LOG_2PI_E;
  m.by_second += 1 / scale;
  return m;
}

/* 1 - (scale^2/2)/cosh(y/2)^2 */
static inline double mode_slope (double y, double square) {
  return fma(-2 * square, vsigmoid(y) * vsigmoid(-y), 1);
}

/*
** Where log p is largest: y = loc + scale^2 tanh(y/2). For loc >= 0 the root
** with y >= 0 is wanted; there y - scale^2 tanh(y/2) is convex, so that Newton's
** method comes down to it from loc + scale^2.
*/
static inline Moment mode_of (double loc, double scale) {
  double square = scale < 1e150 ? scale * scale : 1e300, a = -loc, y = a + square;
  double previous = HUGE_VAL;
  for (int left = 200; left > 0 && y < previous && y > 0; left--) {
    previous = y;
    y -= ((y - a) - square * vtanh(0.5 * y)) / mode_slope(y, square);
  }
  y = y > 0 ? previous : 0;   /* no further down, or beyond 0 by rounding */
  double dx = vsigmoid(y) * vsigmoid(-y) / mode_slope(y, square);
  return (Moment) {vsigmoid(-y), dx, -dx * 2 * scale * vtanh(0.5 * y)};
}

/* }====================================================== */


/* {=====================================================
** Moments for any loc
** ====================================================== */

/* Beyond 1e300 nodes would overflow; there x, 0 or 1, is that of smaller loc and scale. */
static inline double shrink (double scale) { return scale > 1e300 ? 0x1p-60 : 1; }

/* the moment of the law with -|loc|; NaN where there is no law */
static inline Moment small_side (double loc, double scale, MomentOf *of) {
  if (!((fabs(loc) < HUGE_VAL) & (scale > 0) & (scale < HUGE_VAL)))
    return (Moment) {(double)NAN, (double)NAN, (double)NAN};
  double k = shrink(scale);
  Moment m = of(-fabs(loc) * k, scale * k);
  return (Moment) {m.value, k * m.by_first, k * m.by_second};
}

/* of places of x, which -loc turns into places of 1 - x */
static inline Moment place_at (double loc, double scale, MomentOf *of) {
  Moment m = small_side(loc, scale, of);
  return loc > 0 ? (Moment) {1 - m.value, m.by_first, -m.by_second} : m;
}

/* of what is the same for x and 1 - x */
static inline Moment width_at (double loc, double scale, MomentOf *of) {
  Moment m = small_side(loc, scale, of);
  return loc > 0 ? (Moment) {m.value, -m.by_first, m.by_second} : m;
}

static inline Moment mean_at (double loc, double scale) { return place_at(loc, scale, mean_of); }
static inline Moment mode_at (double loc, double scale) { return place_at(loc, scale, mode_of); }
static inline Moment stddev_at (double loc, double scale) {
  return width_at(loc, scale, stddev_of);
}

/* proportional to loc and scale where these are shrunk */
static inline Moment entropy_at (double loc, double scale) {
  Moment m = width_at(loc, scale, entropy_of);
  double k = shrink(scale);
  return (Moment) {m.value / k, m.by_first / k, m.by_second / k};
}

/* }====================================================== */

#endif
