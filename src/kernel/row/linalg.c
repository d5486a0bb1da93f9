/*
** linalg.c - factors of symmetric matrices, and inverses of triangles
**
**   cholesky(a)           lower l with l l^T = a
**   cholesky_inverse(a)   lower l with l l^T = a^-1: l = w^-1 where w^T w = a
**   triangular_inverse(l) l^-1 of a lower triangle
**   low_rank_factor(w, d) lower l with l l^T = w w^T + diag(d)
**   spread(a, l)          how much rounding of a moves its pivots, l being cholesky(a)
**   inverse_spread(a, l)  the same, l being cholesky_inverse(a)
**
** Of a only the symmetric part is used. Where it is not positive definite, the diagonal of the
** factor is NaN from the first pivot on that is not positive.
*/
#include "kernel/kernel.h"
#include "linalg/low_rank.h"
#include "linalg/triangle.h"


/* room for a factor */
static size_t matrix (const size_t dims[]) { return dims[0] * dims[0]; }


static void cholesky (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    triangle_cholesky(b->stop, d, event(b, 0, r), out + r * d * d, triangle_first(d));
}

static void cholesky_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0], size = side * side;
  memcpy(d[0], upstream, b->n * size * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++) {
    const double *l = b->result != NULL ? b->result + r * size : b->scratch;
    if (b->result == NULL)
      triangle_cholesky(b->stop, side, event(b, 0, r), b->scratch, triangle_first(side));
    triangle_cholesky_adjoint(b->stop, side, l, d[0] + r * size, triangle_first(side));
  }
}


static void cholesky_inverse (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    triangle_cholesky(b->stop, d, event(b, 0, r), out + r * d * d, triangle_last(d));
    triangle_inverse(b->stop, d, out + r * d * d, out + r * d * d);
  }
}

static void cholesky_inverse_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0], size = side * side;
  double *w = b->scratch;
  memcpy(d[0], upstream, b->n * size * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++) {
    triangle_cholesky(b->stop, side, event(b, 0, r), w, triangle_last(side));
    triangle_inverse_adjoint(b->stop, side, w, d[0] + r * size);
    triangle_cholesky_adjoint(b->stop, side, w, d[0] + r * size, triangle_last(side));
  }
}


static void triangular_inverse (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    triangle_inverse(b->stop, d, event(b, 0, r), out + r * d * d);
}

static void triangular_inverse_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0], size = side * side;
  memcpy(d[0], upstream, b->n * size * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++)
    triangle_inverse_adjoint(b->stop, side, event(b, 0, r), d[0] + r * size);
}


static size_t low_rank_scratch (const size_t dims[]) { return low_rank_room(dims[0], dims[1]); }

static void low_rank (const Batch *b, double *out) {
  size_t d = b->dims[0], k = b->dims[1];
  for (size_t r = 0; r < b->n; r++)
    low_rank_factor(b->stop, d, k, event(b, 0, r), event(b, 1, r), out + r * d * d, b->scratch);
}

/* with the slopes s in the sum, symmetric: 2 s w and the diagonal of s */
static void low_rank_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0], k = b->dims[1], size = side * side;
  double *s = b->scratch, *l = s + size;
  for (size_t r = 0; r < b->n; r++) {
    const double *w = event(b, 0, r);
    double *dw = d[0] + r * side * k;
    low_rank_factor(b->stop, side, k, w, event(b, 1, r), l, l + size);
    memcpy(s, upstream + r * size, size * sizeof *s);
    triangle_cholesky_adjoint(b->stop, side, l, s, triangle_first(side));
    for (size_t i = 0; i < side && !stops(b->stop); i++) {
      for (size_t c = 0; c < k; c++) dw[i * k + c] = 0;
      for (size_t j = 0; j < side; j++)
        for (size_t c = 0; c < k; c++)
          dw[i * k + c] = fma(2 * s[i * side + j], w[j * k + c], dw[i * k + c]);
      d[1][r * side + i] = s[i * side + i];
    }
  }
}

static size_t low_rank_adjoint_scratch (const size_t dims[]) {
  return 2 * dims[0] * dims[0] + low_rank_scratch(dims);
}


/*
** With x = l^-1, errors up to eps of the elements of a, as in eps sqrt(a_jj a_kk), move pivot i by
** up to eps spread_i^2 of itself:  spread_i = sum_j |x_ij| sqrt(a_jj). It is 0 where no pivot lost
** more than 20 bits to cancellation, and nobody need know more.
*/
static void spread (const Batch *b, double *out) {
  size_t d = b->dims[0];
  double *x = b->scratch;
  for (size_t r = 0; r < b->n; r++) {
    const double *a = event(b, 0, r), *l = event(b, 1, r);
    out[r] = 0;
    if (!triangle_is_delicate(d, a, l, 0x1p-20)) continue;
    triangle_inverse(b->stop, d, l, x);
    for (size_t i = 0; i < d; i++) {
      double sum = 0;
      for (size_t j = 0; j <= i; j++) sum = fma(fabs(x[i * d + j]), sqrt(a[j * d + j]), sum);
      if (!(sum <= out[r])) out[r] = sum;
    }
  }
}

/* from the last corner backwards, and x is the transpose of l */
static void inverse_spread (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *a = event(b, 0, r), *l = event(b, 1, r);
    out[r] = 0;
    for (size_t i = 0; i < d; i++) {
      double sum = 0;
      for (size_t j = i; j < d; j++) sum = fma(fabs(l[j * d + i]), sqrt(a[j * d + j]), sum);
      if (!(sum <= out[r])) out[r] = sum;
    }
  }
}


const Kernel perilune_row_linalg[] = {
  {.name = "cholesky", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->(d,d)", .run = cholesky, .adjoint = cholesky_adjoint,
     .adjoint_scratch = matrix}},
  {.name = "cholesky_inverse", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->(d,d)", .run = cholesky_inverse, .adjoint = cholesky_inverse_adjoint,
     .adjoint_scratch = matrix}},
  {.name = "triangular_inverse", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->(d,d)", .run = triangular_inverse,
     .adjoint = triangular_inverse_adjoint}},
  {.name = "low_rank_factor", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(d,k),(d)->(d,d)", .run = low_rank, .scratch = low_rank_scratch,
     .adjoint = low_rank_adjoint, .adjoint_scratch = low_rank_adjoint_scratch}},
  {.name = "spread", .n_in = 2, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(d,d),(d,d)->()", .run = spread, .scratch = matrix}},
  {.name = "inverse_spread", .n_in = 2, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(d,d),(d,d)->()", .run = inverse_spread}},
  {.name = NULL}
};
