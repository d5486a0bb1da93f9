/*
** beta_kl.h - the divergence between two Beta or Dirichlet laws
**
** With shapes a_j, A in all, and b_j, B in all, the divergence is
**
**   sum_j gap(a_j, b_j - a_j) - gap(A, B - A)
**
** with the gap of vtangent.h. For large shapes that are nearly in proportion those cancel;
** then, with the rest N = gap - D(b, a) and the ratio R = B/A, it is
**
**   sum_j D(b_j, R a_j) + sum_j N(a_j, b_j) - N(A, B)
*/
#ifndef PERILUNE_BETA_KL_H
#define PERILUNE_BETA_KL_H

#include "linalg/stop.h"
#include "special/pair.h"
#include "special/vgamma.h"
#include "special/vtangent.h"

/* up to here the plain sum of gaps loses little; tiny shapes overflow on the way */
static const double BETA_KL_LARGE = 128, BETA_KL_TINY = 1e-100;


/* b log(b/a) - d for b = a + d */
static inline double beta_kl_deviance (double a, double b, double d) {
  return fabs(d) <= 0.5 * a + 0.5 * b ? -b * vlog1pmx(-d / b) : fma(b, vlog_ratio(b, a), -d);
}

/* d/a - log(b/a) */
static inline double beta_kl_excess (double a, double b, double d) {
  return fabs(d) < 0.5 * a ? -vlog1pmx(d / a) : d / a - vlog_ratio(b, a);
}

/* D(b + 2, a + 2) - D(b, a) */
static inline double beta_kl_shift (double a, double b, double d) {
  if (fabs(d) < 0.5 * a)
    return beta_kl_deviance(a + 2, b + 2, d) - beta_kl_deviance(a, b, d);
  return fma(2.0, vlog_ratio(b + 2, a + 2), b * vlog1p(2 / b) - b * vlog1p(2 / a));
}

/* N(a, b), d = b - a */
static inline double beta_kl_rest (double a, double b, double d) {
  if (a >= TANGENT_FROM && b >= TANGENT_FROM)
    return fma(0.5, beta_kl_excess(a, b, d), tangent_binet(a, b, d));
  double steps = beta_kl_excess(a, b, d) + beta_kl_excess(a + 1, b + 1, d);
  return steps + beta_kl_shift(a, b, d)
       + fma(0.5, beta_kl_excess(a + 2, b + 2, d), tangent_binet(a + 2, b + 2, d));
}

static inline Pair beta_kl_total (Stop stop, size_t k, const double *a) {
  Pair sum = {0, 0};
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) sum = pair_add(sum, (Pair) {a[j], 0});
  return sum;
}

/* for all shapes, however large or small; NaN where one is no positive number */
static inline double beta_kl_divergence (Stop stop, size_t k, const double *a, const double *b) {
  Pair from = beta_kl_total(stop, k, a), to = beta_kl_total(stop, k, b);
  Pair ratio = pair_divide(to, from);
  double sum = 0;
  if (!(from.hi < HUGE_VAL && to.hi < HUGE_VAL)) return (double)NAN;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      double apart = fma(-a[j], ratio.hi, b[j]) - a[j] * ratio.lo;
      if (!(a[j] > 0 && b[j] > 0)) return (double)NAN;
      sum += beta_kl_deviance(a[j] * ratio.hi, b[j], apart) + beta_kl_rest(a[j], b[j], b[j] - a[j]);
    }
  return sum - beta_kl_rest(from.hi, to.hi, (to.hi - from.hi) + (to.lo - from.lo));
}

#endif
