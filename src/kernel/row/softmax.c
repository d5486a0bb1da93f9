/*
** softmax.c - rows normalised to probabilities, and running sums
**
**   softmax(x)_j     = exp(x_j - m)/S,        S = sum_j exp(x_j - m)
**   log_softmax(x)_j = (x_j - m) - log S,     m = max_j x_j
*/
#include "kernel/kernel.h"
#include "kernel/simplex.h"


/*@ peri.softmax(t, dim) -> Tensor
 * exp(t) divided by its sum along a dimension: logits as probabilities.
 *   dim  integer, from 1, or from -1 backwards; the last unless told
 * > softmax({ 0, 0, 1000 })
 * Tensor(3)
 *   0  0  1 */
static void softmax (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) simplex_probs(b->stop, k, event(b, 0, r), out + r * k);
}

/* y_j (u_j - sum_i y_i u_i) */
static void softmax_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; k > 0 && r < b->n; r++)
    simplex_pull(b->stop, k, event(b, 0, r), upstream + r * k, 1, d[0] + r * k);
}

/*@ peri.log_softmax(t, dim) -> Tensor
 * t less its logsumexp along a dimension: the logarithm of softmax, without loss of digits.
 *   dim  integer, from 1, or from -1 backwards; the last unless told
 * > log_softmax({ 0, 1000 })
 * Tensor(2)
 *   -1000      0 */
static void log_softmax (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *x = event(b, 0, r);
    Simplex s = simplex_of(b->stop, k, x);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) out[j] = (x[j] - s.shift) - s.log_sum;
  }
}

/* u_j - y_j sum_i u_i */
static void log_softmax_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *u = upstream + r * k;
    double *dx = d[0] + r * k, total = simplex_total(b->stop, k, u);
    simplex_probs(b->stop, k, event(b, 0, r), dx);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) dx[j] = fma(-total, dx[j], u[j]);
  }
}


static void cumsum (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *x = event(b, 0, r);
    double sum = 0;
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) out[j] = sum += x[j];
  }
}

/* sums from the end */
static void cumsum_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double sum = 0;
    for (size_t i = 0, end; (end = part_end(b->stop, i, k)) > i; )
      for (; i < end; i++)
        d[0][r * k + k - 1 - i] = sum += upstream[r * k + k - 1 - i];
  }
}


const Kernel perilune_row_softmax[] = {
  {.name = "softmax", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->(k)", .run = softmax, .adjoint = softmax_adjoint}},
  {.name = "log_softmax", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->(k)", .run = log_softmax, .adjoint = log_softmax_adjoint}},
  {.name = "cumsum", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->(k)", .run = cumsum, .adjoint = cumsum_adjoint}},
  {.name = NULL}
};
