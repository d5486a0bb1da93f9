/*
** triangle.h - Cholesky factors of symmetric matrices, and triangular systems
**
**   a = l l^T (Cholesky),   a = w^T w,   l z = y,   l^T w = z,   l^-1,   l m,   l^-1 m
**
** Matrices are square, dense, row-major, d by d. Triangles are lower ones: what is above the
** diagonal is not read, and written as zeros. Every element is one chain of fused multiply-adds in
** the order of the inner index, or of sums of pairs. What takes d^3 steps may be stopped after any
** row.
*/
#ifndef PERILUNE_TRIANGLE_H
#define PERILUNE_TRIANGLE_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "linalg/stop.h"
#include "special/pair.h"


/*
** How the factor k of a matrix with (i, j) at corner + step (i d + j) is stored: k(i, j) is
** at corner + i row + j column. From the first corner on, k is the Cholesky factor l. From
** the last corner backwards, transposed, the same steps give w.
*/
typedef struct Corner { ptrdiff_t corner, step, row, column; } Corner;


static inline Corner triangle_first (size_t d) {
  return (Corner) {0, 1, (ptrdiff_t)d, 1};
}

static inline Corner triangle_last (size_t d) {
  return (Corner) {(ptrdiff_t)(d * d) - 1, -1, -1, -(ptrdiff_t)d};
}

static inline void triangle_clear_above (size_t d, double *l) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = i + 1; j < d; j++) l[i * d + j] = 0;
}

static inline double triangle_symmetric (size_t d, const double *a, Corner c, size_t i, size_t j) {
  const double *first = a + c.corner;
  double below = first[c.step * (ptrdiff_t)(i * d + j)];
  double above = first[c.step * (ptrdiff_t)(j * d + i)];
  return 0.5 * below + 0.5 * above;
}

/* row i of the factor, those before it being there */
static inline void triangle_factor_row (size_t d, const double *a, double *l, Corner c, size_t i) {
  double *k = l + c.corner;
  for (size_t j = 0; j <= i; j++) {
    const double *ki = k + (ptrdiff_t)i * c.row, *kj = k + (ptrdiff_t)j * c.row;
    double sum = triangle_symmetric(d, a, c, i, j);
    for (ptrdiff_t p = 0; p < (ptrdiff_t)j; p++)
      sum = fma(-ki[p * c.column], kj[p * c.column], sum);
    double pivot = sum > 0 && sum < INFINITY ? sqrt(sum) : (double)NAN;
    k[(ptrdiff_t)i * c.row + (ptrdiff_t)j * c.column] =
      i == j ? pivot : sum / kj[(ptrdiff_t)j * c.column];
  }
}

/* a(i, j) less the products of the factor's columns before j; low parts are above the diagonal */
static inline Pair triangle_remainder (size_t d, const double *a, const double *k, Corner c,
                                       size_t i, size_t j) {
  Pair sum = {triangle_symmetric(d, a, c, i, j), 0};
  for (ptrdiff_t p = 0; p < (ptrdiff_t)j; p++) {
    ptrdiff_t m = (ptrdiff_t)i, n = (ptrdiff_t)j;
    Pair ki = {k[m * c.row + p * c.column], k[p * c.row + m * c.column]};
    Pair kj = {k[n * c.row + p * c.column], k[p * c.row + n * c.column]};
    sum = pair_add(sum, pair_negative(pair_product(ki, kj)));
  }
  return sum;
}

/*
** Column j of the factor in twice the precision, its pivot squared given. Only while a column is
** made is the low part of its pivot needed. A pivot that is less than two units of the last
** digit of its diagonal element is what rounding made of 0.
*/
static inline void triangle_column (size_t d, const double *a, double *k, Corner c, size_t j,
                                    Pair square) {
  Pair pivot = pair_root(square);
  ptrdiff_t n = (ptrdiff_t)j;
  double least = 0x1p-51 * triangle_symmetric(d, a, c, j, j);
  k[n * c.row + n * c.column] = square.hi > least && square.hi < INFINITY ? pivot.hi : (double)NAN;
  for (ptrdiff_t m = n + 1; m < (ptrdiff_t)d; m++) {
    Pair e = pair_divide(triangle_remainder(d, a, k, c, (size_t)m, j), pivot);
    k[m * c.row + n * c.column] = e.hi;
    k[n * c.row + m * c.column] = e.lo;
  }
}

/* Is a squared pivot smaller than `part` of its diagonal element, the rest lost to cancellation? */
static inline int triangle_is_delicate (size_t d, const double *a, const double *l, double part) {
  int delicate = 0;
  for (size_t i = 0; i < d; i++) {
    double pivot = l[i * d + i];
    delicate |= !(pivot * pivot > part * a[i * d + i]);
  }
  return delicate;
}

/*
** The factor of (a + a^T)/2. Where a is not positive definite, the diagonal is NaN from the
** first pivot on that is not positive, and finite before. Where a is nearly singular the
** factor is as exact as a itself: rounding on the way would be magnified by the condition of a.
*/
static inline void triangle_cholesky (Stop stop, size_t d, const double *a, double *l, Corner c) {
  for (size_t i = 0; i < d && !stops(stop); i++) triangle_factor_row(d, a, l, c, i);
  if (triangle_is_delicate(d, a, l, 0x1p-16))
    for (size_t j = 0; j < d && !stops(stop); j++)
      triangle_column(d, a, l + c.corner, c, j, triangle_remainder(d, a, l + c.corner, c, j, j));
  triangle_clear_above(d, l);
}

/*
** Makes a, a product l l^T that was rounded, positive definite: where a pivot is lost in
** the rounding of its diagonal element, that is raised by a few units of its last digit,
** doubled until it suffices. l is room for the factor.
*/
static inline void triangle_keep_definite (Stop stop, size_t d, double *a, double *l) {
  Corner c = triangle_first(d);
  for (size_t i = 0; i < d && !stops(stop); i++) triangle_factor_row(d, a, l, c, i);
  if (!triangle_is_delicate(d, a, l, 0x1p-16)) return;
  for (size_t j = 0; j < d && !stops(stop); j++) {
    double *diagonal = a + j * d + j, raise = 0x1p-50;
    Pair square = triangle_remainder(d, a, l, c, j, j);
    for (; !(square.hi >= 0x1p-50 * *diagonal) && raise < 1; raise *= 2) {
      *diagonal = fma(raise, *diagonal, *diagonal);
      square = triangle_remainder(d, a, l, c, j, j);
    }
    triangle_column(d, a, l, c, j, square);
  }
}

/* Do elements across the diagonal differ by at most `tolerance` times the largest? */
static inline int triangle_is_symmetric (size_t d, const double *a, double tolerance) {
  double largest = 0;
  int all = 1;
  for (size_t i = 0; i < d * d; i++) largest = fabs(a[i]) > largest ? fabs(a[i]) : largest;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++)
      all &= fabs(a[i * d + j] - a[j * d + i]) <= tolerance * largest;
  return all;
}

/* one step of the adjoint of the factorisation: row j of the factor, backwards */
static inline void triangle_unfactor (size_t d, const double *k, double *b, Corner c, size_t j) {
  ptrdiff_t at = (ptrdiff_t)j * c.row, diagonal = at + (ptrdiff_t)j * c.column;
  double pivot = k[diagonal];
  for (size_t i = j + 1; i < d; i++) {
    ptrdiff_t below = (ptrdiff_t)i * c.row, e = below + (ptrdiff_t)j * c.column;
    b[e] /= pivot;
    b[diagonal] = fma(-k[e], b[e], b[diagonal]);
    for (ptrdiff_t p = 0; p < (ptrdiff_t)j; p++) {
      b[at + p * c.column] = fma(-b[e], k[below + p * c.column], b[at + p * c.column]);
      b[below + p * c.column] = fma(-b[e], k[at + p * c.column], b[below + p * c.column]);
    }
  }
  b[diagonal] = 0.5 * (b[diagonal] / pivot);
  for (ptrdiff_t p = 0; p < (ptrdiff_t)j; p++)
    b[at + p * c.column] = fma(-2 * b[diagonal], k[at + p * c.column], b[at + p * c.column]);
}

/*
** The adjoint of triangle_cholesky, in place: b holds what comes from above for the factor
** l, and becomes that for a, symmetric. (I. Murray, "Differentiation of the Cholesky
** decomposition", arXiv:1602.07527, the unblocked form.)
*/
static inline void triangle_cholesky_adjoint (Stop stop, size_t d, const double *l, double *b,
                                              Corner c) {
  for (size_t j = d; j-- > 0 && !stops(stop); )
    triangle_unfactor(d, l + c.corner, b + c.corner, c, j);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++) b[j * d + i] = b[i * d + j] *= 0.5;
}


/* z with l z = y, in place */
static inline void triangle_solve (size_t d, const double *l, double *z) {
  for (size_t i = 0; i < d; i++) {
    double sum = z[i];
    for (size_t k = 0; k < i; k++) sum = fma(-l[i * d + k], z[k], sum);
    z[i] = sum / l[i * d + i];
  }
}

/* w with l^T w = z, in place */
static inline void triangle_solve_transposed (size_t d, const double *l, double *w) {
  for (size_t i = d; i-- > 0; ) {
    w[i] /= l[i * d + i];
    for (size_t k = 0; k < i; k++) w[k] = fma(-l[i * d + k], w[i], w[k]);
  }
}

/* y = l z, in place */
static inline void triangle_apply (size_t d, const double *l, double *z) {
  for (size_t i = d; i-- > 0; ) {
    double sum = 0;
    for (size_t k = 0; k <= i; k++) sum = fma(l[i * d + k], z[k], sum);
    z[i] = sum;
  }
}

/*
** x = l^-1, row by row: l_ii x_i = e_i - sum_k<i l_ik x_k. l and x may be the same place: row
** i needs nothing of later rows, and l_ik stands until step k puts x_ik there.
*/
static inline void triangle_inverse (Stop stop, size_t d, const double *l, double *x) {
  if (x != l) memcpy(x, l, d * d * sizeof *x);
  triangle_clear_above(d, x);
  for (size_t i = 0; i < d && !stops(stop); i++) {
    double *row = x + i * d, pivot = row[i];
    row[i] = 1;
    for (size_t k = 0; k < i; k++) {
      double factor = row[k];
      row[k] = 0;
      for (size_t j = 0; j <= k; j++) row[j] = fma(-factor, x[k * d + j], row[j]);
    }
    for (size_t j = 0; j <= i; j++) row[j] /= pivot;
  }
}

/* its adjoint, -l^-T b l^-T below and on the diagonal, in place of b */
static inline void triangle_inverse_adjoint (Stop stop, size_t d, const double *l, double *b) {
  triangle_clear_above(d, b);
  for (size_t i = 0; i < d && !stops(stop); i++) triangle_solve(d, l, b + i * d);
  for (size_t i = d; i-- > 0 && !stops(stop); )
    for (size_t j = 0; j < d; j++) {
      double sum = b[i * d + j];
      for (size_t k = i + 1; k < d; k++) sum = fma(-l[k * d + i], b[k * d + j], sum);
      b[i * d + j] = sum / l[i * d + i];
    }
  triangle_clear_above(d, b);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++) b[i * d + j] = 0 - b[i * d + j];
}

/* m = l^-1 m for a lower triangle m, row by row */
static inline void triangle_divide (Stop stop, size_t d, const double *l, double *m) {
  for (size_t i = 0; i < d && !stops(stop); i++) {
    double *row = m + i * d;
    for (size_t k = 0; k < i; k++)
      for (size_t j = 0; j <= k; j++) row[j] = fma(-l[i * d + k], m[k * d + j], row[j]);
    for (size_t j = 0; j <= i; j++) row[j] /= l[i * d + i];
  }
}

/* out = l m for two lower triangles */
static inline void triangle_multiply (Stop stop, size_t d, const double *l, const double *m,
                                      double *out) {
  for (size_t i = 0; i < d && !stops(stop); i++) {
    double *row = out + i * d;
    for (size_t j = 0; j < d; j++) row[j] = 0;
    for (size_t k = 0; k <= i; k++)
      for (size_t j = 0; j <= k; j++) row[j] = fma(l[i * d + k], m[k * d + j], row[j]);
  }
}

static inline void triangle_mirror (size_t d, double *a) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++) a[j * d + i] = a[i * d + j];
}

/* out = l l^T + shift I */
static inline void triangle_outer (Stop stop, size_t d, const double *l, double shift,
                                   double *out) {
  for (size_t i = 0; i < d && !stops(stop); i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = i == j ? shift : 0;
      for (size_t k = 0; k <= j; k++) sum = fma(l[i * d + k], l[j * d + k], sum);
      out[i * d + j] = sum;
    }
  triangle_mirror(d, out);
}

/* out = l^T l + shift I */
static inline void triangle_inner (Stop stop, size_t d, const double *l, double shift,
                                   double *out) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++) out[i * d + j] = i == j ? shift : 0;
  for (size_t k = 0; k < d && !stops(stop); k++)
    for (size_t i = 0; i <= k; i++)
      for (size_t j = 0; j <= i; j++)
        out[i * d + j] = fma(l[k * d + i], l[k * d + j], out[i * d + j]);
  triangle_mirror(d, out);
}

#endif
