/*
** counts.c - how many elements of a row lie where, and where those are that count
**
**   histogram(x, e)_j   how many x have e_j <= x < e_(j+1); of the last edge, x = e_j. Edges rise.
**   positions(x)_j      the place, from 1, of the j-th element that is not 0; 0 after the last
*/
#include "kernel/kernel.h"
#include "special/vector.h"


/* How many edges are at most x: all comparisons are made, so that nothing is to be predicted. */
static size_t edges_below (size_t m, const double *e, double x) {
  size_t first = 0;
  while (m > 0) {
    size_t half = (m + 1) / 2;
    first += e[first + half - 1] <= x ? half : 0;
    m -= half;
  }
  return first;
}

/* The same; edges at equal distances, 1/density, are tried first. */
static size_t bin_of (size_t m, const double *e, double density, double x) {
  double guess = (x - e[0]) * density;
  size_t j = guess >= 0 && guess < (double)(m - 1) ? (size_t)guess : 0;
  return m > 1 && e[j] <= x && x < e[j + 1] ? j + 1 : edges_below(m, e, x);
}

static void histogram (const Batch *b, double *out) {
  size_t k = b->dims[0], m = b->dims[1];
  clear(b->stop, b->n * m, out);
  for (size_t r = 0; r < b->n; r++, out += m) {
    const double *x = event(b, 0, r), *e = event(b, 1, r);
    double density = m > 1 ? (double)(m - 1) / (e[m - 1] - e[0]) : 0;
    for (size_t i = 0, end; m > 0 && (end = part_end(b->stop, i, k)) > i; )
      for (; i < end; i++) {
        size_t j = bin_of(m, e, density, x[i]);
        if (j > 0 && (j < m || x[i] == e[m - 1])) out[j - 1]++;
      }
  }
}


static void positions (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *x = event(b, 0, r);
    size_t found = 0;
    for (size_t i = 0, end; (end = part_end(b->stop, i, k)) > i; )
      for (; i < end; i++) {
        out[found] = (double)(i + 1);
        found += x[i] != 0;
      }
    clear(b->stop, k - found, out + found);
  }
}


const Kernel perilune_row_counts[] = {
  {.name = "histogram", .n_in = 2, .flat = 1, .integer = 1,
   .rows = &(const RowKernel) {.signature = "(k),(m)->(m)", .run = histogram}},
  {.name = "positions", .n_in = 1, .flat = 1, .integer = 1,
   .rows = &(const RowKernel) {.signature = "(k)->(k)", .run = positions}},
  {.name = NULL}
};
