/*
** matrix.c - parts of matrices, and triangles divided by
**
**   diag_embed(x)      x on the diagonal, zeros elsewhere
**   tril(a, k)         a_ij where j <= i + k, zeros above;   triu(a, k): where j >= i + k
**   lower(t, b)        x with t x = b, where t counts on and below its diagonal
**   upper(t, b)        the same on and above it
**   lower_transposed(t, b), upper_transposed(t, b)    x with t^T x = b
*/
#include <string.h>

#include "kernel/kernel.h"
#include "special/fma.h"


static void diag_embed (const Batch *b, double *out) {
  size_t n = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += n * n) {
    const double *x = event(b, 0, r);
    for (size_t i = 0; i < n && !stops_at(b->stop, i, n); i++)
      for (size_t j = 0; j < n; j++) out[i * n + j] = i == j ? x[i] : 0;
  }
}

static void diag_embed_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t n = b->dims[0];
  for (size_t r = 0; r < b->n; r++, upstream += n * n)
    for (size_t i = 0; i < n; i++) d[0][r * n + i] = upstream[i * n + i];
}


/* Copies a, with zeros above the diagonal of number k, or below it. */
static void keep_triangle (Stop stop, size_t m, size_t n, const double *a, double k, int upper,
                           double *out) {
  for (size_t i = 0; i < m && !stops_at(stop, i, n); i++)
    for (size_t j = 0; j < n; j++) {
      double place = (double)j - (double)i;
      int kept = upper ? place >= k : place <= k;
      out[i * n + j] = kept ? a[i * n + j] : 0;
    }
}

static void triangles (const Batch *b, int upper, double *out) {
  size_t m = b->dims[0], n = b->dims[1];
  for (size_t r = 0; r < b->n; r++)
    keep_triangle(b->stop, m, n, event(b, 0, r), *event(b, 1, r), upper, out + r * m * n);
}

static void triangles_adjoint (const Batch *b, const double *upstream, int upper,
                               double *const d[]) {
  size_t m = b->dims[0], n = b->dims[1];
  for (size_t r = 0; r < b->n; r++) {
    keep_triangle(b->stop, m, n, upstream + r * m * n, *event(b, 1, r), upper,
                  d[0] + r * m * n);
    d[1][r] = 0;
  }
}

static void tril (const Batch *b, double *out) { triangles(b, 0, out); }
static void triu (const Batch *b, double *out) { triangles(b, 1, out); }

static void tril_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  triangles_adjoint(b, upstream, 0, d);
}

static void triu_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  triangles_adjoint(b, upstream, 1, d);
}


/*
** A triangle of side d as the rows to be divided by: (i, j) of it is at i row + j column, and
** it is a lower one or not.
*/
typedef struct Triangle { size_t d, row, column; int is_lower; } Triangle;

static Triangle lower_of (size_t d) { return (Triangle) {d, d, 1, 1}; }
static Triangle upper_of (size_t d) { return (Triangle) {d, d, 1, 0}; }

static Triangle transposed (Triangle t) {
  return (Triangle) {t.d, t.column, t.row, !t.is_lower};
}

/* x with t x = b, in place of b: m columns, by rows of x in the order in which they follow */
static void divide (Stop stop, Triangle t, const double *at, size_t m, double *x) {
  for (size_t step = 0; step < t.d && !stops_at(stop, step, step * m); step++) {
    size_t i = t.is_lower ? step : t.d - 1 - step;
    double *xi = x + i * m, pivot = at[i * (t.row + t.column)];
    for (size_t before = 0; before < step; before++) {
      size_t k = t.is_lower ? before : t.d - 1 - before;
      double factor = at[i * t.row + k * t.column];
      for (size_t j = 0; j < m; j++) xi[j] = fma(-factor, x[k * m + j], xi[j]);
    }
    for (size_t j = 0; j < m; j++) xi[j] /= pivot;
  }
}

static void solve (const Batch *b, Triangle t, double *out) {
  size_t m = b->dims[1], size = t.d * m;
  for (size_t r = 0; r < b->n; r++, out += size) {
    memcpy(out, event(b, 1, r), size * sizeof *out);
    divide(b->stop, t, event(b, 0, r), m, out);
  }
}

/* b' = t^-T x' and t' = -b' x^T, within the triangle */
static void solve_adjoint (const Batch *b, const double *upstream, Triangle t, double *const d[]) {
  size_t m = b->dims[1], size = t.d * m;
  double *x = b->scratch;
  for (size_t r = 0; r < b->n; r++) {
    const double *at = event(b, 0, r);
    double *db = d[1] + r * size, *dt = d[0] + r * t.d * t.d;
    memcpy(db, upstream + r * size, size * sizeof *db);
    divide(b->stop, transposed(t), at, m, db);
    if (!is_wanted(b, 0)) continue;
    memcpy(x, event(b, 1, r), size * sizeof *x);
    divide(b->stop, t, at, m, x);
    memset(dt, 0, t.d * t.d * sizeof *dt);
    for (size_t i = 0; i < t.d && !stops_at(b->stop, i, size); i++)
      for (size_t k = t.is_lower ? 0 : i; k < (t.is_lower ? i + 1 : t.d); k++) {
        double sum = 0;
        for (size_t j = 0; j < m; j++) sum = fma(-db[i * m + j], x[k * m + j], sum);
        dt[i * t.row + k * t.column] = sum;
      }
  }
}

/* room for x */
static size_t solution (const size_t dims[]) { return dims[0] * dims[1]; }

static void lower (const Batch *b, double *out) { solve(b, lower_of(b->dims[0]), out); }
static void upper (const Batch *b, double *out) { solve(b, upper_of(b->dims[0]), out); }

static void lower_transposed (const Batch *b, double *out) {
  solve(b, transposed(lower_of(b->dims[0])), out);
}

static void upper_transposed (const Batch *b, double *out) {
  solve(b, transposed(upper_of(b->dims[0])), out);
}

static void lower_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  solve_adjoint(b, upstream, lower_of(b->dims[0]), d);
}

static void upper_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  solve_adjoint(b, upstream, upper_of(b->dims[0]), d);
}

static void lower_transposed_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  solve_adjoint(b, upstream, transposed(lower_of(b->dims[0])), d);
}

static void upper_transposed_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  solve_adjoint(b, upstream, transposed(upper_of(b->dims[0])), d);
}


const Kernel perilune_row_matrix[] = {
  {.name = "diag_embed", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(n)->(n,n)", .run = diag_embed, .adjoint = diag_embed_adjoint}},
  {.name = "tril", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(m,n),()->(m,n)", .run = tril, .adjoint = tril_adjoint}},
  {.name = "triu", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(m,n),()->(m,n)", .run = triu, .adjoint = triu_adjoint}},
  {.name = "lower", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(d,d),(d,m)->(d,m)", .run = lower, .adjoint = lower_adjoint,
     .adjoint_scratch = solution}},
  {.name = "upper", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(d,d),(d,m)->(d,m)", .run = upper, .adjoint = upper_adjoint,
     .adjoint_scratch = solution}},
  {.name = "lower_transposed", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(d,d),(d,m)->(d,m)", .run = lower_transposed,
     .adjoint = lower_transposed_adjoint, .adjoint_scratch = solution}},
  {.name = "upper_transposed", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(d,d),(d,m)->(d,m)", .run = upper_transposed,
     .adjoint = upper_transposed_adjoint, .adjoint_scratch = solution}},
  {.name = NULL}
};
