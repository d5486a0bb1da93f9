/*
** categorical.c - Categorical(logits), one of the outcomes 1, ..., K
**
**   log P(j) = l_j - log sum_i exp(l_i)
**
** Rows of logits are normalised on the way; they need not be.
*/
#include "kernel/kernel.h"
#include "kernel/simplex.h"

#define TABLE 1024   /* outcomes of a row that may have a table on the stack */
#define GUIDE 4096   /* cells of its guide */


static void log_prob (const Batch *b, double *out) {
  size_t k = b->dims[0];
  const double *seen = NULL;
  Simplex s = {0};
  for (size_t r = 0; r < b->n; r++) {
    double x = *event(b, 0, r);
    const double *l = event(b, 1, r);
    if (l != seen) s = simplex_of(k, l);   /* once for a shared row */
    seen = l;
    if (x >= 1 && x <= (double)k && floor(x) == x)
      out[r] = simplex_log_prob(s, l[(size_t)x - 1]);
    else out[r] = x == x ? -INFINITY : x;
  }
}


/* upstream (1[j = x] - P(j)) */
static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double x = *event(b, 0, r), *dl = d[1] + r * k;
    const double *l = event(b, 1, r);
    double shift = simplex_shift(k, l), scale = -upstream[r] / simplex_sum(k, l, shift);
    int scored = x >= 1 && x <= (double)k && floor(x) == x;
    for (size_t j = 0; j < k; j++) dl[j] = scored ? scale * vexp(l[j] - shift) : 0;
    if (scored) dl[(size_t)x - 1] += upstream[r];
    d[0][r] = 0;
  }
}


/* Mass of outcomes from .. to-1, as a share of all. */
static double mass (size_t k, const double *l, size_t from, size_t to) {
  double shift = simplex_shift(k, l);
  return simplex_sum(to - from, l + from, shift) / simplex_sum(k, l, shift);
}

/* How many outcomes are at most x. */
static size_t reached (double x, size_t k) {
  if (!(x >= 1)) return 0;
  return x >= (double)k ? k : (size_t)x;
}

static void cdf (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) {
    double x = *event(b, 0, r);
    double share = mass(b->dims[0], event(b, 1, r), 0, reached(x, b->dims[0]));
    out[r] = x == x ? share : x;
  }
}

static void sf (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double x = *event(b, 0, r);
    double share = mass(k, event(b, 1, r), reached(x, k), k);
    out[r] = x == x ? share : x;
  }
}

static void log_cdf (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double x = *event(b, 0, r);
    const double *l = event(b, 1, r);
    size_t at = reached(x, k);
    double below = mass(k, l, 0, at), above = mass(k, l, at, k);
    out[r] = x != x ? x : below < 0.5 ? vlog(below) : vlog1p(-above);
  }
}

static void log_sf (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double x = *event(b, 0, r);
    const double *l = event(b, 1, r);
    size_t at = reached(x, k);
    double below = mass(k, l, 0, at), above = mass(k, l, at, k);
    out[r] = x != x ? x : above < 0.5 ? vlog(above) : vlog1p(-below);
  }
}


/* The smallest outcome whose cdf reaches p. */
static double quantile (double p, size_t k, const double *l) {
  double shift = simplex_shift(k, l), target = p * simplex_sum(k, l, shift), sum = 0;
  size_t last = 0;   /* the last outcome that can happen */
  if (!(p >= 0 && p <= 1)) return NAN;
  for (size_t j = 0; j < k; j++) {
    double mass_here = vexp(l[j] - shift);
    if (mass_here > 0) last = j;
    sum += mass_here;
    if (sum >= target && mass_here > 0) return (double)(j + 1);
  }
  return (double)(last + 1);
}

static void icdf (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++)
    out[r] = quantile(*event(b, 0, r), b->dims[0], event(b, 1, r));
}


/* log S - sum_j P(j) l_j, both from the largest logit on */
static void entropy (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 0, r);
    Simplex s = simplex_of(k, l);
    double weighted = 0;
    for (size_t j = 0; j < k; j++) {
      double e = vexp(l[j] - s.shift), term = e * (l[j] - s.shift);
      weighted += e > 0 ? term : e;
    }
    out[r] = vlog1p(s.rest) - weighted / (1 + s.rest);
  }
}

/* -P(j) (log P(j) + H) */
static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 0, r);
    Simplex s = simplex_of(k, l);
    double h;
    entropy(&(Batch) {.n = 1, .dims = b->dims, .in = &l, .step = b->step}, &h);
    for (size_t j = 0; j < k; j++) {
      double log_p = simplex_log_prob(s, l[j]), p = vexp(log_p);
      d[0][r * k + j] = p > 0 ? -upstream[r] * p * (log_p + h) : 0;
    }
  }
}


/*
** Sampling by inversion: the first outcome whose running sum exceeds u S. A row
** that serves many draws gets a table of its sums, and a guide that says for
** each of GUIDE cells of (0, 1) where to start looking; both ways compare the
** same numbers.
*/
static double running_sums (size_t k, const double *l, double *sums) {
  double shift = simplex_shift(k, l), sum = 0;
  for (size_t j = 0; j < k; j++) sums[j] = vexp(l[j] - shift);
  for (size_t j = 0; j < k; j++) sums[j] = sum += sums[j];
  return sum;
}

static void draw_many (size_t n, size_t k, const double *u, ptrdiff_t by,
                       const double *l, double *out) {
  double sums[TABLE];
  unsigned short guide[GUIDE];
  double total = running_sums(k, l, sums);
  for (size_t g = 0, j = 0; g < GUIDE; g++) {
    while (j + 1 < k && sums[j] <= total * ((double)g / GUIDE)) j++;
    guide[g] = (unsigned short)j;
  }
  for (size_t r = 0; r < n; r++) {
    double at = u[(ptrdiff_t)r * by] * total;
    size_t j = guide[(size_t)(u[(ptrdiff_t)r * by] * GUIDE)];
    while (j + 1 < k && sums[j] <= at) j++;
    out[r] = (double)(j + 1);
  }
}

static double draw_one (double u, size_t k, const double *l) {
  double shift = simplex_shift(k, l), sum = 0, total = 0;
  size_t j = 0;
  for (size_t i = 0; i < k; i++) total += vexp(l[i] - shift);
  for (; j + 1 < k; j++)
    if ((sum += vexp(l[j] - shift)) > u * total) break;
  return (double)(j + 1);
}

static void sample (const Batch *b, double *out) {
  size_t k = b->dims[0];
  if (b->step[1] == 0 && b->n > GUIDE / 8 && k <= TABLE) {
    draw_many(b->n, k, b->in[0], b->step[0], b->in[1], out);
    return;
  }
  for (size_t r = 0; r < b->n; r++)
    out[r] = draw_one(*event(b, 0, r), k, event(b, 1, r));
}


const Kernel perilune_categorical[] = {
  {.name = "log_prob", .n_in = 2, .signature = "(),(k)->()", .rows = log_prob,
   .adjoint = log_prob_adjoint},
  {.name = "cdf",      .n_in = 2, .signature = "(),(k)->()", .rows = cdf},
  {.name = "sf",       .n_in = 2, .signature = "(),(k)->()", .rows = sf},
  {.name = "log_cdf",  .n_in = 2, .signature = "(),(k)->()", .rows = log_cdf},
  {.name = "log_sf",   .n_in = 2, .signature = "(),(k)->()", .rows = log_sf},
  {.name = "icdf",     .n_in = 2, .signature = "(),(k)->()", .rows = icdf},
  {.name = "entropy",  .n_in = 1, .signature = "(k)->()",    .rows = entropy,
   .adjoint = entropy_adjoint},
  {.name = "sample",   .n_in = 2, .signature = "(),(k)->()", .rows = sample,
   .noise = "uniform", .integer = 1},
  {.name = NULL}
};
