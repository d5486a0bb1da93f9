/*
** low_rank.h - the Cholesky factor of W W^T + D, W of d rows and k columns, D a diagonal
**
** Column by column of W: to l diag(q) l^T, l with a diagonal of 1, is added a z z^T. With a = 1 at
** first,
**
**   p_j = z_j,   q_j' = q_j + a p_j^2,   b_j = a p_j/q_j',   a = a q_j/q_j'
**   z_i = z_i - p_j l_ij,   l_ij = l_ij + b_j z_i   for i > j
**
** (P. Gill, G. Golub, W. Murray, M. Saunders, "Methods for modifying matrix factorizations",
** Mathematics of Computation 28 (1974), 505-535, method C1.) No pivot is a difference: where D is
** tiny beside W, those of the sum W W^T + D would be, and lose all digits to its rounding. All
** columns are gone through together, row by row of l.
*/
#ifndef PERILUNE_LOW_RANK_H
#define PERILUNE_LOW_RANK_H

#include "linalg/triangle.h"


/* z and a of all columns, then p and b of each row */
static inline size_t low_rank_room (size_t d, size_t k) { return 2 * k * (d + 1) + d; }

/* row i of the unit triangle, the p and b of those before it being there */
static inline void low_rank_row (size_t i, size_t k, const double *p, double *z, double *row) {
  const double *b = p + k;
  for (size_t j = 0; j < i; j++, p += 2 * k, b += 2 * k) {
    double e = 0;
    for (size_t c = 0; c < k; c++) {
      z[c] = fma(-p[c], e, z[c]);
      e = fma(b[c], z[c], e);
    }
    row[j] = e;
  }
}

/* its pivot, squared, p and b */
static inline double low_rank_pivot (size_t k, double diagonal, const double *z, double *a,
                                     double *p) {
  double square = diagonal;
  for (size_t c = 0; c < k; c++) {
    double raised = fma(a[c] * z[c], z[c], square);
    p[c] = z[c];
    p[k + c] = a[c] * z[c] / raised;
    a[c] *= square / raised;
    square = raised;
  }
  return square;
}

/* the factor l of w w^T + diag(diagonal); room for low_rank_room numbers */
static inline void low_rank_factor (Stop stop, size_t d, size_t k, const double *w,
                                    const double *diagonal, double *l, double *room) {
  double *z = room, *a = z + k, *p = a + k, *root = p + 2 * k * d;
  for (size_t c = 0; c < k; c++) a[c] = 1;
  for (size_t i = 0; i < d && !stops(stop); i++) {
    double *row = l + i * d;
    memcpy(z, w + i * k, k * sizeof *z);
    low_rank_row(i, k, p, z, row);
    root[i] = sqrt(low_rank_pivot(k, diagonal[i], z, a, p + 2 * k * i));
    for (size_t j = 0; j < i; j++) row[j] *= root[j];
    row[i] = root[i];
  }
  triangle_clear_above(d, l);
}

#endif
