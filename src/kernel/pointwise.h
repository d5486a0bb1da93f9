/*
** pointwise.h - kernels from functions of one point
**
** A point is {x, parameters...}, or the parameters alone where there is no x. A family gives
** functions of it and their slopes in each operand; the loops are written here, once, and
** inlined, so that a VECTOR function becomes part of a vector loop.
*/
#ifndef PERILUNE_POINTWISE_H
#define PERILUNE_POINTWISE_H

#include "kernel/kernel.h"
#include "special/vector.h"

enum { POINT_MAX = 5 };   /* operands */

typedef double Pointwise (const double v[]);
typedef void PointwiseSlopes (const double v[], double d[]);


/* the point of element i; m, how many operands there are, is a constant */
VECTOR void point_gather (int m, const double *const in[], size_t i, double v[]) {
  v[0] = in[0][i];
  v[1] = in[m > 1 ? 1 : 0][i];
  v[2] = in[m > 2 ? 2 : 0][i];
  v[3] = in[m > 3 ? 3 : 0][i];
  v[4] = in[m > 4 ? 4 : 0][i];
}

VECTOR void point_scatter (int m, const double s[], size_t i, double *const d[]) {
  d[0][i] = s[0];
  if (m > 1) d[1][i] = s[1];
  if (m > 2) d[2][i] = s[2];
  if (m > 3) d[3][i] = s[3];
  if (m > 4) d[4][i] = s[4];
}

VECTOR void pointwise_value (int m, size_t n, const double *const in[], double *out,
                             Pointwise *f) {
  EVERY for (size_t i = 0; i < n; i++) {
    double v[POINT_MAX];
    point_gather(m, in, i, v);
    out[i] = f(v);
  }
}

VECTOR void pointwise_partials (int m, size_t n, const double *const in[], double *const d[],
                                PointwiseSlopes *slopes) {
  EVERY for (size_t i = 0; i < n; i++) {
    double v[POINT_MAX], s[POINT_MAX];
    point_gather(m, in, i, v);
    slopes(v, s);
    point_scatter(m, s, i, d);
  }
}

#endif
