/*
** categorical.c - KL(Categorical || q)
**
** To Categorical, with the logits l_j of p and m_j of q, D_j = m_j - l_j and
** d_j = D_j - sum_i p_i D_i, whose mean under p is 0:
**
**   KL = log sum_j p_j e^(d_j) = log(1 + sum_j p_j f(d_j)),   f(d) = e^d - 1 - d >= 0
**
** Nothing cancels when q is near p, an error of the mean counts only by its square, and
** neither row need be normalised. Short rows are computed together.
*/
#include "kernel/kernel.h"
#include "kernel/simplex.h"
#include "kernel/row_blocks.h"
#include "special/pair.h"
#include "special/vmath.h"
#include "special/vrun.h"

enum { OPERATIONS = 16 * RUN };   /* of a run */

/* e^FAR is neither lost nor infinite in a product with weights between those */
static const double FAR = 300, LIGHT = 1e-130, HEAVY = 1e130;

/* further out p (e^(d - KL) - 1) has fewer digits than q - p */
static const double NEAR = 32;

/* below it the rounding of the mean, squared, may show if it is not counted from the top */
static const double SMALL = 1e-14;


/* Rows that are computed together, of k outcomes each. */
typedef struct Rows {
  size_t k, most, rows;   /* rows at most, and now */
  const double *l, *m;
  double *room[2];        /* for them where rows do not follow one another */
  double *weight;         /* of each outcome, e^(l_j) */
  double *apart;          /* D_j, then D_j less its mean */
  double *sum;            /* of each row's weights, then more */
  Stop stop;
} Rows;

static size_t scratch (const size_t dims[]) {
  return rows_in_block(dims[0]) * (4 * dims[0] + 1);
}

static Rows rows_at (const Batch *b) {
  size_t k = b->dims[0], most = rows_in_block(k), n = most * k;
  double *at = b->scratch;
  return (Rows) {.k = k, .most = most, .room = {at, at + n}, .weight = at + 2 * n,
                 .apart = at + 3 * n, .sum = at + 4 * n, .stop = b->stop};
}

/* the operands of those from r on */
static void take_rows (const Batch *b, size_t r, Rows *s) {
  s->rows = b->n - r < s->most ? b->n - r : s->most;
  s->l = rows_from(b, 0, r, s->rows, s->room[0]);
  s->m = rows_from(b, 1, r, s->rows, s->room[1]);
}


/* {=====================================================
** Rows in which all is finite, |d| < FAR, and weights are neither heavy nor lost; others
** become NaN
** ====================================================== */

static void weights (Stop stop, size_t n, const double *l, const double *m,
                     double *restrict weight, double *restrict apart) {
  ExpRun run;
  for (size_t j = 0, some; j < n && !stops_at(stop, j / RUN, OPERATIONS); j += some) {
    some = run_length(n - j);
    exp_run(some, l + j, 0, &run);
    for (size_t i = 0; i < some; i++) {
      weight[j + i] = exp_run_at(&run, i);
      apart[j + i] = m[j + i] - l[j + i];
    }
  }
}

/* e^d - 1 - d for |d| < FAR, d = n ln 2 + r: with d = r the series itself, further out a
   difference */
VECTOR double above_tangent (double d, double r, double scale) {
  double tail = exp_tail(r), square = r * r;
  double far = ((1.0 + fma(square, tail, r)) * scale - 1) - d;
  return fabs(d) < 0.34 ? square * tail : far;
}

/* D - origin, with what m - l lost by rounding */
VECTOR double counted_from (double origin, double l, double m) {
  Pair apart = exact_sum(m, -l);
  return (apart.hi - origin) + apart.lo;
}

static void add_lost (Stop stop, size_t n, const double *l, const double *m, double *restrict d) {
  for (size_t i = 0, end; (end = part_end(stop, i, n)) > i; )
    EVERY for (; i < end; i++) d[i] += exact_sum(m[i], -l[i]).lo;
}

/* those of d up to `most` */
static void terms (Stop stop, size_t n, const double *d, double most, double *restrict weight) {
  ExpRun run;
  for (size_t j = 0, some; j < n && !stops_at(stop, j / RUN, OPERATIONS); j += some) {
    some = run_length(n - j);
    exp_run(some, d, 0, &run);
    for (size_t i = 0; i < some; i++) {
      double term = weight[i] * above_tangent(d[i], run.r[i], run.scale[i]);
      weight[i] = ((fabs(d[i]) < most) & (weight[i] < HEAVY)) ? term : (double)NAN;
    }
    d += some;
    weight += some;
  }
}

static inline double centred (Stop stop, size_t k, const double *weight,
                              double *restrict apart) {
  double origin = k > 0 ? apart[0] : 0;
  Sums sums = simplex_sums(stop, k, weight, apart, origin);
  double mean = sums.product / sums.all;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) apart[j] = (apart[j] - origin) - mean;
  return sums.all > LIGHT ? sums.all : (double)NAN;
}

/* D loses its mean, counted from its first so that rows far apart lose nothing; returns the
   sum of weights, or NaN if they are too light. Short rows have a loop without questions. */
static double centre (Stop stop, size_t k, const double *weight, double *restrict apart) {
  return k <= STOP_PART ? centred(STOP_NEVER, k, weight, apart) : centred(stop, k, weight, apart);
}

/* the same, counted from the top and with what m - l lost, so that the mean has all its digits */
static double centre_at_top (Stop stop, size_t k, const double *l, const double *m,
                             const double *weight, double *restrict apart) {
  size_t top = simplex_place(stop, k, weight, simplex_largest(stop, k, weight));
  double origin = m[top] - l[top];
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) apart[j] = counted_from(origin, l[j], m[j]);
  Sums sums = simplex_sums(stop, k, weight, apart, 0);
  double mean = sums.product / sums.all;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) apart[j] -= mean;
  return sums.all > LIGHT ? sums.all : (double)NAN;
}

/* }====================================================== */


/* {=====================================================
** Any row. p_j e^(d_j) = exp(m_j - c) with c = log sum_i exp(l_i) + sum_i p_i D_i, also where
** p_j = 0. Where that overflows, the divergence is a difference of logarithms.
** ====================================================== */

static double far_term (double p, double m, double d, double c) {
  ExpReduction e = exp_reduce_normal(d);
  if (p == 0) return vexp(m - c);
  return fabs(d) < FAR ? p * above_tangent(d, e.hi, e.scale) : vexp(m - c) - fma(p, d, p);
}

/* sum_j p_j D_j less D at the top of p: +inf, -inf or NaN where KL is not finite */
static double mean_apart (Stop stop, size_t k, const double *l, const double *m,
                          const Simplex *from) {
  double origin = m[from->top] - l[from->top], mean = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      double p = vexp(l[j] - from->shift) / from->sum, term = p * counted_from(origin, l[j], m[j]);
      if (l[j] != l[j] || m[j] != m[j]) return (double)NAN;
      if (l[j] > -INFINITY && m[j] == -INFINITY) return -INFINITY;
      if (p > 0) mean += term;
    }
  return mean;
}

/* Two rows, and the mean of D less D at the top of p. */
typedef struct RowPair { Simplex from, to; double origin, mean; } RowPair;

static RowPair pair_of (Stop stop, size_t k, const double *l, const double *m) {
  RowPair pair = {.from = simplex_of(stop, k, l), .to = simplex_of(stop, k, m)};
  pair.origin = m[pair.from.top] - l[pair.from.top];
  pair.mean = mean_apart(stop, k, l, m, &pair.from);
  return pair;
}

static double divergence_of (Stop stop, size_t k, const double *l, const double *m,
                             const RowPair *pair) {
  const Simplex *from = &pair->from, *to = &pair->to;
  double start = from->shift + pair->origin, mean = pair->mean, sum = 0;
  double c = (start + from->log_sum) + mean;
  double direct = ((to->shift - start) + (to->log_sum - from->log_sum)) - mean;
  if (!(fabs(mean) < INFINITY)) return -mean;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      double d = counted_from(pair->origin, l[j], m[j]) - mean;
      sum += far_term(vexp(l[j] - from->shift) / from->sum, m[j], d, c);
    }
  return direct < FAR ? vlog1p(sum) : direct;
}

static double any_row (Stop stop, size_t k, const double *l, const double *m) {
  if (k == 0) return (double)NAN;
  RowPair pair = pair_of(stop, k, l, m);
  return divergence_of(stop, k, l, m, &pair);
}

/* }====================================================== */


static void divergences (const Rows *s, double *out) {
  size_t k = s->k, n = s->rows * k;
  weights(s->stop, n, s->l, s->m, s->weight, s->apart);
  for (size_t i = 0; i < s->rows; i++)
    s->sum[i] = centre(s->stop, k, s->weight + i * k, s->apart + i * k);
  add_lost(s->stop, n, s->l, s->m, s->apart);
  terms(s->stop, n, s->apart, FAR, s->weight);
  for (size_t i = 0; i < s->rows; i++)
    s->sum[i] = simplex_total(s->stop, k, s->weight + i * k) / s->sum[i];
  for (size_t i = 0; i < s->rows; i++) out[i] = vlog1p(s->sum[i]);
  for (size_t i = 0; i < s->rows; i++)
    if (!(out[i] >= SMALL || out[i] == 0))
      out[i] = any_row(s->stop, k, s->l + i * k, s->m + i * k);
}

static void to_categorical (const Batch *b, double *out) {
  Rows s = rows_at(b);
  for (size_t r = 0; r < b->n; r += s.rows) {
    take_rows(b, r, &s);
    divergences(&s, out + r);
  }
}

/*
** Along l_j: -p_j d_j, along m_j: q_j - p_j = p_j (e^(d_j - KL) - 1)
*/
static void any_slopes (Stop stop, size_t k, const double *l, const double *m, double up,
                        double *dl, double *dm) {
  RowPair pair = pair_of(stop, k, l, m);
  double kl = divergence_of(stop, k, l, m, &pair);
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      double p = vexp(l[j] - pair.from.shift) / pair.from.sum;
      double apart = counted_from(pair.origin, l[j], m[j]) - pair.mean;
      double q = vexp(m[j] - pair.to.shift) / pair.to.sum, gap = apart - kl;
      dl[j] = p == 0 ? 0 : -up * p * apart;
      dm[j] = up * (fabs(gap) < 1 ? p * vexpm1(gap) : q - p);
    }
}

/* -up p_j d_j and up p_j, the weights being p_j `sum` */
static void start_slopes (Stop stop, size_t k, const double *weight, const double *apart,
                          double sum, double up, double *restrict dl, double *restrict dm) {
  double inverse = 1 / sum;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      dm[j] = up * (weight[j] * inverse);
      dl[j] = -dm[j] * apart[j];
    }
}

static void slopes (const Rows *s, const double *upstream, double *dl, double *dm) {
  size_t k = s->k, n = s->rows * k;
  double *sum = s->sum, *apart = s->apart;
  weights(s->stop, n, s->l, s->m, s->weight, apart);
  for (size_t i = 0, at = 0; i < s->rows; i++, at += k) {
    sum[i] = centre_at_top(s->stop, k, s->l + at, s->m + at, s->weight + at, apart + at);
    start_slopes(s->stop, k, s->weight + at, apart + at, sum[i], upstream[i], dl + at, dm + at);
  }
  terms(s->stop, n, apart, NEAR, s->weight);
  for (size_t i = 0; i < s->rows; i++)
    sum[i] = simplex_total(s->stop, k, s->weight + i * k) / sum[i];
  for (size_t i = 0; i < s->rows; i++) sum[i] = vlog1p(sum[i]);
  for (size_t i = 0; i < s->rows; i++)
    for (size_t j = i * k, end; (end = part_end(s->stop, j, (i + 1) * k)) > j; )
      for (; j < end; j++) apart[j] -= sum[i];
  for (size_t i = 0, end; (end = part_end(s->stop, i, n)) > i; )
    EVERY for (; i < end; i++) dm[i] *= vexpm1(apart[i]);
  for (size_t i = 0, at = 0; i < s->rows; i++, at += k)
    if (!(sum[i] < INFINITY))
      any_slopes(s->stop, k, s->l + at, s->m + at, upstream[i], dl + at, dm + at);
}

static void to_categorical_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  Rows s = rows_at(b);
  for (size_t r = 0; k > 0 && r < b->n; r += s.rows) {
    take_rows(b, r, &s);
    slopes(&s, upstream + r, d[0] + r * k, d[1] + r * k);
  }
}


const Kernel perilune_kl_categorical[] = {
  {.name = "Categorical", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k),(k)->()", .run = to_categorical, .scratch = scratch,
     .adjoint = to_categorical_adjoint, .adjoint_scratch = scratch}},
  {.name = NULL}
};
