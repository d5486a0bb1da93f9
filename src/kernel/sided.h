/*
** sided.h - families whose tails and quantiles are functions of a point and a side
**
** The lower side is P(X <= x), the upper one P(X > x); a quantile is x given either of them. A
** family gives functions of a point (pointwise.h) and of `upper`, 0 or 1: the loops are written
** here, once, and inlined, so that `upper` is a constant in them.
*/
#ifndef PERILUNE_SIDED_H
#define PERILUNE_SIDED_H

#include "kernel/pointwise.h"
#include "special/below.h"

/* A function that is rarely called: one copy, small rather than fast. */
#define SELDOM __attribute__((cold)) ONE_COPY

typedef double Sided (const double v[], int upper);
typedef void SidedSlopes (const double v[], int upper, double d[]);

/* what sided_kernels.h, density_kernels.h and rsample_kernels.h make kernels of */
typedef struct SidedLaw {
  int operands;   /* x, or a probability, and the parameters */
  Pointwise *log_density;
  PointwiseSlopes *log_density_slopes;
  Sided *tail, *log_tail, *quantile;
  SidedSlopes *tail_slopes, *log_tail_slopes, *quantile_slopes;
  Pointwise *from_noise;   /* x from {a sampler's noise, parameters...} */
  PointwiseSlopes *from_noise_slopes;
  int long_slopes;   /* are those of tails and quantiles so long that they are computed singly? */

  /* The logarithm of a tail that is no normal number: computed singly, for what log_tail finds to
     be less than LOG_TINY_TAIL. And whether it is wanted on this side; NULL: on neither. */
  Sided *log_tiny_tail;
  int (*has_tiny_tail) (int upper);
} SidedLaw;

static const double LOG_TINY_TAIL = -708.39641853226410622;   /* of 2^-1022 */

/* Below this, numbers may have lost digits on the way to a quotient. */
static const double FEW_DIGITS = 0x1p-960;


VECTOR void sided_value (int m, size_t n, const double *const in[], double *out, Sided *f,
                         int upper) {
  EVERY for (size_t i = 0; i < n; i++) {
    double v[POINT_MAX];
    point_gather(m, in, i, v);
    out[i] = f(v, upper);
  }
}

VECTOR void sided_partials (int m, size_t n, const double *const in[], double *const d[],
                            SidedSlopes *slopes, int upper) {
  EVERY for (size_t i = 0; i < n; i++) {
    double v[POINT_MAX], s[POINT_MAX];
    point_gather(m, in, i, v);
    slopes(v, upper, s);
    point_scatter(m, s, i, d);
  }
}

VECTOR void sided_partials_singly (int m, size_t n, const double *const in[],
                                   double *const d[], SidedSlopes *slopes, int upper) {
  for (size_t i = 0; i < n; i++, singly()) {
    double v[POINT_MAX], s[POINT_MAX];
    point_gather(m, in, i, v);
    slopes(v, upper, s);
    point_scatter(m, s, i, d);
  }
}

#endif
