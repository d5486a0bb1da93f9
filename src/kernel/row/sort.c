/*
** sort.c - rows in order, and their quantiles
**
**   argsort(x)_j      the place, from 1, of the j-th smallest of x: equal elements stay in their
**                     order, and NaN comes last
**   ranks(x)_j        how many are at most x_j; those of equal elements averaged, NaN of NaN
**   sorted(x)_j       the j-th smallest itself; 0 for -0, and NaN last
**   reorder(x, i)_j   x_i, i being the j-th of such places
**   quantile(x, q)_j  x_(i) + (h - i)(x_(i+1) - x_(i)),   h = (k - 1) q_j,   i = floor(h), of
**                     the sorted row x_(0), ..., x_(k-1): type 7 of Hyndman and Fan
**
** Rows are sorted by merging, which takes k log k steps whatever is in them; values alone by their
** bytes, from the last to the first, which takes eight passes.
*/
#include <string.h>

#include "kernel/kernel.h"
#include "special/vector.h"

enum { RUN = 16 };   /* elements that are sorted by insertion */

/* An element: its order as an integer, and where it was. */
typedef struct Item { int64_t key; double place; } Item;

/* room for the items of a row, twice */
static size_t items (const size_t dims[]) { return 4 * dims[0]; }


/* Integers in the order of numbers: 0 and -0 are one, and NaN is above all. */
static int64_t key_of (double x) {
  int64_t bits = (int64_t)bits_of(x + 0.0);
  if (x != x) return INT64_MAX;
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

static void insert (size_t n, Item *run) {
  for (size_t i = 1; i < n; i++) {
    Item item = run[i];
    size_t j = i;
    for (; j > 0 && item.key < run[j - 1].key; j--) run[j] = run[j - 1];
    run[j] = item;
  }
}

static void copy (Stop stop, size_t n, const Item *from, Item *to) {
  for (size_t i = 0, end; (end = part_end(stop, i, n)) > i; i = end)
    memcpy(to + i, from + i, (end - i) * sizeof *to);
}

/* a, sorted, and what follows it, sorted, as one */
static void merge (Stop stop, size_t n, const Item *a, size_t m, Item *to) {
  const Item *b = a + n, *end_a = a + n, *end_b = b + m;
  while (a < end_a && b < end_b && !stops(stop)) {
    for (size_t i = 0; i < STOP_PART && a < end_a && b < end_b; i++) {
      ptrdiff_t second = b->key < a->key;
      *to++ = *(second ? b : a);
      b += second;
      a += 1 - second;
    }
  }
  copy(stop, (size_t)(end_a - a), a, to);
  copy(stop, (size_t)(end_b - b), b, to + (end_a - a));
}

static void merge_all (Stop stop, size_t k, size_t width, const Item *from, Item *to) {
  for (size_t at = 0; at < k && !stops_at(stop, at / width / 2, width); at += 2 * width) {
    size_t n = k - at < width ? k - at : width;
    size_t m = k - at - n < width ? k - at - n : width;
    merge(stop, n, from + at, m, to + at);
  }
}

/* The items of a row in order, within the scratch. */
static const Item *sorted (Stop stop, size_t k, const double *x, double *scratch) {
  Item *from = (Item *)(void *)scratch, *to = from + k;
  for (size_t i = 0; i < k && !stops_at(stop, i / RUN, RUN); i += RUN) {
    size_t n = k - i < RUN ? k - i : RUN;
    for (size_t j = i; j < i + n; j++) from[j] = (Item) {key_of(x[j]), (double)(j + 1)};
    insert(n, from + i);
  }
  for (size_t width = RUN; width < k && !stops(stop); width *= 2) {
    Item *free = from;
    merge_all(stop, k, width, from, to);
    from = to;
    to = free;
  }
  return from;
}


static void argsort (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const Item *item = sorted(b->stop, k, event(b, 0, r), b->scratch);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) out[j] = item[j].place;
  }
}


static void ranks (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const Item *item = sorted(b->stop, k, event(b, 0, r), b->scratch);
    if (stops(b->stop)) return;
    for (size_t i = 0, end; i < k; ) {
      for (end = i + 1; end < k && item[end].key == item[i].key; ) end++;
      double rank = item[i].key == INT64_MAX ? (double)NAN : 0.5 * (double)(i + 1 + end);
      for (; i < end; i++) out[(size_t)item[i].place - 1] = rank;
    }
  }
}


enum { BYTES = sizeof(uint64_t), VALUES = 256 };

static size_t keys (const size_t dims[]) { return 2 * dims[0]; }

static size_t byte_of (uint64_t key, int byte) { return key >> 8 * byte & (VALUES - 1); }

/* Keys in the order of one byte, equal ones as they were; 0 if all have the same. */
static int pass (Stop stop, size_t k, int byte, const uint64_t *from, uint64_t *to) {
  size_t start[VALUES] = {0}, sum = 0;
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) start[byte_of(from[i], byte)]++;
  if (start[byte_of(from[0], byte)] == k) return 0;
  for (size_t v = 0; v < VALUES; v++) {
    size_t count = start[v];
    start[v] = sum;
    sum += count;
  }
  if (sum < k) return 0;   /* it was given up */
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) to[start[byte_of(from[i], byte)]++] = from[i];
  return 1;
}

static double value_of (uint64_t key) {
  int64_t order = (int64_t)(key ^ (uint64_t)INT64_MIN);
  if (order == INT64_MAX) return (double)NAN;
  return double_of((uint64_t)(order < 0 ? order ^ INT64_MAX : order));
}

static void sorted_values (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n && k > 0; r++, out += k) {
    const double *x = event(b, 0, r);
    uint64_t *from = (uint64_t *)(void *)b->scratch, *to = from + k;
    for (size_t i = 0, end; (end = part_end(b->stop, i, k)) > i; )
      for (; i < end; i++) from[i] = (uint64_t)key_of(x[i]) ^ (uint64_t)INT64_MIN;
    for (int byte = 0; byte < BYTES && !stops(b->stop); byte++)
      if (pass(b->stop, k, byte, from, to)) {
        uint64_t *free = from;
        from = to;
        to = free;
      }
    for (size_t i = 0, end; (end = part_end(b->stop, i, k)) > i; )
      for (; i < end; i++) out[i] = value_of(from[i]);
  }
}


/* A number from 1 to k as one from 0 on; k for any other. */
static size_t place_of (double index, size_t k) {
  return index >= 1 && index <= (double)k ? (size_t)index - 1 : k;
}

static void reorder (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *x = event(b, 0, r), *index = event(b, 1, r);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        size_t i = place_of(index[j], k);
        out[j] = i < k ? x[i] : (double)NAN;
      }
  }
}

static void reorder_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  clear(b->stop, b->n * k, d[0]);
  if (is_wanted(b, 1)) clear(b->stop, b->n * k, d[1]);
  for (size_t r = 0; r < b->n; r++, upstream += k) {
    const double *index = event(b, 1, r);
    double *dx = d[0] + r * k;
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        size_t i = place_of(index[j], k);
        if (i < k) dx[i] += upstream[j];
      }
  }
}


/* Two neighbours in the order of a row, where they were, and the part of the way between them.
   There is none, and `found` is 0, if q is no part of 1 or the row is empty or has a NaN. */
typedef struct Gap { int found; size_t low, high; double part; } Gap;

static Gap gap_at (size_t k, const Item *item, double q) {
  if (k == 0 || !(q >= 0 && q <= 1) || item[k - 1].key == INT64_MAX) return (Gap) {0};
  double h = q * (double)(k - 1);
  size_t i = (size_t)h, next = i + 1 < k ? i + 1 : i;
  return (Gap) {1, (size_t)item[i].place - 1, (size_t)item[next].place - 1, h - (double)i};
}

/* from the nearer end; by weights where the difference is infinite */
static double value_in (Gap gap, const double *x) {
  double low = x[gap.low], high = x[gap.high], width = high - low;
  if (gap.part == 0 || low == high) return low;
  if (fabs(width) == INFINITY) return (1 - gap.part) * low + gap.part * high;
  return gap.part < 0.5 ? fma(gap.part, width, low) : fma(gap.part - 1, width, high);
}

static void quantile (const Batch *b, double *out) {
  size_t k = b->dims[0], m = b->dims[1];
  for (size_t r = 0; r < b->n; r++, out += m) {
    const double *x = event(b, 0, r), *q = event(b, 1, r);
    const Item *item = sorted(b->stop, k, x, b->scratch);
    if (stops(b->stop)) return;   /* they are in no order */
    for (size_t j = 0; j < m; j++) {
      Gap gap = gap_at(k, item, q[j]);
      out[j] = gap.found ? value_in(gap, x) : (double)NAN;
    }
  }
}

/* to the two neighbours by their weights */
static void quantile_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0], m = b->dims[1];
  clear(b->stop, b->n * k, d[0]);
  for (size_t r = 0; r < b->n; r++, upstream += m) {
    const double *x = event(b, 0, r), *q = event(b, 1, r);
    const Item *item = sorted(b->stop, k, x, b->scratch);
    if (stops(b->stop)) return;
    for (size_t j = 0; j < m; j++) {
      Gap gap = gap_at(k, item, q[j]);
      d[1][r * m + j] = gap.found ? upstream[j] * (double)(k - 1) * (x[gap.high] - x[gap.low]) : 0;
      if (!gap.found) continue;
      d[0][r * k + gap.low] = fma(1 - gap.part, upstream[j], d[0][r * k + gap.low]);
      d[0][r * k + gap.high] = fma(gap.part, upstream[j], d[0][r * k + gap.high]);
    }
  }
}


const Kernel perilune_row_sort[] = {
  {.name = "argsort", .n_in = 1, .flat = 1, .integer = 1,
   .rows = &(const RowKernel) {.signature = "(k)->(k)", .run = argsort, .scratch = items}},
  {.name = "ranks", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(k)->(k)", .run = ranks, .scratch = items}},
  {.name = "sorted", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(k)->(k)", .run = sorted_values, .scratch = keys}},
  {.name = "reorder", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k),(k)->(k)", .run = reorder, .adjoint = reorder_adjoint}},
  {.name = "quantile", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k),(m)->(m)", .run = quantile, .adjoint = quantile_adjoint,
     .scratch = items, .adjoint_scratch = items}},
  {.name = NULL}
};
