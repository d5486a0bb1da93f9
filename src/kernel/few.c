/*
** few.c - log sum exp of two to eight numbers, for many lines of so few side by side
**
**   log sum_j exp(x_j) = m + log(1 + r),   m = max_j x_j,   r = sum_j exp(x_j - m) without one
**   x_j that is m.   The slope in x_j is exp(x_j - m)/(1 + r).
**
** Operand j has element j of each line. Sums are taken in the order of reduce.c, hence values
** are those of its logsumexp to the last bit.
*/
#include "kernel/kernel.h"
#include "special/vmath.h"

enum { MOST = 8, CHUNK = 64 };   /* elements of a line; lines at once */

typedef double Chunk[CHUNK];


/* r of two, with one exponential: the same bits */
VECTOR double rest_of_two (double x, double y) {
  double gap = x == y ? 0.0 : -fabs(x - y);
  return vexp(gap);
}

static void value2 (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = (y[i] > x[i] ? y[i] : x[i]) + vlog1p(rest_of_two(x[i], y[i]));
}

static void slopes2 (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  double *dx = d[0], *dy = d[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double rest = rest_of_two(x[i], y[i]), share = 1 / (1 + rest), less = rest * share;
    double of_x = y[i] > x[i] ? less : share, of_y = x[i] > y[i] ? less : share;
    dx[i] = x[i] == -HUGE_VAL ? 0.0 : of_x;
    dy[i] = y[i] == -HUGE_VAL ? 0.0 : of_y;
  }
}


static void find_largest (int k, size_t n, const double *const in[], double *largest) {
  EVERY for (size_t i = 0; i < n; i++) largest[i] = in[0][i];
  for (int j = 1; j < k; j++) {
    const double *x = in[j];
    EVERY for (size_t i = 0; i < n; i++) largest[i] = x[i] > largest[i] ? x[i] : largest[i];
  }
}

/* e[j] = exp(x_j - m); terms are the same, but 0 for those that are m, whose number is `equal`. */
static void find_terms (int k, size_t n, const double *const in[], const double *largest,
                        double *const e[], Chunk term[], double *equal) {
  EVERY for (size_t i = 0; i < n; i++) equal[i] = 0;
  for (int j = 0; j < k; j++) {
    const double *x = in[j];
    double *ej = e[j], *tj = term[j];
    EVERY for (size_t i = 0; i < n; i++) {
      double below = vexp(x[i] - largest[i]);
      ej[i] = x[i] == largest[i] ? 1.0 : below;
      tj[i] = x[i] == largest[i] ? 0.0 : below;
      equal[i] += x[i] == largest[i] ? 1.0 : 0.0;
    }
  }
}

/* r, in place of the first term */
static const double *rest_of (int k, size_t n, Chunk term[], const double *equal) {
  double *rest = term[0];
  for (int half = MOST / 2; half > 0; half /= 2)
    for (int j = 0; j < half && j + half < k; j++) {
      double *to = term[j];
      const double *from = term[j + half];
      EVERY for (size_t i = 0; i < n; i++) to[i] += from[i];
    }
  EVERY for (size_t i = 0; i < n; i++) rest[i] += equal[i] - 1;
  return rest;
}

ONE_COPY void chunk_value (int k, size_t n, const double *const in[], double *out) {
  Chunk largest, equal, unused, term[MOST];
  double *const e[MOST] = {unused, unused, unused, unused, unused, unused, unused, unused};
  find_largest(k, n, in, largest);
  find_terms(k, n, in, largest, e, term, equal);
  const double *rest = rest_of(k, n, term, equal);
  EVERY for (size_t i = 0; i < n; i++) out[i] = largest[i] + vlog1p(rest[i]);
}

/* 0 for an element of -inf, even if all are */
ONE_COPY void chunk_slopes (int k, size_t n, const double *const in[], double *const d[]) {
  Chunk largest, equal, share, term[MOST];
  find_largest(k, n, in, largest);
  find_terms(k, n, in, largest, d, term, equal);
  const double *rest = rest_of(k, n, term, equal);
  EVERY for (size_t i = 0; i < n; i++) share[i] = 1 / (1 + rest[i]);
  for (int j = 0; j < k; j++) {
    const double *x = in[j];
    double *dx = d[j];
    EVERY for (size_t i = 0; i < n; i++) dx[i] = x[i] == -HUGE_VAL ? 0.0 : dx[i] * share[i];
  }
}


static size_t chunk_at (int k, size_t at, size_t n, const double *const in[],
                        const double *from[]) {
  for (int j = 0; j < k; j++) from[j] = in[j] + at;
  return n - at < CHUNK ? n - at : CHUNK;
}

static void value (int k, size_t n, const double *const in[], double *out) {
  const double *from[MOST];
  for (size_t at = 0; at < n; at += CHUNK)
    chunk_value(k, chunk_at(k, at, n, in, from), from, out + at);
}

static void slopes (int k, size_t n, const double *const in[], double *const d[]) {
  const double *from[MOST];
  double *to[MOST];
  for (size_t at = 0; at < n; at += CHUNK) {
    for (int j = 0; j < k; j++) to[j] = d[j] + at;
    chunk_slopes(k, chunk_at(k, at, n, in, from), from, to);
  }
}

static void value3 (size_t n, const double *const in[], double *out) { value(3, n, in, out); }
static void value4 (size_t n, const double *const in[], double *out) { value(4, n, in, out); }
static void value5 (size_t n, const double *const in[], double *out) { value(5, n, in, out); }
static void value6 (size_t n, const double *const in[], double *out) { value(6, n, in, out); }
static void value7 (size_t n, const double *const in[], double *out) { value(7, n, in, out); }
static void value8 (size_t n, const double *const in[], double *out) { value(8, n, in, out); }

static void slopes3 (size_t n, const double *const in[], double *const d[]) { slopes(3, n, in, d); }
static void slopes4 (size_t n, const double *const in[], double *const d[]) { slopes(4, n, in, d); }
static void slopes5 (size_t n, const double *const in[], double *const d[]) { slopes(5, n, in, d); }
static void slopes6 (size_t n, const double *const in[], double *const d[]) { slopes(6, n, in, d); }
static void slopes7 (size_t n, const double *const in[], double *const d[]) { slopes(7, n, in, d); }
static void slopes8 (size_t n, const double *const in[], double *const d[]) { slopes(8, n, in, d); }


const Kernel perilune_few[] = {
  {.name = "logsumexp2", .n_in = 2, .value = value2, .partials = slopes2},
  {.name = "logsumexp3", .n_in = 3, .value = value3, .partials = slopes3},
  {.name = "logsumexp4", .n_in = 4, .value = value4, .partials = slopes4},
  {.name = "logsumexp5", .n_in = 5, .value = value5, .partials = slopes5},
  {.name = "logsumexp6", .n_in = 6, .value = value6, .partials = slopes6},
  {.name = "logsumexp7", .n_in = 7, .value = value7, .partials = slopes7},
  {.name = "logsumexp8", .n_in = 8, .value = value8, .partials = slopes8},
  {.name = NULL}
};
