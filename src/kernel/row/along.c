/*
** along.c - running products, and rows the other way round
**
**   cumprod(x)_j = x_1 x_2 ... x_j
**   flip(x)_j    = x_(k + 1 - j)
*/
#include <math.h>

#include "kernel/kernel.h"


static void cumprod (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *x = event(b, 0, r);
    double product = 1;
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) out[j] = product *= x[j];
  }
}

/* x_1 ... x_(j-1) s_j with s_j = u_j + x_(j+1) s_(j+1), which needs no quotient */
static void cumprod_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *u = upstream + r * k;
    double *dx = d[0] + r * k, before = 1, after = 0;
    for (size_t i = 0, end; (end = part_end(b->stop, i, k)) > i; )
      for (; i < end; i++) {
        size_t j = k - 1 - i;
        dx[j] = after = i == 0 ? u[j] : fma(x[j + 1], after, u[j]);
      }
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        dx[j] *= before;
        before *= x[j];
      }
  }
}


static void turn (Stop stop, size_t k, const double *x, double *out) {
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) out[j] = x[k - 1 - j];
}

/*@ peri.flip(t, dim) -> Tensor
 * The elements along a dimension the other way round; a copy.
 *   dim  integer, from 1, or from -1 backwards; the last unless told
 * > flip({ 1, 2, 3 })
 * Tensor(3)
 *   3  2  1 */
static void flip (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) turn(b->stop, k, event(b, 0, r), out + r * k);
}

static void flip_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) turn(b->stop, k, upstream + r * k, d[0] + r * k);
}


const Kernel perilune_row_along[] = {
  {.name = "cumprod", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->(k)", .run = cumprod, .adjoint = cumprod_adjoint}},
  {.name = "flip", .n_in = 1,
   .rows = &(const RowKernel) {.signature = "(k)->(k)", .run = flip, .adjoint = flip_adjoint}},
  {.name = NULL}
};
