/*
** binomial_kernels.h - the kernels of Binomial and NegativeBinomial (binomial_law.h)
**
** To be included once by a family's file, below its `static const BinomialLaw binomial_law`;
** operands are x, total and logit.
*/
#include "kernel/binomial_law.h"
#include "kernel/discrete_quantile.h"
#include "kernel/sided.h"
#include "kernel/summation.h"
#include "special/incbeta.h"


/* {=====================================================
** Probabilities, tails and quantiles
** ====================================================== */

VECTOR double log_mass (const double v[]) {
  return at_outcome(v[0], binomial_law.last(v[1]), binomial_law.log_prob(v[0], v[1], v[2]));
}

VECTOR void log_mass_slopes (const double v[], double d[]) {
  Odds o = odds_of(v[2]);
  int inside = is_outcome(v[0], binomial_law.last(v[1]));
  double by_total = binomial_law.total_slope(v[0], v[1], o);
  double by_logit = binomial_law.logit_slope(v[0], v[1], o);
  d[0] = 0;
  d[1] = inside ? by_total : 0;
  d[2] = inside ? by_logit : 0;
}


/* log(d/p) (a long function: once is enough) */
static __attribute__((noinline))
double log_height (double k, double total, double logit) {
  return binomial_law.log_prob(k, total, logit) + vlog(binomial_law.height(k, total));
}

/* a tail of less than that is its first term, d/a or d/(k + 1) */
static const double TAIL_TINY = 1e-290;

static double log_tail (const double v[], int upper) {
  double k = floor(v[0]), total = v[1], logit = v[2], a = binomial_law.shape(k, total);
  Odds o = odds_of(logit);
  if (!(k == k && a == a && logit == logit)) return (double)NAN;
  if (k < 0) return upper ? 0 : -HUGE_VAL;
  if (a <= 0 || k == HUGE_VAL) return upper ? -HUGE_VAL : 0;
  if (o.p < TAIL_TINY || o.q < TAIL_TINY) {
    int rare = o.p < TAIL_TINY;
    double first = log_height(k, total, logit) - o.log_p - vlog(rare ? k + 1 : a);
    return rare == upper ? first : vlog1mexp(first < 0 ? first : 0);
  }
  double bulk = k * o.log_p;   /* log of the tail, where k is too large for the beta functions */
  if (k > 1e290 && bulk > 1e20 * (1 + a)) return upper ? -bulk : 0;
  return upper ? special_log_betaincc_xy(a, k + 1, o.q, o.p)
               : special_log_betainc_xy(a, k + 1, o.q, o.p);
}

static double tail (const double v[], int upper) {
  double k = floor(v[0]), a = binomial_law.shape(k, v[1]);
  Odds o = odds_of(v[2]);
  if (!(k >= 0 && a > 0 && k < HUGE_VAL && o.p >= TAIL_TINY && o.q >= TAIL_TINY))
    return vexp(log_tail(v, upper));
  return upper ? special_betaincc_xy(a, k + 1, o.q, o.p)
               : special_betainc_xy(a, k + 1, o.q, o.p);
}

/*
** Slopes of log P(X <= x) + shift, or of the upper tail's: the shift -log P(X <= x) makes them
** those of the logarithm, 0 those of the tail itself.
*/
static void slopes (const double v[], int upper, double shift, double d[]) {
  double k = floor(v[0]), total = v[1], logit = v[2], a = binomial_law.shape(k, total), da, db;
  Odds o = odds_of(logit);
  d[0] = d[1] = d[2] = 0;
  if (!(k >= 0 && a > 0 && k < HUGE_VAL)) return;
  if (shift == HUGE_VAL) {   /* an empty tail, whose logarithm goes with that of p^(k+1) or q^a */
    d[2] = upper ? k + 1 : -a;
    return;
  }
  double height = vexp(log_height(k, total, logit) + shift);   /* d/p */
  if (!(height > 0)) return;
  d[2] = upper ? height * o.p : -height * o.p;
  if (o.q <= o.p) special_beta_dx(a, k + 1, o.q, &da, &db);
  else {
    special_beta_dx(k + 1, a, o.p, &db, &da);
    da = -da;
  }
  d[1] = (upper ? da : -da) * (height / o.q);
}

static void tail_slopes (const double v[], int upper, double d[]) { slopes(v, upper, 0, d); }

static void log_tail_slopes (const double v[], int upper, double d[]) {
  slopes(v, upper, -log_tail(v, upper), d);
}


/* What the rounding of the logit, and of p and q made of it, may change in a tail: a small part
   of the probability of the outcome next to it. */
static double tail_noise (const double v[]) {
  double logit = v[2], rounding = 0x1p-50 * (1 + fabs(logit));
  double log_prob = binomial_law.log_prob(v[0] + 1, v[1], logit);
  return fmin(rounding * binomial_law.steepness(v[0], logit), 0.25) * vexp(log_prob);
}

static double quantile (const double v[], int upper) {
  double p = v[0], total = v[1], l = v[2], certain = upper ? 1 : 0;   /* all outcomes reach that */
  Stairs stairs = {tail, tail_noise, 0, binomial_law.last(total), 3, v};
  if (!(p >= 0 && p <= 1 && total >= 0 && l == l)) return (double)NAN;
  if (p == certain || total == 0 || l == -HUGE_VAL) return 0;
  if (p == 1 - certain) return stairs.last;
  double start = binomial_law.start(upper ? -vndtri(p) : vndtri(p), total, odds_of(l));
  return outcome_quantile(&stairs, start, level_of(p, upper, QUANTILE_SLACK));
}

static const SidedLaw law = {
  .operands    = 3,
  .log_density = log_mass, .log_density_slopes = log_mass_slopes,
  .tail        = tail,     .tail_slopes        = tail_slopes,
  .log_tail    = log_tail, .log_tail_slopes    = log_tail_slopes,
  .quantile    = quantile
};

#include "kernel/density_kernels.h"
#include "kernel/sided_kernels.h"

/* }====================================================== */


/* {=====================================================
** Entropy, a sum over outcomes (summation.h)
** ====================================================== */

typedef struct EntropySums { double total, l, entropy, dtotal, dl; } EntropySums;

/* log P at many outcomes of one law, or real numbers between them (a long loop: once is enough) */
static __attribute__((noinline))
void log_probs (size_t n, const double *k, const EntropySums *s, double *restrict out) {
  double total = s->total, l = s->l;
  EVERY for (size_t i = 0; i < n; i++) out[i] = binomial_law.log_prob(k[i], total, l);
}

static void add_entropy (const Nodes *at, void *state) {
  EntropySums *s = state;
  double p[SUMMATION_BLOCK];
  log_probs(at->n, at->k, s, p);
  for (size_t i = 0; i < at->n; i++)
    if (p[i] > -1000) s->entropy -= at->weight[i] * p[i] * vexp(p[i]);
}

/* the mean of (log P + entropy) times the slopes of log P */
static void add_slopes (const Nodes *at, void *state) {
  EntropySums *s = state;
  Odds o = odds_of(s->l);
  double p[SUMMATION_BLOCK];
  log_probs(at->n, at->k, s, p);
  for (size_t i = 0; i < at->n; i++) {
    if (!(p[i] > -1000)) continue;
    double k = at->k[i], share = at->weight[i] * vexp(p[i]) * (p[i] + s->entropy);
    s->dtotal -= share * binomial_law.total_slope(k, s->total, o);
    s->dl -= share * binomial_law.logit_slope(k, s->total, o);
  }
}

/* }====================================================== */
