/*
** lower_cholesky.c - lower triangles with a positive diagonal, from free ones
**
**   l_ij = x_ij for j < i,   l_ii = e^x_ii
**   log det = sum of x_ii
*/
#include "kernel/row/log_diagonal.h"


static void forward (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    triangle_with(b->stop, d, event(b, 0, r), exp_of, out + r * d * d);
}

static void forward_adjoint (const Batch *b, const double *upstream, double *const g[]) {
  size_t d = b->dims[0], size = d * d;
  memcpy(g[0], upstream, b->n * size * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++) {
    triangle_with(b->stop, d, event(b, 0, r), exp_of, b->scratch);
    exp_diagonal_adjoint(d, b->scratch, g[0] + r * size);
  }
}

static void inverse (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    triangle_with(b->stop, d, event(b, 0, r), log_of, out + r * d * d);
}

static void inverse_adjoint (const Batch *b, const double *upstream, double *const g[]) {
  size_t d = b->dims[0], size = d * d;
  memcpy(g[0], upstream, b->n * size * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++) log_diagonal_adjoint(d, event(b, 0, r), g[0] + r * size);
}

static void log_det (const Batch *b, double *out) {
  diagonal_log_det(b, 0, 0, out);
}

static void log_det_adjoint (const Batch *b, const double *upstream, double *const g[]) {
  diagonal_log_det_adjoint(b, 0, upstream, g[0]);
}


const Kernel perilune_row_lower_cholesky[] = {
  {.name = "forward", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->(d,d)", .run = forward, .adjoint = forward_adjoint,
     .adjoint_scratch = one_matrix}},
  {.name = "inverse", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->(d,d)", .run = inverse, .adjoint = inverse_adjoint}},
  {.name = "log_det", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->()", .run = log_det, .adjoint = log_det_adjoint}},
  {.name = NULL}
};
