/*
** matmul.c - the product of matrices
**
** Tiles of 4 rows by 8 columns stay in registers while the inner index runs;
** the 8 columns of the right-hand matrix are packed into a panel first. Each
** element is one chain of fused multiply-adds in order of the inner index, so
** tiling changes no bit.
*/
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"

#define ROWS  4
#define COLS  8
#define DEPTH 256   /* inner indices of a panel: 16 KiB */

typedef struct Panel {
  size_t cols, depth;
  double b[DEPTH][COLS];
} Panel;


/* Columns j .. j+7 of rows p .. p+depth-1 of b, zeros beyond the edge. */
static void pack (Panel *panel, const double *b, size_t n, size_t j, size_t p) {
  for (size_t q = 0; q < panel->depth; q++)
    for (size_t c = 0; c < COLS; c++)
      panel->b[q][c] = c < panel->cols ? b[(p + q) * n + j + c] : 0;
}

/* s0 .. s3 += rows a0 .. a3 times the panel. The four sums stand apart so that
   compilers keep them in registers. */
static void multiply (const Panel *panel, const double *const a[ROWS],
                      double sum[ROWS][COLS]) {
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
  double sum[ROWS][COLS] = {{0}};
  const double *row[ROWS];
  for (size_t r = 0; r < ROWS; r++) row[r] = a + (r < rows ? r : rows - 1) * k;
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < panel->cols; c++) sum[r][c] = out[r * n + c];
  multiply(panel, row, sum);
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < panel->cols; c++) out[r * n + c] = sum[r][c];
}

static void product (size_t m, size_t k, size_t n, const double *a,
                     const double *b, double *out) {
  Panel panel;
  for (size_t i = 0; i < m * n; i++) out[i] = 0;
  for (size_t j = 0; j < n; j += COLS) {
    panel.cols = n - j < COLS ? n - j : COLS;
    for (size_t p = 0; p < k; p += DEPTH) {
      panel.depth = k - p < DEPTH ? k - p : DEPTH;
      pack(&panel, b, n, j, p);
      for (size_t i = 0; i < m; i += ROWS)
        tile(&panel, m - i < ROWS ? m - i : ROWS, a + i * k + p, k,
             out + i * n + j, n);
    }
  }
}

static void matmul (const Batch *b, double *out) {
  size_t m = b->dims[0], k = b->dims[1], n = b->dims[2];
  for (size_t r = 0; r < b->n; r++)
    product(m, k, n, event(b, 0, r), event(b, 1, r), out + r * m * n);
}

static void transpose (size_t m, size_t n, const double *a, double *out) {
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) out[j * m + i] = a[i * n + j];
}

/* upstream b^T and a^T upstream */
static void matmul_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t m = b->dims[0], k = b->dims[1], n = b->dims[2];
  for (size_t r = 0; r < b->n; r++) {
    const double *above = upstream + r * m * n;
    transpose(k, n, event(b, 1, r), b->scratch);
    product(m, n, k, above, b->scratch, d[0] + r * m * k);
    transpose(m, k, event(b, 0, r), b->scratch);
    product(k, m, n, b->scratch, above, d[1] + r * k * n);
  }
}

static size_t scratch (const size_t dims[]) {
  return dims[1] * (dims[0] > dims[2] ? dims[0] : dims[2]);
}


const Kernel perilune_row_matmul[] = {
  {.name = "matmul", .n_in = 2, .signature = "(m,k),(k,n)->(m,n)", .rows = matmul,
   .adjoint = matmul_adjoint, .adjoint_scratch = scratch},
  {.name = NULL}
};
