/*
** triangles.h - the difference of two triangles: (z, E) = L2^-1 (m1 - m2, L1 - L2)
**
** They are d rows (z_i, E_i0, ..., E_ii, 0, ...) of wide_for(d) numbers, solved in blocks of
** TILE_ROWS rows by TILE_WIDTH columns that stay in registers while the inner index runs. Every
** number is one chain in the order of the inner index, so blocks change no bit. 1 + E is L2^-1 L1,
** and e_i = E_ii = L1_ii/L2_ii - 1.
*/
#ifndef PERILUNE_TRIANGLES_H
#define PERILUNE_TRIANGLES_H

#include <string.h>

#include "linalg/stop.h"
#include "special/eight.h"
#include "special/vratio.h"

enum { TILE_ROWS = 4, TILE_WIDTH = 8 };

/* L1, L2, and m1 and m2, or NULL for z = 0 */
typedef struct Triangles { size_t d; const double *m1, *l1, *m2, *l2; Stop stop; } Triangles;


/* Is 1/a exact to the last bit or so? */
VECTOR int plain (double a) { return (a > 0x1p-1000) & (a < 0x1p1000); }

static inline size_t wide_for (size_t d) { return (d + TILE_WIDTH) / TILE_WIDTH * TILE_WIDTH; }

/* 1/L2_ii, or 0 where it has lost digits */
static inline void invert_diagonal (size_t d, const double *l, double *inverse) {
  for (size_t i = 0; i < d; i++) inverse[i] = plain(l[i * d + i]) ? 1 / l[i * d + i] : 0;
}

/* the right-hand sides, m1 - m2 and L1 - L2 */
static inline void fill_gaps (Triangles t, double *e) {
  size_t d = t.d, wide = wide_for(d);
  const double *l1 = t.l1, *l2 = t.l2;
  for (size_t i = 0; i < d; i++, l1 += d, l2 += d, e += wide) {
    e[0] = t.m1 ? t.m1[i] - t.m2[i] : 0;
    for (size_t j = 0; j <= i; j++) e[j + 1] = l1[j] - l2[j];
    for (size_t j = i + 2; j < wide; j++) e[j] = 0;
  }
}

/* columns from `first` on of `rows` rows from i on: those above are there, and zero before row
   `start`; inlined for each number of rows */
VECTOR void solve_block (size_t rows, Triangles t, size_t i, size_t start, size_t first,
                         const double *inverse, double *e) {
  size_t d = t.d, wide = wide_for(d);
  const double *l = t.l2 + i * d;
  Eight sum[TILE_ROWS], above;
  for (size_t r = 0; r < rows; r++) eight_load(&sum[r], e + (i + r) * wide + first);
  for (size_t k = start; k < i; k++) {
    eight_load(&above, e + k * wide + first);
    for (size_t r = 0; r < rows; r++) eight_subtract(&sum[r], l[r * d + k], &above);
  }
  for (size_t r = 0; r < rows; r++) {
    for (size_t k = 0; k < r; k++) eight_subtract(&sum[r], l[r * d + i + k], &sum[k]);
    if (inverse[i + r] != 0) eight_multiply(&sum[r], inverse[i + r]);
    else eight_divide(&sum[r], l[r * d + i + r]);
    eight_store(&sum[r], e + (i + r) * wide + first);
  }
}

/* z and E; `inverse` holds d numbers */
static inline void solve (Triangles t, double *inverse, double *e) {
  size_t d = t.d;
  invert_diagonal(d, t.l2, inverse);
  fill_gaps(t, e);
  for (size_t first = 0; first <= d && !stops(t.stop); first += TILE_WIDTH) {
    size_t start = first > 0 ? first - 1 : 0, i = start / TILE_ROWS * TILE_ROWS;
    for (; i + TILE_ROWS <= d; i += TILE_ROWS)
      solve_block(TILE_ROWS, t, i, start, first, inverse, e);
    for (; i < d; i++) solve_block(1, t, i, start, first, inverse, e);
  }
}

static inline double squares (size_t n, const double *e) {
  double sum[TILE_WIDTH] = {0}, all = 0;
  for (size_t i = 0; i < n; i += TILE_WIDTH)
    for (size_t c = 0; c < TILE_WIDTH; c++) sum[c] = fma(e[i + c], e[i + c], sum[c]);
  for (size_t c = 0; c < TILE_WIDTH / 2; c++) sum[c] += sum[c + TILE_WIDTH / 2];
  for (size_t c = 0; c < TILE_WIDTH / 2; c++) all += sum[c];
  return all;
}

/* the sum of excesses of L1_ii/L2_ii; `inverse` is overwritten */
static inline double excesses (Triangles t, const double *e, double *inverse) {
  size_t d = t.d, next = wide_for(d) + 1;
  double sum = 0;
  for (size_t i = 0; i < d; i++)
    inverse[i] = vexcess(t.l1[i * d + i] * inverse[i], e[i * next + 1]);
  for (size_t i = 0; i < d; i++) {
    double a = t.l1[i * d + i], c = t.l2[i * d + i];
    sum += vratio_plain(a / c, c) ? inverse[i] : vexcess_wide(a, c);
  }
  return sum;
}

/* x = L2^-T x for rows of `wide` numbers */
static inline void solve_transposed (Stop stop, size_t d, const double *l2, size_t wide,
                                     double *x) {
  for (size_t i = d; i-- > 0 && !stops(stop); ) {
    for (size_t c = 0; c < wide; c++) x[i * wide + c] /= l2[i * d + i];
    for (size_t k = 0; k < i; k++)
      for (size_t c = 0; c < wide; c++)
        x[k * wide + c] = fma(-l2[i * d + k], x[i * wide + c], x[k * wide + c]);
  }
}

/* N = (1 + E) (1 + E)^T + z z^T - 1 = E + E^T + E E^T + z z^T, symmetric */
static inline void fill_inner (Stop stop, size_t d, const double *e, double *n) {
  size_t wide = wide_for(d);
  for (size_t i = 0; i < d && !stops(stop); i++)
    for (size_t j = 0; j <= i; j++) {
      const double *a = e + i * wide, *c = e + j * wide;
      double sum = i == j ? 2 * a[j + 1] : a[j + 1];
      for (size_t k = 0; k <= j + 1; k++) sum = fma(a[k], c[k], sum);
      n[i * d + j] = n[j * d + i] = sum;
    }
}

/* d[k] = up x below and on the diagonal, where x has rows of `wide` numbers */
static inline void put_triangle (size_t d, double up, const double *x, size_t wide, double *out) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) out[i * d + j] = j <= i ? up * x[i * wide + j] : 0;
}

#endif
