/*
** stick_breaking.c - rows that sum to 1, from free ones with one element less
**
**   y_j = L_j a(x_j),   L_(j+1) = L_j (1 - a(x_j)),   y_k = L_k,   a = e^x_j/(e^x_j + k - j)
**   log det = sum of log a(x_j) + (k - j) log(1 - a(x_j))
**
** x = 0 gives equal parts. The size of the result is that of the second operand, of which nothing
** else is read; if it does not fit, the result is NaN.
*/
#include <math.h>

#include "kernel/kernel.h"
#include "kernel/row/stick.h"


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

/* of nothing equal parts: any are as good */
static inline double share_uncut (double y, double rest, double after) {
  if (y == 0 && rest == 0) return 0;
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


static void forward (const Batch *b, double *out) {
  size_t k = b->dims[0], m = b->dims[1];
  if (m != k + 1) { fill(b->stop, b->n * m, out, NAN); return; }
  for (size_t r = 0; r < b->n; r++) stick_break(b->stop, &SHARES, k, event(b, 0, r), out + r * m);
}

static void forward_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0], m = b->dims[1];
  fill(b->stop, b->n * m, d[1], 0);
  if (m != k + 1) { fill(b->stop, b->n * k, d[0], NAN); return; }
  for (size_t r = 0; r < b->n; r++)
    stick_break_adjoint(b->stop, &SHARES, k, event(b, 0, r), upstream + r * m, d[0] + r * k);
}

static void inverse (const Batch *b, double *out) {
  size_t m = b->dims[0], k = b->dims[1];
  if (m != k + 1) { fill(b->stop, b->n * k, out, NAN); return; }
  for (size_t r = 0; r < b->n; r++) stick_join(b->stop, &SHARES, k, event(b, 0, r), out + r * k);
}

static void inverse_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t m = b->dims[0], k = b->dims[1];
  fill(b->stop, b->n * k, d[1], 0);
  if (m != k + 1) { fill(b->stop, b->n * m, d[0], NAN); return; }
  for (size_t r = 0; r < b->n; r++)
    stick_join_adjoint(b->stop, &SHARES, k, event(b, 0, r), upstream + r * k, d[0] + r * m);
}

static void log_det (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++)
    out[r] = stick_log_det(b->stop, &SHARES, b->dims[0], event(b, 0, r));
}

static void log_det_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    stick_log_det_adjoint(b->stop, &SHARES, k, event(b, 0, r), upstream[r], d[0] + r * k);
}


const Kernel perilune_row_stick_breaking[] = {
  {.name = "forward", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(k),(n)->(n)", .run = forward, .adjoint = forward_adjoint}},
  {.name = "inverse", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(n),(k)->(k)", .run = inverse, .adjoint = inverse_adjoint}},
  {.name = "log_det", .n_in = 1,
   .rows = &(const RowKernel) {
     .signature = "(k)->()", .run = log_det, .adjoint = log_det_adjoint}},
  {.name = NULL}
};
