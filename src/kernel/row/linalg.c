/*
** linalg.c - factors of symmetric matrices, and inverses of triangles
**
**   cholesky(a)           lower l with l l^T = a
**   cholesky_inverse(a)   lower l with l l^T = a^-1: l = w^-1 where w^T w = a
**   triangular_inverse(l) l^-1 of a lower triangle
**
** Of a the symmetric part counts. Where it is not positive definite, the diagonal of the
** factor is NaN from the first pivot on that is not positive. Adjoints of factors keep
** the factor on the stack: they are NaN for sides beyond LARGEST.
*/
#include "kernel/kernel.h"
#include "linalg/triangle.h"

#define LARGEST 128   /* its square of doubles is 128 KiB */


static void cholesky (size_t n, const size_t dims[], const double *const in[],
                      const ptrdiff_t step[], double *out) {
  size_t d = dims[0];
  for (size_t r = 0; r < n; r++)
    triangle_cholesky(d, in[0] + (ptrdiff_t)r * step[0], out + r * d * d, triangle_first(d));
}

static void too_large (size_t count, double *b) {
  for (size_t i = 0; i < count; i++) b[i] = NAN;
}

static void cholesky_adjoint (size_t n, const size_t dims[], const double *const in[],
                              const ptrdiff_t step[], const double *upstream,
                              double *const d[]) {
  double l[LARGEST * LARGEST];
  size_t side = dims[0], size = side * side;
  if (side > LARGEST) { too_large(n * size, d[0]); return; }
  memcpy(d[0], upstream, n * size * sizeof *upstream);
  for (size_t r = 0; r < n; r++) {
    triangle_cholesky(side, in[0] + (ptrdiff_t)r * step[0], l, triangle_first(side));
    triangle_cholesky_adjoint(side, l, d[0] + r * size, triangle_first(side));
  }
}


static void cholesky_inverse (size_t n, const size_t dims[], const double *const in[],
                              const ptrdiff_t step[], double *out) {
  size_t d = dims[0];
  for (size_t r = 0; r < n; r++) {
    triangle_cholesky(d, in[0] + (ptrdiff_t)r * step[0], out + r * d * d, triangle_last(d));
    triangle_inverse(d, out + r * d * d, out + r * d * d);
  }
}

static void cholesky_inverse_adjoint (size_t n, const size_t dims[], const double *const in[],
                                      const ptrdiff_t step[], const double *upstream,
                                      double *const d[]) {
  double w[LARGEST * LARGEST];
  size_t side = dims[0], size = side * side;
  if (side > LARGEST) { too_large(n * size, d[0]); return; }
  memcpy(d[0], upstream, n * size * sizeof *upstream);
  for (size_t r = 0; r < n; r++) {
    triangle_cholesky(side, in[0] + (ptrdiff_t)r * step[0], w, triangle_last(side));
    triangle_inverse_adjoint(side, w, d[0] + r * size);
    triangle_cholesky_adjoint(side, w, d[0] + r * size, triangle_last(side));
  }
}


static void triangular_inverse (size_t n, const size_t dims[], const double *const in[],
                                const ptrdiff_t step[], double *out) {
  size_t d = dims[0];
  for (size_t r = 0; r < n; r++)
    triangle_inverse(d, in[0] + (ptrdiff_t)r * step[0], out + r * d * d);
}

static void triangular_inverse_adjoint (size_t n, const size_t dims[], const double *const in[],
                                        const ptrdiff_t step[], const double *upstream,
                                        double *const d[]) {
  size_t side = dims[0], size = side * side;
  memcpy(d[0], upstream, n * size * sizeof *upstream);
  for (size_t r = 0; r < n; r++)
    triangle_inverse_adjoint(side, in[0] + (ptrdiff_t)r * step[0], d[0] + r * size);
}


const Kernel perilune_row_linalg[] = {
  {.name = "cholesky",           .n_in = 1, .signature = "(d,d)->(d,d)", .rows = cholesky,
   .adjoint = cholesky_adjoint},
  {.name = "cholesky_inverse",   .n_in = 1, .signature = "(d,d)->(d,d)", .rows = cholesky_inverse,
   .adjoint = cholesky_inverse_adjoint},
  {.name = "triangular_inverse", .n_in = 1, .signature = "(d,d)->(d,d)", .rows = triangular_inverse,
   .adjoint = triangular_inverse_adjoint},
  {.name = NULL}
};
