/*
** lkj.c - LKJ(dim d, concentration eta), a random correlation matrix R with density proportional
** to its determinant to the power eta - 1, over the elements below the diagonal
**
**   log p(R) = (eta - 1) log det R - sum_i [h_i log(pi) - log Gamma(a) + log Gamma(b_i)]
**
** with a, b and h of lkj.h: R = L L^T for a factor L of lkjcholesky.c, and dR/dL is the product of
** L_ii^(d - 1 - i). The last operand is a row of d numbers, of which only the size d is read.
*/
#include "kernel/lkj.h"
#include "linalg/triangle.h"

static const double TOLERANCE = 1e-6;    /* of elements on the diagonal, and across it */


/* {=====================================================
** Density. A factor stands in scratch.
** ====================================================== */

static int is_correlation (size_t d, const double *x, const double *l) {
  int good = triangle_is_symmetric(d, x, TOLERANCE);
  for (size_t i = 0; i < d; i++) good &= fabs(x[i * d + i] - 1) <= TOLERANCE && l[i * d + i] > 0;
  return good;
}

/* 1 for a correlation matrix, whose factor is in l; 0 for anything else, NaN where there is one */
static double inside (Stop stop, size_t d, const double *x, double *l) {
  triangle_cholesky(stop, d, x, l, triangle_first(d));
  if (is_correlation(d, x, l)) return 1;
  for (size_t k = 0; k < d * d; k++)
    if (x[k] != x[k]) return x[k];
  return 0;
}

/* of x, by its factor: weak correlations are lost in a pivot near 1, x_ii - sum_(j < i) l_ij^2 */
static double log_det (size_t d, const double *x, const double *l) {
  double sum = 0;
  for (size_t i = 0; i < d; i++) {
    double less = (x[i * d + i] - 1) - lkj_squares(i, l + i * d);
    sum += less > -0.5 ? vlog1p(less) : 2 * vlog(l[i * d + i]);
  }
  return sum;
}

static void log_prob (const Batch *b, double *out) {
  size_t d = b->dims[0];
  const double *seen = NULL;
  double peak = 0;
  for (size_t r = 0; r < b->n; r++) {
    const double *eta = event(b, 1, r);
    const double *x = event(b, 0, r);
    double in = inside(b->stop, d, x, b->scratch);
    if (eta != seen) peak = lkj_log_peak(d, *eta);   /* once where it is shared */
    seen = eta;
    out[r] = in == 1 ? fma(*eta - 1, log_det(d, x, b->scratch), peak) : in == 0 ? -INFINITY : in;
  }
}

/* out = c (l l^T)^-1 */
static void add_inverse (Stop stop, size_t d, double c, double *l, double *out) {
  triangle_inverse(stop, d, l, l);
  triangle_inner(stop, d, l, 0, out);
  for (size_t k = 0; k < d * d; k++) out[k] *= c;
}

/* (eta - 1) R^-1;  log det R + sum_i [psi(a) - psi(b_i)] */
static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0], size = side * side;
  double *l = b->scratch;
  lkj_zero(b->n * size, d[0]);
  lkj_zero(b->n * side, d[2]);
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r);
    double eta = *event(b, 1, r), in = inside(b->stop, side, x, l);
    double up = in == 0 ? 0 : upstream[r] * in, sum = 0;
    d[1][r] = up == up ? 0 : up;
    if (in != 1 || up == 0) continue;
    for (size_t i = 1; i < side; i++)
      sum += lkj_digamma_gap(lkj_shape(side, i, eta), 0.5 * (double)i);
    d[1][r] = up * (log_det(side, x, l) + sum);
    add_inverse(b->stop, side, up * (eta - 1), l, d[0] + r * size);
  }
}

/* }====================================================== */


/* the sum of (eta - 1) (psi(a) - psi(b)), less the logarithm of the density at the unit matrix */
static void entropy (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double eta = *event(b, 0, r), sum = 0;
    for (size_t i = 1; i < d; i++)
      sum += lkj_digamma_gap(lkj_shape(d, i, eta), 0.5 * (double)i);
    out[r] = fma(eta - 1, sum, -lkj_log_peak(d, eta));
  }
}

/* (1 - eta) (psi'(b) - psi'(a)) */
static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  lkj_zero(b->n * side, d[1]);
  for (size_t r = 0; r < b->n; r++) {
    double eta = *event(b, 0, r), sum = 0;
    for (size_t i = 1; i < side; i++)
      sum += lkj_trigamma_gap(lkj_shape(side, i, eta), 0.5 * (double)i);
    d[0][r] = upstream[r] * (1 - eta) * sum;
  }
}


/* {=====================================================
** Draws: L L^T
** ====================================================== */

static void product (Stop stop, size_t d, const double *l, double *out) {
  triangle_outer(stop, d, l, 0, out);
  for (size_t i = 0; i < d; i++) out[i * d + i] = 1;
}

/* Is x, rounded, still positive definite? */
static int is_definite (Stop stop, size_t d, const double *x, double *room) {
  triangle_cholesky(stop, d, x, room, triangle_first(d));
  return room[d * d - 1] > 0;   /* pivots are NaN from the first bad one on */
}

/* The product of a factor, its correlations made smaller by a few units of the last digit, doubled
** until they suffice, where rounding left it singular. */
static void rsample (const Philox *g, uint64_t first, const Batch *b, double *out) {
  size_t d = b->dims[0], size = d * d;
  lkj_draw(g, first, b, out);
  for (size_t r = 0; r < b->n; r++, out += size) {
    memcpy(b->scratch, out, size * sizeof *out);
    product(b->stop, d, b->scratch, out);
    for (double less = 0x1p-52; less < 1 && !is_definite(b->stop, d, out, b->scratch); less *= 2)
      for (size_t k = 0; k < size && !stops(b->stop); k++)
        out[k] = k % (d + 1) == 0 ? 1 : out[k] * (1 - less);
  }
}

/* row i of (u + u^T) L, what comes from above for row i of L */
static void upstream_row (size_t d, size_t i, const double *u, const double *l, double *q) {
  lkj_zero(d, q);
  for (size_t k = 0; k < d; k++) {
    double both = k == i ? 0 : u[i * d + k] + u[k * d + i];   /* the diagonal is 1 whatever eta */
    for (size_t j = 0; j <= k; j++) q[j] = fma(both, l[k * d + j], q[j]);
  }
}

static void rsample_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0], size = side * side;
  double *l = b->scratch, *q = l + size;
  memcpy(d[0], upstream, b->n * size * sizeof *upstream);
  lkj_zero(b->n * side, d[2]);
  for (size_t r = 0; r < b->n; r++, upstream += size) {
    double eta = *event(b, 1, r), sum = 0;
    triangle_cholesky(b->stop, side, event(b, 0, r), l, triangle_first(side));
    for (size_t i = 1; i < side && !stops(b->stop); i++) {
      upstream_row(side, i, upstream, l, q);
      sum += lkj_row_slope(i, lkj_shape(side, i, eta), l + i * side, q);
    }
    d[1][r] = sum;
  }
}

/* }====================================================== */


static size_t one_matrix (const size_t dims[]) { return dims[0] * dims[0]; }
static size_t matrix_and_row (const size_t dims[]) { return dims[0] * dims[0] + dims[0]; }

const Kernel perilune_lkj[] = {
  {.name = "log_prob", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(d,d),(),(d)->()", .run = log_prob, .scratch = one_matrix,
     .adjoint = log_prob_adjoint, .adjoint_scratch = one_matrix}},
  {.name = "entropy", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(),(d)->()", .run = entropy, .adjoint = entropy_adjoint}},
  {.name = "rsample", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(d,d),(),(d)->(d,d)", .scratch = one_matrix, .adjoint = rsample_adjoint,
     .adjoint_scratch = matrix_and_row},
   .sampler = &(const Sampler) {.draw_rows = rsample}},
  {.name = NULL}
};
