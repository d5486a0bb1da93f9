/*
** matmul.c - the product of matrices
**
** Tiles of 4 rows by 8 columns stay in registers while the inner index runs; the 8 columns of the
** right-hand matrix are packed into a panel first. Each element is one chain of fused multiply-adds
** in order of the inner index, so tiles change no bit. Where one side is a vector nothing is used
** twice, so nothing is packed, and a long sum may be cut into several chains.
*/
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "special/eight.h"

#define TILE_HEIGHT 4      /* rows of a tile */
#define COLS        8      /* columns of a tile and of a panel */
#define PANEL_DEPTH 256    /* inner indices of a panel: 16 KiB */
#define VECTOR_SUMS 16     /* sums computed side by side in a product with a vector */
#define LONG        64     /* elements of a row that is worth a sum of its own */
#define MANY        1024   /* rows times a panel, between which the work may be given up */

typedef struct Shape { size_t m, k, n; } Shape;   /* m x k times k x n */

typedef struct Panel {
  size_t cols, depth;
  double b[PANEL_DEPTH][COLS];
} Panel;


/* Columns j .. j+7 of rows p .. p+depth-1 of b, zeros beyond the edge. */
static void pack (Panel *panel, const double *b, size_t n, size_t j, size_t p) {
  for (size_t q = 0; q < panel->depth; q++)
    for (size_t c = 0; c < COLS; c++)
      panel->b[q][c] = c < panel->cols ? b[(p + q) * n + j + c] : 0;
}

/* s0 .. s3 += rows a0 .. a3 times the panel. The four sums stand apart so that
   compilers keep them in registers. */
static void multiply (const Panel *panel, const double *const a[TILE_HEIGHT],
                      double sum[TILE_HEIGHT][COLS]) {
  const double *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3];
  double s0[COLS], s1[COLS], s2[COLS], s3[COLS];
  memcpy(s0, sum[0], sizeof s0);
  memcpy(s1, sum[1], sizeof s1);
  memcpy(s2, sum[2], sizeof s2);
  memcpy(s3, sum[3], sizeof s3);
  for (size_t q = 0; q < panel->depth; q++) {
    const double *b = panel->b[q];
    for (size_t c = 0; c < COLS; c++) {
      s0[c] = fma(a0[q], b[c], s0[c]);
      s1[c] = fma(a1[q], b[c], s1[c]);
      s2[c] = fma(a2[q], b[c], s2[c]);
      s3[c] = fma(a3[q], b[c], s3[c]);
    }
  }
  memcpy(sum[0], s0, sizeof s0);
  memcpy(sum[1], s1, sizeof s1);
  memcpy(sum[2], s2, sizeof s2);
  memcpy(sum[3], s3, sizeof s3);
}

/* out += a panel, for `rows` rows; a row beyond the edge repeats the last. */
static void tile (const Panel *panel, size_t rows, const double *a, size_t k,
                  double *out, size_t n) {
  double sum[TILE_HEIGHT][COLS] = {{0}};
  const double *row[TILE_HEIGHT];
  for (size_t r = 0; r < TILE_HEIGHT; r++) row[r] = a + (r < rows ? r : rows - 1) * k;
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < panel->cols; c++) sum[r][c] = out[r * n + c];
  multiply(panel, row, sum);
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < panel->cols; c++) out[r * n + c] = sum[r][c];
}

/* Sixteen results of a row times a matrix of n columns. */
static void sixteen_columns (size_t k, size_t n, const double *a, const double *b, double *out) {
  Eight left = {{0}, {0}}, right = {{0}, {0}}, x;
  for (size_t p = 0; p < k; p++) {
    eight_load(&x, b + p * n);
    eight_add(&left, a[p], &x);
    eight_load(&x, b + p * n + 8);
    eight_add(&right, a[p], &x);
  }
  eight_store(&left, out);
  eight_store(&right, out + 8);
}

/* Four, each in four parts that do not wait for one another. */
static void four_columns (size_t k, size_t n, const double *a, const double *b, double *out) {
  Four s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
  size_t p = 0;
  for (; p + 4 <= k; p += 4) {
    Four x0 = *(const FourAnywhere *)(b + p * n), x1 = *(const FourAnywhere *)(b + (p + 1) * n);
    Four x2 = *(const FourAnywhere *)(b + (p + 2) * n), x3 = *(const FourAnywhere *)(b + (p + 3) * n);
    four_add(&s0, a[p], &x0);
    four_add(&s1, a[p + 1], &x1);
    four_add(&s2, a[p + 2], &x2);
    four_add(&s3, a[p + 3], &x3);
  }
  for (; p < k; p++) {
    Four x = *(const FourAnywhere *)(b + p * n);
    four_add(&s0, a[p], &x);
  }
  *(FourAnywhere *)out = s0 + s1 + s2 + s3;
}

/* One, in VECTOR_SUMS parts. */
static double column (size_t k, size_t n, const double *a, const double *b) {
  double sum[VECTOR_SUMS] = {0};
  size_t p = 0;
  for (; p + VECTOR_SUMS <= k; p += VECTOR_SUMS)
    for (size_t q = 0; q < VECTOR_SUMS; q++)
      sum[q] = fma(a[p + q], b[(p + q) * n], sum[q]);
  for (; p < k; p++) sum[0] = fma(a[p], b[p * n], sum[0]);
  for (size_t q = 1; q < VECTOR_SUMS; q++) sum[0] += sum[q];
  return sum[0];
}

static void row_times_matrix (Stop stop, size_t k, size_t n, const double *a, const double *b,
                              double *out) {
  size_t j = 0;
  for (; j + VECTOR_SUMS <= n && !stops_at(stop, j / VECTOR_SUMS, VECTOR_SUMS * k);
       j += VECTOR_SUMS)
    sixteen_columns(k, n, a, b + j, out + j);
  for (; j + 4 <= n; j += 4) four_columns(k, n, a, b + j, out + j);
  for (; j < n; j++) out[j] = column(k, n, a, b + j);
}

/* Eight rows times a column. */
static void eight_rows (size_t k, const double *a, const double *b, double *out) {
  Eight sum = {{0}, {0}};
  for (size_t p = 0; p < k; p++, a++) {
    Eight x = {{a[0], a[k], a[2 * k], a[3 * k]}, {a[4 * k], a[5 * k], a[6 * k], a[7 * k]}};
    eight_add(&sum, b[p], &x);
  }
  eight_store(&sum, out);
}

/* Long rows one at a time, short ones side by side. */
static void matrix_times_column (Stop stop, size_t m, size_t k, const double *a, const double *b,
                                 double *out) {
  size_t i = 0;
  for (; k < LONG && i + COLS <= m && !stops_at(stop, i / COLS, COLS * k); i += COLS)
    eight_rows(k, a + i * k, b, out + i);
  for (; i < m && !stops_at(stop, i, k); i++) out[i] = column(k, 1, a + i * k, b);
}

static void tiled (Stop stop, size_t m, size_t k, size_t n, const double *a, const double *b,
                   double *out) {
  Panel panel;
  for (size_t i = 0; i < m * n; i++) out[i] = 0;
  for (size_t j = 0; j < n; j += COLS) {
    panel.cols = n - j < COLS ? n - j : COLS;
    for (size_t p = 0; p < k; p += PANEL_DEPTH) {
      panel.depth = k - p < PANEL_DEPTH ? k - p : PANEL_DEPTH;
      pack(&panel, b, n, j, p);
      for (size_t i = 0; i < m; i += TILE_HEIGHT) {
        if (i % MANY == 0 && stops(stop)) return;
        tile(&panel, m - i < TILE_HEIGHT ? m - i : TILE_HEIGHT, a + i * k + p, k,
             out + i * n + j, n);
      }
    }
  }
}

static void product (Stop stop, size_t m, size_t k, size_t n, const double *a,
                     const double *b, double *out) {
  if (m == 1) row_times_matrix(stop, k, n, a, b, out);
  else if (n == 1) matrix_times_column(stop, m, k, a, b, out);
  else tiled(stop, m, k, n, a, b, out);
}

/* The transpose of an m x n matrix, in `room` unless it lies in memory as the matrix does. */
static const double *transposed (size_t m, size_t n, const double *a, double *room) {
  if (m == 1 || n == 1) return a;
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) room[j * m + i] = a[i * n + j];
  return room;
}

/* upstream b^T; for a single row it is b times a column */
static void left_adjoint (const Batch *b, Shape s, size_t r, const double *above, double *d) {
  const double *right = event(b, 1, r);
  if (s.m == 1) product(b->stop, s.k, s.n, 1, right, above, d);
  else product(b->stop, s.m, s.n, s.k, above, transposed(s.k, s.n, right, b->scratch), d);
}

/* a^T upstream; for a single column it is a row times a */
static void right_adjoint (const Batch *b, Shape s, size_t r, const double *above, double *d) {
  const double *left = event(b, 0, r);
  if (s.n == 1) product(b->stop, 1, s.m, s.k, above, left, d);
  else product(b->stop, s.k, s.m, s.n, transposed(s.m, s.k, left, b->scratch), above, d);
}

static void products (const Batch *b, Shape s, double *out) {
  for (size_t r = 0; r < b->n; r++)
    product(b->stop, s.m, s.k, s.n, event(b, 0, r), event(b, 1, r), out + r * s.m * s.n);
}

static void adjoints (const Batch *b, Shape s, const double *upstream, double *const d[]) {
  for (size_t r = 0; r < b->n; r++, upstream += s.m * s.n) {
    if (is_wanted(b, 0)) left_adjoint(b, s, r, upstream, d[0] + r * s.m * s.k);
    if (is_wanted(b, 1)) right_adjoint(b, s, r, upstream, d[1] + r * s.k * s.n);
  }
}

static size_t scratch (const size_t dims[]) {
  size_t m = dims[0], k = dims[1], n = dims[2];
  return m == 1 || n == 1 ? 0 : k * (m > n ? m : n);
}


static Shape matrices (const Batch *b) { return (Shape) {b->dims[0], b->dims[1], b->dims[2]}; }
static Shape row_first (const Batch *b) { return (Shape) {1, b->dims[0], b->dims[1]}; }
static Shape column_last (const Batch *b) { return (Shape) {b->dims[0], b->dims[1], 1}; }
static Shape vectors (const Batch *b) { return (Shape) {1, b->dims[0], 1}; }

static void matmul (const Batch *b, double *out) { products(b, matrices(b), out); }
static void vecmat (const Batch *b, double *out) { products(b, row_first(b), out); }
static void matvec (const Batch *b, double *out) { products(b, column_last(b), out); }
static void dot (const Batch *b, double *out) { products(b, vectors(b), out); }

static void matmul_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  adjoints(b, matrices(b), upstream, d);
}

static void vecmat_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  adjoints(b, row_first(b), upstream, d);
}

static void matvec_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  adjoints(b, column_last(b), upstream, d);
}

static void dot_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  adjoints(b, vectors(b), upstream, d);
}


const Kernel perilune_row_matmul[] = {
  {.name = "matmul", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(m,k),(k,n)->(m,n)", .run = matmul, .adjoint = matmul_adjoint,
     .adjoint_scratch = scratch}},
  {.name = "vecmat", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k),(k,n)->(n)", .run = vecmat, .adjoint = vecmat_adjoint}},
  {.name = "matvec", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(m,k),(k)->(m)", .run = matvec, .adjoint = matvec_adjoint}},
  {.name = "dot", .n_in = 2,
   .rows = &(const RowKernel) {.signature = "(k),(k)->()", .run = dot, .adjoint = dot_adjoint}},
  {.name = NULL}
};
