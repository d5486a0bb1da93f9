/*
** simplex.h - what kernels over rows of logits share
**
** Logits are not normalised: P(j) = exp(l_j - m)/S with m the largest of them
** and S = sum_j exp(l_j - m). A logit of -inf is an outcome that cannot happen.
*/
#ifndef PERILUNE_SIMPLEX_H
#define PERILUNE_SIMPLEX_H

#include <math.h>
#include <stddef.h>

#include "special/vmath.h"

/* The largest element, NaN if there is one; 0 in place of an infinity, which
   as a shift would make NaN of the others. */
static inline double simplex_shift (size_t k, const double *l) {
  double m = -INFINITY;
  for (size_t j = 0; j < k; j++) m = l[j] > m || l[j] != l[j] ? l[j] : m;
  return fabs(m) == INFINITY ? 0 : m;
}

/* sum_j exp(l_j - shift), in eight lanes */
static inline double simplex_sum (size_t k, const double *l, double shift) {
  double lane[8] = {0};
  size_t j = 0;
  for (; j + 8 <= k; j += 8)
    for (size_t r = 0; r < 8; r++) lane[r] += vexp(l[j + r] - shift);
  for (size_t r = 0; j < k; j++, r++) lane[r] += vexp(l[j] - shift);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6]))
       + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* A row of logits seen from its largest one: log sum_j exp(l_j) is
   shift + log1p(rest), rest the sum over the others. Apart, the two tell how
   far from certain the largest is even if that is 1e-20. */
typedef struct Simplex { double shift, rest; } Simplex;

static inline Simplex simplex_of (size_t k, const double *l) {
  double shift = simplex_shift(k, l);
  size_t top = 0;
  while (top + 1 < k && l[top] != shift) top++;
  double rest = simplex_sum(top, l, shift)
              + simplex_sum(k - top - 1, l + top + 1, shift);
  return (Simplex) {.shift = shift, .rest = rest};
}

/* log P of an outcome with logit l */
static inline double simplex_log_prob (Simplex s, double l) {
  return (l - s.shift) - vlog1p(s.rest);
}

#endif
