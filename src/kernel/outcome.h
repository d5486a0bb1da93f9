/*
** outcome.h - the smallest outcome that has reached something
**
** Quantiles of laws on the integers. `reached` must be false up to some
** outcome and true from there on: cdf(k) >= p, or upper tail(k) <= q. From a
** good start a handful of calls is enough, from a bad one about twice the
** number of bits between it and the answer.
*/
#ifndef PERILUNE_OUTCOME_H
#define PERILUNE_OUTCOME_H

#include "special/vector.h"

/* at outcome k, for a probability and the parameters of the law */
typedef int Reached (double k, double p, const double *params);

enum { OUTCOME_STEPS = 2200 };   /* more than the bits between any two doubles */


/* the smallest outcome in (low, high] given that `high` has reached it and `low` has not */
static inline double outcome_between (double low, double high, Reached *reached, double p,
                                      const double *params) {
  for (int i = 0; i < OUTCOME_STEPS && high - low > 1; i++) {
    double middle = low + floor(0.5 * (high - low));
    if (reached(middle, p, params)) high = middle;
    else low = middle;
  }
  return high;
}

/* the smallest outcome in [first, last], of which `last` counts as reached */
static inline double outcome_reached (double start, double first, double last,
                                      Reached *reached, double p, const double *params) {
  double k = clamp(start, first, last), step = 1;
  int there = reached(k, p, params);
  for (int i = 0; i < OUTCOME_STEPS; i++, step *= 2) {
    double next = there ? k - step : k + step;
    if (there && next < first)
      return reached(first, p, params) ? first : outcome_between(first, k, reached, p, params);
    if (!there && next >= last) return outcome_between(k, last, reached, p, params);
    if (reached(next, p, params) != there)
      return there ? outcome_between(next, k, reached, p, params)
                   : outcome_between(k, next, reached, p, params);
    k = next;
  }
  return k;
}

#endif
