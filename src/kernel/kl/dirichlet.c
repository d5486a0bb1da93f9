/*
** dirichlet.c - KL(Dirichlet || q)
**
** To Dirichlet, with the gap of log Gamma above its tangent (vtangent.h), shapes a_j and
** A = sum_j a_j of p, b_j and B of q:
**
**   KL = sum_j gap(a_j, b_j - a_j) - gap(A, B - A)
**
** Short rows are computed together.
*/
#include "kernel/kernel.h"
#include "kernel/beta_kl.h"
#include "kernel/row_blocks.h"
#include "special/vgamma.h"


/* Rows that are computed together, of k shares each. */
typedef struct Rows {
  size_t k, most, rows;            /* rows at most, and now */
  const double *a, *b;
  double *room[2], *term;          /* for a and b where rows do not follow one another */
  double *whole[3], *gap;          /* of each row: A, B, B - A, and its gap */
  Stop stop;
} Rows;

static size_t scratch (const size_t dims[]) {
  return rows_in_block(dims[0]) * (3 * dims[0] + 4);
}

static Rows rows_at (const Batch *b) {
  size_t k = b->dims[0], most = rows_in_block(k), n = most * k;
  double *at = b->scratch, *whole = at + 3 * n;
  return (Rows) {.k = k, .most = most, .room = {at, at + n}, .term = at + 2 * n,
                 .whole = {whole, whole + most, whole + 2 * most}, .gap = whole + 3 * most,
                 .stop = b->stop};
}


static void gaps (Stop stop, size_t n, const double *a, const double *b,
                  double *restrict out) {
  for (size_t i = 0, end; (end = part_end(stop, i, n)) > i; )
    EVERY for (; i < end; i++) out[i] = vtangent_gap(a[i], b[i], b[i] - a[i]);
}

static void whole_gaps (const Rows *s) {
  const double *from = s->whole[0], *to = s->whole[1], *d = s->whole[2];
  double *restrict gap = s->gap;
  for (size_t i = 0; i < s->rows; i++) gap[i] = vtangent_gap(from[i], to[i], d[i]);
}

/* A, B and B - A; returns whether the gaps can be trusted, never for NaN */
static int totals (Stop stop, size_t k, const double *a, const double *b, double *from,
                   double *to, double *apart) {
  double least = HUGE_VAL;
  int known = 1;
  *from = *to = *apart = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      double less = a[j] < b[j] ? a[j] : b[j];
      *from += a[j];
      *to += b[j];
      *apart += b[j] - a[j];
      least = less < least ? less : least;
      known &= less == less;
    }
  return known & (least > BETA_KL_TINY) & (*from < BETA_KL_LARGE) & (*to < BETA_KL_LARGE);
}

static double sum_of (Stop stop, size_t k, const double *x) {
  double sum = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) sum += x[j];
  return sum;
}

/* the rows from s->a and s->b on */
static void divergences (const Rows *s, double *out) {
  size_t k = s->k;
  gaps(s->stop, s->rows * k, s->a, s->b, s->term);
  for (size_t i = 0; i < s->rows; i++)
    out[i] = totals(s->stop, k, s->a + i * k, s->b + i * k, s->whole[0] + i,
                    s->whole[1] + i, s->whole[2] + i);
  whole_gaps(s);
  for (size_t i = 0; i < s->rows; i++)
    out[i] = out[i] != 0 ? sum_of(s->stop, k, s->term + i * k) - s->gap[i]
                         : beta_kl_divergence(s->stop, k, s->a + i * k, s->b + i * k);
}

static void to_dirichlet (const Batch *b, double *out) {
  Rows s = rows_at(b);
  for (size_t r = 0; r < b->n; r += s.rows) {
    s.rows = b->n - r < s.most ? b->n - r : s.most;
    s.a = rows_from(b, 0, r, s.rows, s.room[0]);
    s.b = rows_from(b, 1, r, s.rows, s.room[1]);
    divergences(&s, out + r);
  }
}

static void to_dirichlet_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *p = event(b, 0, r), *q = event(b, 1, r);
    double from, to, apart, up = upstream[r];
    totals(b->stop, k, p, q, &from, &to, &apart);
    double whole = vtrigamma_pos(from) * apart, rise = vdigamma_pos(to) - vdigamma_pos(from);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        d[0][r * k + j] = up * fma(-vtrigamma_pos(p[j]), q[j] - p[j], whole);
        d[1][r * k + j] = up * ((vdigamma_pos(q[j]) - vdigamma_pos(p[j])) - rise);
      }
  }
}


const Kernel perilune_kl_dirichlet[] = {
  {.name = "Dirichlet", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k),(k)->()", .run = to_dirichlet, .scratch = scratch,
     .adjoint = to_dirichlet_adjoint}},
  {.name = NULL}
};
