/*
** onehotcategoricalstraightthrough.c - a one-hot draw with the slopes of its mean
**
** The draw x is a step function of its logits and has no useful slope; that of p,
** its mean, takes its place (Y. Bengio, N. Leonard, A. Courville, "Estimating or propagating
** gradients through stochastic neurons", 2013).
*/
#include "kernel/kernel.h"
#include "kernel/simplex.h"


/* p_j (upstream_j - sum_i p_i upstream_i), whatever was drawn */
static void rsample_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    d[0][r] = 0;
    simplex_pull(b->stop, k, event(b, 1, r), upstream + r * k, 1, d[1] + r * k);
  }
}


const Kernel perilune_onehotcategoricalstraightthrough[] = {
  {.name = "rsample", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(),(k)->(k)", .run = simplex_draw_rows, .adjoint = rsample_adjoint,
     .scratch = chances_scratch},
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
