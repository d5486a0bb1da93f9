/*
** quantile_search.h - quantiles from tails and density, for laws without a formula
**
** Newton's method on the logarithm L of the smaller tail, with its second derivative: from the slope
** of the log density, where a law knows it. On the line that is Halley's method. On the half-line
** x |L'| is taken to be a power of x, which it is in tails that fall like powers, exponentials or
** bell curves; its exponent can also be found from the last two points. A step that leaves the
** bracket, or does not halve what is left, gives way to one that halves the bracket.
*/
#ifndef PERILUNE_QUANTILE_SEARCH_H
#define PERILUNE_QUANTILE_SEARCH_H

#include <float.h>

#include "kernel/sided.h"
#include "special/vmath.h"

/* functions of a point, and where its law begins and ends */
typedef struct SearchedLaw {
  int operands;
  Sided *log_tail;
  Pointwise *log_density;
  double low, high;
  Pointwise *log_density_slope;   /* in x; may be NULL */
} SearchedLaw;

/* What is left after a step, of x and of a logarithm, is about its square, with a second derivative
   its cube; this is below rounding */
static const double SEARCH_LEFT = 0x1p-54;
static const double SEARCH_NOISE = 0x1p-47;   /* of logarithms of tails, some of which leap where they change sides */

/* a number between; in logarithms for laws on the half-line, far out where an end is infinite */
static inline double search_middle (double low, double high, int positive) {
  if (positive) {
    double least = low > 0 ? low : fmin(0x1p-1074, high);
    if (high == HUGE_VAL) return low > 1 ? low * fmin(low, 0x1p512) : 2 * low + 1;
    return high > 2 * least ? sqrt(least) * sqrt(high) : low + 0.5 * (high - low);
  }
  if (low == -HUGE_VAL && high == HUGE_VAL) return 0;
  if (high == HUGE_VAL) return low + fmax(1, fabs(low));
  if (low == -HUGE_VAL) return high - fmax(1, fabs(high));
  return 0.5 * low + 0.5 * high;
}

/* what Halley's method divides the step n of Newton's by: 1 + n L''/(2 L'), L the log tail */
static inline double search_bend (SearchedLaw law, const double at[], int upper, double slope,
                                  double towards) {
  if (law.log_density_slope == NULL) return 1;
  double hazard = vexp(slope), bend = law.log_density_slope(at) + (upper ? hazard : -hazard);
  double half = 0.5 * (towards / hazard) * bend;
  return fabs(half) < 0.5 ? 1 + half : 1;
}

/* a point and x |L'| there */
typedef struct SearchSlope { double log_x, log_rate; } SearchSlope;

/* the exponent of x |L'| by the slope of the log density, or between this point and the last one */
static inline double search_growth (SearchedLaw law, const double at[], int upper, SearchSlope now,
                                    SearchSlope last) {
  if (law.log_density_slope == NULL)
    return (now.log_rate - last.log_rate) / (now.log_x - last.log_x);
  double rate = vexp(now.log_rate);
  return 1 + fma(at[0], law.log_density_slope(at), upper ? rate : -rate);
}

/* log(next/x), by being what Newton's method gives */
static inline double search_log_step (double by, double growth) {
  double most = growth * by;
  if (!(fabs(growth) < 1e300 && most > -0.9)) return by < -0.5 ? by : vlog1p(fmin(by, 64));
  return fabs(most) < 1e-8 ? by * (1 - 0.5 * most) : vlog1p(most) / growth;
}

/* is the quantile beyond all numbers, its tail on this `side` having the logarithm `level`? */
static inline int search_overflows (SearchedLaw law, const double v[], int side, double level) {
  double at[POINT_MAX];
  memcpy(at, v, (size_t)law.operands * sizeof *at);
  at[0] = DBL_MAX;
  double log_tail = law.log_tail(at, side);
  return side ? log_tail > level : log_tail < level;
}

/* x with P(X <= x) = v[0], or `upper` P(X > x); the other v are parameters */
static inline double search_quantile (SearchedLaw law, const double v[], int upper, double start) {
  double p = v[0], low = law.low, high = law.high, before = HUGE_VAL, step_before = HUGE_VAL;
  if (!(p >= 0 && p <= 1)) return (double)NAN;
  if (p == 0 || p == 1) return (p == 0) == upper ? high : low;
  int positive = low == 0, side = p > 0.5 ? !upper : upper;
  double level = vlog(p > 0.5 ? 1 - p : p);
  double x = start > low && start < high ? start : search_middle(low, high, positive);
  if (positive && high == HUGE_VAL && x > 1e290 && search_overflows(law, v, side, level)) return high;
  SearchSlope last = {(double)NAN, (double)NAN};
  int stuck = 0;
  for (int step = 0; step < 400; step++) {
    double at[POINT_MAX];
    memcpy(at, v, (size_t)law.operands * sizeof *at);
    at[0] = x;
    double log_tail = law.log_tail(at, side), rest = log_tail - level;
    if (rest != rest || rest == 0) return rest == 0 ? x : (double)NAN;
    if (side ? rest > 0 : rest < 0) low = x;
    else high = x;
    double slope = law.log_density(at) - log_tail, towards = side ? rest : -rest, next;
    int is_third = law.log_density_slope != NULL;
    if (positive) {   /* the slope itself may overflow */
      SearchSlope now = {vlog(x), slope + vlog(x)};
      double growth = search_growth(law, at, side, now, last);
      double way = search_log_step(towards / vexp(now.log_rate), growth);
      next = fabs(way) < 0.5 ? fma(x, vexpm1(way), x) : x * vexp(clamp(way, -600, 600));
      last = now;
    } else next = x + towards / vexp(slope) / search_bend(law, at, side, slope, towards);
    if (!positive && fabs(rest) <= SEARCH_NOISE * fabs(level)) return clamp(next, low, high);   /* next to 0, maybe */
    int is_stuck = fabs(rest) > 0.5 * before && fabs(rest) > 1e-12 * fabs(level);
    int is_close = fabs(rest) < 1e-6 * fmax(1, fabs(level));   /* what moves it there is rounding */
    int slow = is_stuck && !is_close;
    int stays = !(fabs(next - x) > 1e-15 * fabs(x));   /* far out it may, by rounding alone */
    int is_narrow = fabs(rest) < 1e-3 || fabs(log_tail) < 1e6;   /* or the law is, about x */
    int trusted = next >= low && next <= high && (stays ? is_narrow : !slow);
    if (!trusted) next = search_middle(low, high, positive);
    double way = fabs((next - x) / x), gap = fabs(rest);
    double rest_left = gap * gap * (is_third ? gap : fmin(before, 1));
    double way_left = way * way * (is_third ? way : fmin(step_before, 1));
    if (trusted && rest_left < SEARCH_LEFT && way_left < SEARCH_LEFT) return next;
    if ((stays && trusted) || next == low || next == high) return next;
    if (trusted && is_stuck && ++stuck == 3) return next;
    before = gap;
    step_before = way;
    x = next;
  }
  return x;
}

#endif
