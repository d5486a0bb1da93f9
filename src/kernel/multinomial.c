/*
** multinomial.c - Multinomial(total_count, logits), how often each of K outcomes came in n trials
**
**   log P(x) = log(n!/(x_1! ... x_K!)) + sum_j x_j log p_j
**            = f(n, n) - sum_j f(x_j, n p_j),     f(x, m) = log x! - x log m + m
**
** by Loader's form (binomial_law.h): f(x, m) = r(x) + D(x, m), r(x) = mu(x) + log(2 pi x)/2, so
** that nothing of the size of n log n is left to cancel. Counts are integers: slopes
** along x and total_count are 0.
*/
#include "kernel/binomial.h"
#include "kernel/kernel.h"
#include "kernel/simplex.h"
#include "kernel/summation.h"
#include "kernel/binomial_law.h"
#include "random/noise.h"
#include "special/constants.h"

enum { BLOCK = 64, OPERATIONS = 16 * BLOCK };   /* outcomes computed together; their work */


/* {=====================================================
** Probability
** ====================================================== */

/* r(x) = f(x, x); 0 at 0 */
VECTOR double own_surprisal (double x) {
  double x1 = x < 0.5 ? 1 : x;
  double value = fma(0.5, vlog(x1), stirlerr_above(x1) + HALF_LOG_2PI);
  return x < 0.5 ? 0 : value;
}

/* D(x, np), given p and -log p */
VECTOR double deviance (double x, double n, double p, double log_p) {
  double value = binomial_deviance(x < 0.5 ? 1 : x, n, p, log_p);
  return x < 0.5 ? n * p : value;
}

/* r(n) - sum_j r(x_j) and sum_j D(x_j, n p_j) apart: where P is nearly 1 the former is 0 */
static double scored (Stop stop, size_t k, const double *x, double n, const double *l,
                      const Simplex *s) {
  double own[BLOCK], apart[BLOCK], owns = own_surprisal(n), deviances = 0;
  for (size_t j = 0; j < k && !stops_at(stop, j / BLOCK, OPERATIONS); j += BLOCK) {
    size_t m = k - j < BLOCK ? k - j : BLOCK;
    double shift = s->shift, sum = s->sum, log_sum = s->log_sum;
    for (size_t i = 0; i < m; i++) {
      double depth = shift - l[j + i];
      own[i] = own_surprisal(x[j + i]);
      apart[i] = deviance(x[j + i], n, vexp(-depth) / sum, depth + log_sum);
    }
    for (size_t i = 0; i < m; i++) owns -= own[i];
    for (size_t i = 0; i < m; i++) deviances += apart[i];
  }
  return owns - deviances;
}

/* are these counts, n in all? *sum is NaN if an element is */
static int is_count (Stop stop, size_t k, const double *x, double n, double *sum) {
  int counts = 1;
  *sum = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      counts &= is_outcome(x[j], n);
      *sum += x[j];
    }
  return counts && *sum == n;
}

static void log_prob (const Batch *b, double *out) {
  size_t k = b->dims[0];
  const double *seen = NULL;
  Simplex s = {0};
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *l = event(b, 2, r);
    double total = *event(b, 1, r), sum;
    if (l != seen) s = simplex_of(b->stop, k, l);   /* once for a shared row */
    seen = l;
    if (is_count(b->stop, k, x, total, &sum)) out[r] = scored(b->stop, k, x, total, l, &s);
    else out[r] = sum == sum && total == total ? -INFINITY : (double)NAN;
  }
}

/* x - np, from the side of the rarer of success and failure */
static double excess (double x, double n, double p, double q) {
  return p > q ? fma(n, q, -(n - x)) : fma(-n, p, x);
}

static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *l = event(b, 2, r);
    double total = *event(b, 1, r), sum;
    Simplex s = simplex_of(b->stop, k, l);
    int inside = is_count(b->stop, k, x, total, &sum);
    d[1][r] = 0;
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        double e = vexp(l[j] - s.shift), others = simplex_others(&s, j, e);
        double slope = upstream[r] * excess(x[j], total, e / s.sum, others / s.sum);
        d[0][r * k + j] = 0;
        d[2][r * k + j] = inside ? slope : 0;
      }
  }
}

/* }====================================================== */


/* {=====================================================
** Mode: sum_j f(x_j, n p_j) is smallest for x_j = floor(t p_j), where t makes the sum
** of the x_j that of the trials; where it leaps over n, outcomes that leap are ties.
** ====================================================== */

static double floors (Stop stop, size_t k, const double *p, double t) {
  double sum = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) sum += floor(t * p[j]);
  return sum;
}

/* p becomes the mode; the sum of floors exceeds t - k */
static void apportion (Stop stop, size_t k, double n, double *p) {
  double low = 0, high = (n + (double)k + 1) * (1 + 0x1p-40);
  for (int i = 0; i < 1100; i++) {   /* halved until nothing is between */
    double middle = low + 0.5 * (high - low);
    if (middle <= low || middle >= high) break;
    if (floors(stop, k, p, middle) <= n) low = middle;
    else high = middle;
  }
  double left = n - floors(stop, k, p, low);
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      double least = floor(low * p[j]), leap = floor(high * p[j]) - least;
      double more = leap < left ? leap : left;
      p[j] = least + more;
      left -= more;
    }
}

static void mode (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    simplex_probs(b->stop, k, event(b, 1, r), out);
    apportion(b->stop, k, *event(b, 0, r), out);
  }
}

/* }====================================================== */


/* {=====================================================
** Entropy. X_j is Binomial(n, p_j); with R the trials that miss the likeliest outcome,
**
**   H = H(R) - E f(R, n - n p_top) + sum_(j != top) E f(X_j, n p_j)
**
** in which all terms are small where H is. Each is a sum over outcomes (summation.h).
** ====================================================== */

/* one of the binomials, and what is added up over its outcomes */
typedef struct Margin { double n, logit, level, sum; Odds o; } Margin;

/* log P, again with K = 2, and f(k, np) at many outcomes, or real numbers between them */
static void tabulate (const Nodes *at, const Margin *m, double *restrict log_p,
                      double *restrict f) {
  double total = m->n, owns = own_surprisal(total);
  double p = m->o.p, log_of_p = m->o.log_p, q = m->o.q, log_of_q = m->o.log_q;
  for (size_t i = 0; i < at->n; i++) {
    double own = own_surprisal(at->k[i]), apart = deviance(at->k[i], total, p, log_of_p);
    double others = at->rest[i], others_apart = deviance(others, total, q, log_of_q);
    log_p[i] = ((owns - own) - own_surprisal(others)) - (apart + others_apart);
    f[i] = own + apart;
  }
}

/* E f(X, np) */
static void add_surprisal (const Nodes *at, void *state) {
  Margin *m = state;
  double log_p[SUMMATION_BLOCK], f[SUMMATION_BLOCK];
  tabulate(at, m, log_p, f);
  for (size_t i = 0; i < at->n; i++)
    if (log_p[i] > -1000) m->sum += at->weight[i] * vexp(log_p[i]) * f[i];
}

/* H(R) - E f(R, nq) */
static void add_misses (const Nodes *at, void *state) {
  Margin *m = state;
  double log_p[SUMMATION_BLOCK], f[SUMMATION_BLOCK];
  tabulate(at, m, log_p, f);
  for (size_t i = 0; i < at->n; i++)
    if (log_p[i] > -1000) m->sum -= at->weight[i] * vexp(log_p[i]) * (log_p[i] + f[i]);
}

/* the slope of E f(X, np) along the logit, E (X - np) (f - level) with any level */
static void add_slope (const Nodes *at, void *state) {
  Margin *m = state;
  double log_p[SUMMATION_BLOCK], f[SUMMATION_BLOCK];
  tabulate(at, m, log_p, f);
  for (size_t i = 0; i < at->n; i++) {
    double share = at->weight[i] * vexp(log_p[i]) * excess(at->k[i], m->n, m->o.p, m->o.q);
    if (log_p[i] > -1000) m->sum += share * (f[i] - m->level);
  }
}

static Margin margin (double n, double logit) {
  Odds o = odds_of(logit);
  return (Margin) {.n = n, .logit = logit, .level = own_surprisal(n * o.p), .o = o};
}

static double over_outcomes (Visit *visit, Margin m) {
  summation(floor(m.n), m.n * m.o.p, sqrt(m.n * m.o.p * m.o.q), visit, &m);
  return m.sum;
}

/*
** The three sums; of laws that are all but normal (summation.h), from
**   E f(X, np) = log(2 pi np)/2 + q/2 + (p - q^2)/(12 np) + ...
*/
static int exceeds (Margin m, double limit) { return m.n * fmin(m.o.p, m.o.q) > limit; }

static double mean_surprisal (Margin m) {
  if (exceeds(m, SUMMATION_NORMAL)) return fma(0.5, m.o.q, m.level);
  return over_outcomes(add_surprisal, m);
}

static double entropy_of_misses (Margin m) {
  if (exceeds(m, SUMMATION_NORMAL)) return 0.5 * (m.o.p - m.o.log_q);
  return over_outcomes(add_misses, m);
}

static double surprisal_slope (Margin m) {
  double p = m.o.p, q = m.o.q;
  if (exceeds(m, SUMMATION_SLOPES)) return q * q * (0.5 + (1 + p) / (m.n * p) / 12);
  return over_outcomes(add_slope, m);
}

/* log(p_j/(1 - p_j)) */
static double margin_logit (const Simplex *s, const double *l, size_t j) {
  double depth = l[j] - s->shift;
  return depth - vlog(simplex_others(s, j, vexp(depth)));
}

static double entropy_of (Stop stop, size_t k, double n, const double *l) {
  Simplex s = simplex_of(stop, k, l);
  if (!(n >= 0 && n < HUGE_VAL && s.sum >= 1)) return (double)NAN;
  if (s.rest == 0) return 0;
  double misses = -margin_logit(&s, l, s.top);
  double sum = entropy_of_misses(margin(n, misses));
  for (size_t j = 0; j < k && !stops_at(stop, j, OPERATIONS); j++) {
    if (j == s.top || vexp(l[j] - s.shift) == 0) continue;
    sum += mean_surprisal(margin(n, margin_logit(&s, l, j)));
  }
  return sum;
}

static void entropy (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++)
    out[r] = entropy_of(b->stop, b->dims[0], *event(b, 0, r), event(b, 1, r));
}

/* the slopes of E f(X_j, n p_j) along p_j, back through p */
static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 1, r);
    double total = *event(b, 0, r), *dl = d[1] + r * k;
    Simplex s = simplex_of(b->stop, k, l);
    int spread = s.rest > 0 && total >= 0 && total < HUGE_VAL;
    for (size_t j = 0; j < k && !stops_at(b->stop, j, OPERATIONS); j++) {
      double e = vexp(l[j] - s.shift), others = simplex_others(&s, j, e);
      dl[j] = 0;
      if (!spread || e == 0) continue;
      Margin m = margin(total, margin_logit(&s, l, j));
      dl[j] = surprisal_slope(m) / (e / s.sum) / (others / s.sum);
    }
    simplex_pull(b->stop, k, l, dl, upstream[r], dl);
    d[0][r] = 0;
  }
}

/* }====================================================== */


/* {=====================================================
** Draws: outcome by outcome a binomial share of the trials that are left, for many rows
** side by side
** ====================================================== */

enum { ROWS = 64, ELEMENTS = 4096 };   /* of a block, which has at least four rows */
enum { STEPS = 127 };                  /* of inversion: what is beyond is less than u resolves */

static const double REJECTION_MEAN = 25, NEGLIGIBLE = 1e-19;

static size_t rows_at_once (size_t k) {
  size_t n = ELEMENTS / k;
  return n > ROWS ? ROWS : n < 4 ? 4 : n;
}

/* uniform numbers and conditional logits of a block */
static size_t sample_scratch (const size_t dims[]) {
  return 2 * rows_at_once(dims[0]) * dims[0];
}

/*
** l_j - log sum_(i > j) exp(l_i): the log odds of j once it is none before it. Where the sum
** underflows, a likelier outcome before j has left no trials.
*/
static void conditional_logits (Stop stop, size_t k, const double *l, double *out) {
  double shift = simplex_shift(stop, k, l), after = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) out[j] = vexp(l[j] - shift);
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) {
      double own = out[k - 1 - i];
      out[k - 1 - i] = after;
      after += own;
    }
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      double odds = (l[j] - shift) - vlog(out[j]);
      out[j] = l[j] == -INFINITY ? l[j] : odds;
    }
}

/*
** Binomial draws by inversion, for n laws side by side: step k adds P(X = k) to every sum,
** and 1 to the draws whose u is beyond it. Of the rarer of success and failure; -1 where
** that is more than a few steps away.
*/
static void invert (size_t n, const double *u, const double *total, const double *logit,
                    double *restrict out) {
  double term[ROWS], sum[ROWS], mean[ROWS], odds[ROWS];
  EVERY for (size_t i = 0; i < n; i++) {
    double l = -fabs(logit[i]), none = vexp(-total[i] * vsoftplus(l));
    mean[i] = total[i] * vsigmoid(l);
    odds[i] = vexp(l);
    term[i] = sum[i] = total[i] == 0 ? 1.0 : none;
    out[i] = mean[i] < REJECTION_MEAN ? 0.0 : -1.0;
  }
  uint64_t moving = 1;
  for (int k = 0; k < STEPS && moving; k++) {
    double at = k, next = 1.0 / (k + 1);
    moving = 0;
    EVERY for (size_t i = 0; i < n; i++) {
      term[i] *= (total[i] - at) * next * odds[i];
      uint64_t beyond = (out[i] == at) & (u[i] > sum[i])
                      & ((at <= mean[i]) | (term[i] > NEGLIGIBLE));
      out[i] += beyond ? 1.0 : 0.0;
      sum[i] += term[i];
      moving |= beyond;
    }
  }
}

/* binomial draws of elements first, first + apart, ..., given their first uniform numbers */
static void shares (const Philox *g, uint64_t first, uint64_t apart, size_t n, const double *u,
                    const double *total, const double *logit, double *out) {
  invert(n, u, total, logit, out);
  for (size_t i = 0; i < n; i++) {
    if (out[i] >= 0) out[i] = logit[i] > 0 ? total[i] - out[i] : out[i];
    else binomial_draw(g, first + i * apart, 1, total + i, logit + i, out + i);
  }
}

/* a column of a block: number j of each row */
static void column (size_t n, const double *rows, size_t step, size_t j, double *out) {
  for (size_t r = 0; r < n; r++) out[r] = rows[r * step + j];
}

/* n rows, given their trials and conditional logits, which all share if `step` is 0 */
static void draw_block (Stop stop, const Philox *g, uint64_t first, size_t n, size_t k,
                        double *left, const double *u, const double *logits, size_t step,
                        double *out) {
  double own_u[ROWS], logit[ROWS], count[ROWS];
  for (size_t j = 0; j < k && !stops_at(stop, j, OPERATIONS); j++) {
    column(n, u, k, j, own_u);
    column(n, logits, step, j, logit);
    shares(g, first + j, k, n, own_u, left, logit, count);
    for (size_t r = 0; r < n; r++) {
      out[r * k + j] = count[r];
      left[r] -= count[r];
    }
  }
}

static void sample (const Philox *g, uint64_t first, const Batch *b, double *out) {
  size_t k = b->dims[0], most = rows_at_once(k), step = b->step[1] == 0 ? 0 : k;
  double *u = b->scratch, *logits = u + most * k, left[ROWS];
  if (step == 0) conditional_logits(b->stop, k, b->in[1], logits);
  for (size_t r = 0, n; r < b->n; r += n) {
    n = b->n - r < most ? b->n - r : most;
    for (size_t i = 0; i < n; i++) {
      left[i] = *event(b, 0, r + i);
      if (step > 0) conditional_logits(b->stop, k, event(b, 1, r + i), logits + i * k);
    }
    for (size_t i = 0, end; (end = part_end(b->stop, i, n * k)) > i; i = end)
      noise_uniform(g, 0, first + r * k + i, end - i, u + i);
    draw_block(b->stop, g, first + r * k, n, k, left, u, logits, step, out + r * k);
  }
}

/* }====================================================== */


const Kernel perilune_multinomial[] = {
  {.name = "log_prob", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(k),(),(k)->()", .run = log_prob, .adjoint = log_prob_adjoint}},
  {.name = "mode", .n_in = 2, .flat = 1,
   .rows = &(const RowKernel) {.signature = "(),(k)->(k)", .run = mode}},
  {.name = "entropy", .n_in = 2, .slow = 1,
   .rows = &(const RowKernel) {
     .signature = "(),(k)->()", .run = entropy, .adjoint = entropy_adjoint}},
  {.name = "sample", .n_in = 3,
   .rows = &(const RowKernel) {.signature = "(k),(),(k)->(k)", .scratch = sample_scratch},
   .sampler = &(const Sampler) {.draw_rows = sample}},
  {.name = NULL}
};
