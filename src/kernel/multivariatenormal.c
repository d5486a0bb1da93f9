/*
** multivariatenormal.c - MultivariateNormal(loc, scale_tril L), covariance L L^T
**
**   log p(x) = -|z|^2/2 - sum_i log L_ii - d/2 log(2 pi),    L z = x - loc
**
** A draw is loc + L e with e standard normal. Vectors of up to TRIANGLE_MAX dimensions:
** beyond, scratch does not fit the stack, and results are NaN. Rows that share one L are
** worked on TRIANGLE_LANES at a time, each lane with the steps of a row alone.
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

/* |z|^2 for each lane; lanes beyond the last row repeat it */
static void distances (size_t d, size_t rows, const double *x, ptrdiff_t step_x,
                       const double *loc, ptrdiff_t step_loc, const double *l, Lanes square) {
  Lanes z[TRIANGLE_MAX];
  for (size_t r = 0; r < TRIANGLE_LANES; r++) {
    ptrdiff_t row = (ptrdiff_t)(r < rows ? r : rows - 1);
    const double *xr = x + row * step_x, *mean = loc + row * step_loc;
    for (size_t i = 0; i < d; i++) z[i][r] = xr[i] - mean[i];
  }
  triangle_solve_lanes(d, l, z);
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

static void log_prob (size_t n, const size_t dims[], const double *const in[],
                      const ptrdiff_t step[], double *out) {
  size_t d = dims[0];
  const double *seen = NULL;
  double constant = 0;
  if (d > TRIANGLE_MAX) { fill(n, out, NAN); return; }
  for (size_t r = 0, rows; r < n; r += rows) {
    const double *x = in[0] + (ptrdiff_t)r * step[0], *loc = in[1] + (ptrdiff_t)r * step[1];
    const double *l = in[2] + (ptrdiff_t)r * step[2];
    Lanes square;
    rows = together(n, r, step[2]);
    distances(d, rows, x, step[0], loc, step[1], l, square);
    if (l != seen) constant = fma(-HALF_LOG_2PI, (double)d, -log_diagonal(d, l));
    seen = l;
    for (size_t k = 0; k < rows; k++) {
      out[r + k] = fma(-0.5, square[k], constant);
      if (out[r + k] != out[r + k] && constant == constant
          && infinitely_far(d, x + (ptrdiff_t)k * step[0], loc + (ptrdiff_t)k * step[1]))
        out[r + k] = -INFINITY;
    }
  }
}

/* with L^T w = z:  d/dx = -w,  d/dloc = w,  d/dL = w z^T - 1/diagonal, below and on it */
static void log_prob_adjoint (size_t n, const size_t dims[], const double *const in[],
                              const ptrdiff_t step[], const double *upstream,
                              double *const d[]) {
  double z[TRIANGLE_MAX], w[TRIANGLE_MAX];
  size_t side = dims[0];
  if (side > TRIANGLE_MAX) {
    for (int k = 0; k < 3; k++) fill(n * side * (k == 2 ? side : 1), d[k], NAN);
    return;
  }
  for (size_t r = 0; r < n; r++) {
    const double *x = in[0] + (ptrdiff_t)r * step[0], *loc = in[1] + (ptrdiff_t)r * step[1];
    const double *l = in[2] + (ptrdiff_t)r * step[2];
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
static void entropy (size_t n, const size_t dims[], const double *const in[],
                     const ptrdiff_t step[], double *out) {
  size_t d = dims[0];
  for (size_t r = 0; r < n; r++)
    out[r] = r > 0 && step[1] == 0 ? out[0]
           : fma(0.5 + HALF_LOG_2PI, (double)d, log_diagonal(d, in[1] + (ptrdiff_t)r * step[1]));
}

static void entropy_adjoint (size_t n, const size_t dims[], const double *const in[],
                             const ptrdiff_t step[], const double *upstream,
                             double *const d[]) {
  size_t side = dims[0];
  fill(n * side, d[0], 0);
  fill(n * side * side, d[1], 0);
  for (size_t r = 0; r < n; r++) {
    const double *l = in[1] + (ptrdiff_t)r * step[1];
    for (size_t i = 0; i < side; i++)
      d[1][(r * side + i) * side + i] = upstream[r] / l[i * side + i];
  }
}


static void rsample (size_t n, const size_t dims[], const double *const in[],
                     const ptrdiff_t step[], double *out) {
  Lanes e[TRIANGLE_MAX], y[TRIANGLE_MAX];
  size_t d = dims[0];
  if (d > TRIANGLE_MAX) { fill(n * d, out, NAN); return; }
  for (size_t r = 0, rows; r < n; r += rows) {
    rows = together(n, r, step[2]);
    gather(d, rows, in[0] + (ptrdiff_t)r * step[0], step[0], e);
    gather(d, rows, in[1] + (ptrdiff_t)r * step[1], step[1], y);
    triangle_multiply_lanes(d, in[2] + (ptrdiff_t)r * step[2], e, y);
    for (size_t k = 0; k < rows; k++)
      for (size_t i = 0; i < d; i++) out[(r + k) * d + i] = y[i][k];
  }
}

/* L^T u, u, and u e^T below and on the diagonal */
static void rsample_adjoint (size_t n, const size_t dims[], const double *const in[],
                             const ptrdiff_t step[], const double *upstream,
                             double *const d[]) {
  size_t side = dims[0];
  fill(n * side, d[0], 0);
  memcpy(d[1], upstream, n * side * sizeof *upstream);
  for (size_t r = 0; r < n; r++) {
    const double *e = in[0] + (ptrdiff_t)r * step[0], *l = in[2] + (ptrdiff_t)r * step[2];
    const double *up = upstream + r * side;
    double *de = d[0] + r * side, *dl = d[2] + r * side * side;
    for (size_t i = 0; i < side; i++, l += side, dl += side)
      for (size_t j = 0; j < side; j++) {
        dl[j] = j <= i ? up[i] * e[j] : 0;
        if (j <= i) de[j] = fma(up[i], l[j], de[j]);
      }
  }
}


const Kernel perilune_multivariatenormal[] = {
  {.name = "log_prob", .n_in = 3, .signature = "(d),(d),(d,d)->()", .rows = log_prob,
   .adjoint = log_prob_adjoint},
  {.name = "entropy",  .n_in = 2, .signature = "(d),(d,d)->()",     .rows = entropy,
   .adjoint = entropy_adjoint},
  {.name = "rsample",  .n_in = 3, .signature = "(d),(d),(d,d)->(d)", .rows = rsample,
   .adjoint = rsample_adjoint, .noise = "normal"},
  {.name = NULL}
};
