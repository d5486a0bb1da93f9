/*
** hiddenmarkov.c - HiddenMarkov: sequences that follow a chain of hidden states
**
** With probabilities p of the first state, a_ij of going from i to j, and a table e of the log
** densities of x_t in each state,
**
**   f_1(j) = log p_j + e_1(j),    f_t(j) = e_t(j) + log sum_i a_ij exp f_t-1(i)
**   b_T(i) = 0,                   b_t(i) = log sum_j a_ij exp(e_t+1(j) + b_t+1(j))
**   log p(x) = log sum_j exp f_T(j),    P(state t is i | x) ~ exp(f_t(i) + b_t(i))
**
** (Rabiner 1989). Both are kept with their largest element at 0, so that they are exact however
** long the sequence is; the shifts are summed apart. Probabilities are no logarithms: where one is
** 0 the derivative along it is finite, and most often not 0.
*/
#include <stdbool.h>

#include "kernel/kernel.h"
#include "kernel/simplex.h"
#include "special/pair.h"

enum { INITIAL, TRANSITION, TABLE };   /* operands */

static const double TINY = 0x1p-900;   /* a sum below it may have lost terms */

/* A matrix, or its transpose: element (i, j) is at i row + j column. */
typedef struct Chain { size_t k; const double *a; size_t row, column; } Chain;

static Chain chain_of (const Batch *b, size_t r) {
  return (Chain) {b->dims[0], event(b, TRANSITION, r), b->dims[0], 1};
}

static Chain reversed (Chain c) { return (Chain) {c.k, c.a, c.column, c.row}; }

static double chance (const Chain *c, size_t i, size_t j) { return c->a[i * c->row + j * c->column]; }


/* {=====================================================
** Steps
** ====================================================== */

/* log sum_i exp(u_i) a_ij by logarithms alone; impossible ways do not count, whatever u is */
static double log_total (const Chain *c, const double *u, size_t j) {
  double m = -INFINITY, sum = 0;
  for (size_t i = 0; i < c->k; i++) {
    double a = chance(c, i, j), term = a == 0 ? -INFINITY : u[i] + vlog(a);
    if (term != term) return term;
    m = term > m ? term : m;
  }
  if (fabs(m) == INFINITY) return m;
  for (size_t i = 0; i < c->k; i++) {
    double a = chance(c, i, j);
    sum += a == 0 ? 0 : vexp(u[i] + vlog(a) - m);
  }
  return m + vlog(sum);
}

/* out_j = log sum_i exp(u_i) a_ij, where the largest u is 0; w is room for k numbers */
static void go (const Chain *c, const double *u, double *w, double *out) {
  size_t k = c->k;
  EVERY for (size_t i = 0; i < k; i++) w[i] = vexp(u[i]);
  for (size_t j = 0; j < k; j++) out[j] = 0;
  for (size_t i = 0; i < k; i++)
    for (size_t j = 0; j < k; j++) out[j] = fma(w[i], chance(c, i, j), out[j]);
  for (size_t j = 0; j < k; j++)
    out[j] = out[j] > TINY && out[j] < INFINITY ? vlog(out[j]) : log_total(c, u, j);
}

/* u less its largest element, which is returned; where that is infinite u stays */
static double lowered (size_t k, double *u) {
  double m = -INFINITY;
  for (size_t j = 0; j < k; j++) m = u[j] > m || u[j] != u[j] ? u[j] : m;
  if (!(fabs(m) < INFINITY)) return m;
  for (size_t j = 0; j < k; j++) u[j] -= m;
  return m;
}

/* f_t from the one before it, or the first from p; returns the shift */
static double step_forward (const Batch *b, const Chain *c, size_t r, size_t t, const double *before,
                            double *w, double *f) {
  const double *e = event(b, TABLE, r) + t * c->k, *p = event(b, INITIAL, r);
  if (t == 0)
    for (size_t j = 0; j < c->k; j++) f[j] = vlog(p[j]);
  else go(c, before, w, f);
  for (size_t j = 0; j < c->k; j++) f[j] = f[j] == -INFINITY ? f[j] : f[j] + e[j];
  return lowered(c->k, f);
}

/* e_t + b_t, given b_t, with its largest element at 0 */
static void add_table (const Batch *b, const Chain *c, size_t r, size_t t, const double *back,
                       double *u) {
  const double *e = event(b, TABLE, r) + t * c->k;
  for (size_t j = 0; j < c->k; j++) u[j] = back[j] == -INFINITY ? back[j] : back[j] + e[j];
  lowered(c->k, u);
}

/* }====================================================== */


/* {=====================================================
** Density
** ====================================================== */

/* log sum_j exp(u_j) */
static double log_sum (size_t k, const double *u) {
  Simplex s = simplex_of(STOP_NEVER, k, u);
  return s.shift + s.log_sum;
}

static void log_prob (const Batch *b, double *out) {
  size_t k = b->dims[0], steps = b->dims[1];
  double *f = b->scratch, *next = f + k, *w = next + k;
  for (size_t r = 0; r < b->n; r++) {
    Chain c = chain_of(b, r);
    Pair total = {0, 0};
    double m = 0;
    for (size_t t = 0; t < steps && !stops_at(b->stop, t, k * k); t++) {
      m = step_forward(b, &c, r, t, f, w, next);
      if (!(fabs(m) < INFINITY)) break;
      total = pair_add(total, (Pair) {m, 0});
      double *swap = f;
      f = next;
      next = swap;
    }
    out[r] = fabs(m) < INFINITY ? total.hi + (total.lo + (steps > 0 ? log_sum(k, f) : 0)) : m;
  }
}

static size_t log_prob_scratch (const size_t dims[]) { return 3 * dims[0]; }

/* all f, one after the other; is the sequence possible, and no element NaN or infinite? */
static bool run_forward (const Batch *b, const Chain *c, size_t r, double *w, double *f) {
  for (size_t t = 0; t < b->dims[1]; t++) {
    if (stops_at(b->stop, t, c->k * c->k)) return false;
    double m = step_forward(b, c, r, t, t == 0 ? NULL : f + (t - 1) * c->k, w, f + t * c->k);
    if (!(fabs(m) < INFINITY)) return false;
  }
  return true;
}

/* What a backward pass over a sequence works with: k numbers each. */
typedef struct Back { double *w, *back, *u; } Back;

static Back back_of (size_t k, double *scratch) {
  return (Back) {scratch, scratch + k, scratch + 2 * k};
}

/* P(state i | x) from f and b at one time; returns the largest f + b, and the sum of
   exp(f + b) less that */
static double posterior_at (size_t k, const double *f, const double *back, double *shares,
                            double *sum) {
  EVERY for (size_t i = 0; i < k; i++) shares[i] = f[i] == -INFINITY ? f[i] : f[i] + back[i];
  double m = simplex_largest(STOP_NEVER, k, shares), all = 0;
  EVERY for (size_t i = 0; i < k; i++) shares[i] = vexp(shares[i] - m);
  for (size_t i = 0; i < k; i++) all += shares[i];
  for (size_t i = 0; i < k; i++) shares[i] /= all;
  *sum = all;
  return m;
}

/* Adds to d_ij the derivative along a_ij of one step, exp(f_i + u_j)/(sum exp m), given exp(u_j),
   u being e + b of the next time. Where the likely ends of the step are hardly connected m is far
   below 0, and only their sum is a number. */
static void add_step (size_t k, const double *f, const double *u, const double *exp_u, double m,
                      double sum, double up, double *d) {
  for (size_t i = 0; i < k; i++, d += k) {
    if (f[i] == -INFINITY) continue;
    double scale = m > -100 ? up * vexp(f[i] - m) / sum : 0;
    for (size_t j = 0; j < k; j++)
      d[j] += m > -100 ? scale * exp_u[j] : up * vexp(f[i] + u[j] - m) / sum;
  }
}

static void fill (size_t n, double x, double *d) {
  for (size_t i = 0; i < n; i++) d[i] = x;
}

/* from the last time to the first; d is NULL where nobody wants the derivatives along a */
static void run_back (const Batch *b, const Chain *c, size_t r, const double *f, Back s, double up,
                      double *shares, double *d) {
  size_t k = c->k, t = b->dims[1] - 1;
  Chain back = reversed(*c);
  double sum;
  fill(k, 0, s.back);
  posterior_at(k, f + t * k, s.back, shares + t * k, &sum);
  add_table(b, c, r, t, s.back, s.u);
  for (; t > 0 && !stops_at(b->stop, t, k * k); t--) {
    go(&back, s.u, s.w, s.back);
    double m = posterior_at(k, f + (t - 1) * k, s.back, shares + (t - 1) * k, &sum);
    if (d != NULL) add_step(k, f + (t - 1) * k, s.u, s.w, m, sum, up, d);
    lowered(k, s.back);
    add_table(b, c, r, t - 1, s.back, s.u);
  }
}

/* d/dp_j = exp(u_j)/sum_i p_i exp(u_i), u = e_1 + b_1; the largest u is 0 */
static void initial_slopes (size_t k, const double *p, const double *u, double *w, double up,
                            double *d) {
  for (size_t j = 0; j < k; j++) w[j] = p[j] == 0 ? -INFINITY : vlog(p[j]) + u[j];
  double all = log_sum(k, w);
  for (size_t j = 0; j < k; j++) d[j] = up * vexp(u[j] - all);
}

static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0], size = b->dims[1] * k;
  Back s = back_of(k, b->scratch);
  double *f = b->scratch + 3 * k;
  for (size_t r = 0; r < b->n; r++) {
    Chain c = chain_of(b, r);
    double *dp = d[INITIAL] + r * k, *da = d[TRANSITION] + r * k * k, *de = d[TABLE] + r * size;
    fill(k, 0, dp);
    fill(k * k, 0, da);
    fill(size, 0, de);
    if (size == 0 || !run_forward(b, &c, r, s.w, f)) continue;
    run_back(b, &c, r, f, s, upstream[r], de, is_wanted(b, TRANSITION) ? da : NULL);
    initial_slopes(k, event(b, INITIAL, r), s.u, s.w, upstream[r], dp);
    for (size_t i = 0; i < size; i++) de[i] *= upstream[r];
  }
}

static size_t adjoint_scratch (const size_t dims[]) { return (3 + dims[1]) * dims[0]; }

/* }====================================================== */


/* {=====================================================
** States, given a sequence
** ====================================================== */

static void posterior (const Batch *b, double *out) {
  size_t k = b->dims[0], size = b->dims[1] * k;
  Back s = back_of(k, b->scratch);
  double *f = b->scratch + 3 * k;
  for (size_t r = 0; r < b->n; r++, out += size) {
    Chain c = chain_of(b, r);
    if (size > 0 && run_forward(b, &c, r, s.w, f)) run_back(b, &c, r, f, s, 1, out, NULL);
    else fill(size, NAN, out);
  }
}

/* the likeliest way to state j: where it came from, and its score */
static size_t best_from (const Chain *c, const double *log_a, const double *score, size_t j,
                         double *best) {
  size_t from = 0;
  *best = -INFINITY;
  for (size_t i = 0; i < c->k; i++) {
    double s = score[i] + log_a[i * c->k + j];
    if (s > *best) {
      *best = s;
      from = i;
    }
  }
  return from;
}

static size_t largest_of (size_t k, const double *x) {
  size_t at = 0;
  for (size_t j = 1; j < k; j++) at = x[j] > x[at] ? j : at;
  return at;
}

/* the likeliest states, counted from 1: forwards to the best score of each, and back by where it
   came from; NaN where no states are possible */
static void viterbi (const Batch *b, double *out) {
  size_t k = b->dims[0], steps = b->dims[1];
  double *score = b->scratch, *next = score + k, *log_a = next + k, *from = log_a + k * k;
  for (size_t r = 0; r < b->n; r++, out += steps) {
    Chain c = chain_of(b, r);
    const double *p = event(b, INITIAL, r), *e = event(b, TABLE, r);
    bool possible = true;
    for (size_t i = 0; i < k * k; i++) log_a[i] = vlog(c.a[i]);
    for (size_t t = 0; t < steps && possible && !stops_at(b->stop, t, k * k); t++) {
      for (size_t j = 0; j < k; j++) {
        if (t == 0) next[j] = vlog(p[j]);
        else from[t * k + j] = (double)best_from(&c, log_a, score, j, &next[j]);
        next[j] = next[j] == -INFINITY ? next[j] : next[j] + e[t * k + j];
      }
      possible = fabs(lowered(k, next)) < INFINITY;
      memcpy(score, next, k * sizeof *score);
    }
    if (!possible) fill(steps, NAN, out);
    size_t at = possible && steps > 0 ? largest_of(k, score) : 0;
    for (size_t t = steps; possible && t-- > 0; ) {
      out[t] = (double)(at + 1);
      if (t > 0) at = (size_t)from[t * k + at];
    }
  }
}

static size_t viterbi_scratch (const size_t dims[]) {
  return (2 + dims[0] + dims[1]) * dims[0];
}

/* }====================================================== */


/* {=====================================================
** States, before a sequence is seen
** ====================================================== */

/* one of k with these probabilities, which may sum to a little more or less than 1 */
static size_t choose (size_t k, const double *p, double u) {
  double all = 0, sum = 0;
  for (size_t j = 0; j < k; j++) all += p[j];
  size_t last = 0;
  for (size_t j = 0; j < k; j++) {
    sum += p[j];
    if (p[j] > 0) last = j;
    if (sum > u * all) break;
  }
  return last;
}

/* operands: uniform noise, p, a, and a frame that says how many */
static void states (const Batch *b, double *out) {
  size_t steps = b->dims[0], k = b->dims[1];
  for (size_t r = 0; r < b->n; r++, out += steps) {
    const double *u = event(b, 0, r), *p = event(b, 1, r), *a = event(b, 2, r);
    for (size_t t = 0, at = 0; t < steps && !stops_at(b->stop, t, k); t++) {
      at = choose(k, t == 0 ? p : a + at * k, u[t]);
      out[t] = (double)(at + 1);
    }
  }
}

/* P(state t is j): p, then each time the one before times a */
static void marginals (const Batch *b, double *out) {
  size_t k = b->dims[0], steps = b->dims[1];
  for (size_t r = 0; r < b->n; r++, out += steps * k) {
    const double *p = event(b, 0, r), *a = event(b, 1, r);
    for (size_t t = 0; t < steps && !stops_at(b->stop, t, k * k); t++)
      for (size_t j = 0; j < k; j++) {
        double sum = 0;
        for (size_t i = 0; t > 0 && i < k; i++) sum = fma(out[(t - 1) * k + i], a[i * k + j], sum);
        out[t * k + j] = t == 0 ? p[j] : sum;
      }
  }
}

/* g_t = u_t + a g_t+1;  d/dp = g_1,  d/da_ij = sum_t m_t(i) g_t+1(j) */
static void marginals_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0], steps = b->dims[1], size = steps * k;
  double *m = b->scratch, *g = m + size, *next = g + k;
  for (size_t r = 0; r < b->n; r++) {
    const double *a = event(b, 1, r), *up = upstream + r * size;
    double *da = d[1] + r * k * k;
    const double *const in[] = {event(b, 0, r), a, event(b, 2, r)};
    const ptrdiff_t step[] = {0, 0, 0};
    marginals(&(Batch) {.n = 1, .dims = b->dims, .in = in, .step = step, .stop = b->stop}, m);
    fill(k * k, 0, da);
    fill(k, 0, g);
    fill(steps, 0, d[2] + r * steps);
    for (size_t t = steps; t-- > 0 && !stops_at(b->stop, t, k * k); ) {
      for (size_t i = 0; i < k; i++) {
        double sum = up[t * k + i];
        for (size_t j = 0; j < k; j++) sum = fma(a[i * k + j], g[j], sum);
        next[i] = sum;
        for (size_t j = 0; t + 1 < steps && j < k; j++)
          da[i * k + j] = fma(m[t * k + i], g[j], da[i * k + j]);
      }
      memcpy(g, next, k * sizeof *g);
    }
    memcpy(d[0] + r * k, g, k * sizeof *g);
  }
}

static size_t marginals_scratch (const size_t dims[]) { return (2 + dims[1]) * dims[0]; }

/* }====================================================== */


const Kernel perilune_hiddenmarkov[] = {
  {.name = "log_prob", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(k),(k,k),(t,k)->()", .run = log_prob, .scratch = log_prob_scratch,
     .adjoint = log_prob_adjoint, .adjoint_scratch = adjoint_scratch}},
  {.name = "posterior", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(k),(k,k),(t,k)->(t,k)", .run = posterior, .scratch = adjoint_scratch}},
  {.name = "viterbi", .n_in = 3, .flat = 1, .integer = 1,
   .rows = &(const RowKernel) {
     .signature = "(k),(k,k),(t,k)->(t)", .run = viterbi, .scratch = viterbi_scratch}},
  {.name = "marginals", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(k),(k,k),(t)->(t,k)", .run = marginals, .adjoint = marginals_adjoint,
     .adjoint_scratch = marginals_scratch}},
  {.name = "states", .n_in = 4, .integer = 1,
   .rows = &(const RowKernel) {.signature = "(t),(k),(k,k),(t)->(t)", .run = states},
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
