/*
** onehotcategorical.c - OneHotCategorical(logits), a row with a single 1 among zeros
**
**   log P(row with its 1 at j) = l_j - log sum_i exp(l_i)
**
** Rows of logits are normalised on the way (simplex.h). A row of zeros and a 1 cannot be
** moved a little: slopes along x are 0.
*/
#include "kernel/kernel.h"
#include "kernel/simplex.h"


/* where the 1 is, or k: any other row */
static size_t place (Stop stop, size_t k, const double *x, double *sum) {
  size_t at = k, odd = 0;
  *sum = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      if (x[j] == 1) at = j;
      odd += x[j] != 0 && x[j] != 1;
      *sum += x[j];
    }
  return odd == 0 && *sum == 1 ? at : k;
}

static void log_prob (const Batch *b, double *out) {
  simplex_log_prob(b, out, place);
}

static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  simplex_log_prob_adjoint(b, upstream, d, place, b->dims[0]);
}


/* the probabilities */
static void mean (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) simplex_probs(b->stop, k, event(b, 0, r), out + r * k);
}

static void mean_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    simplex_pull(b->stop, k, event(b, 0, r), upstream + r * k, 1, d[0] + r * k);
}


/* p_j (1 - p_j) */
static void variance (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *l = event(b, 0, r);
    Simplex s = simplex_of(b->stop, k, l);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        double e = vexp(l[j] - s.shift);
        out[j] = e / s.sum * (simplex_others(&s, j, e) / s.sum);
      }
  }
}

/* upstream (1 - 2 p_j), back through p */
static void variance_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 0, r);
    double *dl = d[0] + r * k;
    Simplex s = simplex_of(b->stop, k, l);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        double e = vexp(l[j] - s.shift);
        dl[j] = upstream[r * k + j] * ((simplex_others(&s, j, e) - e) / s.sum);
      }
    simplex_pull(b->stop, k, l, dl, 1, dl);
  }
}


/* the first of the most likely rows */
static void mode (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    size_t top = simplex_of(b->stop, k, event(b, 0, r)).top;
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) out[j] = j == top;
  }
}


const Kernel perilune_onehotcategorical[] = {
  {.name = "log_prob", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k),(k)->()", .run = log_prob, .adjoint = log_prob_adjoint}},
  {.name = "mean", .n_in = 1,
   .rows = &(const RowKernel) {.signature = "(k)->(k)", .run = mean, .adjoint = mean_adjoint}},
  {.name = "variance", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->(k)", .run = variance, .adjoint = variance_adjoint}},
  {.name = "mode", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(k)->(k)", .run = mode}},
  {.name = "entropy", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->()", .run = simplex_entropy, .adjoint = simplex_entropy_adjoint}},
  {.name = "sample", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(),(k)->(k)", .run = simplex_draw_rows, .scratch = chances_scratch},
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
