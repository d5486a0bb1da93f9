/*
** betabinomial.c - BetaBinomial(a, b, n), a Binomial whose probability is a Beta(a, b) number
**
**   log P(k) = log(n!/(k! y!)) + log(B(k + a, y + b)/B(a, b)),   y = n - k
**
** as in betabinomiallaw.h. Tails and entropy are sums over outcomes, of which a thousand or so
** are enough however large n is (summation.h); tails of many outcomes are integrals where that is
** as exact. Slopes along n are those of the formulas continued to real n.
*/
#include "kernel/betabinomial.h"

#include "kernel/betabinomiallaw.h"
#include "kernel/binomial.h"
#include "kernel/kernel.h"
#include "kernel/discrete_quantile.h"
#include "kernel/sided.h"
#include "kernel/summation.h"
#include "random/gammas.h"
#include "special/incbeta.h"


/* {=====================================================
** Probabilities
** ====================================================== */

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *a = in[1], *b = in[2], *total = in[3];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    double inside = log_prob_inside(x[i], total[i] - x[i], a[i], b[i], total[i]);
    out[i] = at_outcome(x[i], total[i], inside);
    odd |= (x[i] == 0) | (x[i] == total[i]) | is_huge(a[i], b[i], total[i]);
  }
  for (size_t i = 0; odd && i < n; i++) {
    int is_odd = x[i] == 0 || x[i] == total[i] || is_huge(a[i], b[i], total[i]);
    if (is_odd && is_outcome(x[i], total[i]))
      out[i] = log_prob_at(x[i], (BetaBinomialLaw) {a[i], b[i], total[i]});
  }
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *a = in[1], *b = in[2], *total = in[3];
  double *dx = d[0], *da = d[1], *db = d[2], *dtotal = d[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double s = a[i] + b[i], y = total[i] - x[i];
    int inside = is_outcome(x[i], total[i]);
    double slope_a = shape_slope(x[i], a[i], total[i], s);
    double slope_b = shape_slope(y, b[i], total[i], s);
    double slope_n = total_slope(y, b[i], total[i], s);
    dx[i] = 0;
    da[i] = inside ? slope_a : 0;
    db[i] = inside ? slope_b : 0;
    dtotal[i] = inside ? slope_n : 0;
  }
}

/* }====================================================== */


/* {=====================================================
** Tails: the sum over outcomes from `from` to n - `beyond`, relative to e^top
** ====================================================== */

typedef struct TailSums {
  BetaBinomialLaw law;
  double from, beyond, top, sum, da, db, dn;
} TailSums;

/* log P at many outcomes of one law, or real numbers between them */
static void log_probs (const Nodes *at, BetaBinomialLaw w, double *restrict out) {
  const double *x = at->k, *y = at->rest;
  if (is_huge(w.a, w.b, w.n))
    for (size_t i = 0; i < at->n; i++) out[i] = log_prob_huge(x[i], y[i], w.a, w.b, w.n);
  else
    for (size_t i = 0; i < at->n; i++) out[i] = log_prob_inside(x[i], y[i], w.a, w.b, w.n);
  for (size_t i = 0; i < at->n; i++)
    if (x[i] == 0 || y[i] == 0) out[i] = 0 - end_weight(x[i], w);
}

/* nodes of a run of outcomes as outcomes k and n - k of the law */
static Nodes outcomes (const Nodes *at, const TailSums *s) {
  Nodes own = *at;
  for (size_t i = 0; i < at->n; i++) own.k[i] = s->from + at->k[i];
  for (size_t i = 0; i < at->n; i++) own.rest[i] = s->beyond + at->rest[i];
  return own;
}

/* the same, weighted with their probabilities over e^top */
static Nodes shares (const Nodes *at, const TailSums *s) {
  double p[SUMMATION_BLOCK];
  Nodes own = outcomes(at, s);
  log_probs(&own, s->law, p);
  for (size_t i = 0; i < at->n; i++) own.weight[i] *= vexp(p[i] - s->top);
  return own;
}

static void add_prob (const Nodes *at, void *state) {
  TailSums *s = state;
  Nodes own = shares(at, s);
  for (size_t i = 0; i < own.n; i++) s->sum += own.weight[i];
}

static void add_slopes_of (TailSums *s, double k, double y, double share) {
  BetaBinomialLaw w = s->law;
  s->da += share * shape_slope(k, w.a, w.n, w.a + w.b);
  s->db += share * shape_slope(y, w.b, w.n, w.a + w.b);
  s->dn += share * total_slope(y, w.b, w.n, w.a + w.b);
}

static void add_prob_slopes (const Nodes *at, void *state) {
  TailSums *s = state;
  Nodes own = shares(at, s);
  for (size_t i = 0; i < own.n; i++) add_slopes_of(s, own.k[i], own.rest[i], own.weight[i]);
}

/* is P(k + 1) > P(k)? That changes once at most, as its condition is linear in k. */
static int rises (double k, BetaBinomialLaw w) {
  return (w.n - k) / (w.n - k - 1 + w.b) > (k + 1) / (k + w.a);
}

/* may one of these outcomes, the only ones between, have more than e^-50 times e^top? */
static int matters (double from, double to, BetaBinomialLaw w, double top) {
  if (rises(from, w) && !rises(to, w)) return 1;   /* a peak between */
  return fmax(log_prob_at(from, w), log_prob_at(to, w)) > top - 50;
}

/* the ends of a long run of outcomes that count */
static int ends_of (double from, double to, BetaBinomialLaw w, double top) {
  if (to - from < SUMMATION_SHORT) return SUMMATION_BOTH;
  return (matters(from, from + SUMMATION_END, w, top) ? SUMMATION_LOW : 0)
         | (matters(to - SUMMATION_END, to, w, top) ? SUMMATION_HIGH : 0);
}

/* does what lies beyond k, in a tail of n outcomes that are ever less likely, count beside e^top? */
static int reaches (double k, double n, BetaBinomialLaw w, double top) {
  return log_prob_at(k, w) + vlog(n) > top - 50;
}

/* the outcome next to `end`, about, up to which those from `start` on, ever less likely, count */
static double last_that_counts (double start, double end, BetaBinomialLaw w, double top) {
  double n = fabs(end - start), way = end > start ? 1 : -1, growth = 2;
  for (double step = SUMMATION_SHORT; step < n; step *= growth, growth *= 2)
    if (!reaches(start + way * step, n, w, top)) return start + way * floor(step);
  return end;
}

/* over the outcomes up to k, or beyond k */
static TailSums tail_sums (double k, BetaBinomialLaw w, int upper, Visit *visit) {
  double from = upper ? k + 1 : 0, to = upper ? floor(w.n) : k;
  double low = log_prob_at(from, w), high = log_prob_at(to, w), top = low > high ? low : high;
  if (to - from > SUMMATION_SHORT && rises(from, w) == rises(to - 1, w)) {
    if (rises(from, w)) from = last_that_counts(to, from, w, top);
    else to = last_that_counts(from, to, w, top);
  }
  TailSums s = {.law = w, .from = from, .beyond = w.n - to, .top = top};
  summation_ends(to - from, ends_of(from, to, w, s.top), visit, &s);
  return s;
}

/* a tail that leaves enough to the other for that to keep its digits */
static const double LEAVES_ENOUGH = 0.9375;

/* the sum of the smaller tail, the one without the mean or else the other; or of a short one */
static TailSums smaller_tail (double k, BetaBinomialLaw w, int *upper) {
  *upper = k >= w.n * (w.a / (w.a + w.b));
  TailSums s = tail_sums(k, w, *upper, add_prob);
  int is_short = (*upper ? w.n - k : k) < SUMMATION_SHORT;
  if (vexp(s.top) * s.sum <= (is_short ? LEAVES_ENOUGH : 0.5)) return s;
  *upper = !*upper;
  return tail_sums(k, w, *upper, add_prob);
}

/*
** The sum over outcomes up to k is close to an integral: with l = k + (a + 1)/2 and
** h = n - k + (b - 1)/2 it is
**
**   P(X <= k) = I(a, b; l/(l + h)) R,    R = Gamma(k + a + 1)/Gamma(k + 1) l^-a
**
** but for a part of (1 + b)^3/h^2 and, as R is exact where k is much smaller than n,
** (1 + a)^3/l^2 min(1, (1 + b) k/n); log R is a series in 1/l^2. Of the upper tail a and b, l and h
** change places.
*/
static int is_smooth (BetaBinomialLaw w, double l, double h) {
  double a = 1 + w.a, b = 1 + w.b;
  double here = a / l * (a / l) * a * fmin(1, b * (l / w.n)), there = b / h * (b / h) * b;
  return l >= SUMMATION_SHORT && l > 64 * a && here < 0x1p-50 && there < 0x1p-50;
}

static double log_smooth_factor (double a, double l) {
  double s = a / l * (a / l), r = 1 / l / l;   /* powers of either may overflow */
  double first = (3 * s - 7 * r) / 960, second = fma(3 * s - 18 * r, s, 31 * r * r) / 8064;
  return -a * (s - r) * (1.0 / 24 + first + second);
}

/* a tail, or its logarithm, as such an integral; NAN where it is none */
static double smooth_tail (double k, BetaBinomialLaw w, int upper, int logarithm) {
  double low = k + 0.5 * (w.a + 1), high = (w.n - k) + 0.5 * (w.b - 1), s = w.n + 0.5 * (w.a + w.b);
  BetaBinomialLaw own = upper ? (BetaBinomialLaw) {w.b, w.a, w.n} : w;
  double l = upper ? high : low, h = upper ? low : high;
  if (!(floor(w.n) == w.n && is_smooth(own, l, h))) return (double)NAN;
  double factor = log_smooth_factor(own.a, l);
  return logarithm ? special_log_betainc_xy(own.a, own.b, l / s, h / s) + factor
                   : special_betainc_xy(own.a, own.b, l / s, h / s) * vexp(factor);
}

/* the smaller tail so, or one that leaves enough to the other; or NAN */
static double smaller_smooth_tail (double k, BetaBinomialLaw w, int *upper) {
  int first = k >= w.n * (w.a / (w.a + w.b));
  double one = smooth_tail(k, w, first, 0), other = one <= 0.5 ? 1 : smooth_tail(k, w, !first, 0);
  *upper = one <= 0.5 || !(other <= 0.5 || one > other) ? first : !first;
  double value = *upper == first ? one : other;
  return value <= LEAVES_ENOUGH ? value : (double)NAN;
}

/*
** So narrow that its deviation is a few doubles wide: a normal law, of which the lower tail at z or
** -z is all that can be told.
*/
static int is_narrow (BetaBinomialLaw w) {
  double fewer = w.n * (fmin(w.a, w.b) / (w.a + w.b));
  return deviation(w) < 0x1p-40 * fewer;
}

static double normal_number (double k, BetaBinomialLaw w, int upper) {
  double z = (k - w.n * (w.a / (w.a + w.b))) / deviation(w);
  return upper ? -z : z;
}

static BetaBinomialLaw law_at (const double v[]) { return (BetaBinomialLaw) {v[1], v[2], v[3]}; }

static double log_tail (const double v[], int upper) {
  BetaBinomialLaw w = law_at(v);
  double k = floor(v[0]);
  int side;
  if (!(k == k && w.a > 0 && w.b > 0 && w.n >= 0)) return (double)NAN;
  if (k < 0 || k >= w.n) return (k < 0) == upper ? 0 : -HUGE_VAL;
  double small = smaller_smooth_tail(k, w, &side);
  if (small >= 0) return side == upper ? smooth_tail(k, w, side, 1) : vlog1p(-small);
  if (is_narrow(w)) return vlog_ndtr(normal_number(k, w, upper));
  TailSums s = smaller_tail(k, w, &side);
  double value = s.top + vlog(s.sum);
  return side == upper ? value : vlog1mexp(value < 0 ? value : 0);
}

static double tail (const double v[], int upper) {
  BetaBinomialLaw w = law_at(v);
  double k = floor(v[0]);
  int side;
  if (!(k >= 0 && k < w.n && w.a > 0 && w.b > 0)) return vexp(log_tail(v, upper));
  double small = smaller_smooth_tail(k, w, &side);
  if (small >= 0) return side == upper ? small : 1 - small;
  if (is_narrow(w)) return vndtr(normal_number(k, w, upper));
  TailSums s = smaller_tail(k, w, &side);
  double value = vexp(s.top) * s.sum;
  return side == upper ? value : 1 - value;
}

/* of the tail, or of its logarithm: relative to the tail */
static void slopes (const double v[], int upper, int logarithm, double d[]) {
  BetaBinomialLaw w = law_at(v);
  double k = floor(v[0]);
  d[0] = d[1] = d[2] = d[3] = 0;
  if (!(k >= 0 && k < w.n)) return;
  int side = k >= w.n * (w.a / (w.a + w.b));
  TailSums s = tail_sums(k, w, side, add_prob_slopes);
  double scale = vexp(s.top - (logarithm ? log_tail(v, upper) : 0));
  if (side != upper) scale = -scale;
  d[1] = scale * s.da;
  d[2] = scale * s.db;
  d[3] = scale * s.dn;
}

static void tail_slopes (const double v[], int upper, double d[]) { slopes(v, upper, 0, d); }
static void log_tail_slopes (const double v[], int upper, double d[]) { slopes(v, upper, 1, d); }

/* }====================================================== */


/* {=====================================================
** Quantiles
** ====================================================== */

static double quantile (const double v[], int upper) {
  BetaBinomialLaw w = law_at(v);
  double p = v[0], s = w.a + w.b, x, y;
  Stairs stairs = {tail, NULL, 0, w.n, 4, v};
  if (!(p >= 0 && p <= 1 && w.a > 0 && w.b > 0 && w.n >= 0)) return (double)NAN;
  if (p == (upper ? 1 : 0)) return 0;
  if (p == (upper ? 0 : 1)) return w.n;
  double start = w.n * (w.a / s) + deviation(w) * (upper ? -vndtri(p) : vndtri(p));
  if (w.n > s) {   /* the probability varies more than the count: an integral, see above */
    double scale = w.n + 0.5 * s;
    special_betaincinv_xy(w.a, w.b, p, upper, &x, &y);
    start = x < y ? fma(x, scale, -0.5 * (w.a + 1)) : w.n - fma(y, scale, 0.5 * (1 - w.b));
  }
  return outcome_quantile(&stairs, ceil(start), level_of(p, upper, quantile_log_slack(p)));
}

static const SidedLaw law = {
  .operands = 4,
  .tail     = tail,     .tail_slopes     = tail_slopes,
  .log_tail = log_tail, .log_tail_slopes = log_tail_slopes,
  .quantile = quantile
};

#include "kernel/sided_kernels.h"

/* }====================================================== */


/* {=====================================================
** Entropy
** ====================================================== */

static void add_entropy (const Nodes *at, void *state) {
  TailSums *s = state;
  double p[SUMMATION_BLOCK];
  Nodes own = outcomes(at, s);
  log_probs(&own, s->law, p);
  for (size_t i = 0; i < at->n; i++)
    if (p[i] > -1000) s->sum -= at->weight[i] * p[i] * vexp(p[i]);
}

/* the mean of (log P + entropy) times the slopes of log P */
static void add_entropy_slopes (const Nodes *at, void *state) {
  TailSums *s = state;
  double p[SUMMATION_BLOCK];
  Nodes own = outcomes(at, s);
  log_probs(&own, s->law, p);
  for (size_t i = 0; i < at->n; i++) {
    double share = -at->weight[i] * vexp(p[i]) * (p[i] + s->sum);
    if (p[i] > -1000) add_slopes_of(s, own.k[i], own.rest[i], share);
  }
}

/* are both successes and what was seen before them so many? */
static int exceeds (BetaBinomialLaw w, double limit) {
  return w.a > limit && w.n * (w.a / (w.a + w.b)) > limit;
}

static void visit_outcomes (Visit *visit, TailSums *s) {
  BetaBinomialLaw w = s->law;
  summation(floor(w.n), w.n * (w.a / (w.a + w.b)), deviation(w), visit, s);
}

static double normal_entropy (BetaBinomialLaw w) {
  double s = w.a + w.b, log_odds = vlog(w.a / s) + vlog(w.b / s);
  return summation_normal_entropy((vlog(w.n) + log_odds) + vlog_ratio(s + w.n, s + 1));
}

/* slopes of log(variance)/2 - skewness^2/12, where with m = a + b
     variance = n a b (m + n) / (m^2 (m + 1)),
     skewness^2 = (b - a)^2 (m + 2 n)^2 (m + 1) / ((m + 2)^2 n a b (m + n)) */
static void normal_slopes (TailSums *s) {
  BetaBinomialLaw w = s->law;
  double m = w.a + w.b, all = m + w.n, shared = 1 / all - 1 / (m + 1) - 2 / m;
  double apart = w.b - w.a, reach = (m + 2 * w.n) / (m + 2);
  double square = (apart / w.a) * (apart / w.b) * (reach * ((m + 1) / w.n)) * (reach / all);
  double pull = apart > 0 ? 2 * square / apart : 0;
  double common = 2 / (m + 2 * w.n) + 1 / (m + 1) - 2 / (m + 2) - 1 / all;
  s->da = 0.5 * (1 / w.a + shared) - (square * (common - 1 / w.a) - pull) / 12;
  s->db = 0.5 * (1 / w.b + shared) - (square * (common - 1 / w.b) + pull) / 12;
  s->dn = 0.5 * (1 / w.n + 1 / all) - square * (4 / (m + 2 * w.n) - 1 / w.n - 1 / all) / 12;
}

/* the law in which outcomes near 0 have less weight, and its entropy */
static TailSums summed (double a, double b, double n) {
  TailSums s = {.law = {a < b ? a : b, a < b ? b : a, n}, .beyond = n - floor(n)};
  if (exceeds(s.law, SUMMATION_NORMAL)) s.sum = normal_entropy(s.law);
  else visit_outcomes(add_entropy, &s);
  return s;
}

double betabinomial_entropy (double a, double b, double n) { return summed(a, b, n).sum + 0; }

static void entropy (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) {
    double a = in[0][i], b = in[1][i], total = in[2][i];
    out[i] = a > 0 && b > 0 && total >= 0 ? betabinomial_entropy(a, b, total) : (double)NAN;
  }
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double a = in[0][i], b = in[1][i];
    TailSums s = summed(a, b, in[2][i]);
    if (exceeds(s.law, SUMMATION_SLOPES)) normal_slopes(&s);
    else visit_outcomes(add_entropy_slopes, &s);
    d[0][i] = a < b ? s.da : s.db;
    d[1][i] = a < b ? s.db : s.da;
    d[2][i] = s.dn;
  }
}

/* }====================================================== */


/* the logit of a Beta(a, b) number is the logarithm of a ratio of gamma numbers */
static void sample (const Philox *g, uint64_t first, size_t n, const double *const in[],
                    double *out) {
  double size1[GAMMAS_BLOCK], depth1[GAMMAS_BLOCK], size0[GAMMAS_BLOCK], depth0[GAMMAS_BLOCK];
  gammas(g, BINOMIAL_LANES, first, n, in[0], size1, depth1);
  gammas(g, BINOMIAL_LANES + GAMMAS_LANES, first, n, in[1], size0, depth0);
  EVERY for (size_t i = 0; i < n; i++)
    size1[i] = vlog(size1[i] / size0[i]) + (depth0[i] - depth1[i]);
  binomial_draw(g, first, n, in[2], size1, out);
}


const Kernel perilune_betabinomial[] = {
  {.name = "log_prob", .n_in = 4, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 4, .slow = 1, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 4, .slow = 1, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 4, .slow = 1, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 4, .slow = 1, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 4, .slow = 1, .value = icdf, .flat = 1},
  {.name = "isf",      .n_in = 4, .slow = 1, .value = isf, .flat = 1},
  {.name = "entropy",  .n_in = 3, .slow = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "sample", .n_in = 4, .integer = 1, .sampler = &(const Sampler) {.draw = sample}},
  {.name = NULL}
};
