/*
** beta.c - Beta(concentration1 a, concentration0 b), on [0, 1]
**
**   log p(x) = (a - 1) log x + (b - 1) log(1 - x) - log B(a, b),   F(x) = I_x(a, b)
**
** For large shapes, n = a + b, in the form of C. Loader (2000), where nothing large cancels:
**
**   log p(x) = log(a b/(2 pi n))/2 - [mu(a) + mu(b) - mu(n)] + a L(e) + b L(f)
**            - log x - log y,      L(e) = log(1 + e) - e,   y = 1 - x
**
** with 1 + e = n x/a and 1 + f = n y/b, so that a e = b x - a y = -b f.
**
** A draw is g1/(g1 + g2) with two gamma variables that may be far below 1e-308.
*/
#include "kernel/betalaw.h"
#include "kernel/implicit.h"
#include "random/gammas.h"
#include "special/pair.h"


/* {=====================================================
** Density
** ====================================================== */

/* at the ends the density is 0, infinite, or the other shape; outside 0 */
VECTOR double with_edges (double x, double a, double b, double inside) {
  double shape = x == 0 ? a : b, other = vlog(x == 0 ? b : a);
  double end = shape == 1 ? other : shape < 1 ? HUGE_VAL : -HUGE_VAL;
  double value = ((x == 0) | (x == 1)) ? end : inside;
  return ((x < 0) | (x > 1)) ? -HUGE_VAL : value;
}

VECTOR double plain_density (double x, double a, double b) {
  double powers = fma(a - 1, vlog(x), (b - 1) * vlog1p(-x));
  return powers - log_beta(a, b);
}

/* b x - a y, rounded once */
VECTOR double beyond_mean (double x, double a, double b) {
  Pair y = exact_sum(1, -x), above = exact_product(b, x), below = exact_product(a, y.hi);
  return (above.hi - below.hi) + (above.lo - fma(a, y.lo, below.lo));
}

VECTOR double saddle_density (double x, double a, double b) {
  double n = a + b, d = beyond_mean(x, a, b);
  double first = x < TINY_X ? log_whole(x, a, n) - d / a : deviation(d / a, n * x / a);
  double second = deviation(-d / b, n * (1 - x) / b);
  double away = fma(a, first, b * second) - (vlog(x) + vlog1p(-x));
  return log_peak(a, b) + away;
}

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *a = in[1], *b = in[2];
  uint64_t large = 0, edges = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    out[i] = plain_density(x[i], a[i], b[i]);
    large |= a[i] + b[i] > SADDLE;
    edges |= (x[i] <= 0) | (x[i] >= 1);
  }
  if (large)
    EVERY for (size_t i = 0; i < n; i++) {
      double saddle = saddle_density(x[i], a[i], b[i]);
      out[i] = a[i] + b[i] > SADDLE ? saddle : out[i];
    }
  if (edges)
    EVERY for (size_t i = 0; i < n; i++) out[i] = with_edges(x[i], a[i], b[i], out[i]);
}

/* log x + psi(n) - psi(a), as log(1 + e) and what the digammas leave over their logarithms */
VECTOR double excess (double x, double e, double a, double n) {
  double whole = n * x / a, ratio = whole < 0.5 ? log_whole(x, a, n) : vlog1p(e);
  return ratio + (digamma_rest(n) - digamma_rest(a));
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *a = in[1], *b = in[2];
  double *dx = d[0], *da = d[1], *db = d[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double y = 1 - x[i], sum = a[i] + b[i], away = beyond_mean(x[i], a[i], b[i]);
    int inside = (x[i] >= 0) & (x[i] <= 1);
    double slope = (a[i] - 1) / x[i] - (b[i] - 1) / y;
    double first = excess(x[i], away / a[i], a[i], sum);
    double second = excess(y, -away / b[i], b[i], sum);
    dx[i] = inside ? slope : 0.0;
    da[i] = inside ? first : 0.0;
    db[i] = inside ? second : 0.0;
  }
}

/* }====================================================== */


/* {=====================================================
** Tails, quantiles, draws: at = {x or p, a, b}
** ====================================================== */

static double log_density (const double *at) {
  double x = at[0], a = at[1], b = at[2];
  return with_edges(x, a, b, a + b > SADDLE ? saddle_density(x, a, b) : plain_density(x, a, b));
}

/* below and above the support the tails are those of its ends; NaN stays */
static double tail (const double *at, int upper) {
  double a = at[1], b = at[2], x = clamp(at[0], 0, 1);
  return upper ? special_betaincc(a, b, x) : special_betainc(a, b, x);
}

static double log_tail (const double *at, int upper) {
  double a = at[1], b = at[2], x = clamp(at[0], 0, 1);
  return upper ? special_log_betaincc(a, b, x) : special_log_betainc(a, b, x);
}

static double quantile (const double *at, int upper) {
  double a = at[1], b = at[2], p = at[0];
  return upper ? special_betainccinv(a, b, p) : special_betaincinv(a, b, p);
}

static void slopes (const double *at, double *dx) {
  special_beta_dx(at[1], at[2], at[0], &dx[0], &dx[1]);
}

enum { OPERANDS = 3 };

static const Implicit family = {
  .log_density = log_density, .slopes = slopes,
  .tail = tail, .log_tail = log_tail, .quantile = quantile
};

#include "kernel/implicit_kernels.h"


/* the greater gamma is counted as its size, the lesser as what is left beside it */
static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  double size1[GAMMAS_BLOCK], depth1[GAMMAS_BLOCK], size0[GAMMAS_BLOCK], depth0[GAMMAS_BLOCK];
  gammas(g, 0, first, n, in[0], size1, depth1);
  gammas(g, GAMMAS_LANES, first, n, in[1], size0, depth0);
  EVERY for (size_t i = 0; i < n; i++) {
    double gap = depth1[i] - depth0[i], less = vexp(-fabs(gap));
    double part1 = gap > 0 ? less : 1.0, part0 = gap > 0 ? 1.0 : less;
    double w1 = 0.25 * size1[i], w0 = 0.25 * size0[i];
    out[i] = w1 / fma(w1, part1, w0 * part0) * part1;
  }
}

/* }====================================================== */


/* betaln - (a - 1) psi(a) - (b - 1) psi(b) + (n - 2) psi(n), its logarithms gathered */
static void entropy (size_t n, const double *const in[], double *out) {
  const double *a = in[0], *b = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double sum = a[i] + b[i];
    double logs = fma(-3, vlog(sum), vlog(a[i]) + vlog(b[i]));
    double psi = fma(-2, digamma_rest(sum), digamma_rest(a[i]) + digamma_rest(b[i]));
    out[i] = fma(0.5, logs, entropy_rest(a[i], b[i])) + psi;
  }
}

/* with q = trigamma_rest, psi'(x) = (1 + q(x))/x */
static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *a = in[0], *b = in[1];
  double *da = d[0], *db = d[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double sum = a[i] + b[i], both = 2 * (1 + trigamma_rest(sum)) / sum;
    da[i] = trigamma_gap(a[i], b[i]) + ((1 + trigamma_rest(a[i])) / a[i] - both);
    db[i] = trigamma_gap(b[i], a[i]) + ((1 + trigamma_rest(b[i])) / b[i] - both);
  }
}


const Kernel perilune_beta[] = {
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
