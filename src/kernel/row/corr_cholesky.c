/*
** corr_cholesky.c - Cholesky factors of correlation matrices, from free rows
**
** Row i of a factor is a unit vector, a stick of i cuts (stick.h); x holds the cuts of row 1, then
** those of row 2, ...
**
**   l_ij = L_j tanh x_ij,   L_(j+1) = L_j sech x_ij,   l_ii = L_i
**   log det = sum of (i - j + 1) log sech x_ij
**
** The correlation matrix l l^T has log det = sum of (d - j) log sech x_ij over its elements below
** the diagonal, d rows in all (matrix_log_det).
**
** The size of the result is that of the second operand, of which nothing else is read; if it does
** not fit, the result is NaN.
*/
#include <math.h>

#include "kernel/kernel.h"
#include "kernel/row/stick.h"


/* 2 e^-|x|/(1 + e^(-2|x|)) */
static inline double sech (double x) {
  double e = vexp(-fabs(x));
  return 2 * e / fma(e, e, 1);
}

static inline double log_sech (double x) {
  double t = vtanh(x), near = 0.5 * vlog1p(-t * t);
  double far = LN2 - fabs(x) - log1p_unit(vexp(-2 * fabs(x)));
  return fabs(x) < 0.5 ? near : far;
}

static inline Cut angle_cut (double x, double after) {
  double b = sech(x);
  (void)after;
  return (Cut) {vtanh(x), b, b * b};
}

static inline double angle_log_det (double x, double after) {
  return (after + 1) * log_sech(x);
}

static inline double angle_log_det_slope (double x, double after) {
  return -(after + 1) * vtanh(x);
}

/* sqrt(y^2 + rest^2) without overflow */
static inline double angle_join (double y, double rest) {
  double a = fabs(y), larger = a > rest ? a : rest, ratio = (a > rest ? rest : a) / larger;
  return larger == 0 ? larger : larger * sqrt(fma(ratio, ratio, 1));
}

/* asinh(y/rest) = log1p(s + s^2/(1 + sqrt(1 + s^2))) for s = |y|/rest */
static inline double angle_uncut (double y, double rest, double after) {
  double a = fabs(y), more = a / (rest + angle_join(a, rest));
  (void)after;
  return copysign(vlog1p(a / rest * (1 + more)), y);
}

static inline Uncut angle_uncut_slopes (double y, double rest) {
  double whole = angle_join(y, rest);
  return (Uncut) {1 / whole, y / whole / rest / rest};
}

static inline double angle_weight (double y) { return y; }

static const Stick ANGLES = {
  angle_cut, angle_log_det, angle_log_det_slope, angle_uncut, angle_uncut_slopes, angle_join,
  angle_weight
};


enum { OPERATIONS = 16 };   /* of a cut, roughly */

static int is_triangle (size_t k, size_t d) { return d > 0 && k == d * (d - 1) / 2; }

static void forward (const Batch *b, double *out) {
  size_t k = b->dims[0], d = b->dims[1];
  fill(b->stop, b->n * d * d, out, is_triangle(k, d) ? 0 : (double)NAN);
  for (size_t r = 0; r < b->n && is_triangle(k, d); r++) {
    const double *x = event(b, 0, r);
    for (size_t i = 0; i < d && !stops_at(b->stop, i, OPERATIONS * i); x += i, i++)
      stick_break(b->stop, &ANGLES, i, x, out + (r * d + i) * d);
  }
}

static void forward_adjoint (const Batch *b, const double *upstream, double *const g[]) {
  size_t k = b->dims[0], d = b->dims[1];
  fill(b->stop, b->n * d, g[1], 0);
  if (!is_triangle(k, d)) { fill(b->stop, b->n * k, g[0], NAN); return; }
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double *dx = g[0] + r * k;
    for (size_t i = 0; i < d && !stops_at(b->stop, i, OPERATIONS * i); x += i, dx += i, i++)
      stick_break_adjoint(b->stop, &ANGLES, i, x, upstream + (r * d + i) * d, dx);
  }
}

static void inverse (const Batch *b, double *out) {
  size_t d = b->dims[0], k = b->dims[1];
  if (!is_triangle(k, d)) { fill(b->stop, b->n * k, out, NAN); return; }
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 0, r);
    double *x = out + r * k;
    for (size_t i = 0; i < d && !stops_at(b->stop, i, OPERATIONS * i); x += i, i++)
      stick_join(b->stop, &ANGLES, i, l + i * d, x);
  }
}

static void inverse_adjoint (const Batch *b, const double *upstream, double *const g[]) {
  size_t d = b->dims[0], k = b->dims[1];
  fill(b->stop, b->n * k, g[1], 0);
  fill(b->stop, b->n * d * d, g[0], is_triangle(k, d) ? 0 : (double)NAN);
  for (size_t r = 0; r < b->n && is_triangle(k, d); r++) {
    const double *l = event(b, 0, r), *up = upstream + r * k;
    for (size_t i = 0; i < d && !stops_at(b->stop, i, OPERATIONS * i); up += i, i++)
      stick_join_adjoint(b->stop, &ANGLES, i, l + i * d, up, g[0] + (r * d + i) * d);
  }
}

static void log_det (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    out[r] = 0;
    for (size_t i = 1, at = 0; at + i <= k && !stops_at(b->stop, i, OPERATIONS * i); at += i, i++)
      out[r] += stick_log_det(b->stop, &ANGLES, i, x + at);
  }
}

static void log_det_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  fill(b->stop, b->n * k, d[0], 0);
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    for (size_t i = 1, at = 0; at + i <= k && !stops_at(b->stop, i, OPERATIONS * i); at += i, i++)
      stick_log_det_adjoint(b->stop, &ANGLES, i, x + at, upstream[r], d[0] + r * k + at);
  }
}

/* rows of a triangle of k elements */
static size_t side_of (size_t k) {
  size_t d = 1;
  while (d * (d - 1) / 2 < k) d++;
  return d;
}

static void matrix_log_det (const Batch *b, double *out) {
  size_t k = b->dims[0], d = side_of(k);
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    out[r] = 0;
    for (size_t i = 1, at = 0; at + i <= k && !stops_at(b->stop, i, OPERATIONS * i); at += i, i++)
      for (size_t j = 0; j < i; j++)
        out[r] = fma((double)(d - j), log_sech(x[at + j]), out[r]);
  }
}

static void matrix_log_det_adjoint (const Batch *b, const double *upstream, double *const g[]) {
  size_t k = b->dims[0], d = side_of(k);
  fill(b->stop, b->n * k, g[0], 0);
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double *dx = g[0] + r * k;
    for (size_t i = 1, at = 0; at + i <= k && !stops_at(b->stop, i, OPERATIONS * i); at += i, i++)
      for (size_t j = 0; j < i; j++)
        dx[at + j] = -upstream[r] * (double)(d - j) * vtanh(x[at + j]);
  }
}


const Kernel perilune_row_corr_cholesky[] = {
  {.name = "forward", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k),(d)->(d,d)", .run = forward, .adjoint = forward_adjoint}},
  {.name = "inverse", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(d,d),(k)->(k)", .run = inverse, .adjoint = inverse_adjoint}},
  {.name = "log_det", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->()", .run = log_det, .adjoint = log_det_adjoint}},
  {.name = "matrix_log_det", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->()", .run = matrix_log_det, .adjoint = matrix_log_det_adjoint}},
  {.name = NULL}
};
