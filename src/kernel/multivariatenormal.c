/*
** multivariatenormal.c - MultivariateNormal(loc, scale_tril L), covariance L L^T
**
**   log p(x) = -|z|^2/2 - sum_i log L_ii - d/2 log(2 pi),    L z = x - loc
**
** A draw is loc + L e with e standard normal. Rows that share one L are worked on
** TRIANGLE_LANES at a time, each lane with the steps of a row alone.
*/
#include "kernel/kernel.h"
#include "linalg/triangle.h"
#include "special/vmath.h"

#define HALF_LOG_2PI 0.91893853320467274178


static double log_diagonal (size_t d, const double *l) {
  double sum = 0;
  for (size_t i = 0; i < d; i++) sum += vlog(l[i * d + i]);
  return sum;
}

/* rows of x from `at` on, side by side; lanes beyond the last row repeat it */
static void gather (size_t d, size_t rows, const double *at, ptrdiff_t step, Lanes y[]) {
  for (size_t r = 0; r < TRIANGLE_LANES; r++) {
    const double *x = at + (ptrdiff_t)(r < rows ? r : rows - 1) * step;
    for (size_t i = 0; i < d; i++) y[i][r] = x[i];
  }
}

/* how many rows from r on share a triangle, at most as many as there are lanes */
static size_t together (size_t n, size_t r, ptrdiff_t step) {
  size_t left = n - r;
  if (step != 0) return 1;
  return left < TRIANGLE_LANES ? left : TRIANGLE_LANES;
}

static void fill (size_t n, double *out, double value) {
  for (size_t i = 0; i < n; i++) out[i] = value;
}


/* {=====================================================
** Density
** ====================================================== */

/* |z|^2 for each lane of rows from `first` on; lanes beyond the last row repeat it */
static void distances (const Batch *b, size_t first, size_t rows, Lanes square) {
  Lanes *z = (Lanes *)b->scratch;
  size_t d = b->dims[0];
  for (size_t r = 0; r < TRIANGLE_LANES; r++) {
    size_t row = first + (r < rows ? r : rows - 1);
    const double *x = event(b, 0, row), *loc = event(b, 1, row);
    for (size_t i = 0; i < d; i++) z[i][r] = x[i] - loc[i];
  }
  triangle_solve_lanes(d, event(b, 2, first), z);
  for (size_t r = 0; r < TRIANGLE_LANES; r++) square[r] = 0;
  for (size_t i = 0; i < d; i++)
    for (size_t r = 0; r < TRIANGLE_LANES; r++) square[r] = fma(z[i][r], z[i][r], square[r]);
}

/* Is x infinitely far from a finite loc? The solution then meets inf - inf. */
static int infinitely_far (size_t d, const double *x, const double *loc) {
  int far = 0;
  for (size_t i = 0; i < d; i++) {
    if (x[i] != x[i] || !(fabs(loc[i]) < INFINITY)) return 0;
    far |= fabs(x[i] - loc[i]) == INFINITY;
  }
  return far;
}

static void log_prob (const Batch *b, double *out) {
  size_t d = b->dims[0];
  const double *seen = NULL;
  double constant = 0;
  for (size_t r = 0, rows; r < b->n; r += rows) {
    const double *l = event(b, 2, r);
    Lanes square;
    rows = together(b->n, r, b->step[2]);
    distances(b, r, rows, square);
    if (l != seen) constant = fma(-HALF_LOG_2PI, (double)d, -log_diagonal(d, l));
    seen = l;
    for (size_t k = 0; k < rows; k++) {
      out[r + k] = fma(-0.5, square[k], constant);
      if (out[r + k] != out[r + k] && constant == constant
          && infinitely_far(d, event(b, 0, r + k), event(b, 1, r + k)))
        out[r + k] = -INFINITY;
    }
  }
}

/* with L^T w = z:  d/dx = -w,  d/dloc = w,  d/dL = w z^T - 1/diagonal, below and on it */
static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  double *z = b->scratch, *w = z + side;
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *loc = event(b, 1, r);
    const double *l = event(b, 2, r);
    double up = upstream[r];
    for (size_t i = 0; i < side; i++) z[i] = x[i] - loc[i];
    triangle_solve(side, l, z);
    memcpy(w, z, side * sizeof *w);
    triangle_solve_transposed(side, l, w);
    for (size_t i = 0; i < side; i++) {
      double *dl = d[2] + (r * side + i) * side;
      d[0][r * side + i] = -up * w[i];
      d[1][r * side + i] = up * w[i];
      for (size_t j = 0; j < side; j++) dl[j] = j <= i ? up * w[i] * z[j] : 0;
      dl[i] = fma(up, w[i] * z[i], -up / l[i * side + i]);
    }
  }
}

/* }====================================================== */


/* d/2 (1 + log(2 pi)) + sum_i log L_ii; loc is there for its batch alone */
static void entropy (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    out[r] = r > 0 && b->step[1] == 0 ? out[0]
           : fma(0.5 + HALF_LOG_2PI, (double)d, log_diagonal(d, event(b, 1, r)));
}

static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  fill(b->n * side, d[0], 0);
  fill(b->n * side * side, d[1], 0);
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 1, r);
    for (size_t i = 0; i < side; i++)
      d[1][(r * side + i) * side + i] = upstream[r] / l[i * side + i];
  }
}


static void rsample (const Batch *b, double *out) {
  size_t d = b->dims[0];
  Lanes *e = (Lanes *)b->scratch, *y = e + d;
  for (size_t r = 0, rows; r < b->n; r += rows) {
    rows = together(b->n, r, b->step[2]);
    gather(d, rows, event(b, 0, r), b->step[0], e);
    gather(d, rows, event(b, 1, r), b->step[1], y);
    triangle_multiply_lanes(d, event(b, 2, r), e, y);
    for (size_t k = 0; k < rows; k++)
      for (size_t i = 0; i < d; i++) out[(r + k) * d + i] = y[i][k];
  }
}

/* L^T u, u, and u e^T below and on the diagonal */
static void rsample_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  fill(b->n * side, d[0], 0);
  memcpy(d[1], upstream, b->n * side * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++) {
    const double *e = event(b, 0, r), *l = event(b, 2, r);
    const double *up = upstream + r * side;
    double *de = d[0] + r * side, *dl = d[2] + r * side * side;
    for (size_t i = 0; i < side; i++, l += side, dl += side)
      for (size_t j = 0; j < side; j++) {
        dl[j] = j <= i ? up[i] * e[j] : 0;
        if (j <= i) de[j] = fma(up[i], l[j], de[j]);
      }
  }
}


/* vectors for each lane */
static size_t one (const size_t dims[]) { return TRIANGLE_LANES * dims[0]; }
static size_t two (const size_t dims[]) { return 2 * one(dims); }

const Kernel perilune_multivariatenormal[] = {
  {.name = "log_prob", .n_in = 3, .signature = "(d),(d),(d,d)->()", .rows = log_prob,
   .scratch = one, .adjoint = log_prob_adjoint, .adjoint_scratch = two},
  {.name = "entropy",  .n_in = 2, .signature = "(d),(d,d)->()",     .rows = entropy,
   .adjoint = entropy_adjoint},
  {.name = "rsample",  .n_in = 3, .signature = "(d),(d),(d,d)->(d)", .rows = rsample,
   .scratch = two, .adjoint = rsample_adjoint, .noise = "normal"},
  {.name = NULL}
};
