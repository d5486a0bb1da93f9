/*
** discrete_quantile.h - quantiles of laws on the integers
**
** icdf(p) is the smallest outcome k with P(X <= k) >= p, isf(q) the smallest with
** P(X > k) <= q. A level above 1/2 is compared with the other tail, 1 - p being exact, so that
** tails are small and have all their digits. A tail that is as good as at the level has reached
** it, because levels are often tails themselves: it may miss the level by
**
**   - QUANTILE_SLACK times the level, more than most of our tails are off by; those that are
**     exp of a sum lose 4 eps more for each power of e (quantile_log_slack),
**   - 2^-54, half an ulp, where the level was between 1/2 and 1,
**   - `noise`, where rounded parameters move the tail by more than that.
*/
#ifndef PERILUNE_DISCRETE_QUANTILE_H
#define PERILUNE_DISCRETE_QUANTILE_H

#include <float.h>

#include "kernel/sided.h"
#include "special/vmath.h"

static const double QUANTILE_SLACK = 64 * DBL_EPSILON;


/* {=====================================================
** Levels
** ====================================================== */

/* a level of at most 1/2 for one of the tails, P(X <= k) or `upper` P(X > k) */
typedef struct Level { double p, slack; int upper; } Level;

/* `relative` is what the tail may miss of the level */
VECTOR Level level_of (double p, int upper, double relative) {
  int other = p > 0.5;
  double small = other ? 1 - p : p, rounded = (other & (p < 1)) ? 0x1p-54 : 0;
  return (Level) {small, fma(relative, small, rounded), upper ^ other};
}

/* `relative` for tails that are computed as exponentials */
static inline double quantile_log_slack (double p) {
  double small = p > 0.5 ? 1 - p : p;
  return small > 0 ? fma(-4 * DBL_EPSILON, vlog(small), QUANTILE_SLACK) : QUANTILE_SLACK;
}

/* does a tail, of the side that the level has, reach it? */
VECTOR int level_reached (Level v, double tail) {
  int above = tail >= v.p - v.slack, below = tail <= v.p + v.slack;
  return v.upper ? below : above;
}

/* }====================================================== */


/* {=====================================================
** Searches
** ====================================================== */

/* a law: functions of a point {outcome, parameters...} */
typedef struct Stairs {
  Sided *tail;
  Pointwise *noise;      /* NULL where there is none */
  double first, last;    /* outcomes */
  int operands;
  const double *point;   /* its parameters count */
} Stairs;

/* the noise is asked for only where it could decide */
static inline int outcome_reached (const Stairs *s, double k, Level v) {
  double at[POINT_MAX] = {k};
  for (int i = 1; i < s->operands; i++) at[i] = s->point[i];
  double tail = s->tail(at, v.upper);
  if (level_reached(v, tail)) return 1;
  if (s->noise == NULL || fabs(tail - v.p) > 1e-6 * v.p) return 0;
  v.slack += s->noise(at);
  return level_reached(v, tail);
}

/* half way, in logarithms while the ends are far apart */
static inline double outcome_middle (double low, double high) {
  if (high > 4 * (low + 1)) return floor(sqrt(low + 1) * sqrt(high));
  return low + floor(0.5 * (high - low));
}

/* the smallest outcome in (low, high] given that `high` has reached the level and `low` has not */
static inline double outcome_between (const Stairs *s, double low, double high, Level v) {
  for (;;) {
    double middle = outcome_middle(low, high);
    if (!(middle > low && middle < high)) return high;
    if (outcome_reached(s, middle, v)) high = middle;
    else low = middle;
  }
}

/*
** The smallest outcome that has reached the level; the last one counts as such. Steps from
** `start` grow faster and faster: some tens of them reach any double.
*/
static inline double outcome_quantile (const Stairs *s, double start, Level v) {
  double first = s->first, last = fmin(s->last, DBL_MAX);
  double k = start == start ? clamp(floor(start), first, last) : first;
  double step = fmax(1, ceil(k * 0x1p-50)), growth = 2;
  int there = outcome_reached(s, k, v);
  if (!there && k > 0x1p990 && s->last == HUGE_VAL && !outcome_reached(s, last, v)) return HUGE_VAL;
  for (;; step *= growth, growth *= 2) {
    double next = there ? k - step : k + step;
    if (there && next < first)
      return outcome_reached(s, first, v) ? first : outcome_between(s, first, k, v);
    if (!there && next >= last) {
      double found = outcome_between(s, k, last, v);
      return found == last ? s->last : found;
    }
    if (outcome_reached(s, next, v) != there)
      return there ? outcome_between(s, next, k, v) : outcome_between(s, k, next, v);
    k = next;
  }
}

/* }====================================================== */

#endif
