/*
** dirichletmultinomial.c - DirichletMultinomial(concentration a, n), how often each of K outcomes
** came in n trials whose probabilities are Dirichlet numbers
**
**   log P(x) = log(n!/(x_1! ... x_K!)) + log(B(a + x)/B(a)) = sum_j w(x_j; a_j) - w(n; A)
**
** with the weights w of polya.h, A the sum of a. Counts are integers: slopes along x and n are 0.
*/
#include "kernel/betabinomial.h"
#include "kernel/binomial.h"
#include "kernel/kernel.h"
#include "kernel/polya.h"
#include "kernel/summation.h"
#include "random/gammas.h"

enum { BLOCK = 64, OPERATIONS = 16 * BLOCK };   /* outcomes computed together; their work */


/* {=====================================================
** Probability
** ====================================================== */

static double sum_of (Stop stop, size_t k, const double *a) {
  double sum = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) sum += a[j];
  return sum;
}

/* are these counts, n in all? *sum is NaN if an element is */
static int is_count (Stop stop, size_t k, const double *x, double n, double *sum) {
  int counts = 1;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) counts &= is_outcome(x[j], n);
  *sum = sum_of(stop, k, x);
  return counts && *sum == n;
}

static double weights (Stop stop, size_t k, const double *x, const double *a, Urn u) {
  double w[BLOCK], sum = 0;
  for (size_t j = 0; j < k && !stops_at(stop, j / BLOCK, OPERATIONS); j += BLOCK) {
    size_t m = k - j < BLOCK ? k - j : BLOCK;
    for (size_t i = 0; i < m; i++) w[i] = polya_log_weight(x[j + i], a[j + i], u);
    for (size_t i = 0; i < m; i++) sum += w[i];
  }
  return sum;
}

static double scored (Stop stop, size_t k, const double *x, const double *a, double n,
                      double total) {
  double sum;
  if (!is_count(stop, k, x, n, &sum))
    return sum == sum && n == n && total == total ? -HUGE_VAL : (double)NAN;
  if (n == 0 || k == 1) return total == total ? 0 : total;
  Urn u = urn_of(n, total);
  return weights(stop, k, x, a, u) - polya_log_whole(u);
}

static void log_prob (const Batch *b, double *out) {
  size_t k = b->dims[0];
  const double *seen = NULL;
  double total = 0;
  for (size_t r = 0; r < b->n; r++) {
    const double *a = event(b, 1, r);
    if (a != seen) total = sum_of(b->stop, k, a);   /* once for a shared row */
    seen = a;
    out[r] = scored(b->stop, k, event(b, 0, r), a, *event(b, 2, r), total);
  }
}

static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *a = event(b, 1, r);
    double n = *event(b, 2, r), total = sum_of(b->stop, k, a), up = upstream[r], sum;
    double *dx = d[0] + r * k, *da = d[1] + r * k;
    int inside = is_count(b->stop, k, x, n, &sum) && k > 1;
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        double slope = polya_slope(x[j], a[j], n, total);
        dx[j] = 0;
        da[j] = inside ? up * slope : 0;
      }
    d[2][r] = 0;
  }
}

/* }====================================================== */


/* {=====================================================
** Entropy: w(n; A) - sum_j E w(X_j; a_j), where X_j is BetaBinomial(a_j, A - a_j, n). Each mean
** is a sum over outcomes (summation.h). Where almost all trials have the likeliest outcome, R
** being those that have not, terms that are small as well:
**
**   H(R) + E v(R; A - a_top) - sum_(j != top) E v(X_j; a_j),   v(x; a) = w(x; a) - w(0; a)
** ====================================================== */

/* one of the margins, of weights a against b, and what is added up over its outcomes */
typedef struct UrnMargin { double a, b, whole, level, sum, by_a, by_b; Urn urn; } UrnMargin;

/* log P and w(k; a) at many outcomes, or real numbers between them */
static void tabulate (const Nodes *at, const UrnMargin *m, double *restrict log_p,
                      double *restrict w) {
  double a = m->a, b = m->b, whole = m->whole;
  Urn u = m->urn;
  for (size_t i = 0; i < at->n; i++) w[i] = polya_log_weight(at->k[i], a, u);
  for (size_t i = 0; i < at->n; i++)
    log_p[i] = w[i] + polya_log_weight(at->rest[i], b, u) - whole;
}

static void add_weight (const Nodes *at, void *state) {
  UrnMargin *m = state;
  double log_p[SUMMATION_BLOCK], w[SUMMATION_BLOCK];
  tabulate(at, m, log_p, w);
  for (size_t i = 0; i < at->n; i++)
    if (log_p[i] > -1000) m->sum += at->weight[i] * vexp(log_p[i]) * w[i];
}

static void add_excess (const Nodes *at, void *state) {
  UrnMargin *m = state;
  double log_p[SUMMATION_BLOCK], w[SUMMATION_BLOCK];
  tabulate(at, m, log_p, w);
  for (size_t i = 0; i < at->n; i++)
    if (log_p[i] > -1000) m->sum += at->weight[i] * vexp(log_p[i]) * (w[i] - m->level);
}

/* the slopes of E w along a and b by those of log P alone; from w any level may be taken */
static void add_slopes (const Nodes *at, void *state) {
  UrnMargin *m = state;
  double log_p[SUMMATION_BLOCK], w[SUMMATION_BLOCK], total = m->urn.total, trials = m->urn.n;
  tabulate(at, m, log_p, w);
  for (size_t i = 0; i < at->n; i++) {
    double share = at->weight[i] * vexp(log_p[i]) * (w[i] - m->level);
    if (!(log_p[i] > -1000)) continue;
    m->by_a += share * polya_slope(at->k[i], m->a, trials, total);
    m->by_b += share * polya_slope(at->rest[i], m->b, trials, total);
  }
}

static double sum_without (Stop stop, size_t k, const double *a, size_t j) {
  double sum = 0;
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) sum += i == j ? 0 : a[i];
  return sum;
}

/* the margin of weights a against b, w being counted from its value at `level`, summed over */
static UrnMargin margin (double a, double b, double level, Urn u, Visit *visit) {
  UrnMargin m = {.a = a, .b = b, .urn = u, .whole = polya_log_whole(u)};
  double mean = u.n * (a / u.total), spread = (u.total + u.n) / (u.total + 1);
  m.level = polya_log_weight(level, a, u);
  summation(u.n, mean, sqrt(mean * (b / u.total) * spread), visit, &m);
  return m;
}

/* E w(X; a); where X is as good as normal, w falls by half the ratio of two variances */
static double mean_weight (double a, double b, Urn u) {
  double mean = u.n * (a / u.total);
  if (!(fmin(a, mean) > SUMMATION_NORMAL)) return margin(a, b, mean, u, add_weight).sum;
  return polya_log_peak(mean, a) - 0.5 * (b / u.total);
}

static double mean_excess (double a, double b, Urn u) {
  return margin(a, b, 0, u, add_excess).sum;
}

static int is_law (double n, double total) {
  return (n >= 0) & (n < HUGE_VAL) & (total > 0) & (total < HUGE_VAL);
}

static size_t place_of_largest (Stop stop, size_t k, const double *a) {
  size_t top = 0;
  for (size_t j = 1, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) top = a[j] > a[top] ? j : top;
  return top;
}

/* misses: what all outcomes but the likeliest weigh */
static double entropy_of_misses (Stop stop, size_t k, const double *a, size_t top,
                                 double misses, Urn u) {
  double sum = betabinomial_entropy(misses, a[top], u.n) + mean_excess(misses, a[top], u);
  for (size_t j = 0; j < k && !stops_at(stop, j, k + OPERATIONS); j++)
    if (j != top) sum -= mean_excess(a[j], sum_without(stop, k, a, j), u);
  return sum;
}

static double entropy_of (Stop stop, size_t k, const double *a, double n) {
  double total = sum_of(stop, k, a);
  if (!is_law(n, total)) return (double)NAN;
  if (n == 0 || k == 1) return 0;
  Urn u = urn_of(n, total);
  size_t top = place_of_largest(stop, k, a);
  double misses = sum_without(stop, k, a, top), sum = polya_log_whole(u);
  if (misses * u.o.log_q < 1) return entropy_of_misses(stop, k, a, top, misses, u);
  for (size_t j = 0; j < k && !stops_at(stop, j, k + OPERATIONS); j++)
    sum -= mean_weight(a[j], sum_without(stop, k, a, j), u);
  return sum;
}

static void entropy (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++)
    out[r] = entropy_of(b->stop, b->dims[0], event(b, 0, r), *event(b, 1, r));
}

/* are all margins as good as normal? */
static int is_normal (Stop stop, size_t k, const double *a, Urn u) {
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++)
      if (!(fmin(a[j], u.n * (a[j] / u.total)) > SUMMATION_NORMAL)) return 0;
  return 1;
}

/*
** The determinant of their covariances, one margin left out, is (n (A + n)/(A + 1))^(K - 1) times
** the product of all a_j/A; the entropy has half of its logarithm.
*/
static void normal_slopes (Stop stop, size_t k, const double *a, Urn u, double upstream,
                           double *da) {
  double A = u.total, K = (double)k, shared = (1 - K) * (u.n / (A + u.n) / A) - K / A;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) da[j] = 0.5 * upstream * (1 / a[j] + shared);
}

/* a_j moves its own margin directly, and all others as a part of their b */
static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *a = event(b, 0, r);
    double n = *event(b, 1, r), total = sum_of(b->stop, k, a), *da = d[0] + r * k, all = 0;
    int spread = is_law(n, total) && n > 0 && k > 1;
    Urn u = urn_of(n, total);
    d[1][r] = 0;
    if (spread && is_normal(b->stop, k, a, u)) {
      normal_slopes(b->stop, k, a, u, upstream[r], da);
      continue;
    }
    for (size_t j = 0; j < k && !stops_at(b->stop, j, k + OPERATIONS); j++) {
      double others = sum_without(b->stop, k, a, j), mean = n * (a[j] / total);
      UrnMargin m = spread ? margin(a[j], others, mean, u, add_slopes) : (UrnMargin) {.sum = 0};
      da[j] = m.by_b - m.by_a;
      all += m.by_b;
    }
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) da[j] = upstream[r] * (da[j] - all);
  }
}

/* }====================================================== */


/* {=====================================================
** Draws: shares of gamma numbers, then, outcome by outcome, a binomial part of the trials that
** are left. Outcome j of a row takes both from its own element of the stream.
** ====================================================== */

/* logarithms of gamma numbers with shapes a */
static void log_gammas (Stop stop, const Philox *g, uint64_t first, size_t k, const double *a,
                        double *out) {
  double size[GAMMAS_BLOCK], depth[GAMMAS_BLOCK];
  for (size_t j = 0; j < k && !stops_at(stop, j / GAMMAS_BLOCK, OPERATIONS);
       j += GAMMAS_BLOCK) {
    size_t m = k - j < GAMMAS_BLOCK ? k - j : GAMMAS_BLOCK;
    gammas(g, BINOMIAL_LANES, first + j, m, a + j, size, depth);
    for (size_t i = 0; i < m; i++) out[j + i] = vlog(size[i]) - depth[i];
  }
}

/* logits of shares become those of an outcome once it is none before it; the last is +inf */
static void condition (Stop stop, size_t k, double *l) {
  double after = -HUGE_VAL;
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) {
      double own = l[k - 1 - i];
      l[k - 1 - i] = own - after;
      after = vlogaddexp(after, own);
    }
}

static void sample (const Philox *g, uint64_t first, const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k, first += k) {
    double left = *event(b, 1, r);
    log_gammas(b->stop, g, first, k, event(b, 0, r), out);
    condition(b->stop, k, out);
    for (size_t j = 0; j + 1 < k && !stops_at(b->stop, j, OPERATIONS); j++) {
      double logit = out[j];
      binomial_draw(g, first + j, 1, &left, &logit, out + j);
      left -= out[j];
    }
    if (k > 0) out[k - 1] = left;
  }
}

/* }====================================================== */


const Kernel perilune_dirichletmultinomial[] = {
  {.name = "log_prob", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(k),(k),()->()", .run = log_prob, .adjoint = log_prob_adjoint}},
  {.name = "entropy", .n_in = 2, .slow = 1,
   .rows = &(const RowKernel) {
     .signature = "(k),()->()", .run = entropy, .adjoint = entropy_adjoint}},
  {.name = "sample", .n_in = 3,
   .rows = &(const RowKernel) {.signature = "(k),(k),()->(k)"},
   .sampler = &(const Sampler) {.draw_rows = sample}},
  {.name = NULL}
};
