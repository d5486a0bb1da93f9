/*
** lowrankmultivariatenormal.c - LowRankMultivariateNormal(loc, cov_factor W, cov_diag D)
**
** The covariance is S = W W^T + D, W of d rows and k columns, D a diagonal. With y = x - loc,
**
**   log p(x) = -q/2 - log det(S)/2 - d/2 log(2 pi)
**   q = y^T S^-1 y = min_e |D^-1/2 (y - W e)|^2 + |e|^2
**
** a problem of least squares with the matrix A = [D^-1/2 W; I] of d + k rows. Its columns are
** made orthonormal, A = Q R (modified Gram-Schmidt); what is left of [D^-1/2 y; 0] after
** taking away its parts along them is the residual t, and with Q = [P; R^-1]:
**
**   q = |t|^2,   S^-1 y = D^-1/2 t[1..d],   e = -t[d+1..],   det S = det(D) det(R)^2
**   S^-1 = D^-1/2 (I - P P^T) D^-1/2,   S^-1 W = D^-1/2 P R^-T
**
** Nothing large cancels, as it would between y^T D^-1 y and its correction by k x k
** matrices. All of it costs O(d k) for each x, after O(d k^2) for each W and D.
**
** A draw is loc + W e1 + D^1/2 e2. Its derivative is the mean of the plain one over all e1 and
** e2 that give the same x: E[e1 | x] = e, E[e2 | x] = t[1..d].
*/
#include "kernel/gaussian.h"
#include "random/noise.h"

enum { SUMS_AT_ONCE = 16 };   /* sums that do not wait for each other */

/* d, k, and the rows of Q, d + k and zeros to fill up a multiple of SUMS_AT_ONCE */
typedef struct Sizes { size_t d, k, rows; } Sizes;

static Sizes sizes_from (const size_t dims[]) {
  size_t blocks = (dims[0] + dims[1] + SUMS_AT_ONCE - 1) / SUMS_AT_ONCE;
  return (Sizes) {dims[0], dims[1], blocks * SUMS_AT_ONCE};
}

static Sizes sizes_of (const Batch *b) { return sizes_from(b->dims); }


/* {=====================================================
** The factor: D^-1/2, then the columns of Q one after another
** ====================================================== */

/* SUMS_AT_ONCE sums side by side, then theirs */
static double dot (Stop stop, size_t rows, const double *a, const double *b) {
  double sum[SUMS_AT_ONCE];
  for (size_t j = 0; j < SUMS_AT_ONCE; j++) sum[j] = a[j] * b[j];
  for (size_t i = SUMS_AT_ONCE, end; (end = part_end(stop, i, rows)) > i; )
    for (; i < end; i += SUMS_AT_ONCE)
      for (size_t j = 0; j < SUMS_AT_ONCE; j++) sum[j] = fma(a[i + j], b[i + j], sum[j]);
  for (size_t j = 0; j < 8; j++) sum[j] += sum[j + 8];
  for (size_t j = 0; j < 4; j++) sum[j] += sum[j + 4];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* y + k x */
static void add (Stop stop, size_t rows, double k, const double *restrict x,
                 double *restrict y) {
  for (size_t i = 0, end; (end = part_end(stop, i, rows)) > i; )
    for (; i < end; i += SUMS_AT_ONCE)
      for (size_t j = 0; j < SUMS_AT_ONCE; j++) y[i + j] = fma(k, x[i + j], y[i + j]);
}

/* what is left of v without its parts along the first `count` columns */
static void project (Stop stop, size_t rows, size_t count, const double *q, double *v) {
  for (size_t j = 0; j < count; j++, q += rows) add(stop, rows, -dot(stop, rows, q, v), q, v);
}

static size_t factor_size (Sizes s) { return s.d + s.k * s.rows; }

/* the factor of operands w and w + 1 of row r */
static void orthonormalise (const Batch *b, int w, size_t r, double *factor) {
  Sizes s = sizes_of(b);
  const double *wide = event(b, w, r), *diagonal = event(b, w + 1, r);
  double *q = factor + s.d;
  for (size_t i = 0, end; (end = part_end(b->stop, i, s.d)) > i; )
    for (; i < end; i++) factor[i] = 1 / sqrt(diagonal[i]);
  for (size_t j = 0; j < s.k && !stops(b->stop); j++) {
    double *column = q + j * s.rows;
    for (size_t i = 0, end; (end = part_end(b->stop, i, s.d)) > i; )
      for (; i < end; i++) column[i] = wide[i * s.k + j] * factor[i];
    for (size_t i = s.d; i < s.rows; i++) column[i] = i == s.d + j;
    project(b->stop, s.rows, j, q, column);
    double norm = sqrt(dot(b->stop, s.rows, column, column));
    for (size_t i = 0, end; (end = part_end(b->stop, i, s.rows)) > i; )
      for (; i < end; i++) column[i] /= norm;
  }
}

/* Do all rows share W and D? */
static int shared (const Batch *b, int w) { return b->step[w] == 0 && b->step[w + 1] == 0; }

/* log det(S)/2 */
static double half_log_det (Stop stop, Sizes s, const double *diagonal, const double *factor) {
  const double *corner = factor + s.d + s.d;
  double sum = 0;
  for (size_t i = 0, end; (end = part_end(stop, i, s.d)) > i; )
    for (; i < end; i++) sum += vlog(diagonal[i]);
  sum *= 0.5;
  for (size_t j = 0; j < s.k; j++) sum -= vlog(corner[j * s.rows + j]);
  return sum;
}

/* 1 - |row i of P|^2, the length of what is left of a unit vector */
static double left_of_unit (Stop stop, Sizes s, const double *q, size_t i, double *v) {
  clear(stop, s.rows, v);
  v[i] = 1;
  project(stop, s.rows, s.k, q, v);
  return dot(stop, s.rows, v, v);
}

/*
** its slopes, dw = S^-1 W and dd = diagonal(S^-1)/2. Where 1 - |row of P|^2 would cancel, it
** is computed dearly: that happens for at most 2 k rows, because all of P has length sqrt(k) at
** most.
*/
static void log_det_slopes (const Batch *b, const double *factor, double *dw, double *dd,
                            double *v) {
  Sizes s = sizes_of(b);
  const double *q = factor + s.d;
  for (size_t i = 0; i < s.d && !stops_at(b->stop, i, s.k * s.k); i++) {
    double length = 0;
    for (size_t j = 0; j < s.k; j++) {
      double sum = 0;
      for (size_t l = j; l < s.k; l++) sum = fma(q[l * s.rows + i], q[l * s.rows + s.d + j], sum);
      dw[i * s.k + j] = factor[i] * sum;
      length = fma(q[j * s.rows + i], q[j * s.rows + i], length);
    }
    double left = length > 0.5 ? left_of_unit(b->stop, s, q, i, v) : 1 - length;
    dd[i] = 0.5 * left * factor[i] * factor[i];
  }
}

/* }====================================================== */


/* {=====================================================
** Density: operands x, loc, W, D
** ====================================================== */

/* t of row r */
static void residual (const Batch *b, size_t r, const double *factor, double *t) {
  Sizes s = sizes_of(b);
  const double *x = event(b, 0, r), *loc = event(b, 1, r);
  memset(t + s.d, 0, (s.rows - s.d) * sizeof *t);
  for (size_t i = 0, end; (end = part_end(b->stop, i, s.d)) > i; )
    for (; i < end; i++) t[i] = (x[i] - loc[i]) * factor[i];
  project(b->stop, s.rows, s.k, factor + s.d, t);
}

static void log_prob (const Batch *b, double *out) {
  Sizes s = sizes_of(b);
  double *factor = b->scratch, *t = factor + factor_size(s), constant = 0;
  for (size_t r = 0; r < b->n && !stops_at(b->stop, r, s.d * s.k); r++) {
    if (r == 0 || !shared(b, 2)) {
      orthonormalise(b, 2, r, factor);
      constant = -half_log_2pi(s.d) - half_log_det(b->stop, s, event(b, 3, r), factor);
    }
    residual(b, r, factor, t);
    out[r] = fma(-0.5, dot(b->stop, s.rows, t, t), constant);
    if (out[r] != out[r] && constant == constant
        && infinitely_far(s.d, event(b, 0, r), event(b, 1, r)))
      out[r] = -INFINITY;
  }
}

/* with w = S^-1 y:  d/dx = -w,  d/dloc = w,  d/dW = w e^T - S^-1 W,  d/dD = (w^2 - S^-1_ii)/2 */
static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  Sizes s = sizes_of(b);
  double *factor = b->scratch, *t = factor + factor_size(s), *dw = t + s.rows, *dd = dw + s.d * s.k;
  for (size_t r = 0; r < b->n && !stops_at(b->stop, r, s.d * s.k); r++) {
    double up = upstream[r];
    if (r == 0 || !shared(b, 2)) {
      orthonormalise(b, 2, r, factor);
      log_det_slopes(b, factor, dw, dd, t);
    }
    residual(b, r, factor, t);
    for (size_t i = 0, end; (end = part_end(b->stop, i, s.d)) > i; )
      for (; i < end; i++) {
        double w = t[i] * factor[i], *row = d[2] + (r * s.d + i) * s.k;
        d[0][r * s.d + i] = -up * w;
        d[1][r * s.d + i] = up * w;
        for (size_t j = 0; j < s.k; j++) row[j] = -up * fma(w, t[s.d + j], dw[i * s.k + j]);
        d[3][r * s.d + i] = up * fma(0.5 * w, w, -dd[i]);
      }
  }
}

/* }====================================================== */


/* log det(S)/2 + d/2 (1 + log(2 pi)); loc is there for its batch alone */
static void entropy (const Batch *b, double *out) {
  Sizes s = sizes_of(b);
  for (size_t r = 0; r < b->n && !stops_at(b->stop, r, s.d * s.k); r++) {
    out[r] = out[0];
    if (r > 0 && shared(b, 1)) continue;
    orthonormalise(b, 1, r, b->scratch);
    out[r] = half_log_det(b->stop, s, event(b, 2, r), b->scratch)
           + (half_log_2pi(s.d) + 0.5 * (double)s.d);
  }
}

static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  Sizes s = sizes_of(b);
  memset(d[0], 0, b->n * s.d * sizeof *d[0]);
  for (size_t r = 0; r < b->n && !stops_at(b->stop, r, s.d * s.k); r++) {
    double *dw = d[1] + r * s.d * s.k, *dd = d[2] + r * s.d;
    orthonormalise(b, 1, r, b->scratch);
    log_det_slopes(b, b->scratch, dw, dd, b->scratch + factor_size(s));
    for (size_t i = 0; i < s.d * s.k; i++) dw[i] *= upstream[r];
    for (size_t i = 0, end; (end = part_end(b->stop, i, s.d)) > i; )
      for (; i < end; i++) dd[i] *= upstream[r];
  }
}


/* {=====================================================
** Draws
** ====================================================== */

/* e1 of the row that begins at `element`: number i is element i mod d of lane 1 + i/d */
static void factor_noise (const Philox *g, uint64_t element, Sizes s, double *e) {
  for (size_t i = 0; i < s.k; i += s.d)
    noise_normal(g, (uint32_t)(1 + i / s.d), element, s.k - i < s.d ? s.k - i : s.d, e + i);
}

static void rsample (const Philox *g, uint64_t first, const Batch *b, double *out) {
  Sizes s = sizes_of(b);
  double *e = b->scratch;
  for (size_t r = 0; r < b->n && !stops_at(b->stop, r, s.d * s.k); r++, out += s.d) {
    const double *loc = event(b, 0, r), *wide = event(b, 1, r), *diagonal = event(b, 2, r);
    for (size_t i = 0, end; (end = part_end(b->stop, i, s.d)) > i; i = end)
      noise_normal(g, 0, first + r * s.d + i, end - i, out + i);
    factor_noise(g, first + r * s.d, s, e);
    for (size_t i = 0, end; (end = part_end(b->stop, i, s.d)) > i; )
      for (; i < end; i++) {
        double sum = fma(sqrt(diagonal[i]), out[i], loc[i]);
        for (size_t j = 0; j < s.k; j++) sum = fma(wide[i * s.k + j], e[j], sum);
        out[i] = sum;
      }
  }
}

/* with u for upstream and w = S^-1 y:  u e^T,  u w/2 */
static void rsample_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  Sizes s = sizes_of(b);
  double *factor = b->scratch, *t = factor + factor_size(s);
  memcpy(d[0], upstream, b->n * s.d * sizeof *upstream);
  memcpy(d[1], upstream, b->n * s.d * sizeof *upstream);
  for (size_t r = 0; r < b->n && !stops_at(b->stop, r, s.d * s.k); r++, upstream += s.d) {
    if (r == 0 || !shared(b, 2)) orthonormalise(b, 2, r, factor);
    residual(b, r, factor, t);
    for (size_t i = 0, end; (end = part_end(b->stop, i, s.d)) > i; )
      for (; i < end; i++) {
        double *row = d[2] + (r * s.d + i) * s.k;
        for (size_t j = 0; j < s.k; j++) row[j] = upstream[i] * -t[s.d + j];
        d[3][r * s.d + i] = upstream[i] * (0.5 * t[i] * factor[i]);
      }
  }
}

/* }====================================================== */


/* a factor and a residual; slopes as well; e1 */
static size_t for_factor (const size_t dims[]) {
  return factor_size(sizes_from(dims)) + sizes_from(dims).rows;
}

static size_t for_slopes (const size_t dims[]) {
  return for_factor(dims) + dims[0] * dims[1] + dims[0];
}

static size_t for_noise (const size_t dims[]) { return dims[1]; }

const Kernel perilune_lowrankmultivariatenormal[] = {
  {.name = "log_prob", .n_in = 4,
   .rows = &(const RowKernel) {
     .signature = "(d),(d),(d,k),(d)->()", .run = log_prob, .whole = 1, .scratch = for_factor,
     .adjoint = log_prob_adjoint, .adjoint_scratch = for_slopes}},
  {.name = "entropy", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(d),(d,k),(d)->()", .run = entropy, .whole = 1, .scratch = for_factor,
     .adjoint = entropy_adjoint, .adjoint_scratch = for_factor}},
  {.name = "rsample", .n_in = 4,
   .rows = &(const RowKernel) {
     .signature = "(d),(d),(d,k),(d)->(d)", .whole = 1, .scratch = for_noise,
     .adjoint = rsample_adjoint, .adjoint_scratch = for_factor},
   .sampler = &(const Sampler) {.draw_rows = rsample}},
  {.name = NULL}
};
