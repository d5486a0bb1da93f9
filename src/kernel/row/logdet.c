/*
** logdet.c - the logarithm of the determinant of any square matrix
**
**   log det a = sum_i log |u_ii|,   p a = l u,   p a permutation that puts the largest elements
**                                                first: NaN where det a < 0, -inf where it is 0
*/
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "special/vmath.h"

/* l below the diagonal, u on and above it; row i of them is row order[i] of a */
typedef struct Factors { double *lu, *order; int is_odd; } Factors;

/* room for them */
static size_t factors (const size_t dims[]) { return dims[0] * (dims[0] + 1); }

static void swap (double *x, double *y) {
  double t = *x;
  *x = *y;
  *y = t;
}

/* the row, from j on, with the largest element in column j; a NaN counts as largest */
static size_t largest_row (const Factors *f, size_t d, size_t j) {
  size_t at = j;
  for (size_t i = j + 1; i < d; i++)
    if (!(fabs(f->lu[i * d + j]) <= fabs(f->lu[at * d + j]))) at = i;
  return at;
}

static void exchange_rows (Factors *f, size_t d, size_t i, size_t j) {
  if (i == j) return;
  for (size_t c = 0; c < d; c++) swap(&f->lu[i * d + c], &f->lu[j * d + c]);
  swap(&f->order[i], &f->order[j]);
  f->is_odd = !f->is_odd;
}

static Factors factor (Stop stop, size_t d, const double *a, double *scratch) {
  Factors f = {.lu = scratch, .order = scratch + d * d};
  if (d > 0) memcpy(f.lu, a, d * d * sizeof *a);
  for (size_t i = 0; i < d; i++) f.order[i] = (double)i;
  for (size_t j = 0; j < d && !stops_at(stop, j, d * (d - j)); j++) {
    exchange_rows(&f, d, j, largest_row(&f, d, j));
    const double *top = f.lu + j * d;
    for (size_t i = j + 1; i < d && top[j] != 0; i++) {
      double *row = f.lu + i * d;
      row[j] /= top[j];
      for (size_t c = j + 1; c < d; c++) row[c] = fma(-row[j], top[c], row[c]);
    }
  }
  return f;
}

static void logdet (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    Factors f = factor(b->stop, d, event(b, 0, r), b->scratch);
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
      f.is_odd ^= f.lu[i * d + i] < 0;
      sum += vlog(fabs(f.lu[i * d + i]));
    }
    out[r] = f.is_odd && sum > -INFINITY ? (double)NAN : sum;
  }
}

/* a^-T = p^T l^-T u^-T: rows of z = u^-T from the first on, those of l^-T z from the last on */
static void logdet_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    Factors f = factor(b->stop, side, event(b, 0, r), b->scratch);
    double *inverse = d[0] + r * side * side;
    if (side > 0) memset(inverse, 0, side * side * sizeof *inverse);
    for (size_t i = 0; i < side && !stops_at(b->stop, i, side * side); i++) {
      double *row = inverse + (size_t)f.order[i] * side;
      row[i] = upstream[r];
      for (size_t k = 0; k < i; k++) {
        const double *other = inverse + (size_t)f.order[k] * side;
        for (size_t j = 0; j <= k; j++) row[j] = fma(-f.lu[k * side + i], other[j], row[j]);
      }
      for (size_t j = 0; j <= i; j++) row[j] /= f.lu[i * side + i];
    }
    for (size_t i = side; i-- > 0 && !stops_at(b->stop, i, side * side); ) {
      double *row = inverse + (size_t)f.order[i] * side;
      for (size_t k = i + 1; k < side; k++) {
        const double *other = inverse + (size_t)f.order[k] * side;
        for (size_t j = 0; j < side; j++) row[j] = fma(-f.lu[k * side + i], other[j], row[j]);
      }
    }
  }
}


const Kernel perilune_row_logdet[] = {
  {.name = "logdet", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->()", .run = logdet, .adjoint = logdet_adjoint,
     .scratch = factors, .adjoint_scratch = factors}},
  {.name = NULL}
};
