/*
** binomial.c - Binomial(total_count, logits), successes in n trials
**
**   log P(k) = log(n!/(k! (n - k)!)) + k log p + (n - k) log q,   P(X <= k) = I_q(n - k, k + 1)
**
** by Loader's form (binomial_law.h). Logits hold p and q = 1 - p to full precision.
** Slopes along n are those of the formula continued to real n.
*/
#include "kernel/binomial.h"

#include "kernel/repeated.h"
#include "kernel/kernel.h"
#include "random/noise.h"


VECTOR double last (double n) { return n; }

VECTOR double total_slope (double k, double n, Odds o) { return binomial_slope(n - k + 1, k, o); }

/* k - n p, from the side of the rarer outcome */
VECTOR double logit_slope (double k, double n, Odds o) {
  double failures = fma(n, o.q, -(n - k)), successes = fma(-n, o.p, k);
  return o.p > o.q ? failures : successes;
}

static double shape (double k, double n) { return n - k; }
static double height (double k, double n) { return n - k; }
static double steepness (double k, double l) { return (k + 1) * vsigmoid(-l); }

/* by Cornish and Fisher's first terms */
static double start (double z, double n, Odds o) {
  return n * o.p + sqrt(n * o.p * o.q) * z + (o.q - o.p) * (z * z - 1) / 6;
}

static const BinomialLaw binomial_law = {
  .log_prob = binomial_log_prob, .total_slope = total_slope, .logit_slope = logit_slope,
  .shape = shape, .height = height, .steepness = steepness, .last = last, .start = start
};

#include "kernel/binomial_kernels.h"


/* {=====================================================
** Entropy
** ====================================================== */

static int exceeds (const EntropySums *s, double limit) {
  return s->total * vsigmoid(s->l) > limit;
}

static void visit_outcomes (Visit *visit, EntropySums *s) {
  double p = vsigmoid(s->l), deviation = sqrt(s->total * p * vsigmoid(-s->l));
  summation(floor(s->total), s->total * p, deviation, visit, s);
}

static void add_up (EntropySums *s) {
  if (exceeds(s, SUMMATION_NORMAL))
    s->entropy = summation_normal_entropy(vlog(s->total * vsigmoid(s->l) * vsigmoid(-s->l)));
  else visit_outcomes(add_entropy, s);
}

static void entropy (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) {   /* success and failure exchanged, the same */
    EntropySums s = {.total = in[0][i], .l = -fabs(in[1][i])};
    add_up(&s);
    out[i] = s.total >= 0 && s.total < HUGE_VAL && s.l == s.l ? s.entropy + 0 : (double)NAN;
  }
}

/* of log(2 pi e n p q)/2 - (1/(p q) - 4)/(12 n) */
static void normal_slopes (EntropySums *s) {
  double n = s->total, p = vsigmoid(s->l), q = vsigmoid(-s->l), skewness = (q - p) / (n * p * q);
  s->dtotal = (0.5 + (q - p) * skewness / 12) / n;
  s->dl = fma(0.5, q - p, skewness / 12);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    EntropySums s = {.total = in[0][i], .l = -fabs(in[1][i])};
    add_up(&s);
    if (exceeds(&s, SUMMATION_SLOPES)) normal_slopes(&s);
    else visit_outcomes(add_slopes, &s);
    d[0][i] = s.dtotal;
    d[1][i] = in[1][i] > 0 ? -s.dl : s.dl;
  }
}

/* }====================================================== */


/* {=====================================================
** Draws, of the rarer of success and failure: for a mean below 25 the first k with
** u <= P(X <= k), the probabilities summed upwards; from there on transformed rejection
** (BTRS: W. Hormann, "The generation of binomial random variates", 1993). A draw
** depends on its own parameters and noise alone, whatever else is in its block.
** ====================================================== */

enum { TABLE = 128, RETRY = 2 };
static const double REJECTION_MEAN = 25, NEGLIGIBLE = 1e-19;

/* the hat of rejection, for the rarer outcome of n trials; alpha is its height */
typedef struct Hat { double mean, a, b, alpha; } Hat;

VECTOR Hat hat_of (double n, double logit) {
  double p = vsigmoid(-fabs(logit)), deviation = sqrt(n * p * (1 - p));
  double b = fma(2.53, deviation, 1.15), a = fma(0.01, p, fma(0.0248, b, -0.0873));
  return (Hat) {n * p, a, b, (2.83 + 5.1 / b) * deviation};
}

/* what a u at distance `edge` from the nearer of 0, 1 proposes */
VECTOR double proposal (Hat h, double u, double edge) {
  return floor(fma(2 * h.a / edge + h.b, u - 0.5, h.mean + 0.5));
}

VECTOR double log_prob_at_mode (double n, double logit) {
  double l = -fabs(logit);
  return binomial_log_prob(floor((n + 1) * vsigmoid(l)), n, l);
}

/* log_prob_at_mode of each law; most often there is but one */
static void tops (size_t n, const double *total, const double *logit, double *restrict top) {
  size_t differing = all_same(n, total) && all_same(n, logit) ? 1 : n;
  for (size_t i = 0; i < differing; i++) top[i] = log_prob_at_mode(total[i], logit[i]);
  for (size_t i = differing; i < n; i++) top[i] = top[0];
}

static void attempt (size_t n, const double *const in[], const double *u, const double *v,
                     double *out) {
  const double *total = in[0], *logit = in[1];
  double top[BINOMIAL_BLOCK];
  tops(n, total, logit, top);
  EVERY for (size_t i = 0; i < n; i++) {
    Hat h = hat_of(total[i], logit[i]);
    double edge = 0.5 - fabs(u[i] - 0.5), x = proposal(h, u[i], edge), k = clamp(x, 0, total[i]);
    double bound = vlog(v[i] * h.alpha / (h.a / (edge * edge) + h.b));
    int accept = (x == k) & (bound <= binomial_log_prob(k, total[i], -fabs(logit[i])) - top[i]);
    out[i] = accept ? k : (double)NAN;
  }
}

static double rarer_quantile (double u, const double *params) {
  return quantile((double[]) {u, params[0], -fabs(params[1])}, 0);
}

static const Rejection BY_REJECTION = {
  .n_in = 2, .attempt = attempt, .quantile = rarer_quantile
};

static double quick (const Hat *h, double u, double v) {
  double edge = 0.5 - fabs(u - 0.5);
  return edge >= 0.07 && v <= 0.92 - 4.2 / h->b ? proposal(*h, u, edge) : (double)NAN;
}

/* what draws from one law share; sum[k] = P(X <= k) as far as it was needed */
typedef struct SharedDraws {
  double total, logit;
  Hat hat;
  double odds, term, sum[TABLE];   /* odds = p/q of the rarer outcome */
  int filled;
} SharedDraws;

static void start_draws (SharedDraws *s, double total, double logit) {
  double l = -fabs(logit);
  s->total = total;
  s->logit = logit;
  s->hat = hat_of(total, logit);
  s->odds = vexp(l);
  s->filled = 0;
  s->term = s->sum[0] = total == 0 ? 1 : vexp(-total * vsoftplus(l));
}

/* the first k with u <= P(X <= k), at most TABLE: what is beyond is less than u resolves */
static double search (SharedDraws *s, double u) {
  int k = 0;
  while (u > s->sum[k] && k < TABLE - 1) {
    if (k == s->filled) {
      s->term *= (s->total - k) / (k + 1) * s->odds;
      if (k > s->hat.mean && !(s->term > NEGLIGIBLE)) return k;
      s->filled++;
      s->sum[k + 1] = s->sum[k] + s->term;
    }
    k++;
  }
  return k;
}

void binomial_draw (const Philox *g, uint64_t first, size_t n, const double *total,
                    const double *logit, double *out) {
  double u[BINOMIAL_BLOCK], v[BINOMIAL_BLOCK];
  const double *params[] = {total, logit};
  SharedDraws s;
  noise_uniform(g, 0, first, n, u);
  noise_uniform(g, 1, first, n, v);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || total[i] != s.total || logit[i] != s.logit) start_draws(&s, total[i], logit[i]);
    out[i] = s.hat.mean < REJECTION_MEAN ? search(&s, u[i]) : quick(&s.hat, u[i], v[i]);
  }
  rejection(&BY_REJECTION, g, RETRY, first, n, params, u, v, out);
  EVERY for (size_t i = 0; i < n; i++) out[i] = logit[i] > 0 ? total[i] - out[i] : out[i];
}

static void sample (const Philox *g, uint64_t first, size_t n, const double *const in[],
                    double *out) {
  binomial_draw(g, first, n, in[0], in[1], out);
}

/* }====================================================== */


const Kernel perilune_binomial[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .slow = 1, .value = icdf, .flat = 1},
  {.name = "isf",      .n_in = 3, .slow = 1, .value = isf, .flat = 1},
  {.name = "entropy",  .n_in = 2, .slow = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "sample", .n_in = 3, .integer = 1, .sampler = &(const Sampler) {.draw = sample}},
  {.name = NULL}
};
