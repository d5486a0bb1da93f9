/*
** dirichlet.c - Dirichlet(concentration a), shares x_1, ..., x_K of a whole
**
**   log p(x) = sum_j (a_j - 1) log x_j - log B(a),    A = sum_j a_j
**   log B(a) = sum_j log Gamma(a_j) - log Gamma(A)
**
** For large A in a form where nothing large cancels, mu of vstirlerr:
**
**   log p(x) = A (sum_j x_j - 1) - sum_j [D(a_j, A x_j) + log x_j]
**            + sum_j [log(a_j)/2 - mu(a_j)] - log(A)/2 + mu(A) - (K - 1) log(2 pi)/2
**
** where D(a, m) = a log(a/m) + m - a, and likewise the entropy. An x whose sum is
** further than TOLERANCE from 1 has no density.
*/
#include <string.h>

#include "kernel/betalaw.h"
#include "kernel/kernel.h"
#include "kernel/simplex.h"
#include "random/gammas.h"
#include "special/incbeta.h"
#include "special/pair.h"

enum { CHUNK = 64 };   /* terms computed before they are added */

static const double TOLERANCE = 1e-6;
static const double LARGE = 64;   /* up to here the plain formula loses less than 1e-13 */

/* a term of a sum over the row: x_j (or 0 where there is none), a_j, A */
typedef double Term (double x, double a, double total);

/* what a row of shapes alone contributes */
typedef struct Shapes { double total, constant; int large; } Shapes;


static double total_of (size_t k, const double *a) {
  double sum = 0;
  for (size_t j = 0; j < k; j++) sum += a[j];
  return sum;
}

static inline __attribute__((always_inline))
double sum_of (Term *term, size_t k, const double *x, const double *a, double total) {
  double sum = 0, t[CHUNK];
  for (size_t j = 0; j < k; j += CHUNK) {
    size_t m = k - j < CHUNK ? k - j : CHUNK;
    for (size_t i = 0; i < m; i++) t[i] = term(x[j + i], a[j + i], total);
    for (size_t i = 0; i < m; i++) sum += t[i];
  }
  return sum;
}


/* {=====================================================
** Density
** ====================================================== */

VECTOR double log_gamma_term (double x, double a, double total) {
  (void)x, (void)total;
  return vlgamma_pos(a);
}

VECTOR double width_term (double x, double a, double total) {
  (void)x, (void)total;
  return fma(0.5, vlog(a), -vstirlerr(a));
}

/* (a - 1) log x; at x = 0 nothing for a = 1 */
VECTOR double power_term (double x, double a, double total) {
  double value = (a - 1) * vlog(x);
  (void)total;
  return a == 1 && x == 0 ? 0.0 : value;
}

/* -D(a, A x) - log x; the difference A x - a is rounded once */
VECTOR double deviance_term (double x, double a, double total) {
  double edge = a < 1 ? HUGE_VAL : a == 1 ? 1 + vlog(total) : -HUGE_VAL;
  double mean = total * x, d = fma(total, x, -a), log_x = vlog(x);
  double near = a * vlog1pmx(d / a), far = fma(a, log_x - vlog(a / total), -d);
  double value = (fabs(d) <= 0.5 * mean + 0.5 * a ? near : far) - log_x;
  return x == 0 ? edge : value;
}

static Shapes shapes_of (size_t k, const double *a) {
  double total = total_of(k, a);
  Shapes s = {.total = total, .large = total > LARGE};
  if (s.large) s.constant = sum_of(width_term, k, a, a, total) + vstirlerr(total)
                          - fma(0.5, vlog(total), HALF_LOG_2PI * ((double)k - 1));
  else s.constant = vlgamma_pos(total) - sum_of(log_gamma_term, k, a, a, total);
  return s;
}

/* sum_j x_j - 1, without rounding but at the end */
static double surplus (size_t k, const double *x) {
  double sum = -1, error = 0;
  for (size_t j = 0; j < k; j++) {
    Pair s = exact_sum(sum, x[j]);
    sum = s.hi;
    error += s.lo;
  }
  return fabs(sum) < INFINITY ? sum + error : sum;
}

static int inside (size_t k, const double *x, double beyond) {
  int negative = 0;
  for (size_t j = 0; j < k; j++) negative |= x[j] < 0;
  return !negative && fabs(beyond) <= TOLERANCE;
}

static double density (size_t k, const double *x, const double *a, Shapes s) {
  double beyond = surplus(k, x);
  if (beyond != beyond) return beyond;
  if (!inside(k, x, beyond)) return -INFINITY;
  if (!s.large) return sum_of(power_term, k, x, a, s.total) + s.constant;
  return fma(s.total, beyond, sum_of(deviance_term, k, x, a, s.total)) + s.constant;
}

static void log_prob (const Batch *b, double *out) {
  const double *seen = NULL;
  Shapes s = {0};
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *a = event(b, 1, r);
    if (a != seen) s = shapes_of(b->dims[0], a);   /* once for a shared row */
    seen = a;
    out[r] = density(b->dims[0], x, a, s);
  }
}

/* log x + psi(A) - psi(a), as log(A x/a) and what the digammas leave over their logarithms */
VECTOR double excess (double x, double a, double total) {
  double e = fma(total, x, -a) / a, whole = total * x / a;
  double ratio = fabs(e) < 0.5 ? vlog1p(e) : vlog(total) + vlog(x) - vlog(a);
  double far = ratio + (digamma_rest(total) - digamma_rest(a));
  return whole == 0 ? vlog(x) + (vdigamma_pos(total) - vdigamma_pos(a)) : far;
}

static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *a = event(b, 1, r);
    double *dx = d[0] + r * k, *da = d[1] + r * k;
    double total = total_of(k, a), beyond = surplus(k, x);
    double up = inside(k, x, beyond) ? upstream[r] : beyond != beyond ? beyond : 0;
    for (size_t j = 0; j < k; j++) {
      double slope = (a[j] - 1) / x[j], moved = excess(x[j], a[j], total);
      dx[j] = up == 0 || a[j] == 1 ? 0 * up : up * slope;
      da[j] = up == 0 ? 0.0 : up * moved;
    }
  }
}

/* }====================================================== */


/* {=====================================================
** Moments and entropy
** ====================================================== */

/* m (1 - m)/(A + 1), 1 - m from the sum of the others */
static void variance (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *a = event(b, 0, r);
    double total = total_of(k, a), before = 0, after = 0;
    for (size_t j = 0; j < k; j++) {
      out[j] = before;
      before += a[j];
    }
    for (size_t j = k; j-- > 0; ) {
      out[j] = a[j] / total * ((out[j] + after) / total) / (total + 1);
      after += a[j];
    }
  }
}

/*
** The shares of a - 1, those below 0 counted as 0. If none is left, the corner of the largest
** shape; no mode if several shapes of 1 share that place, with an edge or face of equal density.
*/
static void mode (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *a = event(b, 0, r);
    size_t best = 0, ones = 0;
    double sum = 0;
    for (size_t j = 0; j < k; j++) {
      out[j] = a[j] > 1 ? a[j] - 1 : 0;
      sum += out[j];
      ones += a[j] == 1;
      best = a[j] > a[best] ? j : best;
    }
    for (size_t j = 0; j < k; j++)
      out[j] = sum > 0 ? out[j] / sum : ones > 1 ? NAN : j == best;
  }
}


VECTOR double plain_entropy_term (double x, double a, double total) {
  double log_gamma, psi;
  (void)x, (void)total;
  vlgamma_digamma(a, &log_gamma, &psi);
  return fma(1 - a, psi, log_gamma);
}

VECTOR double entropy_term (double x, double a, double total) {
  (void)x;
  return fma(0.5, vlog(a / total), fma(1 - a, digamma_rest(a), vstirlerr(a)));
}

/*
** log B - sum_j (a_j - 1) psi(a_j) + (A - K) psi(A); for large A, with R(x) = psi(x) - log x,
**   sum_j [log(a_j/A)/2 + (1 - a_j) R(a_j) + mu(a_j)] + (A - K) R(A) - mu(A)
**     + (K - 1) [log(2 pi) - log A]/2
*/
static double entropy_of (size_t k, const double *a) {
  double total = total_of(k, a), free = (double)k - 1;
  if (total <= SADDLE) {
    double rest = fma(total - (double)k, vdigamma_pos(total), -vlgamma_pos(total));
    return sum_of(plain_entropy_term, k, a, a, total) + rest;
  }
  double rest = fma(total - (double)k, digamma_rest(total), -vstirlerr(total));
  return sum_of(entropy_term, k, a, a, total) + rest
       + free * fma(-0.5, vlog(total), HALF_LOG_2PI);
}

static void entropy (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) out[r] = entropy_of(b->dims[0], event(b, 0, r));
}

/* (A - K) psi'(A) - (a - 1) psi'(a), with x psi'(x) = 1 + trigamma_rest(x) */
static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *a = event(b, 0, r);
    double total = total_of(k, a), whole = (double)k * vtrigamma_pos(total);
    for (size_t j = 0; j < k; j++) {
      double own = vtrigamma_pos(a[j]) - whole;
      d[0][r * k + j] = upstream[r] * (trigamma_gap(a[j], total - a[j]) + own);
    }
  }
}

/* }====================================================== */


/* {=====================================================
** Draws: shares of gamma variables, from their logarithms, which may be far below those of
** 1e-308
** ====================================================== */

/* logarithms of n gammas; the first has the shape of share j in row r */
static void log_gammas (const Philox *g, uint64_t element, size_t n, const Batch *b, size_t r,
                        size_t j, double *out) {
  double shape[GAMMAS_BLOCK], size[GAMMAS_BLOCK], depth[GAMMAS_BLOCK];
  const double *a = event(b, 0, r);
  for (size_t i = 0; i < n; i++) {
    shape[i] = a[j];
    if (++j < b->dims[0]) continue;
    j = 0;
    if (++r < b->n) a = event(b, 0, r);
  }
  gammas(g, 0, element, n, shape, size, depth);
  for (size_t i = 0; i < n; i++) out[i] = vlog(size[i]) - depth[i];
}

static void normalise (size_t k, double *y) {
  double shift = simplex_shift(k, y), sum = 0;
  for (size_t j = 0; j < k; j++) y[j] = vexp(y[j] - shift);
  for (size_t j = 0; j < k; j++) sum += y[j];
  for (size_t j = 0; j < k; j++) y[j] /= sum;
}

static void rsample (const Philox *g, uint64_t first, const Batch *b, double *out) {
  size_t k = b->dims[0], size = b->n * k, done = 0;
  for (size_t i = 0, n; i < size; i += n) {
    n = size - i < GAMMAS_BLOCK ? size - i : GAMMAS_BLOCK;
    log_gammas(g, first + i, n, b, i / k, i % k, out + i);
    for (; (done + 1) * k <= i + n; done++) normalise(k, out + done * k);
  }
}

/*
** Share j is Beta(a_j, A - a_j): as a_j moves it, the others keep their proportions.
**   dx_j/da_j by the slope of that quantile,   dx_i/da_j = -x_i/(1 - x_j) dx_j/da_j
*/
static void rsample_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  memcpy(d[0], upstream, b->n * k * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++, upstream += k) {
    const double *x = event(b, 0, r), *a = event(b, 1, r);
    double total = total_of(k, a);
    for (size_t j = 0; j < k; j++) {
      double others = 0, rest = 0;
      for (size_t i = 0; i < k; i++) {
        others = i == j ? others : fma(x[i], upstream[i] - upstream[j], others);
        rest += i == j ? 0 : x[i];
      }
      double slope = k == 1 ? 0 : special_beta_dx_da(a[j], total - a[j], x[j]);
      d[1][r * k + j] = rest > 0 ? -others / rest * slope : 0;
    }
  }
}

/* }====================================================== */


const Kernel perilune_dirichlet[] = {
  {.name = "log_prob", .n_in = 2, .signature = "(k),(k)->()", .rows = log_prob,
   .adjoint = log_prob_adjoint},
  {.name = "variance", .n_in = 1, .signature = "(k)->(k)",    .rows = variance},
  {.name = "mode",     .n_in = 1, .signature = "(k)->(k)",    .rows = mode},
  {.name = "entropy",  .n_in = 1, .signature = "(k)->()",     .rows = entropy,
   .adjoint = entropy_adjoint},
  {.name = "rsample",  .n_in = 2, .signature = "(k),(k)->(k)", .draw_rows = rsample,
   .adjoint = rsample_adjoint},
  {.name = NULL}
};
