/*
** lkjcholesky.c - KL(LKJCholesky || q)
**
** To LKJCholesky of the same dim d. With a = eta + (d - 1)/2 and
**
**   A = sum over i = 1, ..., d - 1 of log Gamma(a - i/2) - log Gamma(a)
**
** KL is A at eta2 less its tangent at eta1. log Gamma(y + 1) - log Gamma(y) is log y, whose tangent
** exceeds it by excess(y2/y1) = r - 1 - log r, so that only
**
**   H = excess of log Gamma(y) - log Gamma(y + 1/2) over its tangent,    y = a - 1/2
**
** remains, once for every odd i. For large y that is a series in 1/y, else C of vshape.h.
*/
#include "kernel/kernel.h"
#include "special/vshape.h"

static const double SERIES_FROM = 200;


/* excess(a/b), gap being a - b before either was rounded */
static double excess_of (double a, double b, double gap) {
  double e = gap / b;
  int usual = (e > -0.9) & (e < 0x1p500);
  return usual ? vexcess(1 + e, e) : vexcess_wide(a, b);
}

/* what log Gamma(y2) exceeds its tangent at y1 by */
static double lgamma_gap (double y1, double y2, double gap) {
  return fma(y2, excess_of(y1, y2, -gap), shape_wide(y1, y2, gap));
}

/* H by log Gamma(y + 1/2) - log Gamma(y) = log(y)/2 - 1/(8 y) + 1/(192 y^3) - 1/(640 y^5) */
static double half_step_series (double y1, double y2, double gap) {
  double u = 1 / y1, w = 1 / y2, step = gap * u;
  double third = fma(w, w, fma(2 * u, w, 3 * u * u)) / 192;
  double fifth = (w * w * fma(w, w, fma(2 * u, w, 3 * u * u)) + u * u * u * fma(4, w, 5 * u)) / 640;
  return fma(step * step * w, 0.125 - (third - fifth), 0.5 * excess_of(y2, y1, gap));
}

/* H as it stands, for y1 and y2 far apart; psi(y + 1/2) - psi(y) with Binet's function */
static double half_step_far (double y1, double y2, double gap) {
  double half = y1 + 0.5, binet = binet_slope(half) - binet_slope(y1);
  double slope = vlog1p(0.5 / y1) + fma(0.25 / y1, 1 / half, binet);
  return fma(gap, slope, vlgamma_delta(y1, 0.5) - vlgamma_delta(y2, 0.5));
}

static double half_step (double y1, double y2, double gap) {
  if ((y1 > SERIES_FROM) & (y2 > SERIES_FROM)) return half_step_series(y1, y2, gap);
  if ((y1 > 2 * y2) | (y2 > 2 * y1)) return half_step_far(y1, y2, gap);
  return lgamma_gap(y1, y2, gap) - lgamma_gap(y1 + 0.5, y2 + 0.5, gap);
}

/* a - x, which is eta + (d - 1)/2 - x */
static double below (size_t d, double eta, double x) { return eta + (0.5 * (double)(d - 1) - x); }

/* log(a - i/2) is in A for i, i + 2, ... up to d - 1 */
static void to_lkjcholesky (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double eta1 = *event(b, 0, r), eta2 = *event(b, 2, r), gap = eta2 - eta1;
    double sum = (double)(d / 2) * half_step(below(d, eta1, 0.5), below(d, eta2, 0.5), gap);
    for (size_t i = 2; i < d; i++) {
      double x = 0.5 * (double)i, times = (double)((d - i + 1) / 2);
      sum = fma(times, excess_of(below(d, eta2, x), below(d, eta1, x), gap), sum);
    }
    out[r] = sum;
  }
}

/* A'(eta2) - A'(eta1) and (eta1 - eta2) A''(eta1) */
static void to_lkjcholesky_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t n = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double eta1 = *event(b, 0, r), eta2 = *event(b, 2, r), gap = eta2 - eta1, slope = 0, curve = 0;
    double a1 = below(n, eta1, 0), a2 = below(n, eta2, 0);
    for (size_t i = 1; i < n; i++) {
      double y1 = below(n, eta1, 0.5 * (double)i), y2 = below(n, eta2, 0.5 * (double)i);
      slope += (vdigamma_pos(y2) - vdigamma_pos(y1)) - (vdigamma_pos(a2) - vdigamma_pos(a1));
      curve += vtrigamma_pos(y1) - vtrigamma_pos(a1);
    }
    d[0][r] = -upstream[r] * gap * curve;
    d[2][r] = upstream[r] * slope;
    EVERY for (size_t i = 0; i < n; i++) d[1][r * n + i] = d[3][r * n + i] = 0;
  }
}


const Kernel perilune_kl_lkjcholesky[] = {
  {.name = "LKJCholesky", .n_in = 4,
   .rows = &(const RowKernel) {
     .signature = "(),(d),(),(d)->()", .run = to_lkjcholesky, .adjoint = to_lkjcholesky_adjoint}},
  {.name = NULL}
};
