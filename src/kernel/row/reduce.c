/*
** reduce.c - reductions of rows whose derivative needs the whole row
**
**   prod(x)   x_1 x_2 ... x_k
**   var(x)    sum_j (x_j - mean)^2/(k - 1),    std(x) its root
*/
#include "kernel/kernel.h"
#include "special/fma.h"


static void prod (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double product = 1;
    for (size_t j = 0, end; (end = part_end(b->stop, j, b->dims[0])) > j; )
      for (; j < end; j++) product *= x[j];
    out[r] = product;
  }
}

/* the product of those before and those after, which needs no quotient */
static void prod_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double *dx = d[0] + r * k, before = upstream[r], after = 1;
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        dx[j] = before;
        before *= x[j];
      }
    for (size_t i = 0, end; (end = part_end(b->stop, i, k)) > i; )
      for (; i < end; i++) {
        dx[k - 1 - i] *= after;
        after *= x[k - 1 - i];
      }
  }
}


static double mean_of (Stop stop, size_t k, const double *x) {
  double sum = 0, rest = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) sum += x[j];
  double mean = sum / (double)k;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) rest += x[j] - mean;
  return mean + rest / (double)k;
}

static double variance (Stop stop, size_t k, const double *x) {
  double mean = mean_of(stop, k, x), squares = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) squares = fma(x[j] - mean, x[j] - mean, squares);
  return k < 2 ? (double)NAN : squares / (double)(k - 1);
}

static void var (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) out[r] = variance(b->stop, b->dims[0], event(b, 0, r));
}

static void std (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) out[r] = sqrt(variance(b->stop, b->dims[0], event(b, 0, r)));
}

/* factor (x_j - mean) */
static void centred (Stop stop, size_t k, const double *x, double factor, double *d) {
  double mean = mean_of(stop, k, x);
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) d[j] = factor * (x[j] - mean);
}

static void var_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    centred(b->stop, k, event(b, 0, r), 2 * upstream[r] / ((double)k - 1), d[0] + r * k);
}

static void std_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double root = sqrt(variance(b->stop, k, x));
    centred(b->stop, k, x, upstream[r] / (root * ((double)k - 1)), d[0] + r * k);
  }
}


const Kernel perilune_row_reduce[] = {
  {.name = "prod", .n_in = 1,
   .rows = &(const RowKernel) {.signature = "(k)->()", .run = prod, .adjoint = prod_adjoint}},
  {.name = "var", .n_in = 1,
   .rows = &(const RowKernel) {.signature = "(k)->()", .run = var, .adjoint = var_adjoint}},
  {.name = "std", .n_in = 1,
   .rows = &(const RowKernel) {.signature = "(k)->()", .run = std, .adjoint = std_adjoint}},
  {.name = NULL}
};
