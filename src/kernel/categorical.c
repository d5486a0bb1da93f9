/*
** categorical.c - Categorical(logits), one of the outcomes 1, ..., K
**
**   log P(j) = l_j - log sum_i exp(l_i)
**
** Rows of logits are normalised on the way (simplex.h); they need not be. Outcomes are
** integers: slopes along x are 0.
*/
#include "kernel/kernel.h"
#include "kernel/discrete_quantile.h"
#include "kernel/simplex.h"
#include "random/noise.h"

enum { BLOCK = 512,       /* draws at a time */
       OPERATIONS = 8 };  /* that an outcome is counted for when a long row is searched */


static size_t place (Stop stop, size_t k, const double *x, double *sum) {
  (void)stop;
  *sum = *x;
  return *x >= 1 && *x <= (double)k && floor(*x) == *x ? (size_t)*x - 1 : k;
}

static void log_prob (const Batch *b, double *out) {
  simplex_log_prob(b, out, place);
}

static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  simplex_log_prob_adjoint(b, upstream, d, place, 1);
}


/* {=====================================================
** Tails: a side of x, outcomes from .. to - 1, and the other side
** ====================================================== */

typedef struct Side { size_t from, to; } Side;

/* the outcomes at most x, or those above it */
static Side side_of (double x, size_t k, int upper) {
  size_t at = !(x >= 1) ? 0 : x >= (double)k ? k : (size_t)x;
  return upper ? (Side) {at, k} : (Side) {0, at};
}

/* their mass as a share of all */
static double mass (Stop stop, size_t k, const double *l, Side s) {
  double shift = simplex_shift(stop, k, l);
  return simplex_sum(stop, s.to - s.from, l + s.from, shift, k) / simplex_sum(stop, k, l, shift, k);
}

/* its logarithm: from the other side where that is the smaller, else a difference of sums */
static double log_mass (Stop stop, size_t k, const double *l, Side s, double others) {
  if (s.from == s.to) return -INFINITY;
  if (others <= 0.5) return vlog1p(-others);
  Simplex whole = simplex_of(stop, k, l), part = simplex_of(stop, s.to - s.from, l + s.from);
  return (part.shift - whole.shift) + (part.log_sum - whole.log_sum);
}

static void tails (const Batch *b, double *out, int upper) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double x = *event(b, 0, r);
    out[r] = x == x ? mass(b->stop, k, event(b, 1, r), side_of(x, k, upper)) : x;
  }
}

static void log_tails (const Batch *b, double *out, int upper) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double x = *event(b, 0, r);
    const double *l = event(b, 1, r);
    double others = mass(b->stop, k, l, side_of(x, k, !upper));
    out[r] = x == x ? log_mass(b->stop, k, l, side_of(x, k, upper), others) : x;
  }
}

/*
** With P the mass of the side and Q that of the other, dP/dl_j is p_j Q on the side and
** -p_j P on the other, d log P/dl_j accordingly p_j Q/P and -p_j; `part` holds p_j/P.
*/
static void tail_slopes (Stop stop, size_t k, const double *l, Side s, double others,
                         int log, double upstream, double *d) {
  Simplex whole = simplex_of(stop, k, l);
  double own = log ? 1 : mass(stop, k, l, s);
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) d[j] = -upstream * own * (vexp(l[j] - whole.shift) / whole.sum);
  Simplex part = log ? simplex_of(stop, s.to - s.from, l + s.from) : whole;
  for (size_t j = s.from, end; (end = part_end(stop, j, s.to)) > j; )
    for (; j < end; j++) {
      double e = vexp(l[j] - part.shift);
      d[j] = e == 0 ? 0 : upstream * others * (e / part.sum);
    }
}

static void tail_adjoints (const Batch *b, const double *upstream, double *const d[], int upper,
                           int log) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double x = *event(b, 0, r), *dl = d[1] + r * k;
    const double *l = event(b, 1, r);
    Side s = side_of(x, k, upper);
    d[0][r] = 0;
    if (s.from < s.to) {
      double others = mass(b->stop, k, l, side_of(x, k, !upper));
      tail_slopes(b->stop, k, l, s, others, log, upstream[r], dl);
      continue;
    }
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) dl[j] = 0;
  }
}


static void cdf (const Batch *b, double *out) { tails(b, out, 0); }
static void sf (const Batch *b, double *out) { tails(b, out, 1); }
static void log_cdf (const Batch *b, double *out) { log_tails(b, out, 0); }
static void log_sf (const Batch *b, double *out) { log_tails(b, out, 1); }

static void cdf_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  tail_adjoints(b, upstream, d, 0, 0);
}

static void sf_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  tail_adjoints(b, upstream, d, 1, 0);
}

static void log_cdf_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  tail_adjoints(b, upstream, d, 0, 1);
}

static void log_sf_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  tail_adjoints(b, upstream, d, 1, 1);
}

/* }====================================================== */


/* {=====================================================
** Quantiles, of possible outcomes alone
** ====================================================== */

/* the first possible outcome from j on, else the last one before it */
static double possible (Stop stop, size_t k, const double *l, double shift, size_t j) {
  size_t at = j;
  while (at < k && !stops_at(stop, at, OPERATIONS) && !(vexp(l[at] - shift) > 0)) at++;
  if (at == k)
    for (at = j; at > 0 && !stops_at(stop, at, OPERATIONS) && !(vexp(l[at] - shift) > 0); ) at--;
  return (double)(at + 1);
}

/* the place of the smallest outcome whose cdf reaches `target`, in units of e^shift */
static size_t lower_place (Stop stop, size_t k, const double *l, double shift, double target) {
  size_t j = 0;
  double sum = 0;
  for (; j + 1 < k && !stops_at(stop, j, OPERATIONS); j++) {
    sum += vexp(l[j] - shift);
    if (sum >= target) break;
  }
  return j;
}

/* the same for an upper tail of at most `target` */
static size_t upper_place (Stop stop, size_t k, const double *l, double shift, double target) {
  size_t j = k - 1;
  double sum = 0;
  for (; j > 0 && !stops_at(stop, j, OPERATIONS); j--) {
    sum += vexp(l[j] - shift);
    if (!(sum <= target)) break;
  }
  return j;
}

/* logits are rounded, the larger ones by |shift| eps, and sums of k terms as well */
static double quantile (Stop stop, size_t k, const double *l, double p, int upper) {
  double shift = simplex_shift(stop, k, l), all = simplex_sum(stop, k, l, shift, k);
  double slack = fma(DBL_EPSILON, fabs(shift) + (double)k, quantile_log_slack(p));
  Level v = level_of(p, upper, slack);
  size_t j = v.upper ? upper_place(stop, k, l, shift, (v.p + v.slack) * all)
                     : lower_place(stop, k, l, shift, (v.p - v.slack) * all);
  return possible(stop, k, l, shift, j);
}

static void quantiles (const Batch *b, double *out, int upper) {
  for (size_t r = 0; r < b->n; r++) {
    double p = *event(b, 0, r);
    out[r] = p >= 0 && p <= 1 ? quantile(b->stop, b->dims[0], event(b, 1, r), p, upper)
                              : (double)NAN;
  }
}

static void icdf (const Batch *b, double *out) { quantiles(b, out, 0); }
static void isf (const Batch *b, double *out) { quantiles(b, out, 1); }

/* }====================================================== */


/* draws of one row of logits: each uniform number is replaced by the outcome it makes */
static void choose (size_t n, const Chances *c, double *x) {
  if (c->guide == NULL)
    EVERY for (size_t i = 0; i < n; i++) x[i] = (double)(ptrdiff_t)(halved(c, x[i]) + 1);
  else
    EVERY for (size_t i = 0; i < n; i++) x[i] = (double)(ptrdiff_t)(guided(c, x[i]) + 1);
}

static void sample (const Philox *g, uint64_t first, const Batch *b, double *out) {
  size_t k = b->dims[0], same = b->step[0] == 0 ? b->n : 1;   /* draws of a row */
  Chances c = {0};
  for (size_t r = 0, n; r < b->n && !stops_at(b->stop, r / BLOCK, BLOCK); r += n) {
    n = b->n - r < BLOCK ? b->n - r : BLOCK;
    noise_uniform(g, 0, first + r, n, out + r);
    for (size_t i = r; i < r + n; i += same) {
      if (i == 0 || same == 1) c = chances_of(b->stop, k, event(b, 0, i), same, b->scratch);
      choose(same < n ? same : n, &c, out + i);
    }
  }
}


const Kernel perilune_categorical[] = {
  {.name = "log_prob", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(),(k)->()", .run = log_prob, .whole = 1, .adjoint = log_prob_adjoint}},
  {.name = "cdf", .n_in = 2,
   .rows = &(const RowKernel) {.signature = "(),(k)->()", .run = cdf, .adjoint = cdf_adjoint}},
  {.name = "sf", .n_in = 2,
   .rows = &(const RowKernel) {.signature = "(),(k)->()", .run = sf, .adjoint = sf_adjoint}},
  {.name = "log_cdf", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(),(k)->()", .run = log_cdf, .adjoint = log_cdf_adjoint}},
  {.name = "log_sf", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(),(k)->()", .run = log_sf, .adjoint = log_sf_adjoint}},
  {.name = "icdf", .n_in = 2, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(),(k)->()", .run = icdf}},
  {.name = "isf", .n_in = 2, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(),(k)->()", .run = isf}},
  {.name = "entropy", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->()", .run = simplex_entropy, .adjoint = simplex_entropy_adjoint}},
  {.name = "sample", .n_in = 2, .integer = 1,
   .rows = &(const RowKernel) {
     .signature = "(),(k)->()", .whole = 1, .scratch = chances_scratch},
   .sampler = &(const Sampler) {.draw_rows = sample}},
  {.name = NULL}
};
