/*
** gaussian.h - what the normal and Student's laws of vectors share: z with L z = x - loc
**
** Operands of a density are x first, and loc and the lower triangle L one after the
** other. Up to SIDE rows that share one L are worked on side by side, each with the steps
** of a row alone: element i of row r of such a group is at [i SIDE + r].
*/
#ifndef PERILUNE_GAUSSIAN_H
#define PERILUNE_GAUSSIAN_H

#include "kernel/kernel.h"
#include "linalg/triangle.h"
#include "special/constants.h"
#include "special/vmath.h"

enum { SIDE = 32 };


/* d/2 log(2 pi) */
static inline double half_log_2pi (size_t d) {
  return HALF_LOG_2PI * (double)d;
}

static inline double log_diagonal (size_t d, const double *l) {
  double sum = 0;
  for (size_t i = 0; i < d; i++) sum += vlog(l[i * d + i]);
  return sum;
}

/* how many rows from r on share a triangle, at most SIDE */
static inline size_t rows_sharing (size_t n, size_t r, ptrdiff_t step) {
  size_t left = n - r;
  if (step != 0) return 1;
  return left < SIDE ? left : SIDE;
}

/* y + k x for rows side by side */
static inline void add_multiple (size_t rows, double k, const double *restrict x,
                                 double *restrict y) {
  for (size_t r = 0; r < rows; r++) y[r] = fma(k, x[r], y[r]);
}

/* z of one row; loc is operand `loc`, L the one after it */
static inline void standardise (const Batch *b, int loc, size_t r, double *z) {
  const double *x = event(b, 0, r), *centre = event(b, loc, r);
  for (size_t i = 0; i < b->dims[0]; i++) z[i] = x[i] - centre[i];
  triangle_solve(b->dims[0], event(b, loc + 1, r), z);
}

static inline double distance (const Batch *b, int loc, size_t r) {
  double *z = b->scratch, square = 0;
  standardise(b, loc, r, z);
  for (size_t i = 0; i < b->dims[0]; i++) square = fma(z[i], z[i], square);
  return square;
}

/* |z|^2 of rows from `first` on, several, which share L */
static inline void side_distances (const Batch *b, int loc, size_t first, size_t rows,
                                   double *square) {
  size_t d = b->dims[0];
  const double *l = event(b, loc + 1, first);
  double *z = b->scratch;
  for (size_t r = 0; r < rows; r++) {
    const double *x = event(b, 0, first + r), *centre = event(b, loc, first + r);
    for (size_t i = 0; i < d; i++) z[i * SIDE + r] = x[i] - centre[i];
    square[r] = 0;
  }
  for (size_t i = 0; i < d; i++, l += d) {
    double *zi = z + i * SIDE;
    for (size_t k = 0; k < i; k++) add_multiple(rows, -l[k], z + k * SIDE, zi);
    for (size_t r = 0; r < rows; r++) {
      zi[r] /= l[i];
      square[r] = fma(zi[r], zi[r], square[r]);
    }
  }
}

/* of one or several */
static inline void distances (const Batch *b, int loc, size_t first, size_t rows, double *square) {
  if (rows == 1) square[0] = distance(b, loc, first);
  else side_distances(b, loc, first, rows, square);
}

/* sum = sum + L_i e for rows side by side, L_i being row i of L */
static inline void multiply_row (size_t i, const double *l, size_t rows, const double *e,
                                 double *sum) {
  for (size_t k = 0; k <= i; k++) add_multiple(rows, l[k], e + k * SIDE, sum);
}

/* Is x infinitely far from a finite loc? The solution then meets inf - inf. */
static inline int infinitely_far (size_t d, const double *x, const double *loc) {
  int far = 0;
  for (size_t i = 0; i < d; i++) {
    if (x[i] != x[i] || !(fabs(loc[i]) < INFINITY)) return 0;
    far |= fabs(x[i] - loc[i]) == INFINITY;
  }
  return far;
}

/* the triangle k a b^T - up/diagonal(l), zeros above: the slope of a density in L */
static inline void outer_triangle (size_t d, double k, const double *a, const double *b,
                                   double up, const double *l, double *out) {
  for (size_t i = 0; i < d; i++, l += d, out += d) {
    for (size_t j = 0; j < d; j++) out[j] = j <= i ? k * a[i] * b[j] : 0;
    out[i] = fma(k * a[i], b[i], -up / l[i]);
  }
}

#endif
