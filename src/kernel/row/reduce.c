/*
** reduce.c - reductions of rows whose derivative needs the whole row
**
**   prod(x)   x_1 x_2 ... x_k
**   var(x)    sum_j (x_j - mean)^2/(k - 1),    std(x) its root
*/
#include "kernel/kernel.h"

#include <math.h>


static void prod (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double product = 1;
    for (size_t j = 0; j < b->dims[0]; j++) product *= x[j];
    out[r] = product;
  }
}

/* the product of those before and those after, which needs no quotient */
static void prod_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double *dx = d[0] + r * k, before = upstream[r], after = 1;
    for (size_t j = 0; j < k; j++) {
      dx[j] = before;
      before *= x[j];
    }
    for (size_t j = k; j-- > 0; ) {
      dx[j] *= after;
      after *= x[j];
    }
  }
}


static double mean_of (size_t k, const double *x) {
  double sum = 0, rest = 0;
  for (size_t j = 0; j < k; j++) sum += x[j];
  double mean = sum / (double)k;
  for (size_t j = 0; j < k; j++) rest += x[j] - mean;
  return mean + rest / (double)k;
}

static double variance (size_t k, const double *x) {
  double mean = mean_of(k, x), squares = 0;
  for (size_t j = 0; j < k; j++) squares = fma(x[j] - mean, x[j] - mean, squares);
  return k < 2 ? (double)NAN : squares / (double)(k - 1);
}

static void var (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) out[r] = variance(b->dims[0], event(b, 0, r));
}

static void std (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) out[r] = sqrt(variance(b->dims[0], event(b, 0, r)));
}

/* factor (x_j - mean) */
static void centred (size_t k, const double *x, double factor, double *d) {
  double mean = mean_of(k, x);
  for (size_t j = 0; j < k; j++) d[j] = factor * (x[j] - mean);
}

static void var_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    centred(k, event(b, 0, r), 2 * upstream[r] / ((double)k - 1), d[0] + r * k);
}

static void std_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double root = sqrt(variance(k, x));
    centred(k, x, upstream[r] / (root * ((double)k - 1)), d[0] + r * k);
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
