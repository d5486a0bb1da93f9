/*
** gather.c - rows of a matrix by their numbers
**
**   out_j = x_i,   i = index_j, from 1, or from -1 backwards
*/
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"


/* The place of a row among k, or -1 for a number of none. */
static ptrdiff_t place_of (double index, size_t k) {
  double size = (double)k;
  if (!(fabs(index) >= 1 && fabs(index) <= size)) return -1;
  ptrdiff_t i = (ptrdiff_t)index;
  if ((double)i != index) return -1;
  return i > 0 ? i - 1 : i + (ptrdiff_t)k;
}

/* Rows of a single number. */
static void gather_numbers (Stop stop, size_t k, size_t n, const double *x, const double *index,
                            double *out) {
  for (size_t j = 0, end; (end = part_end(stop, j, n)) > j; )
    for (; j < end; j++) {
      ptrdiff_t i = place_of(index[j], k);
      out[j] = i >= 0 ? x[i] : NAN;
    }
}

/* A run of the same number is added up in a register: memory would be waited for every time. */
static void scatter_numbers (Stop stop, size_t k, size_t n, const double *index,
                             const double *upstream, double *to) {
  for (size_t j = 0, end; (end = part_end(stop, j, n)) > j; )
    while (j < end) {
      double here = index[j];
      ptrdiff_t i = place_of(here, k);
      double sum = i >= 0 ? to[i] : 0;
      do sum += upstream[j++]; while (j < end && index[j] == here);
      if (i >= 0) to[i] = sum;
    }
}

/* Who calls it has looked at the index; a replay may find other numbers there: NaN for those. */
static void gather (const Batch *b, double *out) {
  size_t k = b->dims[0], m = b->dims[1], n = b->dims[2];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *index = event(b, 1, r);
    if (m == 1) {
      gather_numbers(b->stop, k, n, x, index, out);
      out += n;
    } else for (size_t j = 0; j < n && !stops_at(b->stop, j, m); j++, out += m) {
      ptrdiff_t i = place_of(index[j], k);
      if (i >= 0) memcpy(out, x + (size_t)i * m, m * sizeof *out);
      else for (size_t l = 0; l < m; l++) out[l] = NAN;
    }
  }
}

static void gather_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0], m = b->dims[1], n = b->dims[2];
  if (is_wanted(b, 0)) clear(b->stop, b->n * k * m, d[0]);
  if (is_wanted(b, 1)) clear(b->stop, b->n * n, d[1]);
  for (size_t r = 0; is_wanted(b, 0) && r < b->n; r++) {
    const double *index = event(b, 1, r);
    if (m == 1) {
      scatter_numbers(b->stop, k, n, index, upstream, d[0] + r * k);
      upstream += n;
    } else for (size_t j = 0; j < n && !stops_at(b->stop, j, m); j++, upstream += m) {
      ptrdiff_t i = place_of(index[j], k);
      double *to = d[0] + (r * k + (size_t)i) * m;
      for (size_t l = 0; i >= 0 && l < m; l++) to[l] += upstream[l];
    }
  }
}


const Kernel perilune_row_gather[] = {
  {.name = "gather", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k,m),(n)->(n,m)", .run = gather, .adjoint = gather_adjoint}},
  {.name = NULL}
};
