/*
** relaxedonehotcategorical.c - RelaxedOneHotCategorical(temperature T, logits l), shares
** x_1, ..., x_K of a whole that come near a row with a single 1 as T falls (the Concrete law;
** Maddison, Mnih and Teh 2017)
**
**   x = softmax((l + G)/T), G_j standard Gumbel numbers; with v_j = l_j - T log x_j
**   log p(x) = log Gamma(K) + (K - 1) log T + sum_j (v_j - log x_j) - K log sum_j e^v_j
**
** The sums nearly cancel for shares near 0: v_j, and what is summed, are pairs. Where shares
** are 0 the density is its limit as all of them fall to 0 together. An x whose sum is further than
** TOLERANCE from 1 has no density.
*/
#include <math.h>

#include "kernel/kernel.h"
#include "kernel/simplex.h"
#include "special/vgamma.h"
#include "special/vpow.h"

static const double TOLERANCE = 1e-6;
static const double EXACT = 1e15;   /* numbers above have no use for a second double */


/* {=====================================================
** Density
** ====================================================== */

/* v and log x, each in two rows, and e^(v - v_top) */
typedef struct Row { double *v, *v_low, *log_x, *log_low, *e; } Row;

static size_t five_rows (const size_t dims[]) { return 5 * dims[0]; }

static Row row_of (const Batch *b) {
  size_t k = b->dims[0];
  double *s = b->scratch;
  return (Row) {s, s + k, s + 2 * k, s + 3 * k, s + 4 * k};
}

static void fill (Stop stop, size_t k, const double *x, double t, const double *l, Row row) {
  double *restrict v = row.v, *restrict v_low = row.v_low;
  double *restrict log_x = row.log_x, *restrict log_low = row.log_low;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      Pair y = log_pair(x[j]), p = exact_product(-t, y.hi), s = exact_sum(l[j], p.hi);
      double low = s.lo + fma(-t, y.lo, p.lo);
      v[j] = s.hi;
      v_low[j] = fabs(s.hi) < EXACT ? low : 0;
      log_x[j] = y.hi;
      log_low[j] = y.lo;
    }
}

static size_t top_of (Stop stop, size_t k, const double *v) {
  size_t top = 0;
  for (size_t j = 1, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++)
      if (v[j] > v[top]) top = j;
  return top;
}

/* sum_j (v_j - v_top - log x_j) */
static double balance (Stop stop, size_t k, const Row *row, size_t top) {
  double sum = 0, low = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      Pair a = exact_sum(row->v[j], -row->v[top]), b = exact_sum(a.hi, -row->log_x[j]);
      Pair s = exact_sum(sum, b.hi);
      sum = s.hi;
      low += (s.lo + b.lo) + (a.lo + (row->v_low[j] - row->v_low[top] - row->log_low[j]));
    }
  return fabs(sum) < EXACT ? sum + low : sum;
}

/* fills e; returns its sum without the 1 at the top */
static double rest_of (Stop stop, size_t k, Row row, size_t top) {
  double *restrict e = row.e, sum = 0, m = row.v[top], low = row.v_low[top];
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) e[j] = vexp((row.v[j] - m) + (row.v_low[j] - low));
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) sum += j == top ? 0 : e[j];
  return sum;
}

static double constant_of (size_t k, double t) {
  return fma((double)k - 1, vlog(t), vlgamma_pos((double)k));
}

static double density_inside (Stop stop, size_t k, Row row) {
  size_t top = top_of(stop, k, row.v);
  if (row.v[top] == HUGE_VAL) return -HUGE_VAL;   /* T too large for a share off the middle */
  return fma(-(double)k, vlog1p(rest_of(stop, k, row, top)), balance(stop, k, &row, top));
}

/* what is left where m shares are 0 and m = (K - m) T: these alone are in the last sum */
static double density_level (Stop stop, size_t k, const double *x, double t, const double *l) {
  double shift = -HUGE_VAL, sum = 0, value = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) shift = x[j] == 0 && l[j] > shift ? l[j] : shift;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      sum += x[j] == 0 ? vexp(l[j] - shift) : 0;
      value += (l[j] - shift) - (x[j] == 0 ? 0 : (t + 1) * vlog(x[j]));
    }
  return fma(-(double)k, vlog(sum), value);
}

static double density_edge (Stop stop, size_t k, const double *x, double t, const double *l,
                            size_t zeros) {
  double m = (double)zeros, fall = ((double)k - m) * t;
  if (m == fall) return density_level(stop, k, x, t, l);
  return m < fall ? -HUGE_VAL : HUGE_VAL;
}

/* log p without its constant, given the row; inf where impossible outcomes have no share, -inf
   where they have */
static double density (Stop stop, size_t k, const double *x, double t, const double *l,
                       Row row) {
  double sum = 0;
  size_t zeros = 0, negative = 0, impossible = 0, missed = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      sum += x[j];
      zeros += x[j] == 0;
      negative += x[j] < 0;
      impossible += l[j] == -HUGE_VAL;
      missed += (l[j] == -HUGE_VAL) & (x[j] > 0);
    }
  if (sum != sum || t != t) return (double)NAN;
  if (negative > 0 || missed > 0 || !(fabs(sum - 1) <= TOLERANCE)) return -HUGE_VAL;
  if (impossible > 0) return HUGE_VAL;
  return zeros > 0 ? density_edge(stop, k, x, t, l, zeros) : density_inside(stop, k, row);
}

static void log_prob (const Batch *b, double *out) {
  size_t k = b->dims[0];
  const double *seen = NULL;
  double constant = 0;
  Row row = row_of(b);
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *t = event(b, 1, r), *l = event(b, 2, r);
    if (t != seen) constant = constant_of(k, *t);   /* once for a shared temperature */
    seen = t;
    fill(b->stop, k, x, *t, l, row);
    out[r] = density(b->stop, k, x, *t, l, row) + constant;
  }
}

/* with w = softmax(v): along l_j 1 - K w_j, along x_j -(1 + T(1 - K w_j))/x_j, along T
   (K - 1)/T - sum_j (1 - K w_j) log x_j */
static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  Row row = row_of(b);
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *l = event(b, 2, r);
    double t = *event(b, 1, r), up = upstream[r], tilt = 0, *dx = d[0] + r * k, *dl = d[2] + r * k;
    fill(b->stop, k, x, t, l, row);
    int inside = fabs(density(b->stop, k, x, t, l, row)) < HUGE_VAL;
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) inside &= x[j] > 0;
    size_t top = inside ? top_of(b->stop, k, row.v) : 0;
    double share = inside ? (double)k / (1 + rest_of(b->stop, k, row, top)) : 0;
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        double slope = inside ? fma(-share, row.e[j], 1) : 0;
        dl[j] = up * slope;
        dx[j] = inside ? -up * fma(t, slope, 1) / x[j] : 0;
        tilt = inside ? fma(-slope, row.log_x[j], tilt) : 0;
      }
    d[1][r] = inside ? up * (((double)k - 1) / t + tilt) : 0;
  }
}

/* }====================================================== */


/* {=====================================================
** Draws, from exponential numbers E_j: G_j = -log E_j
** ====================================================== */

static void scaled_logits (Stop stop, size_t k, const double *e, double t, const double *l,
                           double *y) {
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) y[j] = l[j] - vlog(e[j]);
  double shift = simplex_shift(stop, k, y);
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) y[j] = (y[j] - shift) / t;   /* the largest is 0 */
  }
  
  static void rsample (const Batch *b, double *out) {
    size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    scaled_logits(b->stop, k, event(b, 0, r), *event(b, 1, r), event(b, 2, r), out);
    simplex_probs(b->stop, k, out, out);
  }
}

/* with g_j = x_j (upstream_j - sum_i x_i upstream_i): g_j/T along l_j, -g_j/(T E_j) along E_j */
static void rsample_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  double *y = b->scratch;
  for (size_t r = 0; r < b->n; r++, upstream += k) {
    const double *e = event(b, 0, r);
    double t = *event(b, 1, r), tilt = 0, *de = d[0] + r * k, *dl = d[2] + r * k;
    scaled_logits(b->stop, k, e, t, event(b, 2, r), y);
    simplex_pull(b->stop, k, y, upstream, 1, dl);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        tilt = dl[j] == 0 ? tilt : fma(-dl[j], y[j], tilt);
        dl[j] /= t;
        de[j] = -dl[j] / e[j];
      }
    d[1][r] = tilt / t;
  }
}

static size_t one_row (const size_t dims[]) { return dims[0]; }

/* }====================================================== */


const Kernel perilune_relaxedonehotcategorical[] = {
  {.name = "log_prob", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(k),(),(k)->()", .run = log_prob, .adjoint = log_prob_adjoint,
     .scratch = five_rows, .adjoint_scratch = five_rows}},
  {.name = "rsample", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(k),(),(k)->(k)", .run = rsample, .adjoint = rsample_adjoint,
     .adjoint_scratch = one_row},
   .sampler = &(const Sampler) {.noise = "exponential"}},
  {.name = NULL}
};
