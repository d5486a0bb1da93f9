/*
** multivariatenormal.c - MultivariateNormal(loc, scale_tril L), covariance L L^T
**
**   log p(x) = -|z|^2/2 - sum_i log L_ii - d/2 log(2 pi),    L z = x - loc
**
** A draw is loc + L e with e standard normal.
*/
#include "kernel/gaussian.h"


/* {=====================================================
** Density
** ====================================================== */

static void log_prob (const Batch *b, double *out) {
  size_t d = b->dims[0];
  const double *seen = NULL;
  double constant = 0;
  for (size_t r = 0, rows; r < b->n; r += rows) {
    const double *l = event(b, 2, r);
    double square[SIDE];
    rows = rows_sharing(b->n, r, b->step[2]);
    distances(b, 1, r, rows, square);
    if (l != seen) constant = -half_log_2pi(d) - log_diagonal(d, l);
    seen = l;
    for (size_t k = 0; k < rows; k++) {
      out[r + k] = fma(-0.5, square[k], constant);
      if (out[r + k] != out[r + k] && constant == constant
          && infinitely_far(d, event(b, 0, r + k), event(b, 1, r + k)))
        out[r + k] = -INFINITY;
    }
  }
}

/* with L^T w = z:  d/dx = -w,  d/dloc = w,  d/dL = w z^T - 1/diagonal, below and on it */
static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  double *z = b->scratch, *w = z + side;
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 2, r);
    double up = upstream[r];
    standardise(b, 1, r, z);
    memcpy(w, z, side * sizeof *w);
    triangle_solve_transposed(side, l, w);
    for (size_t i = 0; i < side; i++) {
      d[0][r * side + i] = -up * w[i];
      d[1][r * side + i] = up * w[i];
    }
    outer_triangle(side, up, w, z, up, l, d[2] + r * side * side);
  }
}

/* }====================================================== */


/* d/2 (1 + log(2 pi)) + sum_i log L_ii; loc is there for its batch alone */
static void entropy (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    out[r] = r > 0 && b->step[1] == 0 ? out[0]
           : log_diagonal(d, event(b, 1, r)) + (half_log_2pi(d) + 0.5 * (double)d);
}

static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  memset(d[0], 0, b->n * side * sizeof *d[0]);
  memset(d[1], 0, b->n * side * side * sizeof *d[1]);
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 1, r);
    for (size_t i = 0; i < side; i++)
      d[1][(r * side + i) * side + i] = upstream[r] / l[i * side + i];
  }
}


static void rsample (const Batch *b, double *out) {
  size_t d = b->dims[0];
  double *e = b->scratch, sum[SIDE];
  for (size_t r = 0, rows; r < b->n; r += rows) {
    rows = rows_sharing(b->n, r, b->step[2]);
    for (size_t k = 0; k < rows; k++)
      for (size_t i = 0; i < d; i++) e[i * SIDE + k] = event(b, 0, r + k)[i];
    for (size_t i = 0; i < d; i++) {
      for (size_t k = 0; k < rows; k++) sum[k] = event(b, 1, r + k)[i];
      multiply_row(i, event(b, 2, r) + i * d, rows, e, sum);
      for (size_t k = 0; k < rows; k++) out[(r + k) * d + i] = sum[k];
    }
  }
}

/* L^T u, u, and u e^T below and on the diagonal */
static void rsample_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  memset(d[0], 0, b->n * side * sizeof *d[0]);
  memcpy(d[1], upstream, b->n * side * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++) {
    const double *e = event(b, 0, r), *l = event(b, 2, r);
    const double *up = upstream + r * side;
    double *de = d[0] + r * side, *dl = d[2] + r * side * side;
    for (size_t i = 0; i < side; i++, l += side, dl += side)
      for (size_t j = 0; j < side; j++) {
        dl[j] = j <= i ? up[i] * e[j] : 0;
        if (j <= i) de[j] = fma(up[i], l[j], de[j]);
      }
  }
}


static size_t side (const size_t dims[]) { return SIDE * dims[0]; }
static size_t pair (const size_t dims[]) { return 2 * dims[0]; }

const Kernel perilune_multivariatenormal[] = {
  {.name = "log_prob", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(d),(d),(d,d)->()", .run = log_prob, .side = SIDE, .scratch = side,
     .adjoint = log_prob_adjoint, .adjoint_scratch = pair}},
  {.name = "entropy", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(d),(d,d)->()", .run = entropy, .adjoint = entropy_adjoint}},
  {.name = "rsample", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(d),(d),(d,d)->(d)", .run = rsample, .side = SIDE, .scratch = side,
     .adjoint = rsample_adjoint},
   .sampler = &(const Sampler) {.noise = "normal"}},
  {.name = NULL}
};
