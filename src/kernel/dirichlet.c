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
** further than TOLERANCE from 1 has no density. While m = A x is within a factor 3 of a, with
** d = m - a, s = d/(m + a) and log(m/a) = s (2 + R(s^2)),
**
**   -D(a, m) = s (a R - d),   log x = log(a/A) + s (2 + R)
*/
#include <string.h>

#include "kernel/betalaw.h"
#include "kernel/kernel.h"
#include "kernel/simplex.h"
#include "random/gammas.h"
#include "special/incbeta.h"
#include "special/pair.h"

enum { BLOCK = 256, OPERATIONS = 16 * BLOCK };   /* shares computed together, and their work */

static const double TOLERANCE = 1e-6;
static const double LARGE = 64;   /* up to here the plain formula loses less than 1e-13 */


static double total_of (Stop stop, size_t k, const double *x) {
  double sum = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) sum += x[j];
  return sum;
}


/* {=====================================================
** Density
** ====================================================== */

/* Rows that are computed together, and what their shapes alone contribute. */
typedef struct Rows {
  size_t k, most, rows;              /* shares of a row; rows at most, and now */
  const double *x, *a;               /* of each share: x, a, */
  double *total, *level;             /* A, log(a/A), */
  double *term;                      /* what is added up over a row */
  double *room[2];                   /* for x and a where rows do not follow one another */
  double *constant;                  /* of each row */
  Stop stop;
  int small, large;                  /* are there rows with an A up to LARGE, above it? */
} Rows;

static size_t rows_together (size_t k) { return k < BLOCK ? BLOCK / k : 1; }

static size_t log_prob_scratch (const size_t dims[]) {
  return 6 * rows_together(dims[0]) * dims[0];
}

static Rows rows_at (const Batch *b) {
  double *scratch = b->scratch;
  size_t k = b->dims[0], most = rows_together(k), n = most * k;
  return (Rows) {.k = k, .most = most, .room = {scratch, scratch + n},
                 .total = scratch + 2 * n, .level = scratch + 3 * n, .term = scratch + 4 * n,
                 .constant = scratch + 5 * n, .stop = b->stop};
}

/* n numbers of operand o, from share j of row r on */
static void gather (const Batch *b, int o, size_t r, size_t j, size_t n, double *out) {
  for (size_t k = b->dims[0], m; n > 0; n -= m, out += m, r++, j = 0) {
    m = k - j < n ? k - j : n;
    memcpy(out, event(b, o, r) + j, m * sizeof *out);
  }
}

/* operand o of the rows from r on: where they are, or gathered */
static const double *rows_of (const Batch *b, int o, size_t r, const Rows *s) {
  if (b->step[o] == (ptrdiff_t)s->k || s->rows == 1) return event(b, o, r);
  gather(b, o, r, 0, s->rows * s->k, s->room[o]);
  return s->room[o];
}


static void add_up (Rows *s) {
  s->small = s->large = 0;
  for (size_t r = 0; r < s->rows; r++) {
    double total = total_of(s->stop, s->k, s->a + r * s->k);
    for (size_t j = 0, end; (end = part_end(s->stop, j, s->k)) > j; )
      for (; j < end; j++) s->total[r * s->k + j] = total;
    if (total > LARGE) s->large = 1;
    else s->small = 1;
  }
}

static void log_gammas_of (Stop stop, size_t n, const double *a, double *restrict term) {
  for (size_t i = 0, end; (end = part_end(stop, i, n)) > i; )
    EVERY for (; i < end; i++) term[i] = -vlgamma_pos(a[i]);
}

/* log(a)/2 - mu(a), and log(a/A) */
static void widths (Stop stop, size_t n, const double *a, const double *total,
                    double *restrict term, double *restrict level) {
  for (size_t i = 0, end; (end = part_end(stop, i, n)) > i; )
    EVERY for (; i < end; i++) {
      double width = fma(0.5, vlog(a[i]), -vstirlerr(a[i])), old = term[i];
      term[i] = total[i] > LARGE ? width : old;
      level[i] = vlog(a[i] / total[i]);
    }
}

static void constants (Rows *s) {
  size_t n = s->rows * s->k;
  add_up(s);
  if (s->small) log_gammas_of(s->stop, n, s->a, s->term);
  if (s->large) widths(s->stop, n, s->a, s->total, s->term, s->level);
  for (size_t r = 0; r < s->rows; r++) {
    double sum = total_of(s->stop, s->k, s->term + r * s->k), total = s->total[r * s->k];
    if (total > LARGE) sum += vstirlerr(total) - fma(0.5, vlog(total),
                                                     HALF_LOG_2PI * ((double)s->k - 1));
    else sum += vlgamma_pos(total);
    s->constant[r] = sum;
  }
}


/* (a - 1) log x; at x = 0 nothing for a = 1 */
static void powers (Stop stop, size_t n, const double *x, const double *a,
                    double *restrict term) {
  for (size_t i = 0, end; (end = part_end(stop, i, n)) > i; )
    EVERY for (; i < end; i++) {
      double value = (a[i] - 1) * vlog(x[i]);
      term[i] = a[i] == 1 && x[i] == 0 ? 0.0 : value;
    }
}

/* R(z) for z <= 1/4; error 2^-63 of z */
VECTOR double ratio_series (double z) {
  double z2 = z * z, z4 = z2 * z2;
  double p = cubic(z, z2, -0.05750818271869283694,
      0.40030566539708544016, -0.4609168987591583637, 0.48856457337330808349);
  p = fma(p, z4, cubic(z, z2, 0.10516422906660176986,
      0.096206939809849330305, 0.08004588386423514275, 0.11574084950144928651));
  p = fma(p, z4, cubic(z, z2, 0.18181818149055963149,
      0.1538461677026294174, 0.13333294980841063018, 0.1176543665140604968));
  p = fma(p, z4, cubic(z, z2, 0.66666666666666666662,
      0.40000000000000010292, 0.28571428571425080163, 0.22222222222689442184));
  return z * p;
}

/* -D(a, A x) - log x within a factor 3, NaN beyond it; rows with a small A keep their terms */
static void near_deviances (Stop stop, size_t n, const double *x, const double *a,
                            const double *total, const double *level, double *restrict term) {
  for (size_t i = 0, end; (end = part_end(stop, i, n)) > i; )
    EVERY for (; i < end; i++) {
      double d = fma(total[i], x[i], -a[i]), s = d / fma(total[i], x[i], a[i]), old = term[i];
      double value = fma(s, fma(a[i] - 1, ratio_series(s * s), -(d + 2)), -level[i]);
      double near = fabs(s) <= 0.5 ? value : (double)NAN;
      term[i] = total[i] > LARGE ? near : old;
    }
}

/* and beyond it */
VECTOR double far_deviance (double x, double a, double total, double level) {
  double edge = a < 1 ? HUGE_VAL : a == 1 ? 1 + vlog(total) : -HUGE_VAL;
  double log_x = vlog(x), value = fma(a, log_x - level, -fma(total, x, -a)) - log_x;
  return x == 0 ? edge : value;
}

/* the places of NaN, collected without a branch; returns how many */
static size_t missing (size_t n, const double *term, size_t *place) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    place[count] = i;
    count += term[i] != term[i];
  }
  return count;
}

/* What the near formula left open among at most BLOCK shares from `at` on, brought together. */
static void mend (const Rows *s, size_t n, size_t at) {
  double x[BLOCK], a[BLOCK], total[BLOCK], level[BLOCK];
  size_t place[BLOCK], count = missing(n, s->term + at, place);
  for (size_t c = 0; c < count; c++) {
    size_t i = at + place[c];
    x[c] = s->x[i];
    a[c] = s->a[i];
    total[c] = s->total[i];
    level[c] = s->level[i];
  }
  for (size_t c = 0; c < count; c++) x[c] = far_deviance(x[c], a[c], total[c], level[c]);
  for (size_t c = 0; c < count; c++)
    if (total[c] > LARGE) s->term[at + place[c]] = x[c];
}

static void terms (const Rows *s) {
  size_t n = s->rows * s->k;
  if (s->small) powers(s->stop, n, s->x, s->a, s->term);
  if (!s->large) return;
  near_deviances(s->stop, n, s->x, s->a, s->total, s->level, s->term);
  for (size_t i = 0; i < n && !stops_at(s->stop, i / BLOCK, OPERATIONS); i += BLOCK)
    mend(s, n - i < BLOCK ? n - i : BLOCK, i);
}

/* sum_j x_j - 1, without rounding but at the end */
static double surplus (Stop stop, size_t k, const double *x) {
  double sum = -1, error = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      Pair s = exact_sum(sum, x[j]);
      sum = s.hi;
      error += s.lo;
    }
  return fabs(sum) < INFINITY ? sum + error : sum;
}

static int inside (Stop stop, size_t k, const double *x, double beyond) {
  int negative = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) negative |= x[j] < 0;
  return !negative && fabs(beyond) <= TOLERANCE;
}

static double density (const Rows *s, size_t r) {
  const double *x = s->x + r * s->k;
  double beyond = surplus(s->stop, s->k, x), total = s->total[r * s->k];
  double sum = total_of(s->stop, s->k, s->term + r * s->k);
  if (beyond != beyond) return beyond;
  if (fabs(beyond) > TOLERANCE) return -INFINITY;
  if (sum != sum && !inside(s->stop, s->k, x, beyond)) return -INFINITY;
  return (total > LARGE ? fma(total, beyond, sum) : sum) + s->constant[r];
}

static void log_prob (const Batch *b, double *out) {
  Rows s = rows_at(b);
  for (size_t r = 0; r < b->n; r += s.rows) {
    s.rows = b->n - r < s.most ? b->n - r : s.most;
    if (r == 0 || b->step[1] != 0) {   /* once for shared shapes */
      s.a = rows_of(b, 1, r, &s);
      constants(&s);
    }
    s.x = rows_of(b, 0, r, &s);
    terms(&s);
    for (size_t i = 0; i < s.rows; i++) out[r + i] = density(&s, i);
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
    double total = total_of(b->stop, k, a), beyond = surplus(b->stop, k, x);
    double up = inside(b->stop, k, x, beyond) ? upstream[r] : beyond != beyond ? beyond : 0;
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
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

/* sums of all but one */
static void sums_of_others (Stop stop, size_t k, const double *x, double *out) {
  double before = 0, after = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      out[j] = before;
      before += x[j];
    }
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) {
      out[k - 1 - i] += after;
      after += x[k - 1 - i];
    }
}

/* m (1 - m)/(A + 1), 1 - m from the sum of the others */
static void variance (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *a = event(b, 0, r);
    double total = total_of(b->stop, k, a);
    sums_of_others(b->stop, k, a, out);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) out[j] = a[j] / total * (out[j] / total) / (total + 1);
  }
}

static size_t variance_scratch (const size_t dims[]) { return 2 * dims[0]; }

/*
** With o_j = A - a_j and w = 2/A + 1/(A + 1), the slope of variance j along a_i is
** o_j (1 - a_j w) for i = j and a_j (1 - o_j w) else, over A^2 (A + 1)
*/
static void variance_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  double *others = b->scratch, *cross = others + k;
  for (size_t r = 0; r < b->n; r++, upstream += k) {
    const double *a = event(b, 0, r);
    double *da = d[0] + r * k, total = total_of(b->stop, k, a), w = 2 / total + 1 / (total + 1);
    sums_of_others(b->stop, k, a, others);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) cross[j] = upstream[j] * a[j] * fma(-others[j], w, 1);
    sums_of_others(b->stop, k, cross, da);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        double own = upstream[j] * others[j] * fma(-a[j], w, 1);
        da[j] = (da[j] + own) / total / total / (total + 1);
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
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        out[j] = a[j] > 1 ? a[j] - 1 : 0;
        sum += out[j];
        ones += a[j] == 1;
        best = a[j] > a[best] ? j : best;
      }
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++)
        out[j] = sum > 0 ? out[j] / sum : ones > 1 ? NAN : j == best;
  }
}

/* x_j = (a_j - 1)/S over those a_j > 1: dx_i/da_j = (1[i = j] - x_i)/S; at a corner all rests */
static void mode_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, upstream += k) {
    const double *a = event(b, 0, r);
    double sum = 0, pulled = 0, *slope = d[0] + r * k;
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
        double excess = a[j] > 1 ? a[j] - 1 : 0;
        sum += excess;
        pulled = fma(excess, upstream[j], pulled);
      }
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++)
        slope[j] = a[j] > 1 ? (upstream[j] - pulled / sum) / sum : 0;
  }
}


/* a term of the entropy */
typedef double Term (double a, double total);

VECTOR double plain_entropy_term (double a, double total) {
  double log_gamma, psi;
  (void)total;
  vlgamma_digamma(a, &log_gamma, &psi);
  return fma(1 - a, psi, log_gamma);
}

VECTOR double entropy_term (double a, double total) {
  return fma(0.5, vlog(a / total), fma(1 - a, digamma_rest(a), vstirlerr(a)));
}

/* the terms of a row, computed side by side before they are added */
VECTOR double sum_of (Stop stop, Term *term, size_t k, const double *a, double total) {
  double sum = 0, t[BLOCK];
  for (size_t j = 0; j < k && !stops_at(stop, j / BLOCK, OPERATIONS); j += BLOCK) {
    size_t n = k - j < BLOCK ? k - j : BLOCK;
    EVERY for (size_t i = 0; i < n; i++) t[i] = term(a[j + i], total);
    for (size_t i = 0; i < n; i++) sum += t[i];
  }
  return sum;
}

/*
** log B - sum_j (a_j - 1) psi(a_j) + (A - K) psi(A); for large A, with R(x) = psi(x) - log x,
**   sum_j [log(a_j/A)/2 + (1 - a_j) R(a_j) + mu(a_j)] + (A - K) R(A) - mu(A)
**     + (K - 1) [log(2 pi) - log A]/2
*/
static double entropy_of (Stop stop, size_t k, const double *a) {
  double total = total_of(stop, k, a), free = (double)k - 1;
  if (total <= SADDLE) {
    double rest = fma(total - (double)k, vdigamma_pos(total), -vlgamma_pos(total));
    return sum_of(stop, plain_entropy_term, k, a, total) + rest;
  }
  double rest = fma(total - (double)k, digamma_rest(total), -vstirlerr(total));
  return sum_of(stop, entropy_term, k, a, total) + rest
       + free * fma(-0.5, vlog(total), HALF_LOG_2PI);
}

static void entropy (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) out[r] = entropy_of(b->stop, b->dims[0], event(b, 0, r));
}

/* (A - K) psi'(A) - (a - 1) psi'(a), with x psi'(x) = 1 + trigamma_rest(x) */
static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *a = event(b, 0, r);
    double total = total_of(b->stop, k, a), whole = (double)k * vtrigamma_pos(total);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) {
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
  gather(b, 0, r, j, n, shape);
  gammas(g, 0, element, n, shape, size, depth);
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlog(size[i]) - depth[i];
}

static void rsample (const Philox *g, uint64_t first, const Batch *b, double *out) {
  size_t k = b->dims[0], size = b->n * k, done = 0;
  for (size_t i = 0, n; i < size && !stops_at(b->stop, i / GAMMAS_BLOCK, OPERATIONS); i += n) {
    n = size - i < GAMMAS_BLOCK ? size - i : GAMMAS_BLOCK;
    log_gammas(g, first + i, n, b, i / k, i % k, out + i);
    for (; (done + 1) * k <= i + n; done++)
      simplex_probs(b->stop, k, out + done * k, out + done * k);
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
    double total = total_of(b->stop, k, a);
    for (size_t j = 0; j < k && !stops_at(b->stop, j, k + OPERATIONS); j++) {
      double others = 0, rest = 0;
      for (size_t i = 0, end; (end = part_end(b->stop, i, k)) > i; )
        for (; i < end; i++) {
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
  {.name = "log_prob", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k),(k)->()", .run = log_prob, .scratch = log_prob_scratch,
     .adjoint = log_prob_adjoint}},
  {.name = "variance", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->(k)", .run = variance, .adjoint = variance_adjoint,
     .adjoint_scratch = variance_scratch}},
  {.name = "mode", .n_in = 1,
   .rows = &(const RowKernel) {.signature = "(k)->(k)", .run = mode, .adjoint = mode_adjoint}},
  {.name = "entropy", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->()", .run = entropy, .adjoint = entropy_adjoint}},
  {.name = "rsample", .n_in = 2,
   .rows = &(const RowKernel) {.signature = "(k),(k)->(k)", .adjoint = rsample_adjoint},
   .sampler = &(const Sampler) {.draw_rows = rsample}},
  {.name = NULL}
};
