/*
** constraint.c - what a row or a matrix may be: 1 where it is allowed, 0 where not
**
** NaN is allowed nowhere. Sums and lengths that should be 1 may be off by TOLERANCE, so that
** rows typed or stored with six digits pass; a matrix counts as symmetric if elements across
** the diagonal differ by no more than TOLERANCE times its largest.
*/
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "linalg/triangle.h"

static const double TOLERANCE = 1e-6;
static const double ROUNDING  = 1e-12;   /* of the largest element: what a pivot of 0 may be */

typedef int Test (Stop stop, size_t k, const double *x);


static double sum_of (Stop stop, size_t k, const double *x) {
  double sum = 0;
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) sum += x[i];
  return sum;
}

static double length_of (Stop stop, size_t k, const double *x) {
  double sum = 0;
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) sum = fma(x[i], x[i], sum);
  return sqrt(sum);
}

static int is_one (double x) { return fabs(x - 1) <= TOLERANCE; }

static double largest_of (Stop stop, size_t k, const double *x) {
  double largest = 0;
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
  return largest;
}


static int is_simplex (Stop stop, size_t k, const double *x) {
  int all = is_one(sum_of(stop, k, x));
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) all &= x[i] >= 0;
  return all;
}

static int is_one_hot (Stop stop, size_t k, const double *x) {
  int all = sum_of(stop, k, x) == 1;
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) all &= (x[i] == 0) | (x[i] == 1);
  return all;
}

static int is_increasing (Stop stop, size_t k, const double *x) {
  int all = k == 0 || x[0] == x[0];
  for (size_t i = 1, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) all &= x[i] > x[i - 1];
  return all;
}

static int is_positive_increasing (Stop stop, size_t k, const double *x) {
  return (k == 0 || x[0] > 0) && is_increasing(stop, k, x);
}

static int is_unit (Stop stop, size_t k, const double *x) { return is_one(length_of(stop, k, x)); }


static int is_lower (Stop stop, size_t d, const double *a) {
  int all = 1;
  for (size_t i = 0; i < d && !stops_at(stop, i, d); i++)
    for (size_t j = 0; j < d; j++) all &= j > i ? a[i * d + j] == 0 : a[i * d + j] == a[i * d + j];
  return all;
}

static int is_cholesky (Stop stop, size_t d, const double *a) {
  int all = is_lower(stop, d, a);
  for (size_t i = 0; i < d; i++) all &= a[i * d + i] > 0;
  return all;
}

static int is_corr_cholesky (Stop stop, size_t d, const double *a) {
  int all = is_cholesky(stop, d, a);
  for (size_t i = 0; i < d && !stops_at(stop, i, d); i++) all &= is_unit(stop, d, a + i * d);
  return all;
}

static int is_symmetric (Stop stop, size_t d, const double *a) {
  double largest = largest_of(stop, d * d, a);
  double room = largest < INFINITY ? TOLERANCE * largest : 0;
  int all = 1;
  for (size_t i = 0; i < d && !stops_at(stop, i, d); i++)
    for (size_t j = 0; j <= i; j++) {
      double x = a[i * d + j], y = a[j * d + i];
      all &= (fabs(x - y) <= room) | (x == y);
    }
  return all;
}


/* a test of rows, or of square matrices, run over a batch */
static void test_all (const Batch *b, size_t size, Test *test, double *out) {
  for (size_t r = 0; r < b->n; r++) out[r] = test(b->stop, size, event(b, 0, r));
}

static void simplex (const Batch *b, double *out) { test_all(b, b->dims[0], is_simplex, out); }
static void one_hot (const Batch *b, double *out) { test_all(b, b->dims[0], is_one_hot, out); }
static void ordered (const Batch *b, double *out) { test_all(b, b->dims[0], is_increasing, out); }
static void positive_ordered (const Batch *b, double *out) {
  test_all(b, b->dims[0], is_positive_increasing, out);
}
static void sphere (const Batch *b, double *out) { test_all(b, b->dims[0], is_unit, out); }
static void lower (const Batch *b, double *out) { test_all(b, b->dims[0], is_lower, out); }
static void cholesky (const Batch *b, double *out) { test_all(b, b->dims[0], is_cholesky, out); }
static void corr (const Batch *b, double *out) { test_all(b, b->dims[0], is_corr_cholesky, out); }
static void symmetric (const Batch *b, double *out) { test_all(b, b->dims[0], is_symmetric, out); }


/* counts that sum to in[1] */
static void multinomial (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    int all = sum_of(b->stop, k, x) == *event(b, 1, r);
    for (size_t i = 0, end; (end = part_end(b->stop, i, k)) > i; )
      for (; i < end; i++) all &= (x[i] >= 0) & (floor(x[i]) == x[i]);
    out[r] = all;
  }
}


static size_t one_matrix (const size_t dims[]) { return dims[0] * dims[0]; }

/* l: room for the factor */
static int is_definite (Stop stop, size_t d, const double *a, double *l) {
  int all = is_symmetric(stop, d, a);
  triangle_cholesky(stop, d, a, l, triangle_first(d));
  for (size_t i = 0; i < d; i++) all &= l[i * d + i] > 0;
  return all;
}

static void positive_definite (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++) out[r] = is_definite(b->stop, d, event(b, 0, r), b->scratch);
}

static void corr_matrix (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *a = event(b, 0, r);
    int all = is_definite(b->stop, d, a, b->scratch);
    for (size_t i = 0; i < d; i++) all &= is_one(a[i * d + i]);
    out[r] = all;
  }
}


static size_t largest_pivot (size_t d, const double *a, const unsigned char *done) {
  size_t best = d;
  for (size_t i = 0; i < d; i++)
    if (!done[i] && (best == d || a[i * d + i] > a[best * d + best])) best = i;
  return best;
}

/* a - v v^T / pivot over what is left, v being the pivot's column */
static void eliminate (size_t d, double *a, const unsigned char *done, size_t p) {
  double pivot = a[p * d + p];
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; !done[i] && j < d; j++)
      if (!done[j]) a[i * d + j] = fma(-(a[i * d + p] / pivot), a[p * d + j], a[i * d + j]);
}

static int all_zero (size_t d, const double *a, const unsigned char *done, double room) {
  int all = 1;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) all &= done[i] | done[j] | (fabs(a[i * d + j]) <= room);
  return all;
}

/* Gauss with the largest diagonal element as pivot: once that is 0, so is all that is left. */
static int is_semidefinite (Stop stop, size_t d, double *a, unsigned char *done) {
  double largest = largest_of(stop, d * d, a), room = ROUNDING * largest;
  if (!(largest < INFINITY)) return 0;
  memset(done, 0, d);
  for (size_t step = 0; step < d && !stops(stop); step++) {
    size_t p = largest_pivot(d, a, done);
    if (!(a[p * d + p] > room)) return all_zero(d, a, done, room);
    done[p] = 1;
    eliminate(d, a, done, p);
  }
  return 1;
}

static size_t matrix_and_flags (const size_t dims[]) { return dims[0] * dims[0] + dims[0]; }

static void positive_semidefinite (const Batch *b, double *out) {
  size_t d = b->dims[0];
  unsigned char *done = (unsigned char *)(b->scratch + d * d);
  for (size_t r = 0; r < b->n; r++) {
    memcpy(b->scratch, event(b, 0, r), d * d * sizeof(double));
    out[r] = is_symmetric(b->stop, d, b->scratch) && is_semidefinite(b->stop, d, b->scratch, done);
  }
}


const Kernel perilune_row_constraint[] = {
  {.name = "simplex", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(k)->()", .run = simplex}},
  {.name = "one_hot", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(k)->()", .run = one_hot}},
  {.name = "ordered_vector", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(k)->()", .run = ordered}},
  {.name = "positive_ordered", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(k)->()",
                               .run = positive_ordered}},
  {.name = "sphere", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(k)->()", .run = sphere}},
  {.name = "multinomial", .n_in = 2, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(k),()->()", .run = multinomial}},
  {.name = "lower_triangular", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(d,d)->()", .run = lower}},
  {.name = "lower_cholesky", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(d,d)->()", .run = cholesky}},
  {.name = "corr_cholesky", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(d,d)->()", .run = corr}},
  {.name = "symmetric", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(d,d)->()", .run = symmetric}},
  {.name = "positive_definite", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->()", .run = positive_definite, .scratch = one_matrix}},
  {.name = "corr_matrix", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->()", .run = corr_matrix, .scratch = one_matrix}},
  {.name = "positive_semidefinite", .n_in = 1, .flat = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->()", .run = positive_semidefinite, .scratch = matrix_and_flags}},
  {.name = NULL}
};
