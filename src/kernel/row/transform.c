/*
** transform.c - maps between free rows or matrices and constrained ones
**
** A stick of size 1 is broken k times: of what is left, cut j takes a part that x_j decides.
**
**   y_j = L_j a(x_j),   L_(j+1) = L_j b(x_j),   y_k = L_k
**
**   stick_breaking   sum of pieces 1:     a = e^x/(e^x + k - j),  b = 1 - a
**   corr_cholesky    sum of squares 1:    a = tanh x,  b = sech x, in each row of the factor
**   ordered          y_0 = x_0,           y_j = y_(j-1) + e^(x_j)
**   lower_cholesky   l = x below the diagonal, e^x on it
**   positive_definite                     y = l l^T
**
** Each has its inverse, which for sticks adds up pieces from the end so that nothing cancels,
** and the logarithm of its determinant as a function of x. Where sizes of source and result
** differ, a second operand of which only the size counts says that of the result; if it is
** wrong, all is NaN.
*/
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "linalg/triangle.h"
#include "special/vmath.h"


static void fill (Stop stop, size_t n, double *out, double value) {
  for (size_t i = 0, end; (end = part_end(stop, i, n)) > i; )
    EVERY for (; i < end; i++) out[i] = value;
}


/* {=====================================================
** Sticks
** ====================================================== */

/* a, b and da/dx; d log b/dx is -a for both kinds */
typedef struct Cut { double taken, left, slope; } Cut;

/* dx_j/dy_j, and -dx_j/dy_m over w(y_m) for the pieces m > j */
typedef struct Uncut { double own, others; } Uncut;

/* `after` is k - j, the cuts from this one on; `rest` the size of all later pieces */
typedef struct Stick {
  Cut (*cut) (double x, double after);
  double (*log_det) (double x, double after);   /* of cut j: its share in all later pieces */
  double (*log_det_slope) (double x, double after);
  double (*uncut) (double y, double rest, double after);
  Uncut (*uncut_slopes) (double y, double rest);
  double (*join) (double y, double rest);       /* the size of a piece and all later ones */
  double (*weight) (double y);                  /* w: d size^p/dy, up to a factor */
} Stick;


static inline Cut share_cut (double x, double after) {
  double e = vexp(-fabs(x)), up = x < 0 ? e : 1, down = after * (x < 0 ? 1 : e);
  double a = up / (up + down), b = down / (up + down);
  return (Cut) {a, b, a * b};
}

static inline double share_log_det (double x, double after) {
  double u = x - vlog(after);
  return -vsoftplus(-u) - after * vsoftplus(u);
}

static inline double share_log_det_slope (double x, double after) {
  Cut c = share_cut(x, after);
  return c.left - after * c.taken;
}

static inline double share_uncut (double y, double rest, double after) {
  return vlog_ratio(y, rest) + vlog(after);
}

static inline Uncut share_uncut_slopes (double y, double rest) {
  return (Uncut) {1 / y, 1 / rest};
}

static inline double share_join (double y, double rest) { return y + rest; }

static inline double share_weight (double y) {
  (void)y;
  return 1;
}

static const Stick SHARES = {
  share_cut, share_log_det, share_log_det_slope, share_uncut, share_uncut_slopes, share_join,
  share_weight
};


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


static inline void stick_break (Stop stop, const Stick *s, size_t k, const double *x,
                                double *y) {
  double left = 1;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      Cut c = s->cut(x[j], (double)(k - j));
      y[j] = left * c.taken;
      left *= c.left;
    }
  y[k] = left;
}

/* dx_j = g_j L_j a' - a sum of g y over later pieces; dx keeps L_j on the way forth */
static inline void stick_break_adjoint (Stop stop, const Stick *s, size_t k,
                                        const double *x, const double *g, double *dx) {
  double left = 1;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      dx[j] = left;
      left *= s->cut(x[j], (double)(k - j)).left;
    }
  double later = g[k] * left;
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) {
      size_t j = k - 1 - i;
      Cut c = s->cut(x[j], (double)(k - j));
      double mine = g[j] * dx[j];
      dx[j] = mine * c.slope - c.taken * later;
      later = fma(mine, c.taken, later);
    }
}

static inline void stick_join (Stop stop, const Stick *s, size_t k, const double *y,
                               double *x) {
  double rest = y[k];
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) {
      size_t j = k - 1 - i;
      x[j] = s->uncut(y[j], rest, (double)(k - j));
      rest = s->join(y[j], rest);
    }
}

/* dy keeps the sizes of the rests on the way back */
static inline void stick_join_adjoint (Stop stop, const Stick *s, size_t k, const double *y,
                                       const double *g, double *dy) {
  double rest = y[k], before = 0;
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) {
      dy[k - 1 - i] = rest;
      rest = s->join(y[k - 1 - i], rest);
    }
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      Uncut u = s->uncut_slopes(y[j], dy[j]);
      dy[j] = g[j] * u.own - s->weight(y[j]) * before;
      before = fma(g[j], u.others, before);
    }
  dy[k] = -s->weight(y[k]) * before;
}

static inline double stick_log_det (Stop stop, const Stick *s, size_t k, const double *x) {
  double sum = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) sum += s->log_det(x[j], (double)(k - j));
  return sum;
}

static inline void stick_log_det_adjoint (Stop stop, const Stick *s, size_t k,
                                          const double *x, double g, double *dx) {
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) dx[j] = g * s->log_det_slope(x[j], (double)(k - j));
}

/* }====================================================== */


/* {=====================================================
** Rows that sum to 1: one stick each
** ====================================================== */

static void stick_breaking (const Batch *b, double *out) {
  size_t k = b->dims[0], m = b->dims[1];
  if (m != k + 1) { fill(b->stop, b->n * m, out, NAN); return; }
  for (size_t r = 0; r < b->n; r++) stick_break(b->stop, &SHARES, k, event(b, 0, r), out + r * m);
}

static void stick_breaking_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0], m = b->dims[1];
  fill(b->stop, b->n * m, d[1], 0);
  if (m != k + 1) { fill(b->stop, b->n * k, d[0], NAN); return; }
  for (size_t r = 0; r < b->n; r++)
    stick_break_adjoint(b->stop, &SHARES, k, event(b, 0, r), upstream + r * m, d[0] + r * k);
}

static void stick_breaking_inverse (const Batch *b, double *out) {
  size_t m = b->dims[0], k = b->dims[1];
  if (m != k + 1) { fill(b->stop, b->n * k, out, NAN); return; }
  for (size_t r = 0; r < b->n; r++) stick_join(b->stop, &SHARES, k, event(b, 0, r), out + r * k);
}

static void stick_breaking_inverse_adjoint (const Batch *b, const double *upstream,
                                            double *const d[]) {
  size_t m = b->dims[0], k = b->dims[1];
  fill(b->stop, b->n * k, d[1], 0);
  if (m != k + 1) { fill(b->stop, b->n * m, d[0], NAN); return; }
  for (size_t r = 0; r < b->n; r++)
    stick_join_adjoint(b->stop, &SHARES, k, event(b, 0, r), upstream + r * k, d[0] + r * m);
}

static void stick_breaking_log_det (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++)
    out[r] = stick_log_det(b->stop, &SHARES, b->dims[0], event(b, 0, r));
}

static void stick_breaking_log_det_adjoint (const Batch *b, const double *upstream,
                                            double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    stick_log_det_adjoint(b->stop, &SHARES, k, event(b, 0, r), upstream[r], d[0] + r * k);
}

/* }====================================================== */


/* {=====================================================
** Factors of correlation matrices: row i of a factor is a stick of i cuts, and x holds the
** cuts of row 1, then those of row 2, ...
** ====================================================== */

enum { OPERATIONS = 16 };   /* of a cut, roughly */

static int is_triangle (size_t k, size_t d) { return d > 0 && k == d * (d - 1) / 2; }

static void corr_cholesky (const Batch *b, double *out) {
  size_t k = b->dims[0], d = b->dims[1];
  fill(b->stop, b->n * d * d, out, is_triangle(k, d) ? 0 : (double)NAN);
  for (size_t r = 0; r < b->n && is_triangle(k, d); r++) {
    const double *x = event(b, 0, r);
    for (size_t i = 0; i < d && !stops_at(b->stop, i, OPERATIONS * i); x += i, i++)
      stick_break(b->stop, &ANGLES, i, x, out + (r * d + i) * d);
  }
}

static void corr_cholesky_adjoint (const Batch *b, const double *upstream, double *const g[]) {
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

static void corr_cholesky_inverse (const Batch *b, double *out) {
  size_t d = b->dims[0], k = b->dims[1];
  if (!is_triangle(k, d)) { fill(b->stop, b->n * k, out, NAN); return; }
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 0, r);
    double *x = out + r * k;
    for (size_t i = 0; i < d && !stops_at(b->stop, i, OPERATIONS * i); x += i, i++)
      stick_join(b->stop, &ANGLES, i, l + i * d, x);
  }
}

static void corr_cholesky_inverse_adjoint (const Batch *b, const double *upstream,
                                           double *const g[]) {
  size_t d = b->dims[0], k = b->dims[1];
  fill(b->stop, b->n * k, g[1], 0);
  fill(b->stop, b->n * d * d, g[0], is_triangle(k, d) ? 0 : (double)NAN);
  for (size_t r = 0; r < b->n && is_triangle(k, d); r++) {
    const double *l = event(b, 0, r), *up = upstream + r * k;
    for (size_t i = 0; i < d && !stops_at(b->stop, i, OPERATIONS * i); up += i, i++)
      stick_join_adjoint(b->stop, &ANGLES, i, l + i * d, up, g[0] + (r * d + i) * d);
  }
}

static void corr_cholesky_log_det (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    out[r] = 0;
    for (size_t i = 1, at = 0; at + i <= k && !stops_at(b->stop, i, OPERATIONS * i); at += i, i++)
      out[r] += stick_log_det(b->stop, &ANGLES, i, x + at);
  }
}

static void corr_cholesky_log_det_adjoint (const Batch *b, const double *upstream,
                                           double *const d[]) {
  size_t k = b->dims[0];
  fill(b->stop, b->n * k, d[0], 0);
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    for (size_t i = 1, at = 0; at + i <= k && !stops_at(b->stop, i, OPERATIONS * i); at += i, i++)
      stick_log_det_adjoint(b->stop, &ANGLES, i, x + at, upstream[r], d[0] + r * k + at);
  }
}

/* }====================================================== */


/* {=====================================================
** Rows in increasing order
** ====================================================== */

static void ordered (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *x = event(b, 0, r);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) out[j] = j == 0 ? x[j] : vexp(x[j]);
    for (size_t j = 1, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) out[j] += out[j - 1];
  }
}

static void ordered_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double later = 0;
    for (size_t i = 0, end; (end = part_end(b->stop, i, k)) > i; )
      for (; i < end; i++) {
        size_t j = k - 1 - i;
        later += upstream[r * k + j];
        d[0][r * k + j] = j == 0 ? later : vexp(x[j]) * later;
      }
  }
}

static void ordered_inverse (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *y = event(b, 0, r);
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) out[j] = j == 0 ? y[j] : vlog(y[j] - y[j - 1]);
  }
}

static void ordered_inverse_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *y = event(b, 0, r);
    double above = 0;
    for (size_t i = 0, end; (end = part_end(b->stop, i, k)) > i; )
      for (; i < end; i++) {
        size_t j = k - 1 - i;
        double g = upstream[r * k + j], mine = j == 0 ? g : g / (y[j] - y[j - 1]);
        d[0][r * k + j] = mine - above;
        above = mine;
      }
  }
}

static void ordered_log_det (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double sum = 0;
    for (size_t j = 1, end; (end = part_end(b->stop, j, b->dims[0])) > j; )
      for (; j < end; j++) sum += x[j];
    out[r] = sum;
  }
}

static void ordered_log_det_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) d[0][r * k + j] = j == 0 ? 0 : upstream[r];
}

/* }====================================================== */


/* {=====================================================
** Triangles with a positive diagonal, and positive-definite matrices
** ====================================================== */

/* l = x below the diagonal and f(x) on it */
static inline void triangle_with (Stop stop, size_t d, const double *x, double (*f) (double),
                                  double *l) {
  for (size_t i = 0; i < d && !stops_at(stop, i, d); i++)
    for (size_t j = 0; j < d; j++) {
      double v = x[i * d + j];
      l[i * d + j] = j < i ? v : j == i ? f(v) : 0;
    }
}

static double exp_of (double x) { return vexp(x); }
static double log_of (double x) { return vlog(x); }

/* what comes from above for l becomes that for x: e^x on the diagonal, nothing above it */
static void exp_diagonal_adjoint (size_t d, const double *l, double *g) {
  triangle_clear_above(d, g);
  for (size_t i = 0; i < d; i++) g[i * d + i] *= l[i * d + i];
}

static void log_diagonal_adjoint (size_t d, const double *l, double *g) {
  triangle_clear_above(d, g);
  for (size_t i = 0; i < d; i++) g[i * d + i] /= l[i * d + i];
}

static size_t one_matrix (const size_t dims[]) { return dims[0] * dims[0]; }


static void lower_cholesky (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    triangle_with(b->stop, d, event(b, 0, r), exp_of, out + r * d * d);
}

static void lower_cholesky_adjoint (const Batch *b, const double *upstream, double *const g[]) {
  size_t d = b->dims[0], size = d * d;
  memcpy(g[0], upstream, b->n * size * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++) {
    triangle_with(b->stop, d, event(b, 0, r), exp_of, b->scratch);
    exp_diagonal_adjoint(d, b->scratch, g[0] + r * size);
  }
}

static void lower_cholesky_inverse (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    triangle_with(b->stop, d, event(b, 0, r), log_of, out + r * d * d);
}

static void lower_cholesky_inverse_adjoint (const Batch *b, const double *upstream,
                                            double *const g[]) {
  size_t d = b->dims[0], size = d * d;
  memcpy(g[0], upstream, b->n * size * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++) log_diagonal_adjoint(d, event(b, 0, r), g[0] + r * size);
}

/* sum over i of (factor (d - i) + 1) x_ii + constant d; factor 0 for the triangle itself */
static inline void diagonal_log_det (const Batch *b, double factor, double constant, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    out[r] = constant * (double)d;
    for (size_t i = 0; i < d; i++)
      out[r] = fma(fma(factor, (double)(d - i), 1), x[i * d + i], out[r]);
  }
}

static inline void diagonal_log_det_adjoint (const Batch *b, double factor, const double *upstream,
                                             double *dx) {
  size_t d = b->dims[0];
  fill(b->stop, b->n * d * d, dx, 0);
  for (size_t r = 0; r < b->n; r++, dx += d * d)
    for (size_t i = 0; i < d; i++) dx[i * d + i] = upstream[r] * fma(factor, (double)(d - i), 1);
}

static void lower_cholesky_log_det (const Batch *b, double *out) {
  diagonal_log_det(b, 0, 0, out);
}

static void lower_cholesky_log_det_adjoint (const Batch *b, const double *upstream,
                                            double *const g[]) {
  diagonal_log_det_adjoint(b, 0, upstream, g[0]);
}


static void positive_definite (const Batch *b, double *out) {
  size_t d = b->dims[0];
  double *l = b->scratch;
  for (size_t r = 0; r < b->n; r++, out += d * d) {
    triangle_with(b->stop, d, event(b, 0, r), exp_of, l);
    for (size_t i = 0; i < d && !stops(b->stop); i++)
      for (size_t j = 0; j <= i; j++) {
        double sum = 0;
        for (size_t p = 0; p <= j; p++) sum = fma(l[i * d + p], l[j * d + p], sum);
        out[i * d + j] = out[j * d + i] = sum;
      }
  }
}

/* (g + g^T) l */
static void positive_definite_adjoint (const Batch *b, const double *upstream, double *const g[]) {
  size_t d = b->dims[0], size = d * d;
  double *l = b->scratch;
  fill(b->stop, b->n * size, g[0], 0);
  for (size_t r = 0; r < b->n; r++) {
    const double *up = upstream + r * size;
    double *dx = g[0] + r * size;
    triangle_with(b->stop, d, event(b, 0, r), exp_of, l);
    for (size_t i = 0; i < d && !stops(b->stop); i++)
      for (size_t p = 0; p < d; p++) {
        double both = up[i * d + p] + up[p * d + i];
        for (size_t j = 0; j <= i; j++) dx[i * d + j] = fma(both, l[p * d + j], dx[i * d + j]);
      }
    exp_diagonal_adjoint(d, l, dx);
  }
}

static void positive_definite_inverse (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += d * d) {
    triangle_cholesky(b->stop, d, event(b, 0, r), out, triangle_first(d));
    for (size_t i = 0; i < d; i++) out[i * d + i] = vlog(out[i * d + i]);
  }
}

static void positive_definite_inverse_adjoint (const Batch *b, const double *upstream,
                                               double *const g[]) {
  size_t d = b->dims[0], size = d * d;
  memcpy(g[0], upstream, b->n * size * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++) {
    triangle_cholesky(b->stop, d, event(b, 0, r), b->scratch, triangle_first(d));
    log_diagonal_adjoint(d, b->scratch, g[0] + r * size);
    triangle_cholesky_adjoint(b->stop, d, b->scratch, g[0] + r * size, triangle_first(d));
  }
}

static void positive_definite_log_det (const Batch *b, double *out) {
  diagonal_log_det(b, 1, LN2, out);
}

static void positive_definite_log_det_adjoint (const Batch *b, const double *upstream,
                                               double *const g[]) {
  diagonal_log_det_adjoint(b, 1, upstream, g[0]);
}

/* }====================================================== */


const Kernel perilune_row_transform[] = {
  {.name = "stick_breaking", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k),(n)->(n)", .run = stick_breaking, .adjoint = stick_breaking_adjoint}},
  {.name = "stick_breaking_inverse", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(n),(k)->(k)", .run = stick_breaking_inverse,
     .adjoint = stick_breaking_inverse_adjoint}},
  {.name = "stick_breaking_log_det", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->()", .run = stick_breaking_log_det,
     .adjoint = stick_breaking_log_det_adjoint}},
  {.name = "corr_cholesky", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k),(d)->(d,d)", .run = corr_cholesky, .adjoint = corr_cholesky_adjoint}},
  {.name = "corr_cholesky_inverse", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(d,d),(k)->(k)", .run = corr_cholesky_inverse,
     .adjoint = corr_cholesky_inverse_adjoint}},
  {.name = "corr_cholesky_log_det", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->()", .run = corr_cholesky_log_det,
     .adjoint = corr_cholesky_log_det_adjoint}},
  {.name = "ordered", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->(k)", .run = ordered, .adjoint = ordered_adjoint}},
  {.name = "ordered_inverse", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->(k)", .run = ordered_inverse, .adjoint = ordered_inverse_adjoint}},
  {.name = "ordered_log_det", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->()", .run = ordered_log_det, .adjoint = ordered_log_det_adjoint}},
  {.name = "lower_cholesky", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->(d,d)", .run = lower_cholesky, .adjoint = lower_cholesky_adjoint,
     .adjoint_scratch = one_matrix}},
  {.name = "lower_cholesky_inverse", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->(d,d)", .run = lower_cholesky_inverse,
     .adjoint = lower_cholesky_inverse_adjoint}},
  {.name = "lower_cholesky_log_det", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->()", .run = lower_cholesky_log_det,
     .adjoint = lower_cholesky_log_det_adjoint}},
  {.name = "positive_definite", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->(d,d)", .run = positive_definite, .adjoint = positive_definite_adjoint,
     .scratch = one_matrix, .adjoint_scratch = one_matrix}},
  {.name = "positive_definite_inverse", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->(d,d)", .run = positive_definite_inverse,
     .adjoint = positive_definite_inverse_adjoint, .adjoint_scratch = one_matrix}},
  {.name = "positive_definite_log_det", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(d,d)->()", .run = positive_definite_log_det,
     .adjoint = positive_definite_log_det_adjoint}},
  {.name = NULL}
};
