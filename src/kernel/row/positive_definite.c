/*
** positive_definite.c - positive-definite matrices, from free triangles
**
**   y = l l^T,   l_ij = x_ij for j < i,   l_ii = e^x_ii
**   log det = d log 2 + sum over i = 0, ..., d - 1 of (d - i + 1) x_ii
*/
#include "kernel/row/log_diagonal.h"


static void forward (const Batch *b, double *out) {
  size_t d = b->dims[0];
  double *l = b->scratch;
  for (size_t r = 0; r < b->n; r++, out += d * d) {
    triangle_with(b->stop, d, event(b, 0, r), exp_of, l);
    for (size_t i = 0; i < d && !stops(b->stop); i++)
      for (size_t j = 0; j <= i; j++) {
        double sum = 0;
        for (size_t p = 0; p <= j; p++) sum = fma(l[i * d + p], l[j * d + p], sum);
        out[i * d + j] = out[j * d + i] = sum;
      }
  }
}

/* (g + g^T) l */
static void forward_adjoint (const Batch *b, const double *upstream, double *const g[]) {
  size_t d = b->dims[0], size = d * d;
  double *l = b->scratch;
  clear(b->stop, b->n * size, g[0]);
  for (size_t r = 0; r < b->n; r++) {
    const double *up = upstream + r * size;
    double *dx = g[0] + r * size;
    triangle_with(b->stop, d, event(b, 0, r), exp_of, l);
    for (size_t i = 0; i < d && !stops(b->stop); i++)
      for (size_t p = 0; p < d; p++) {
        double both = up[i * d + p] + up[p * d + i];
        for (size_t j = 0; j <= i; j++) dx[i * d + j] = fma(both, l[p * d + j], dx[i * d + j]);
      }
    exp_diagonal_adjoint(d, l, dx);
  }
}

static void inverse (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += d * d) {
    triangle_cholesky(b->stop, d, event(b, 0, r), out, triangle_first(d));
    for (size_t i = 0; i < d; i++) out[i * d + i] = vlog(out[i * d + i]);
  }
}

static void inverse_adjoint (const Batch *b, const double *upstream, double *const g[]) {
  size_t d = b->dims[0], size = d * d;
  memcpy(g[0], upstream, b->n * size * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++) {
    triangle_cholesky(b->stop, d, event(b, 0, r), b->scratch, triangle_first(d));
    log_diagonal_adjoint(d, b->scratch, g[0] + r * size);
    triangle_cholesky_adjoint(b->stop, d, b->scratch, g[0] + r * size, triangle_first(d));
  }
}

static void log_det (const Batch *b, double *out) {
  diagonal_log_det(b, 1, LN2, out);
}

static void log_det_adjoint (const Batch *b, const double *upstream, double *const g[]) {
  diagonal_log_det_adjoint(b, 1, upstream, g[0]);
}


const Kernel perilune_row_positive_definite[] = {
  {.name = "forward", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->(d,d)", .run = forward, .adjoint = forward_adjoint,
     .scratch = one_matrix, .adjoint_scratch = one_matrix}},
  {.name = "inverse", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->(d,d)", .run = inverse, .adjoint = inverse_adjoint,
     .adjoint_scratch = one_matrix}},
  {.name = "log_det", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->()", .run = log_det, .adjoint = log_det_adjoint}},
  {.name = NULL}
};
