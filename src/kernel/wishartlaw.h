/*
** wishartlaw.h - what Wishart and InverseWishart share: Bartlett's triangle
**
** With x = C C^T and the scale matrix L L^T, all triangles lower,
**
**   s = 1    Wishart          T = L^-1 C,    T T^T a standard Wishart matrix
**   s = -1   InverseWishart   T = C^-1 L,    T^T T a standard Wishart matrix
**
** The elements of T are independent: below the diagonal normal, on it T_ii^2/2 is
** Gamma(a_i, 1) with a_i = (df - k_i)/2, where k_i = i for s = 1 and d - 1 - i for s = -1,
** counted from 0. Hence, with t_i = T_ii^2/2 and g(a, t) = a log t - t - log Gamma(a),
**
**   log p(x) = sum_i [g(a_i, t_i) + k_i/2 log t_i] - sum_i>j T_ij^2/2
**            - (d + 1) sum_i log C_ii - d (d - 1)/4 log(pi)
**
** g is taken from gammalaw.h with x = T_ii and rate T_ii/2, so that neither a huge df nor a
** t beyond the range of doubles costs digits.
*/
#ifndef PERILUNE_WISHARTLAW_H
#define PERILUNE_WISHARTLAW_H

#include <string.h>

#include "kernel/gammalaw.h"
#include "kernel/kernel.h"
#include "linalg/triangle.h"
#include "random/gammas.h"
#include "random/noise.h"
#include "special/constants.h"

static const double WISHART_TOLERANCE = 1e-6;   /* of the largest element, across the diagonal */

/* of T_ii in draws, which thus neither vanish nor overflow unless their scale does */
static const double WISHART_LEAST = 0x1p-450;


static inline double wishart_k (size_t d, size_t i, double s) {
  return (double)(s > 0 ? i : d - 1 - i);
}

static inline double wishart_shape (size_t d, size_t i, double df, double s) {
  return 0.5 * (df - wishart_k(d, i, s));
}

/* t_i and its rounding error */
static inline Pair wishart_argument (double diagonal) {
  return law_argument(diagonal, 0.5 * diagonal, 1.0);
}

/* C and T; was x symmetric and positive definite? */
static inline int wishart_factors (Stop stop, size_t d, const double *x, const double *l, double s,
                                   double *c, double *t) {
  triangle_cholesky(stop, d, x, c, triangle_first(d));
  memcpy(t, s > 0 ? c : l, d * d * sizeof *t);
  triangle_divide(stop, d, s > 0 ? l : c, t);
  triangle_clear_above(d, t);
  return c[d * d - 1] > 0 && triangle_is_symmetric(d, x, WISHART_TOLERANCE);
}

static inline int wishart_has_nan (size_t d, const double *x, double df, const double *l) {
  int found = df != df;
  for (size_t i = 0; i < d * d; i++) found |= (x[i] != x[i]) | (l[i] != l[i]);
  return found;
}


/* {=====================================================
** Density
** ====================================================== */

static inline double wishart_density (size_t d, double df, const double *c, const double *t,
                                      double s) {
  double sum = 0, square = 0;
  for (size_t i = 0; i < d; i++) {
    double m = t[i * d + i], a = wishart_shape(d, i, df, s), k = wishart_k(d, i, s);
    Pair argument = wishart_argument(m);
    double log_t = law_log_argument(m, 0.5 * m, argument, 1.0);
    double mass = law_log_mass(m, a, 0.5 * m, argument, 1.0);
    sum += fma(0.5 * k, log_t, mass) - ((double)d + 1) * vlog(c[i * d + i]);
    for (size_t j = 0; j < i; j++) square = fma(t[i * d + j], t[i * d + j], square);
  }
  return fma(-0.5, square, sum) - QUARTER_LOG_PI * (double)d * ((double)d - 1);
}

/* where finite operands make T overflow, x is infinitely far out */
static inline void wishart_log_prob (const Batch *b, double *out, double s) {
  size_t d = b->dims[0];
  double *c = b->scratch, *t = c + d * d;
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *l = event(b, 2, r);
    double df = *event(b, 1, r);
    int inside = wishart_factors(b->stop, d, x, l, s, c, t);
    double value = wishart_density(d, df, c, t, s);
    if (wishart_has_nan(d, x, df, l)) out[r] = NAN;
    else out[r] = inside && value == value ? value : -INFINITY;
  }
}

/* sum of d log p/d df = (log t_i - psi(a_i))/2 */
static inline double wishart_df_slope (size_t d, double df, const double *t, double s) {
  double sum = 0;
  for (size_t i = 0; i < d; i++) {
    double m = t[i * d + i], a = wishart_shape(d, i, df, s);
    sum += law_shape_slope(m, a, 0.5 * m, wishart_argument(m), 1.0);
  }
  return 0.5 * sum;
}

/* m = m l^-1 */
static inline void divide_rows (Stop stop, size_t d, const double *l, double *m) {
  for (size_t i = 0; i < d && !stops(stop); i++) triangle_solve_transposed(d, l, m + i * d);
}

static inline void transpose (size_t d, double *m) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++) {
      double above = m[j * d + i];
      m[j * d + i] = m[i * d + j];
      m[i * d + j] = above;
    }
}

/*
** With one = T T^T and two = T^T T, exchanged for s = -1:
**   d/dL = s L^-T (one - df I)  below and on the diagonal
**   d/dx = -s/2 C^-T (two - (df - s (d + 1)) I) C^-1
*/
static inline void wishart_slopes (Stop stop, size_t d, double df, const double *c,
                                   const double *t, const double *l, double s, double *dx,
                                   double *dl) {
  double shift = s * ((double)d + 1) - df;
  triangle_outer(stop, d, t, s > 0 ? -df : shift, s > 0 ? dl : dx);
  triangle_inner(stop, d, t, s > 0 ? shift : -df, s > 0 ? dx : dl);
  divide_rows(stop, d, l, dl);
  transpose(d, dl);
  triangle_clear_above(d, dl);
  divide_rows(stop, d, c, dx);
  transpose(d, dx);
  divide_rows(stop, d, c, dx);
}

static inline void wishart_log_prob_adjoint (const Batch *b, const double *upstream,
                                             double *const d[], double s) {
  size_t side = b->dims[0], size = side * side;
  double *c = b->scratch, *t = c + size;
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *l = event(b, 2, r);
    double df = *event(b, 1, r), *dx = d[0] + r * size, *dl = d[2] + r * size;
    double up = wishart_has_nan(side, x, df, l) ? (double)NAN : upstream[r];
    int inside = wishart_factors(b->stop, side, x, l, s, c, t) || up != up;
    wishart_slopes(b->stop, side, df, c, t, l, s, dx, dl);
    d[1][r] = inside ? up * wishart_df_slope(side, df, t, s) : 0;
    for (size_t i = 0; i < size; i++) {
      dx[i] = inside ? -0.5 * s * up * dx[i] : 0;
      dl[i] = inside ? s * up * dl[i] : 0;
    }
  }
}

/* }====================================================== */


/* {=====================================================
** Entropy: sum_k [e(a_k) + k/2] + (d + 1) log det L + s d (d + 1)/2 log 2 + d (d - 1)/4 log(pi)
** with e(a) = a + log Gamma(a) - (a - z) psi(a), z = (s (d + 1) - k)/2, as in gammalaw.h
** ====================================================== */

static inline void wishart_entropy (const Batch *b, double *out, double s) {
  size_t d = b->dims[0];
  double m = (double)d + 1, one = 1;
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 1, r);
    double sum = (double)d * fma(HALF_LN2 * s, m, QUARTER_LOG_PI * (m - 2));
    for (size_t k = 0; k < d; k++) {
      double a = 0.5 * (*event(b, 0, r) - (double)k), e;
      law_entropy(1, (const double *[]) {&a, &one}, &e, 0.5 * (s * m - (double)k));
      sum += fma(m, vlog(l[k * d + k]), fma(0.5, (double)k, e));
    }
    out[r] = sum;
  }
}

static inline void wishart_entropy_adjoint (const Batch *b, const double *upstream,
                                            double *const d[], double s) {
  size_t side = b->dims[0], size = side * side;
  double m = (double)side + 1, one = 1;
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 1, r);
    double *dl = d[1] + r * size, sum = 0;
    for (size_t i = 0; i < size; i++) dl[i] = 0;
    for (size_t k = 0; k < side; k++) {
      double a = 0.5 * (*event(b, 0, r) - (double)k), da, rate;
      law_entropy_partials(1, (const double *[]) {&a, &one}, (double *[]) {&da, &rate},
                           0.5 * (s * m - (double)k));
      sum += da;
      dl[k * side + k] = upstream[r] * m / l[k * side + k];
    }
    d[0][r] = 0.5 * upstream[r] * sum;
  }
}

/* }====================================================== */


/* {=====================================================
** Draws. The first d elements of an event give the diagonal of T; those below the diagonal,
** all in later rows, give the rest.
** ====================================================== */

static inline void wishart_diagonal (const Philox *g, uint64_t first, size_t d, double df,
                                     double s, double *t) {
  double shape[GAMMAS_BLOCK], size[GAMMAS_BLOCK], depth[GAMMAS_BLOCK];
  for (size_t from = 0, n; from < d; from += n) {
    n = d - from < GAMMAS_BLOCK ? d - from : GAMMAS_BLOCK;
    EVERY for (size_t i = 0; i < n; i++) shape[i] = wishart_shape(d, from + i, df, s);
    gammas(g, 0, first + from, n, shape, size, depth);
    EVERY for (size_t i = 0; i < n; i++) {
      double root = sqrt(2 * size[i]) * vexp(-0.5 * depth[i]);
      t[(from + i) * (d + 1)] = root < WISHART_LEAST ? WISHART_LEAST : root;
    }
  }
}

static inline void wishart_draw (const Philox *g, uint64_t first, const Batch *b, double *out,
                                 double s) {
  size_t d = b->dims[0], size = d * d;
  double *t = b->scratch, *c = t + size;
  for (size_t r = 0; r < b->n; r++, first += size, out += size) {
    noise_normal(g, 0, first + d, size - d, t + d);
    wishart_diagonal(g, first, d, *event(b, 0, r), s, t);
    triangle_clear_above(d, t);
    if (s < 0) triangle_inverse(b->stop, d, t, t);
    triangle_multiply(b->stop, d, event(b, 1, r), t, c);
    triangle_outer(b->stop, d, c, 0, out);
    triangle_keep_definite(b->stop, d, out, c);
  }
}

/* q = (u + u^T) C, what comes from above for C */
static inline void wishart_upstream (Stop stop, size_t d, const double *u, const double *c,
                                     double *q) {
  for (size_t i = 0; i < d && !stops(stop); i++) {
    for (size_t j = 0; j < d; j++) q[i * d + j] = 0;
    for (size_t k = 0; k < d; k++)
      for (size_t j = 0; j <= k; j++)
        q[i * d + j] = fma(u[i * d + k] + u[k * d + i], c[k * d + j], q[i * d + j]);
  }
}

/* sum_i (F^T q)_ii dT_ii/d df, where dT_ii/d df = T_ii/4 (dt/da)/t */
static inline double wishart_draw_slope (size_t d, double df, const double *t, const double *f,
                                         const double *q, double s) {
  double sum = 0;
  for (size_t i = 0; i < d; i++) {
    double m = t[i * d + i], a = wishart_shape(d, i, df, s), column = 0;
    for (size_t k = i; k < d; k++) column = fma(f[k * d + i] * m, q[k * d + i], column);
    sum = fma(column, law_log_slope(m, a, 0.5 * m, wishart_argument(m), 1.0), sum);
  }
  return 0.25 * s * sum;
}

/*
** Wishart:          C = L T,     d/dL = q T^T,    d/dT = L^T q
** InverseWishart:   C = L T^-1,  d/dL = q T^-T,   d/dT = -C^T q T^-T
*/
static inline void wishart_draw_adjoint (const Batch *b, const double *upstream,
                                         double *const d[], double s) {
  size_t side = b->dims[0], size = side * side;
  double *c = b->scratch, *t = c + size;
  memcpy(d[0], upstream, b->n * size * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 2, r);
    double df = *event(b, 1, r), *q = d[2] + r * size;
    wishart_factors(b->stop, side, event(b, 0, r), l, s, c, t);
    wishart_upstream(b->stop, side, upstream + r * size, c, q);
    if (s > 0) d[1][r] = wishart_draw_slope(side, df, t, l, q, s);
    for (size_t i = 0; i < side && !stops(b->stop); i++)
      if (s > 0) triangle_apply(side, t, q + i * side);
      else triangle_solve(side, t, q + i * side);
    if (s < 0) d[1][r] = wishart_draw_slope(side, df, t, c, q, s);
    triangle_clear_above(side, q);
  }
}

/* }====================================================== */


static inline size_t wishart_two (const size_t dims[]) { return 2 * dims[0] * dims[0]; }

#endif
