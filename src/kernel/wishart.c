/*
** wishart.c - Wishart(df, scale_tril L), the law of sums of squares of normal vectors
**
**   log p(x) = (df - d - 1)/2 log det x - tr(V^-1 x)/2 - df d/2 log 2 - df/2 log det V
**            - log Gamma_d(df/2),    V = L L^T
**
** It is computed by the formulas of wishartlaw.h.
*/
#include "kernel/wishartlaw.h"


static void log_prob (const Batch *b, double *out) {
  wishart_log_prob(b, out, 1.0);
}

static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  wishart_log_prob_adjoint(b, upstream, d, 1.0);
}


static void entropy (const Batch *b, double *out) {
  wishart_entropy(b, out, 1.0);
}

static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  wishart_entropy_adjoint(b, upstream, d, 1.0);
}


static void rsample (const Philox *g, uint64_t first, const Batch *b, double *out) {
  wishart_draw(g, first, b, out, 1.0);
}

static void rsample_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  wishart_draw_adjoint(b, upstream, d, 1.0);
}


const Kernel perilune_wishart[] = {
  {.name = "log_prob", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(d,d),(),(d,d)->()", .run = log_prob, .scratch = wishart_two,
     .adjoint = log_prob_adjoint, .adjoint_scratch = wishart_two}},
  {.name = "entropy", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(),(d,d)->()", .run = entropy, .adjoint = entropy_adjoint}},
  {.name = "rsample", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(d,d),(),(d,d)->(d,d)", .scratch = wishart_two, .adjoint = rsample_adjoint,
     .adjoint_scratch = wishart_two},
   .sampler = &(const Sampler) {.draw_rows = rsample}},
  {.name = NULL}
};
