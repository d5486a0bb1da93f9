/*
** negativebinomial.c - NegativeBinomial(total_count, logits), successes before r failures
**
**   log P(k) = log(Gamma(r + k)/(Gamma(r) k!)) + k log p + r log q,   P(X <= k) = I_q(r, k + 1)
**
** by Loader's form (trials.h), r any number above 0; at r = 0 all of the mass is at 0.
** Logits hold p and q = 1 - p to full precision. A draw is a Poisson number whose rate is
** a gamma number of shape r times p/q.
*/
#include "kernel/kernel.h"
#include "kernel/outcome.h"
#include "kernel/poisson.h"
#include "kernel/summation.h"
#include "kernel/trials.h"
#include "random/gammas.h"


/* {=====================================================
** Probabilities and tails
** ====================================================== */

/* log P(k) for k >= 0, an integer or at least 1/2 */
VECTOR double log_prob_at (double k, double r, double logit) {
  Odds o = odds_of(logit);
  double x = k < 0.5 ? 1 : k, n = x + r;
  double mu = stirlerr_above(n) - stirlerr_above(x) - vstirlerr(r);
  double root = vlog(vsqrt(r) / (vsqrt(n) * vsqrt(x))) - 0.91893853320467274178;
  double inside = mu - trials_deviances(x, r, n, o) + root;
  double none = r == 0 ? 0 : 0 - r * o.log_q;
  double value = r == 0 ? -HUGE_VAL : inside;
  return k == 0 ? none : value;
}

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *r = in[1], *l = in[2];
  for (size_t i = 0; i < n; i++)
    out[i] = at_outcome(x[i], HUGE_VAL, log_prob_at(x[i], r[i], l[i]));
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *r = in[1], *l = in[2];
  double *dx = d[0], *dr = d[1], *dl = d[2];
  for (size_t i = 0; i < n; i++) {
    Odds o = odds_of(l[i]);
    int inside = is_outcome(x[i], HUGE_VAL);
    double slope = trials_slope(r[i], x[i], o), logit = fma(x[i], o.q, -r[i] * o.p);
    dx[i] = 0;
    dr[i] = inside ? slope : 0;
    dl[i] = inside ? logit : 0;
  }
}


static double shape (double k, double r) {
  return k == k ? r : k;
}

static double log_height (double k, double r, double l) {
  return log_prob_at(k, r, l) + vlog(r + k);
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

static double tail (double k, const double *params, int upper) {
  return trials_tail(&LAW, k, params[0], params[1], upper);
}

/* the slope along the logit is (k + 1) P(k + 1) */
static double noise (double k, const double *params) {
  return trials_noise(k + 1, log_prob_at(k + 1, params[0], params[1]), params[1]);
}

/* near the quantile of a normal number z, by Cornish and Fisher's first terms */
static double start (double z, double r, Odds o) {
  return r * o.p / o.q + sqrt(r * o.p) / o.q * z + (1 + o.p) / o.q * (z * z - 1) / 6;
}

/* the quantile for p, or for the upper tail p */
static double quantile (double p, double r, double l, int upper) {
  double params[] = {r, l};
  Stairs stairs = {tail, noise, 0, HUGE_VAL, params};
  if (!(p >= 0 && p <= 1 && r >= 0 && l == l)) return (double)NAN;
  double certain = upper ? 1 : 0;   /* all outcomes have reached that */
  if (p == certain || r == 0 || l == -HUGE_VAL) return 0;
  if (p == 1 - certain) return HUGE_VAL;
  double z = upper ? -vndtri(p) : vndtri(p);
  return outcome_quantile(&stairs, start(z, r, odds_of(l)), level_of(p, upper, OUTCOME_SLACK));
}

static void icdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = quantile(in[0][i], in[1][i], in[2][i], 0);
}

static void isf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = quantile(in[0][i], in[1][i], in[2][i], 1);
}

/* }====================================================== */


/* {=====================================================
** Entropy, a sum over all outcomes that matter (summation.h). Beyond a logit of 600 the
** law is a gamma law whose scale is e^logit: the entropy grows by what the logit grows.
** ====================================================== */

static const double LOGIT_FAR = 600;

typedef struct Sums { double r, l, entropy, dr, dl; } Sums;

/* log P at many outcomes of one law, or real numbers between them */
static void log_probs (size_t n, const double *k, const Sums *s, double *restrict out) {
  double r = s->r, l = s->l;
  for (size_t i = 0; i < n; i++) out[i] = log_prob_at(k[i], r, l);
}

static void add_entropy (const Nodes *at, void *state) {
  Sums *s = state;
  double p[SUMMATION_BLOCK];
  log_probs(at->n, at->k, s, p);
  for (size_t i = 0; i < at->n; i++)
    if (p[i] > -1000) s->entropy -= at->weight[i] * p[i] * vexp(p[i]);
}

/* the mean of (log P + entropy) times the slopes of log P */
static void add_slopes (const Nodes *at, void *state) {
  Sums *s = state;
  Odds o = odds_of(s->l);
  double p[SUMMATION_BLOCK];
  log_probs(at->n, at->k, s, p);
  for (size_t i = 0; i < at->n; i++) {
    if (!(p[i] > -1000)) continue;
    double k = at->k[i], share = at->weight[i] * vexp(p[i]) * (p[i] + s->entropy);
    s->dr -= share * trials_slope(s->r, k, o);
    s->dl -= share * fma(k, o.q, -s->r * o.p);
  }
}

/* are both failures and successes so many? */
static int exceeds (const Sums *s, double limit) {
  return s->r > limit && vlog(s->r) + s->l > vlog(limit);
}

/* the tail falls like e^(-q k), or as that of a normal law */
static void visit_outcomes (Visit *visit, Sums *s) {
  double q = vsigmoid(-s->l), mean = s->r * vexp(s->l), deviation = sqrt(mean) / sqrt(q);
  double last = floor(mean + 12 * deviation + 60 / q);
  if (last < HUGE_VAL) summation(last, mean, deviation, visit, s);
}

static void add_up (Sums *s) {   /* the variance is r p/q^2 */
  if (exceeds(s, SUMMATION_NORMAL)) s->entropy = summation_normal_entropy(vlog(s->r) + s->l + vsoftplus(s->l));
  else visit_outcomes(add_entropy, s);
}

static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    double r = in[0][i], l = in[1][i], beyond = l > LOGIT_FAR ? l - LOGIT_FAR : 0;
    Sums s = {.r = r, .l = l - beyond};
    add_up(&s);
    out[i] = r == 0 ? 0 : r > 0 && l == l ? s.entropy + beyond : (double)NAN;
  }
}

/* of log(2 pi e r p/q^2)/2 - (1 + p)^2/(12 r p) */
static void normal_slopes (Sums *s) {
  double r = s->r, p = vsigmoid(s->l), q = vsigmoid(-s->l), part = (1 + p) / (r * p) / 12;
  s->dr = fma(1 + p, part, 0.5) / r;
  s->dl = fma(q * q, part, fma(0.5, p, 0.5));
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double l = in[1][i];
    Sums s = {.r = in[0][i], .l = l > LOGIT_FAR ? LOGIT_FAR : l};
    add_up(&s);
    if (exceeds(&s, SUMMATION_SLOPES)) normal_slopes(&s);
    else visit_outcomes(add_slopes, &s);
    d[0][i] = s.dr;
    d[1][i] = s.dl;
  }
}

/* }====================================================== */


static void sample (const Philox *g, uint64_t first, size_t n, const double *const in[],
                    double *out) {
  const double *r = in[0], *l = in[1];
  double size[GAMMAS_BLOCK], depth[GAMMAS_BLOCK], rate[GAMMAS_BLOCK];
  gammas(g, POISSON_LANES, first, n, r, size, depth);
  for (size_t i = 0; i < n; i++) {
    double mean = size[i] * vexp(l[i] - depth[i]);
    rate[i] = r[i] == 0 ? 0 : mean;
  }
  poisson_draw(g, first, n, rate, out);
}


const Kernel perilune_negativebinomial[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .slow = 1, .value = icdf, .flat = 1},
  {.name = "isf",      .n_in = 3, .slow = 1, .value = isf, .flat = 1},
  {.name = "entropy",  .n_in = 2, .slow = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "sample",   .n_in = 3, .draw = sample,    .integer = 1},
  {.name = NULL}
};
