/*
** quantile_search.h - quantiles from tails and density, for laws without a formula
**
** Newton's method on the logarithm of the smaller tail, which for tails that fall like
** exponentials or bell curves is nearly straight; on the half-line long steps towards 0 are
** taken in log x, where powers are straight as well. A law that knows the slope of its log density
** has Halley's method. A step that leaves the bracket, or does not halve what is left, gives way to
** one that halves the bracket.
*/
#ifndef PERILUNE_QUANTILE_SEARCH_H
#define PERILUNE_QUANTILE_SEARCH_H

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

/* After a step that is no longer than this part of x, and of a logarithm, nothing is left of it:
   its square, and of Halley's method its cube, is below rounding */
static const double SEARCH_LAST = 0x1p-27, SEARCH_LAST_CUBIC = 0x1p-18;

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

/* x with P(X <= x) = v[0], or `upper` P(X > x); the other v are parameters */
static inline double search_quantile (SearchedLaw law, const double v[], int upper, double start) {
  double p = v[0], low = law.low, high = law.high, before = HUGE_VAL;
  if (!(p >= 0 && p <= 1)) return (double)NAN;
  if (p == 0 || p == 1) return (p == 0) == upper ? high : low;
  int positive = low == 0, side = p > 0.5 ? !upper : upper;
  double level = vlog(p > 0.5 ? 1 - p : p);
  double x = start > low && start < high ? start : search_middle(low, high, positive);
  for (int step = 0; step < 400; step++) {
    double at[POINT_MAX];
    memcpy(at, v, (size_t)law.operands * sizeof *at);
    at[0] = x;
    double log_tail = law.log_tail(at, side), rest = log_tail - level;
    if (rest != rest || rest == 0) return rest == 0 ? x : (double)NAN;
    if (side ? rest > 0 : rest < 0) low = x;
    else high = x;
    double slope = law.log_density(at) - log_tail, towards = side ? rest : -rest, next;
    double divisor = search_bend(law, at, side, slope, towards);
    if (positive) {   /* the slope itself may overflow */
      double part = towards / vexp(slope + vlog(x)) / divisor;
      next = part < -0.5 ? x * vexp(fmax(part, -600)) : fma(x, fmin(part, 64), x);
    } else next = x + towards / vexp(slope) / divisor;
    int slow = fabs(rest) > 0.5 * before && fabs(rest) > 1e-12 * fabs(level);
    int stays = !(fabs(next - x) > 1e-15 * fabs(x));   /* far out it may, by rounding alone */
    int trusted = next >= low && next <= high && (stays ? fabs(rest) < 1e-3 : !slow);
    if (!trusted) next = search_middle(low, high, positive);
    before = fabs(rest);
    double last = trusted ? law.log_density_slope ? SEARCH_LAST_CUBIC : SEARCH_LAST : 0;
    if (fabs(rest) < last && fabs(next - x) < last * fabs(x)) return next;
    if ((stays && trusted) || next == low || next == high) return next;
    x = next;
  }
  return x;
}

#endif
