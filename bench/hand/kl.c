/*
** kl.c - KL divergences of one family by their textbook formulas, fused
**
** Short rows are computed in groups: one loop over all elements of a group, then the sums.
*/
#include "hand.h"
#include "kl_loops.h"

#define OUTCOMES 10
#define GROUP    64               /* rows */

/* r (t + e^-t) - 1 - log r,  r = s1/s2,  t = |m1 - m2|/s1 */
static void laplace (size_t n, int threads, double *const in[], double *restrict out) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++) {
    double r = s1[i] / s2[i], t = fabs(m1[i] - m2[i]) / s1[i];
    out[i] = r * (t + vexp(-t)) - 1 - vlog(r);
  }
}

/* log G(b)/G(a) + (a - b) psi(a), of which Beta and Dirichlet are made */
VECTOR double term (double a, double b) {
  double lgamma_a, digamma_a;
  vlgamma_digamma(a, &lgamma_a, &digamma_a);
  return vlgamma_pos(b) - lgamma_a + (a - b) * digamma_a;
}

static void beta (size_t n, int threads, double *const in[], double *restrict out) {
  const double *a1 = in[0], *b1 = in[1], *a2 = in[2], *b2 = in[3];
#pragma omp parallel for simd num_threads(threads)
  for (size_t i = 0; i < n; i++)
    out[i] = term(a1[i], a2[i]) + term(b1[i], b2[i]) - term(a1[i] + b1[i], a2[i] + b2[i]);
}

static void dirichlet_group (size_t rows, const double *a, const double *b, double *restrict out) {
  double each[GROUP * OUTCOMES], sum_a[GROUP], sum_b[GROUP];
  for (size_t i = 0; i < rows * OUTCOMES; i++) each[i] = term(a[i], b[i]);
  for (size_t r = 0; r < rows; r++) {
    out[r] = sum_a[r] = sum_b[r] = 0;
    for (size_t j = r * OUTCOMES; j < (r + 1) * OUTCOMES; j++) {
      out[r] += each[j];
      sum_a[r] += a[j];
      sum_b[r] += b[j];
    }
  }
  for (size_t r = 0; r < rows; r++) out[r] -= term(sum_a[r], sum_b[r]);
}

static void dirichlet (size_t n, int threads, double *const in[], double *out) {
#pragma omp parallel for num_threads(threads)
  for (size_t r = 0; r < n; r += GROUP)
    dirichlet_group(n - r < GROUP ? n - r : GROUP, in[0] + r * OUTCOMES, in[1] + r * OUTCOMES,
                    out + r);
}


VECTOR double largest (size_t k, const double *x) {
  double most = x[0];
#pragma omp simd reduction(max: most)
  for (size_t j = 0; j < k; j++) most = x[j] > most ? x[j] : most;
  return most;
}

/* sum p (l - m) - log sum e^l + log sum e^m,  p = softmax(l) */
static void long_rows (size_t k, size_t n, int threads, double *const in[], double *out) {
#pragma omp parallel for num_threads(threads)
  for (size_t r = 0; r < n; r++) {
    const double *l = in[0] + r * k, *m = in[1] + r * k;
    double top_l = largest(k, l), top_m = largest(k, m), sum_l = 0, sum_m = 0, mean = 0;
#pragma omp simd reduction(+: sum_l, sum_m, mean)
    for (size_t j = 0; j < k; j++) {
      double weight = vexp(l[j] - top_l);
      sum_l += weight;
      sum_m += vexp(m[j] - top_m);
      mean += weight * (l[j] - m[j]);
    }
    out[r] = mean / sum_l - (top_l + vlog(sum_l)) + (top_m + vlog(sum_m));
  }
}

static void exponentials (size_t rows, const double *x, double *restrict e, double *restrict top) {
  for (size_t r = 0; r < rows; r++) {
    top[r] = x[r * OUTCOMES];
    for (size_t j = 1; j < OUTCOMES; j++)
      top[r] = x[r * OUTCOMES + j] > top[r] ? x[r * OUTCOMES + j] : top[r];
    for (size_t j = 0; j < OUTCOMES; j++) e[r * OUTCOMES + j] = x[r * OUTCOMES + j] - top[r];
  }
  for (size_t i = 0; i < rows * OUTCOMES; i++) e[i] = vexp(e[i]);
}

static void categorical_group (size_t rows, const double *l, const double *m,
                               double *restrict out) {
  double p[GROUP * OUTCOMES], q[GROUP * OUTCOMES], top_l[GROUP], top_m[GROUP];
  double sum_l[GROUP], sum_m[GROUP];
  exponentials(rows, l, p, top_l);
  exponentials(rows, m, q, top_m);
  for (size_t r = 0; r < rows; r++) {
    out[r] = sum_l[r] = sum_m[r] = 0;
    for (size_t j = r * OUTCOMES; j < (r + 1) * OUTCOMES; j++) {
      sum_l[r] += p[j];
      sum_m[r] += q[j];
      out[r] += p[j] * (l[j] - m[j]);
    }
  }
  for (size_t r = 0; r < rows; r++)
    out[r] = out[r] / sum_l[r] - (top_l[r] + vlog(sum_l[r])) + (top_m[r] + vlog(sum_m[r]));
}

static void short_rows (size_t n, int threads, double *const in[], double *out) {
#pragma omp parallel for num_threads(threads)
  for (size_t r = 0; r < n; r += GROUP)
    categorical_group(n - r < GROUP ? n - r : GROUP, in[0] + r * OUTCOMES, in[1] + r * OUTCOMES,
                      out + r);
}

static void rows_of_1000 (size_t n, int threads, double *const in[], double *out) {
  long_rows(1000, n, threads, in, out);
}


/* Multivariate normals: in[0], in[2] triangles of rows by d by d, in[1], in[3] means */
VECTOR void triangles (size_t d, size_t n, double *a) {
  for (size_t i = 0; i < n * d * d; i++) {
    size_t row = i / d % d, column = i % d;
    a[i] = column < row ? 0.1 * a[i] : column == row;
  }
}

/* |A^-1 B|^2 + |A^-1 (m - l)|^2, row by row: x is A^-1 B, and y the column beside it */
VECTOR double squares (size_t d, const double *a, const double *b, const double *m,
                       const double *l, double *restrict x, double *restrict y) {
  double sum = 0;
  for (size_t i = 0; i < d; i++) {
    double inverse = 1 / a[i * d + i], *restrict row = x + i * d, rest = m[i] - l[i];
    for (size_t j = 0; j < d; j++) row[j] = b[i * d + j];
    for (size_t k = 0; k < i; k++) {
      rest -= a[i * d + k] * y[k];
      for (size_t j = 0; j < (k | 3) + 1; j++) row[j] = fma(-a[i * d + k], x[k * d + j], row[j]);
    }
    y[i] = rest * inverse;
    sum += y[i] * y[i];
    for (size_t j = 0; j < d; j++) row[j] *= inverse;
#pragma omp simd reduction(+: sum)
    for (size_t j = 0; j < d; j++) sum += row[j] * row[j];
  }
  return sum;
}

/* sum log(B_ii/A_ii), with p = N(l, B B^T) and q = N(m, A A^T) */
VECTOR double log_diagonals (size_t d, const double *a, const double *b) {
  double sum = 0;
#pragma omp simd reduction(+: sum)
  for (size_t i = 0; i < d; i++) sum += vlog(b[i * d + i] / a[i * d + i]);
  return sum;
}

VECTOR void multivariate (size_t d, size_t n, int threads, double *const in[], double *out,
                          double *x, double *y) {
  (void)threads;
  for (size_t r = 0; r < n; r++) {
    const double *b = in[0] + r * d * d, *a = in[2] + r * d * d;
    double both = squares(d, a, b, in[3] + r * d, in[1] + r * d, x, y);
    out[r] = 0.5 * (both - (double)d) - log_diagonals(d, a, b);
  }
}

static void multivariate_8 (size_t n, int threads, double *const in[], double *out) {
  double x[8 * 8], y[8];
  multivariate(8, n, threads, in, out, x, y);
}

static void multivariate_64 (size_t n, int threads, double *const in[], double *out) {
  double x[64 * 64], y[64];
  multivariate(64, n, threads, in, out, x, y);
}

static void prepare_8 (size_t n, double *const in[]) {
  triangles(8, n, in[0]);
  triangles(8, n, in[2]);
}

static void prepare_64 (size_t n, double *const in[]) {
  triangles(64, n, in[0]);
  triangles(64, n, in[2]);
}


#define E6 1000000

const Workload workloads[] = {
  {"Laplace, 1e6", E6, laplace, {{E6, NORMAL}, {E6, SPREAD}, {E6, NORMAL}, {E6, SPREAD}}},
  {"Gamma, 1e6", E6, kl_gamma_loop, {{E6, SPREAD}, {E6, SPREAD}, {E6, SPREAD}, {E6, SPREAD}}},
  {"Beta, 1e6", E6, beta, {{E6, SPREAD}, {E6, SPREAD}, {E6, SPREAD}, {E6, SPREAD}}},
  {"Categorical, 1e5 x 10", 100000, short_rows, {{E6, NORMAL}, {E6, NORMAL}}},
  {"Categorical, 4096 x 1000", 4096, rows_of_1000, {{4096000, NORMAL}, {4096000, NORMAL}}},
  {"Dirichlet, 1e5 x 10", 100000, dirichlet, {{E6, SPREAD}, {E6, SPREAD}}},
  {"MultivariateNormal, 1e5 x 8", 100000, multivariate_8,
   {{6400000, NORMAL}, {800000, NORMAL}, {6400000, NORMAL}, {800000, NORMAL}}, prepare_8},
  {"MultivariateNormal, 2000 x 64", 2000, multivariate_64,
   {{8192000, NORMAL}, {128000, NORMAL}, {8192000, NORMAL}, {128000, NORMAL}}, prepare_64},
  {"Normal by a formula in Lua, 1e6", E6, kl_normal_loop,
   {{E6, NORMAL}, {E6, SPREAD}, {E6, NORMAL}, {E6, SPREAD}}},
  {NULL, 0, NULL}
};
