/*
** matrixnormal.c - MatrixNormal(loc, row_scale_tril R, column_scale_tril K), n by p matrices
** whose rows have the covariance R R^T and whose columns have K K^T
**
**   log p(x) = -|Z|^2/2 - p sum_i log R_ii - n sum_j log K_jj - n p/2 log(2 pi)
**   R Z K^T = x - loc
**
** A draw is loc + R E K^T with standard normals in E.
*/
#include "kernel/kernel.h"
#include "linalg/triangle.h"
#include "special/constants.h"
#include "special/vmath.h"


static double log_diagonal (size_t d, const double *l) {
  double sum = 0;
  for (size_t i = 0; i < d; i++) sum += vlog(l[i * d + i]);
  return sum;
}

/* p log det R + n log det K */
static double log_volume (size_t n, size_t p, const double *r, const double *k) {
  return fma((double)p, log_diagonal(n, r), (double)n * log_diagonal(p, k));
}

/* y = y + s x */
static void add_scaled (size_t p, double s, const double *x, double *y) {
  for (size_t j = 0; j < p; j++) y[j] = fma(s, x[j], y[j]);
}

static void divide (size_t p, double *y, double by) {
  for (size_t j = 0; j < p; j++) y[j] /= by;
}

/* z = R^-1 z */
static void solve_rows (Stop stop, size_t n, size_t p, const double *r, double *z) {
  for (size_t i = 0; i < n && !stops(stop); i++) {
    for (size_t m = 0; m < i; m++) add_scaled(p, -r[i * n + m], z + m * p, z + i * p);
    divide(p, z + i * p, r[i * n + i]);
  }
}

/* z = R^-T z */
static void solve_rows_transposed (Stop stop, size_t n, size_t p, const double *r, double *z) {
  for (size_t i = n; i-- > 0 && !stops(stop); ) {
    divide(p, z + i * p, r[i * n + i]);
    for (size_t m = 0; m < i; m++) add_scaled(p, -r[i * n + m], z + i * p, z + m * p);
  }
}

/* out = a b^T below and on the diagonal, for two n by p matrices */
static void outer (Stop stop, size_t n, size_t p, const double *a, const double *b,
                   double *out) {
  for (size_t i = 0; i < n && !stops(stop); i++)
    for (size_t j = 0; j < n; j++) {
      double sum = 0;
      for (size_t m = 0; m < p && j <= i; m++) sum = fma(a[i * p + m], b[j * p + m], sum);
      out[i * n + j] = sum;
    }
}

/* out = a^T b below and on the diagonal */
static void inner (Stop stop, size_t n, size_t p, const double *a, const double *b,
                   double *out) {
  for (size_t i = 0; i < p * p; i++) out[i] = 0;
  for (size_t m = 0; m < n && !stops(stop); m++)
    for (size_t i = 0; i < p; i++) add_scaled(i + 1, a[m * p + i], b + m * p, out + i * p);
}


/* {=====================================================
** Density
** ====================================================== */

/* Z of row r of the batch */
static void whiten (const Batch *b, size_t r, double *z) {
  size_t n = b->dims[0], p = b->dims[1];
  const double *x = event(b, 0, r), *loc = event(b, 1, r);
  for (size_t i = 0; i < n * p; i++) z[i] = x[i] - loc[i];
  solve_rows(b->stop, n, p, event(b, 2, r), z);
  for (size_t i = 0; i < n && !stops(b->stop); i++) triangle_solve(p, event(b, 3, r), z + i * p);
}

/* Is x infinitely far from a finite loc? The solution then meets inf - inf. */
static int infinitely_far (size_t size, const double *x, const double *loc) {
  int far = 0;
  for (size_t i = 0; i < size; i++) {
    if (x[i] != x[i] || !(fabs(loc[i]) < INFINITY)) return 0;
    far |= fabs(x[i] - loc[i]) == INFINITY;
  }
  return far;
}

static void log_prob (const Batch *b, double *out) {
  size_t n = b->dims[0], p = b->dims[1], size = n * p;
  for (size_t r = 0; r < b->n; r++) {
    double square = 0, volume = log_volume(n, p, event(b, 2, r), event(b, 3, r));
    double constant = fma(-HALF_LOG_2PI, (double)size, -volume), *z = b->scratch;
    whiten(b, r, z);
    for (size_t i = 0; i < size; i++) square = fma(z[i], z[i], square);
    out[r] = fma(-0.5, square, constant);
    if (out[r] != out[r] && constant == constant
        && infinitely_far(size, event(b, 0, r), event(b, 1, r))) out[r] = -INFINITY;
  }
}

/* u times m, less u times `count` over the diagonal of l */
static void scale_slope (size_t d, double u, size_t count, const double *l, double *m) {
  for (size_t i = 0; i < d; i++) m[i * d + i] -= (double)count / l[i * d + i];
  for (size_t i = 0; i < d * d; i++) m[i] *= u;
}

/*
**   d/dx = -W,   d/dloc = W = R^-T Z K^-1
**   d/dR = (R^-T Z) Z^T - p/diagonal,   d/dK = (Z K^-1)^T Z - n/diagonal, below and on it
*/
static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t n = b->dims[0], p = b->dims[1], size = n * p;
  double *z = b->scratch;
  for (size_t r = 0; r < b->n; r++) {
    const double *rows = event(b, 2, r), *columns = event(b, 3, r);
    double *dx = d[0] + r * size, *w = d[1] + r * size;
    double *dr = d[2] + r * n * n, *dk = d[3] + r * p * p;
    whiten(b, r, z);
    memcpy(w, z, size * sizeof *w);
    solve_rows_transposed(b->stop, n, p, rows, w);
    outer(b->stop, n, p, w, z, dr);
    memcpy(w, z, size * sizeof *w);
    for (size_t i = 0; i < n && !stops(b->stop); i++)
      triangle_solve_transposed(p, columns, w + i * p);
    inner(b->stop, n, p, w, z, dk);
    solve_rows_transposed(b->stop, n, p, rows, w);
    scale_slope(n, upstream[r], p, rows, dr);
    scale_slope(p, upstream[r], n, columns, dk);
    for (size_t i = 0; i < size; i++) dx[i] = -(w[i] *= upstream[r]);
  }
}

/* }====================================================== */


/* n p/2 (1 + log(2 pi)) + p log det R + n log det K; loc is there for its batch alone */
static void entropy (const Batch *b, double *out) {
  size_t n = b->dims[0], p = b->dims[1];
  for (size_t r = 0; r < b->n; r++)
    out[r] = fma(0.5 + HALF_LOG_2PI, (double)(n * p),
                 log_volume(n, p, event(b, 1, r), event(b, 2, r)));
}

static void diagonal_slope (size_t d, double u, const double *l, double *out) {
  for (size_t i = 0; i < d * d; i++) out[i] = 0;
  for (size_t i = 0; i < d; i++) out[i * d + i] = u / l[i * d + i];
}

static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t n = b->dims[0], p = b->dims[1];
  for (size_t i = 0; i < b->n * n * p; i++) d[0][i] = 0;
  for (size_t r = 0; r < b->n; r++) {
    diagonal_slope(n, upstream[r] * (double)p, event(b, 1, r), d[1] + r * n * n);
    diagonal_slope(p, upstream[r] * (double)n, event(b, 2, r), d[2] + r * p * p);
  }
}


/* q = E K^T */
static void colour_columns (Stop stop, size_t n, size_t p, const double *e, const double *k,
                            double *q) {
  memcpy(q, e, n * p * sizeof *q);
  for (size_t i = 0; i < n && !stops(stop); i++) triangle_apply(p, k, q + i * p);
}

static void rsample (const Batch *b, double *out) {
  size_t n = b->dims[0], p = b->dims[1], size = n * p;
  double *q = b->scratch;
  for (size_t r = 0; r < b->n; r++, out += size) {
    const double *rows = event(b, 2, r);
    colour_columns(b->stop, n, p, event(b, 0, r), event(b, 3, r), q);
    memcpy(out, event(b, 1, r), size * sizeof *out);
    for (size_t i = 0; i < n && !stops(b->stop); i++)
      for (size_t m = 0; m <= i; m++) add_scaled(p, rows[i * n + m], q + m * p, out + i * p);
  }
}

/* with P = R^T u:  d/dE = P K,  d/dloc = u,  d/dR = u (E K^T)^T,  d/dK = P^T E */
static void rsample_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t n = b->dims[0], p = b->dims[1], size = n * p;
  double *q = b->scratch;
  memcpy(d[1], upstream, b->n * size * sizeof *upstream);
  for (size_t i = 0; i < b->n * size; i++) d[0][i] = 0;
  for (size_t r = 0; r < b->n; r++, upstream += size) {
    const double *e = event(b, 0, r), *rows = event(b, 2, r), *columns = event(b, 3, r);
    double *de = d[0] + r * size;
    colour_columns(b->stop, n, p, e, columns, q);
    outer(b->stop, n, p, upstream, q, d[2] + r * n * n);
    for (size_t i = 0; i < size; i++) q[i] = 0;
    for (size_t i = 0; i < n && !stops(b->stop); i++)
      for (size_t m = 0; m <= i; m++) add_scaled(p, rows[i * n + m], upstream + i * p, q + m * p);
    inner(b->stop, n, p, q, e, d[3] + r * p * p);
    for (size_t i = 0; i < n && !stops(b->stop); i++)
      for (size_t m = 0; m < p; m++)
        add_scaled(m + 1, q[i * p + m], columns + m * p, de + i * p);
  }
}


static size_t one (const size_t dims[]) { return dims[0] * dims[1]; }

const Kernel perilune_matrixnormal[] = {
  {.name = "log_prob", .n_in = 4,
   .rows = &(const RowKernel) {
     .signature = "(n,p),(n,p),(n,n),(p,p)->()", .run = log_prob, .scratch = one,
     .adjoint = log_prob_adjoint, .adjoint_scratch = one}},
  {.name = "entropy", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(n,p),(n,n),(p,p)->()", .run = entropy, .adjoint = entropy_adjoint}},
  {.name = "rsample", .n_in = 4,
   .rows = &(const RowKernel) {
     .signature = "(n,p),(n,p),(n,n),(p,p)->(n,p)", .run = rsample, .scratch = one,
     .adjoint = rsample_adjoint, .adjoint_scratch = one},
   .sampler = &(const Sampler) {.noise = "normal"}},
  {.name = NULL}
};
