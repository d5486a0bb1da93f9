/*
** log_diagonal.h - lower triangles whose diagonal is given by its logarithms
**
**   l_ij = x_ij for j < i,   l_ii = e^x_ii
*/
#ifndef PERILUNE_LOG_DIAGONAL_H
#define PERILUNE_LOG_DIAGONAL_H

#include <string.h>

#include "kernel/kernel.h"
#include "linalg/triangle.h"
#include "special/vmath.h"


/* l = x below the diagonal and f(x) on it */
static inline void triangle_with (Stop stop, size_t d, const double *x, double (*f) (double),
                                  double *l) {
  for (size_t i = 0; i < d && !stops_at(stop, i, d); i++)
    for (size_t j = 0; j < d; j++) {
      double v = x[i * d + j];
      l[i * d + j] = j < i ? v : j == i ? f(v) : 0;
    }
}

static inline double exp_of (double x) { return vexp(x); }
static inline double log_of (double x) { return vlog(x); }

/* what comes from above for l becomes that for x: e^x on the diagonal, nothing above it */
static inline void exp_diagonal_adjoint (size_t d, const double *l, double *g) {
  triangle_clear_above(d, g);
  for (size_t i = 0; i < d; i++) g[i * d + i] *= l[i * d + i];
}

static inline void log_diagonal_adjoint (size_t d, const double *l, double *g) {
  triangle_clear_above(d, g);
  for (size_t i = 0; i < d; i++) g[i * d + i] /= l[i * d + i];
}

static inline size_t one_matrix (const size_t dims[]) { return dims[0] * dims[0]; }

/* sum over i of (factor (d - i) + 1) x_ii + constant d; factor 0 for the triangle itself */
static inline void diagonal_log_det (const Batch *b, double factor, double constant, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    out[r] = constant * (double)d;
    for (size_t i = 0; i < d; i++)
      out[r] = fma(fma(factor, (double)(d - i), 1), x[i * d + i], out[r]);
  }
}

static inline void diagonal_log_det_adjoint (const Batch *b, double factor, const double *upstream,
                                             double *dx) {
  size_t d = b->dims[0];
  clear(b->stop, b->n * d * d, dx);
  for (size_t r = 0; r < b->n; r++, dx += d * d)
    for (size_t i = 0; i < d; i++) dx[i * d + i] = upstream[r] * fma(factor, (double)(d - i), 1);
}

#endif
