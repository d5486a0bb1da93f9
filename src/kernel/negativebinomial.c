/*
** negativebinomial.c - NegativeBinomial(total_count, logits), successes before r failures
**
**   log P(k) = log(Gamma(r + k)/(Gamma(r) k!)) + k log p + r log q,   P(X <= k) = I_q(r, k + 1)
**
** by Loader's form (binomial_law.h), r any number above 0; at r = 0 all of the mass is at 0.
** Logits hold p and q = 1 - p to full precision. A draw is a Poisson number whose rate is
** a gamma number of shape r times p/q.
*/
#include "kernel/kernel.h"
#include "kernel/poisson.h"
#include "kernel/binomial_law.h"
#include "random/gammas.h"
#include "special/constants.h"


/* log P(k) for k >= 0, an integer or at least 1/2 */
VECTOR double log_prob_at (double k, double r, double logit) {
  Odds o = odds_of(logit);
  double x = k < 0.5 ? 1 : k, n = x + r;
  double mu = stirlerr_above(n) - stirlerr_above(x) - vstirlerr(r);
  double root = vlog(vsqrt(r) / (vsqrt(n) * vsqrt(x))) - HALF_LOG_2PI;
  double inside = mu - binomial_deviances(x, r, n, o) + root;
  double none = r == 0 ? 0 : 0 - r * o.log_q;
  double value = r == 0 ? -HUGE_VAL : inside;
  return k == 0 ? none : value;
}

VECTOR double last (double r) { return (void)r, HUGE_VAL; }

VECTOR double total_slope (double k, double r, Odds o) { return binomial_slope(r, k, o); }
VECTOR double logit_slope (double k, double r, Odds o) { return fma(k, o.q, -r * o.p); }

static double shape (double k, double r) { return k == k ? r : k; }
static double height (double k, double r) { return r + k; }
static double steepness (double k, double l) { return (void)l, k + 1; }

/* by Cornish and Fisher's first terms */
static double start (double z, double r, Odds o) {
  return r * o.p / o.q + sqrt(r * o.p) / o.q * z + (1 + o.p) / o.q * (z * z - 1) / 6;
}

static const BinomialLaw binomial_law = {
  .log_prob = log_prob_at, .total_slope = total_slope, .logit_slope = logit_slope,
  .shape = shape, .height = height, .steepness = steepness, .last = last, .start = start
};

#include "kernel/binomial_kernels.h"


/* {=====================================================
** Entropy, of all outcomes that matter. Beyond a logit of 600 the
** law is a gamma law whose scale is e^logit: the entropy grows by what the logit grows.
** ====================================================== */

static const double LOGIT_FAR = 600;

/* are both failures and successes so many? */
static int exceeds (const EntropySums *s, double limit) {
  return s->total > limit && vlog(s->total) + s->l > vlog(limit);
}

/* the tail falls like e^(-q k), or as that of a normal law */
static void visit_outcomes (Visit *visit, EntropySums *s) {
  double q = vsigmoid(-s->l), mean = s->total * vexp(s->l), deviation = sqrt(mean) / sqrt(q);
  double last = floor(mean + 12 * deviation + 60 / q);
  if (last < HUGE_VAL) summation(last, mean, deviation, visit, s);
}

static void add_up (EntropySums *s) {   /* the variance is r p/q^2 */
  if (exceeds(s, SUMMATION_NORMAL))
    s->entropy = summation_normal_entropy(vlog(s->total) + s->l + vsoftplus(s->l));
  else visit_outcomes(add_entropy, s);
}

static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    double r = in[0][i], l = in[1][i], beyond = l > LOGIT_FAR ? l - LOGIT_FAR : 0;
    EntropySums s = {.total = r, .l = l - beyond};
    add_up(&s);
    out[i] = r == 0 ? 0 : r > 0 && l == l ? s.entropy + beyond : (double)NAN;
  }
}

/* of log(2 pi e r p/q^2)/2 - (1 + p)^2/(12 r p) */
static void normal_slopes (EntropySums *s) {
  double r = s->total, p = vsigmoid(s->l), q = vsigmoid(-s->l), part = (1 + p) / (r * p) / 12;
  s->dtotal = fma(1 + p, part, 0.5) / r;
  s->dl = fma(q * q, part, fma(0.5, p, 0.5));
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double l = in[1][i];
    EntropySums s = {.total = in[0][i], .l = l > LOGIT_FAR ? LOGIT_FAR : l};
    add_up(&s);
    if (exceeds(&s, SUMMATION_SLOPES)) normal_slopes(&s);
    else visit_outcomes(add_slopes, &s);
    d[0][i] = s.dtotal;
    d[1][i] = s.dl;
  }
}

/* }====================================================== */


static void sample (const Philox *g, uint64_t first, size_t n, const double *const in[],
                    double *out) {
  const double *r = in[0], *l = in[1];
  double size[GAMMAS_BLOCK], depth[GAMMAS_BLOCK], rate[GAMMAS_BLOCK];
  gammas(g, POISSON_LANES, first, n, r, size, depth);
  EVERY for (size_t i = 0; i < n; i++) {
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
  {.name = "sample", .n_in = 3, .integer = 1, .sampler = &(const Sampler) {.draw = sample}},
  {.name = NULL}
};
