/*
** lkj.h - what LKJ (lkj.c) and the law of its Cholesky factor L (lkjcholesky.c) have in common
**
** The squares of the elements of row i = 0, ..., d - 1 of L are Dirichlet(1/2, ..., 1/2, b_i),
**
**   b_i = eta + (d - 1 - i)/2,    h_i = i/2,    a = b_i + h_i = eta + (d - 1)/2
*/
#ifndef PERILUNE_LKJ_H
#define PERILUNE_LKJ_H

#include "kernel/betalaw.h"
#include "kernel/kernel.h"
#include "random/gammas.h"
#include "random/noise.h"
#include "special/constants.h"


static const double LKJ_LEAST_DIAGONAL = 0x1p-1022;   /* on a drawn diagonal */


static inline double lkj_shape (size_t d, size_t i, double eta) {
  return eta + 0.5 * (double)(d - 1 - i);
}

/* psi(b + h) - psi(b) */
static inline double lkj_digamma_gap (double b, double h) {
  return vlog1p(h / b) + (digamma_rest(b + h) - digamma_rest(b));
}

/* psi'(b) - psi'(b + h), with x psi'(x) = 1 + trigamma_rest(x) */
static inline double lkj_trigamma_gap (double b, double h) {
  return fma(h, 1 + trigamma_rest(b), -b * trigamma_gap(b, h)) / b / (b + h);
}

/* the sum of squares, in four parts side by side */
static inline double lkj_squares (size_t n, const double *x) {
  double sum[4] = {0};
  size_t whole = n - n % 4;
  for (size_t j = 0; j < whole; j += 4)
    for (size_t k = 0; k < 4; k++) sum[k] = fma(x[j + k], x[j + k], sum[k]);
  for (size_t j = whole; j < n; j++) sum[j - whole] = fma(x[j], x[j], sum[j - whole]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static inline void lkj_zero (size_t n, double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = 0;
}

/* the logarithm of the density at the unit matrix, of either law */
static inline double lkj_log_peak (size_t d, double eta) {
  double sum = 0;
  for (size_t i = 1; i < d; i++)
    sum += fma(-HALF_LOG_PI, (double)i, vlgamma_delta(lkj_shape(d, i, eta), 0.5 * (double)i));
  return sum;
}


/* a row of normal numbers made a row of L; the gamma variable is size e^-depth */
static inline void lkj_finish_row (size_t d, size_t i, double size, double depth, double *row) {
  double sum = fma(size, vexp(-depth), 0.5 * lkj_squares(i, row)), scale = SQRT_HALF / sqrt(sum);
  double diagonal = sqrt(size / sum) * vexp(-0.5 * depth);
  for (size_t j = 0; j < i; j++) row[j] *= scale;
  row[i] = diagonal > LKJ_LEAST_DIAGONAL ? diagonal : LKJ_LEAST_DIAGONAL;
  lkj_zero(d - 1 - i, row + i + 1);
}

static inline void lkj_finish (const Philox *g, uint64_t element, size_t d, double eta, double *l) {
  double shape[GAMMAS_BLOCK], size[GAMMAS_BLOCK], depth[GAMMAS_BLOCK];
  lkj_zero(d, l);
  l[0] = 1;
  for (size_t i = 1, n; i < d; i += n) {
    n = d - i < GAMMAS_BLOCK ? d - i : GAMMAS_BLOCK;
    for (size_t k = 0; k < n; k++) shape[k] = lkj_shape(d, i + k, eta);
    gammas(g, 1, element + i, n, shape, size, depth);
    for (size_t k = 0; k < n; k++) lkj_finish_row(d, i + k, size[k], depth[k], l + (i + k) * d);
  }
}

/* factors L: row i is normal numbers left of the diagonal and the root of twice a gamma
** variable on it, brought to length 1 */
static inline void lkj_draw (const Philox *g, uint64_t first, const Batch *b, double *out) {
  size_t d = b->dims[0], size = d * d;
  noise_normal(g, 0, first, b->n * size, out);
  for (size_t r = 0; r < b->n; r++)
    lkj_finish(g, first + r * size, d, *event(b, 0, r), out + r * size);
}

/*
** Rows keep their direction left of the diagonal, and L_ii^2 is Beta(b_i, h_i): with s the
** slope of log(x/y) at x = L_ii^2, y = 1 - x,
**   dL_ii/deta = s y L_ii/2,    dL_ij/deta = -s x L_ij/2
*/
static inline double lkj_row_slope (size_t i, double b, const double *row, const double *up) {
  double x = row[i] * row[i], y = lkj_squares(i, row), left = 0, slope, unused;
  for (size_t j = 0; j < i; j++) left = fma(row[j], up[j], left);
  if (!(y > 0 && row[i] > 0)) return y + row[i] != y + row[i] ? y + row[i] : 0;
  BetaOdds o = {x, y, fma(2, vlog(row[i]), -vlog(y))};
  beta_slopes(b, 0.5 * (double)i, o, &slope, &unused);
  return 0.5 * slope * fma(row[i] * y, up[i], -x * left);
}

#endif
