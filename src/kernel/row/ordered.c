/*
** ordered.c - rows in increasing order, from free ones
**
**   y_0 = x_0,   y_j = y_(j-1) + e^x_j
**   log det = x_1 + ... + x_(k-1)
*/
#include "kernel/kernel.h"
#include "special/vmath.h"


static void forward (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *x = event(b, 0, r);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) out[j] = j == 0 ? x[j] : vexp(x[j]);
    for (size_t j = 1, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) out[j] += out[j - 1];
  }
}

static void forward_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double later = 0;
    for (size_t i = 0, end; (end = part_end(b->stop, i, k)) > i; )
      for (; i < end; i++) {
        size_t j = k - 1 - i;
        later += upstream[r * k + j];
        d[0][r * k + j] = j == 0 ? later : vexp(x[j]) * later;
      }
  }
}

static void inverse (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *y = event(b, 0, r);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) out[j] = j == 0 ? y[j] : vlog(y[j] - y[j - 1]);
  }
}

static void inverse_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *y = event(b, 0, r);
    double above = 0;
    for (size_t i = 0, end; (end = part_end(b->stop, i, k)) > i; )
      for (; i < end; i++) {
        size_t j = k - 1 - i;
        double g = upstream[r * k + j], mine = j == 0 ? g : g / (y[j] - y[j - 1]);
        d[0][r * k + j] = mine - above;
        above = mine;
      }
  }
}

static void log_det (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double sum = 0;
    for (size_t j = 1, end; (end = part_end(b->stop, j, b->dims[0])) > j; )
      for (; j < end; j++) sum += x[j];
    out[r] = sum;
  }
}

static void log_det_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) d[0][r * k + j] = j == 0 ? 0 : upstream[r];
}


const Kernel perilune_row_ordered[] = {
  {.name = "forward", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->(k)", .run = forward, .adjoint = forward_adjoint}},
  {.name = "inverse", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->(k)", .run = inverse, .adjoint = inverse_adjoint}},
  {.name = "log_det", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->()", .run = log_det, .adjoint = log_det_adjoint}},
  {.name = NULL}
};
