/*
** binomial.c - Binomial(total_count, logits), successes in n trials
**
**   log P(k) = log(n!/(k! (n - k)!)) + k log p + (n - k) log q,   P(X <= k) = I_q(n - k, k + 1)
**
** by Loader's form (trials.h). Logits hold p and q = 1 - p to full precision.
** Slopes along n are those of the formula continued to real n.
*/
#include "kernel/binomial.h"

#include "kernel/kernel.h"
#include "kernel/outcome.h"
#include "kernel/summation.h"
#include "random/noise.h"


/* {=====================================================
** Probabilities and tails
** ====================================================== */

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *total = in[1], *l = in[2];
  for (size_t i = 0; i < n; i++)
    out[i] = at_outcome(x[i], total[i], binomial_log_prob(x[i], total[i], l[i]));
}

/* x - n p, from the side of the rarer outcome */
VECTOR double logit_slope (double x, double n, Odds o) {
  double failures = fma(n, o.q, -(n - x)), successes = fma(-n, o.p, x);
  return o.p > o.q ? failures : successes;
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *total = in[1], *l = in[2];
  double *dx = d[0], *dtotal = d[1], *dl = d[2];
  for (size_t i = 0; i < n; i++) {
    Odds o = odds_of(l[i]);
    int inside = is_outcome(x[i], total[i]);
    double slope = trials_slope(total[i] - x[i] + 1, x[i], o);
    dx[i] = 0;
    dtotal[i] = inside ? slope : 0;
    dl[i] = inside ? logit_slope(x[i], total[i], o) : 0;
  }
}


static double shape (double k, double n) { return n - k; }

static double log_height (double k, double n, double l) {
  return binomial_log_prob(k, n, l) + vlog(n - k);
}

static const Trials LAW = {shape, log_height};

static void cdf (size_t n, const double *const in[], double *out) {
  trials_tails(&LAW, n, in, out, 0);
}

static void sf (size_t n, const double *const in[], double *out) {
  trials_tails(&LAW, n, in, out, 1);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  trials_log_tails(&LAW, n, in, out, 0);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  trials_log_tails(&LAW, n, in, out, 1);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  trials_tail_partials(&LAW, n, in, d, 0);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  trials_tail_partials(&LAW, n, in, d, 1);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  trials_log_tail_partials(&LAW, n, in, d, 0);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  trials_log_tail_partials(&LAW, n, in, d, 1);
}

/* }====================================================== */


/* {=====================================================
** Quantiles
** ====================================================== */

static int cdf_reached (double k, double p, const double *params) {
  return trials_tail(&LAW, k, params[0], params[1], 0) >= p;
}

static int sf_reached (double k, double q, const double *params) {
  return trials_tail(&LAW, k, params[0], params[1], 1) <= q;
}

/* near the quantile of a normal number z, by Cornish and Fisher's first terms */
static double start (double z, double n, Odds o) {
  return floor(n * o.p + sqrt(n * o.p * o.q) * z + (o.q - o.p) * (z * z - 1) / 6);
}

/* the quantile for p, or for the upper tail p */
static double quantile (double p, double n, double l, int upper) {
  double params[] = {n, l};
  Odds o = odds_of(l);
  if (!(p >= 0 && p <= 1 && n >= 0 && l == l)) return (double)NAN;
  double certain = upper ? 1 : 0;   /* all outcomes have reached that */
  if (p == certain || l == -HUGE_VAL) return 0;
  if (p == 1 - certain) return n;
  double z = upper ? -vndtri(p) : vndtri(p);
  return outcome_reached(start(z, n, o), 0, n, upper ? sf_reached : cdf_reached, p, params);
}

static void icdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = quantile(in[0][i], in[1][i], in[2][i], 0);
}

static void isf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = quantile(in[0][i], in[1][i], in[2][i], 1);
}

/* }====================================================== */


/* {=====================================================
** Entropy, a sum over all outcomes (summation.h)
** ====================================================== */

typedef struct Sums { double n, l, entropy, dn, dl; } Sums;

/* log P at many outcomes of one law, or real numbers between them */
static void log_probs (size_t n, const double *k, const Sums *s, double *restrict out) {
  double total = s->n, l = s->l;
  for (size_t i = 0; i < n; i++) out[i] = binomial_log_prob(k[i], total, l);
}

static void add_entropy (size_t n, const double *k, const double *weight, void *state) {
  Sums *s = state;
  double p[SUMMATION_BLOCK];
  log_probs(n, k, s, p);
  for (size_t i = 0; i < n; i++)
    if (p[i] > -1000) s->entropy -= weight[i] * p[i] * vexp(p[i]);
}

/* the mean of (log P + entropy) times the slopes of log P */
static void add_slopes (size_t n, const double *k, const double *weight, void *state) {
  Sums *s = state;
  Odds o = odds_of(s->l);
  double p[SUMMATION_BLOCK];
  log_probs(n, k, s, p);
  for (size_t i = 0; i < n; i++) {
    if (!(p[i] > -1000)) continue;
    double share = weight[i] * vexp(p[i]) * (p[i] + s->entropy);
    s->dn -= share * trials_slope(s->n - k[i] + 1, k[i], o);
    s->dl -= share * logit_slope(k[i], s->n, o);
  }
}

static void visit_outcomes (Visit *visit, Sums *s) {
  double p = vsigmoid(s->l), deviation = sqrt(s->n * p * vsigmoid(-s->l));
  summation(floor(s->n), s->n * p, deviation, visit, s);
}

static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {   /* success and failure exchanged, the same */
    Sums s = {.n = in[0][i], .l = -fabs(in[1][i])};
    visit_outcomes(add_entropy, &s);
    out[i] = s.n >= 0 && s.n < HUGE_VAL && s.l == s.l ? s.entropy + 0 : (double)NAN;
  }
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    Sums s = {.n = in[0][i], .l = -fabs(in[1][i])};
    visit_outcomes(add_entropy, &s);
    visit_outcomes(add_slopes, &s);
    d[0][i] = s.dn;
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

enum { TABLE = 128 };
static const double REJECTION = 25, NEGLIGIBLE = 1e-19;

/* what draws from one law share; sum[k] = P(X <= k) as far as it was needed */
typedef struct Sampler {
  double total, logit;
  double n, l, mean, odds;        /* of the rarer outcome; odds = p/q */
  double a, b, c, alpha, quick;   /* of rejection */
  double top;                     /* log P at the mode, NaN until it is needed */
  double term, sum[TABLE];
  int filled;
} Sampler;

static void sampler_set (Sampler *s, double total, double logit) {
  double p = vsigmoid(-fabs(logit)), deviation = sqrt(total * p * (1 - p));
  s->total = s->n = total;
  s->logit = logit;
  s->l = -fabs(logit);
  s->mean = total * p;
  s->odds = vexp(s->l);
  s->b = fma(2.53, deviation, 1.15);
  s->a = fma(0.01, p, fma(0.0248, s->b, -0.0873));
  s->c = s->mean + 0.5;
  s->alpha = (2.83 + 5.1 / s->b) * deviation;
  s->quick = 0.92 - 4.2 / s->b;
  s->top = (double)NAN;
  s->filled = 0;
  s->term = s->sum[0] = total == 0 ? 1 : vexp(-total * vsoftplus(s->l));
}

/* at most TABLE steps: what is left beyond is less than the resolution of u */
static double walk (Sampler *s, double u) {
  int k = 0;
  while (u > s->sum[k] && k < TABLE - 1) {
    if (k == s->filled) {
      s->term *= (s->n - k) / (k + 1) * s->odds;
      if (k > s->mean && !(s->term > NEGLIGIBLE)) return k;
      s->filled++;
      s->sum[k + 1] = s->sum[k] + s->term;
    }
    k++;
  }
  return k;
}

/* is k, proposed by a u at distance edge from the nearer end of (0, 1), accepted by v? */
static int is_accepted (Sampler *s, double k, double edge, double v) {
  if (!(k >= 0 && k <= s->n)) return 0;
  if (s->top != s->top) {
    double mode = floor((s->n + 1) * vsigmoid(s->l));
    s->top = binomial_log_prob(mode, s->n, s->l);
  }
  double bound = vlog(v * s->alpha / (s->a / (edge * edge) + s->b));
  return bound <= binomial_log_prob(k, s->n, s->l) - s->top;
}

/* the draw that two uniform numbers make, or -1 if it is rejected */
static double attempt (Sampler *s, double u, double v) {
  double side = u - 0.5, edge = 0.5 - fabs(side);
  double k = floor(fma(2 * s->a / edge + s->b, side, s->c));
  if (edge >= 0.07 && v <= s->quick) return k;
  return is_accepted(s, k, edge, v) ? k : -1;
}

/* attempts 1, 2, ...; the quantile of a uniform number if all fail */
static double retry (const Philox *g, uint64_t element, Sampler *s) {
  double u, v, k;
  for (uint32_t i = 1; i < BINOMIAL_ATTEMPTS - 1; i++) {
    noise_uniform(g, 2 * i, element, 1, &u);
    noise_uniform(g, 2 * i + 1, element, 1, &v);
    k = attempt(s, u, v);
    if (k >= 0) return k;
  }
  noise_uniform(g, BINOMIAL_LANES - 1, element, 1, &u);
  return quantile(u, s->n, s->l, 0);
}

void binomial_draw (const Philox *g, uint64_t first, size_t n, const double *total,
                    const double *logit, double *out) {
  double u[BINOMIAL_BLOCK], v[BINOMIAL_BLOCK];
  Sampler s;
  noise_uniform(g, 0, first, n, u);
  noise_uniform(g, 1, first, n, v);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || total[i] != s.total || logit[i] != s.logit) sampler_set(&s, total[i], logit[i]);
    double k = s.mean < REJECTION ? walk(&s, u[i]) : attempt(&s, u[i], v[i]);
    if (!(k >= 0)) k = retry(g, first + i, &s);
    out[i] = logit[i] > 0 ? total[i] - k : k;
  }
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
  {.name = "icdf",     .n_in = 3, .value = icdf},
  {.name = "isf",      .n_in = 3, .value = isf},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = entropy_partials},
  {.name = "sample",   .n_in = 3, .draw = sample,    .integer = 1},
  {.name = NULL}
};
