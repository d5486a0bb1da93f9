/*
** fishersnedecor.c - FisherSnedecor(df1, df2), the quotient of two estimated variances
**
** With a = df1/2, b = df2/2, n = a + b, u = (df1/df2) x, X = u/(1 + u) and Y = 1/(1 + u):
**
**   log p(x) = a log X + b log Y - log B(a, b) - log x,    F(x) = I_X(a, b)
**
** For large shapes, in the form of C. Loader (2000), where nothing large cancels:
**
**   log p(x) = log(a b/(2 pi n))/2 - [mu(a) + mu(b) - mu(n)] + a L(e) + b L(f) - log x
**
** with L(e) = log(1 + e) - e, 1 + e = n X/a, e = (x - 1)/(1 + u) and
** 1 + f = n Y/b, f = (df1/df2)(1 - x)/(1 + u).
**
** The limit for infinite df2 is Gamma(a, a), for infinite df1 InverseGamma(b, b). From 1e200
** degrees of freedom on, the law differs from it only beyond x = 1e180 and below x = 1e-180.
*/
#include "kernel/betalaw.h"
#include "kernel/gammalaw.h"
#include "kernel/implicit.h"
#include "random/gammas.h"


/* {=====================================================
** Density
** ====================================================== */

VECTOR double finite_df (double df) { return df > 1e200 ? 1e200 : df; }

/* a limit law as gammalaw.h has it: both its parameters, and s */
typedef struct Limit { double shape, s; } Limit;

VECTOR int is_limit (double df1, double df2) { return (df1 == HUGE_VAL) | (df2 == HUGE_VAL); }

static Limit limit_of (double df1, double df2) {
  return df2 == HUGE_VAL ? (Limit) {0.5 * df1, 1} : (Limit) {0.5 * df2, -1};
}

static double limit_density (double x, double df1, double df2) {
  Limit l = limit_of(df1, df2);
  double out;
  law_log_prob(1, (const double *[]) {&x, &l.shape, &l.shape}, &out, l.s);
  return out;
}

/* at 0 the density is 0, 1 or infinite; below, 0 */
VECTOR double with_edges (double x, double df1, double inside) {
  double end = df1 == 2 ? 0.0 : df1 < 2 ? HUGE_VAL : -HUGE_VAL;
  double value = x == 0 ? end : inside;
  return ((x < 0) | (x == HUGE_VAL)) ? -HUGE_VAL : value;
}

/*
** a log X + b log Y = a log u - n log(1 + u) for u < 1, and from 1/u beyond. For df1 = 2
** all but log p(x) = -n log(1 + u) cancels.
*/
VECTOR double plain_density (double x, double freedom1, double freedom2) {
  double df1 = finite_df(freedom1), df2 = finite_df(freedom2);
  double a = 0.5 * df1, b = 0.5 * df2, r = df1 / df2, u = r * x;
  double log_x = vlog(x), log_u = log_x + vlog(r), rest = log1p_unit(u < 1 ? u : 1 / u);
  double powers = fma(u < 1 ? a : -b, log_u, -(a + b) * rest);
  double two = -(a + b) * (rest + (u < 1 ? 0 : log_u));
  return with_edges(x, df1, df1 == 2 ? two : powers - log_x - log_beta(a, b));
}

/* L(e) and L(f); beyond u = 1e290 from X = 1 and Y = 1/u */
VECTOR void deviations (double x, double df1, double df2, double *first, double *second) {
  double r = df1 / df2, u = fma(r, x, 1.0), inverse = 1 / u;
  double all = (1 + r) / r, e = (x - 1) * inverse;
  int far = r * x > 1e290;
  double inside = deviation(far ? 1 / r : e, far ? all : (1 + r) * (x * inverse));
  *first = x < TINY_X ? log_whole(x, u, 1 + r) - e : inside;
  *second = deviation(far ? -1.0 : r * (1 - x) * inverse, far ? all / x : (1 + r) * inverse);
}

VECTOR double saddle_density (double x, double freedom1, double freedom2) {
  double df1 = finite_df(freedom1), df2 = finite_df(freedom2);
  double a = 0.5 * df1, b = 0.5 * df2, first, second;
  deviations(x, df1, df2, &first, &second);
  return with_edges(x, df1, log_peak(a, b) + fma(a, first, fma(b, second, -vlog(x))));
}

/* where df1/df2 overflows, and b is next to nothing: b X^a/x */
static double wide_density (double x, double df1, double df2) {
  double u = df1 * 0x1p-300 / df2 * x * 0x1p300;
  return with_edges(x, df1, fma(-0.5 * df1, vlog1p(1 / u), vlog(0.5 * df2)) - vlog(x));
}

ONE_COPY double saddle_at (double x, double freedom1, double df2) {
  double df1 = finite_df(freedom1);
  return df1 / df2 < HUGE_VAL ? saddle_density(x, df1, df2) : wide_density(x, df1, df2);
}

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *df1 = in[1], *df2 = in[2];
  uint64_t large = 0, limits = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    out[i] = plain_density(x[i], df1[i], df2[i]);
    large |= (df1[i] + df2[i] > 2 * SADDLE) & (df1[i] != 2);
    limits |= is_limit(df1[i], df2[i]);
  }
  for (size_t i = 0; large && i < n; i++)
    if (df1[i] + df2[i] > 2 * SADDLE && df1[i] != 2) out[i] = saddle_at(x[i], df1[i], df2[i]);
  for (size_t i = 0; limits && i < n; i++)
    if (is_limit(df1[i], df2[i])) out[i] = limit_density(x[i], df1[i], df2[i]);
}

/* d log p/d df1 = (L(e) + psi(n) - log n - psi(a) + log a)/2, and f, b alike */
static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *df1 = in[1], *df2 = in[2];
  double *dx = d[0], *ddf1 = d[1], *ddf2 = d[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double one = finite_df(df1[i]), two = finite_df(df2[i]);
    double a = 0.5 * one, b = 0.5 * two, first, second, rest = digamma_rest(a + b);
    double slope = (a * ((1 - x[i]) / fma(one / two, x[i], 1.0)) - 1) / x[i];
    deviations(x[i], one, two, &first, &second);
    first = 0.5 * (first + (rest - digamma_rest(a)));
    second = 0.5 * (second + (rest - digamma_rest(b)));
    dx[i] = x[i] < 0 ? 0.0 : slope;
    ddf1[i] = x[i] < 0 ? 0.0 : first;
    ddf2[i] = x[i] < 0 ? 0.0 : second;
  }
}

/* }====================================================== */


/* {=====================================================
** Tails, quantiles, draws: at = {x or p, df1, df2}
** ====================================================== */

static double log_density (const double *at) {
  if (is_limit(at[1], at[2])) return limit_density(at[0], at[1], at[2]);
  return at[1] + at[2] > 2 * SADDLE ? saddle_at(at[0], at[1], at[2])
                                    : plain_density(at[0], at[1], at[2]);
}

/* of the least double, not 0 */
static double shape_of (double df) { return fmax(0.5 * finite_df(df), 0x1p-1074); }

static double shape1 (const double *at) { return shape_of(at[1]); }
static double shape2 (const double *at) { return shape_of(at[2]); }

/* of x, or of 0 below it; infinities end at 0 and 1 */
static BetaOdds odds_of (const double *at) {
  double x = at[0] < 0 ? 0 : at[0], r = shape1(at) / shape2(at), lift = r == 0 ? 0x1p-600 : 1;
  lift = r == HUGE_VAL ? 0x1p600 : lift;
  if (lift != 1) r = shape1(at) / lift / shape2(at);
  double log_lift = lift == 1 ? 0 : lift > 1 ? 600 * LN2 : -600 * LN2;
  if (r == HUGE_VAL) {
    double log_u = vlog(x) + vlog(shape1(at)) - vlog(shape2(at));
    return odds_at(vexp(log_u), log_u);
  }
  return odds_at(r * x * lift, vlog(x) + vlog(r) + log_lift);
}

/* a tail, or a quantile, of the limit law; the tails of an inverse are exchanged */
static double limit (const double *at, int upper,
                     double (*of) (double, double, double, double, int)) {
  Limit l = limit_of(at[1], at[2]);
  return of(at[0], l.shape, l.shape, l.s, upper == (l.s > 0) ? LAW_UPPER : LAW_LOWER);
}

static double tail (const double *at, int upper) {
  if (is_limit(at[1], at[2])) return limit(at, upper, law_tail);
  double a = shape1(at), b = shape2(at);
  return upper ? beta_tail(b, a, flipped(odds_of(at))) : beta_tail(a, b, odds_of(at));
}

static double log_tail (const double *at, int upper) {
  if (is_limit(at[1], at[2])) return limit(at, upper, law_log_tail);
  double a = shape1(at), b = shape2(at);
  return upper ? beta_log_tail(b, a, flipped(odds_of(at))) : beta_log_tail(a, b, odds_of(at));
}

static double quantile (const double *at, int upper) {
  if (is_limit(at[1], at[2])) return limit(at, upper, law_quantile);
  double a = shape1(at), b = shape2(at);
  BetaOdds o = upper ? flipped(beta_quantile(b, a, at[0])) : beta_quantile(a, b, at[0]);
  int is_plain = b / a >= 0x1p-1022 && b / a < HUGE_VAL;
  return is_plain ? odds_times(o, b / a) : vexp(o.log + vlog(b) - vlog(a));
}

/* log x = log u + log(df2/df1) */
static void slopes (const double *at, double *dx) {
  double x = at[0], da = 0, db = 0;
  if (x > 0 && x < HUGE_VAL) beta_slopes(shape1(at), shape2(at), odds_of(at), &da, &db);
  dx[0] = x > 0 && x < HUGE_VAL ? x * fma(0.5, da, -0.5 / shape1(at)) : 0;
  dx[1] = x > 0 && x < HUGE_VAL ? x * fma(0.5, db, 0.5 / shape2(at)) : 0;
}

enum { OPERANDS = 3 };

static const Implicit family = {
  .log_density = log_density, .slopes = slopes,
  .tail = tail, .log_tail = log_tail, .quantile = quantile
};

#include "kernel/implicit_kernels.h"


/* (df2/df1) g1/g2 with two gamma variables */
static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  double shape1[GAMMAS_BLOCK] = {0}, size1[GAMMAS_BLOCK], depth1[GAMMAS_BLOCK];
  double shape2[GAMMAS_BLOCK] = {0}, size2[GAMMAS_BLOCK], depth2[GAMMAS_BLOCK];
  EVERY for (size_t i = 0; i < n; i++) {
    shape1[i] = 0.5 * finite_df(in[0][i]);
    shape2[i] = 0.5 * finite_df(in[1][i]);
  }
  gammas(g, 0, first, n, shape1, size1, depth1);
  gammas(g, GAMMAS_LANES, first, n, shape2, size2, depth2);
  EVERY for (size_t i = 0; i < n; i++) {
    double ratio = (size1[i] / shape1[i]) / (size2[i] / shape2[i]);
    out[i] = ratio * vexp(depth2[i] - depth1[i]);
  }
}

/* }====================================================== */


/* betaln + a (psi(n) - psi(a)) + b (psi(n) - psi(b)) + log(b/a) + psi(a) - psi(b) */
static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++, singly()) {
    double a = 0.5 * finite_df(in[0][i]), b = 0.5 * finite_df(in[1][i]);
    double logs = vlog(a + b) - vlog(a) - vlog(b), psi = digamma_rest(a) - digamma_rest(b);
    out[i] = fma(0.5, logs, entropy_rest(a, b)) + psi;
  }
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *df1 = in[0], *df2 = in[1];
  double *ddf1 = d[0], *ddf2 = d[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double a = 0.5 * finite_df(df1[i]), b = 0.5 * finite_df(df2[i]);
    ddf1[i] = 0.5 * (trigamma_gap(a, b) + trigamma_rest(a) / a);
    ddf2[i] = 0.5 * (trigamma_gap(b, a) - trigamma_rest(b) / b);
  }
}


const Kernel perilune_fishersnedecor[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .slow = 1, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .slow = 1, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 3, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
