/*
** matrixnormal.c - KL(MatrixNormal || q)
**
** To MatrixNormal, with E and F for rows and columns as in triangles.h, KL(E) = |E|^2/2 + sum of
** excesses, and a = tr((1 + E) (1 + E)^T) - n = 2 tr(E) + |E|^2, b likewise from F,
**
**   KL = p KL(E) + n KL(F) + a b/2 + |Z|^2/2,    R2 Z K2^T = m1 - m2, n by p
**
** Near p = q all terms are of second order.
*/
#include "kernel/kernel.h"
#include "kernel/kl/triangles.h"
#include "linalg/triangle.h"

/* one side: E, and what is made of it */
typedef struct Part { Triangles t; double kl, surplus, *e; } Part;


/* z = L^-1 z for n rows of p numbers */
static void solve_rows (Stop stop, size_t n, size_t p, const double *l, double *z) {
  for (size_t i = 0; i < n && !stops(stop); i++) {
    for (size_t k = 0; k < i; k++)
      for (size_t j = 0; j < p; j++) z[i * p + j] = fma(-l[i * n + k], z[k * p + j], z[i * p + j]);
    for (size_t j = 0; j < p; j++) z[i * p + j] /= l[i * n + i];
  }
}

/* the part of triangles k and k + 3 of the operands; e has wide_for(d) + 1 numbers a row */
static Part part_of (const Batch *b, size_t r, int k, double *e) {
  size_t d = b->dims[k - 1], size = d * wide_for(d);
  Part p = {.t = {.d = d, .l1 = event(b, k, r), .l2 = event(b, k + 3, r), .stop = b->stop},
            .e = e};
  solve(p.t, e + size, e);
  p.surplus = squares(size, e);
  p.kl = fma(0.5, p.surplus, excesses(p.t, e, e + size));
  for (size_t i = 0; i < d; i++) p.surplus = fma(2, e[i * (wide_for(d) + 1) + 1], p.surplus);
  return p;
}

static size_t part_size (size_t d) { return d * (wide_for(d) + 1); }

/* Z of row r */
static void whiten (const Batch *b, size_t r, double *z) {
  size_t n = b->dims[0], p = b->dims[1];
  const double *m1 = event(b, 0, r), *m2 = event(b, 3, r);
  for (size_t i = 0; i < n * p; i++) z[i] = m1[i] - m2[i];
  solve_rows(b->stop, n, p, event(b, 4, r), z);
  for (size_t i = 0; i < n && !stops(b->stop); i++) triangle_solve(p, event(b, 5, r), z + i * p);
}

static void to_matrixnormal (const Batch *b, double *out) {
  size_t n = b->dims[0], p = b->dims[1];
  double *z = b->scratch;
  for (size_t r = 0; r < b->n; r++) {
    double square = 0, *room = z + n * p;
    Part rows = part_of(b, r, 1, room), columns = part_of(b, r, 2, room);
    whiten(b, r, z);
    for (size_t i = 0; i < n * p; i++) square = fma(z[i], z[i], square);
    double both = fma(rows.surplus, columns.surplus, square);
    out[r] = fma((double)p, rows.kl, (double)n * columns.kl) + 0.5 * both;
  }
}


/* n = n + z z^T, z having d rows; n of d rows is symmetric */
static void add_outer (Stop stop, size_t d, size_t count, const double *z, size_t row,
                       size_t column, double *n) {
  for (size_t i = 0; i < d && !stops(stop); i++)
    for (size_t j = 0; j < d; j++)
      for (size_t k = 0; k < count; k++)
        n[i * d + j] = fma(z[i * row + k * column], z[j * row + k * column], n[i * d + j]);
}

/*
** For one side, with `others` numbers on the other side and c the surplus there:
**   d/dL1 = (others + c) L2^-T E + others e_i/L1_ii + c/L2_ii on the diagonal
**   d/dL2 = -L2^-T [(others + c) N + c + Z Z^T]
*/
static void part_slopes (Part p, double others, double c, double up, const double *z, size_t row,
                         size_t column, size_t count, double *n, double *d1, double *d2) {
  size_t d = p.t.d, wide = wide_for(d);
  fill_inner(p.t.stop, d, p.e, n);
  for (size_t i = 0; i < d * d; i++) n[i] = fma(others + c, n[i], i % (d + 1) == 0 ? c : 0);
  add_outer(p.t.stop, d, count, z, row, column, n);
  for (size_t i = 0; i < d; i++) d1[i] = p.e[i * (wide + 1) + 1];
  solve_transposed(p.t.stop, d, p.t.l2, d, n);
  put_triangle(d, -up, n, d, d2);
  for (size_t i = 0; i < d; i++) n[i] = d1[i];
  solve_transposed(p.t.stop, d, p.t.l2, wide, p.e);
  put_triangle(d, up * (others + c), p.e + 1, wide, d1);
  for (size_t i = 0; i < d; i++) {
    size_t at = i * (d + 1);
    d1[at] += up * fma(others, n[i] / p.t.l1[at], c / p.t.l2[at]);
  }
}

/* and d/dm1 = R2^-T Z K2^-1 = -d/dm2 */
static void to_matrixnormal_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t n = b->dims[0], p = b->dims[1], size = n * p;
  double *z = b->scratch, *e = z + size, *f = e + part_size(n), *room = f + part_size(p);
  for (size_t r = 0; r < b->n; r++) {
    Part rows = part_of(b, r, 1, e), columns = part_of(b, r, 2, f);
    double up = upstream[r], *dm1 = d[0] + r * size, *dm2 = d[3] + r * size;
    whiten(b, r, z);
    part_slopes(rows, (double)p, columns.surplus, up, z, p, 1, p, room, d[1] + r * n * n,
                d[4] + r * n * n);
    part_slopes(columns, (double)n, rows.surplus, up, z, 1, p, n, room, d[2] + r * p * p,
                d[5] + r * p * p);
    solve_transposed(b->stop, n, event(b, 4, r), p, z);
    for (size_t i = 0; i < n && !stops(b->stop); i++)
      triangle_solve_transposed(p, event(b, 5, r), z + i * p);
    for (size_t i = 0; i < size; i++) dm2[i] = -(dm1[i] = up * z[i]);
  }
}


static size_t for_value (const size_t dims[]) {
  size_t n = part_size(dims[0]), p = part_size(dims[1]);
  return dims[0] * dims[1] + (n > p ? n : p);
}

static size_t for_adjoint (const size_t dims[]) {
  size_t n = dims[0], p = dims[1], side = n > p ? n : p;
  return n * p + part_size(n) + part_size(p) + side * side;
}

const Kernel perilune_kl_matrixnormal[] = {
  {.name = "MatrixNormal", .n_in = 6,
   .rows = &(const RowKernel) {
     .signature = "(n,p),(n,n),(p,p),(n,p),(n,n),(p,p)->()", .run = to_matrixnormal,
     .scratch = for_value, .adjoint = to_matrixnormal_adjoint, .adjoint_scratch = for_adjoint}},
  {.name = NULL}
};
