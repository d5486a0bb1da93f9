/*
** sample.c - the streams of src/random straight into the result, then one
** pass over each piece while it is in the cache
*/
#include "hand.h"
#include "random/noise.h"
#include "special/vmath.h"

#define PIECE  512
#define SHARES 10
#define GUIDE  4096

typedef void Noise (const Philox *g, uint32_t lane, uint64_t first, size_t n, double *out);

static void draw (size_t n, int threads, double *out, Noise *noise, double loc, double scale) {
  Philox g = philox_seed(1);
#pragma omp parallel for num_threads(threads)
  for (size_t first = 0; first < n; first += PIECE) {
    size_t length = n - first < PIECE ? n - first : PIECE;
    double *restrict to = out + first;
    for (size_t i = 0; i < length; i += 8) __builtin_prefetch(to + i, 1);
    noise(&g, 0, first, length, to);
    for (size_t i = 0; i < length; i++) to[i] = loc + scale * to[i];
  }
}

static void normal (size_t n, int threads, double *const in[], double *out) {
  draw(n, threads, out, noise_normal, in[0][0], in[1][0]);
}

static void uniform (size_t n, int threads, double *const in[], double *out) {
  draw(n, threads, out, noise_uniform, in[0][0], in[1][0]);
}

static void exponential (size_t n, int threads, double *const in[], double *out) {
  draw(n, threads, out, noise_exponential, 0, in[1][0]);
}


/* One gamma of shape 1 or more by Marsaglia's and Tsang's rejection, from the numbers of
   an element. */
static double gamma_one (const Philox *g, uint32_t lane, uint64_t element, double shape) {
  double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;; lane += 2) {
    double z, u;
    noise_normal(g, lane, element, 1, &z);
    noise_uniform(g, lane + 1, element, 1, &u);
    double v = (1 + c * z) * (1 + c * z) * (1 + c * z);
    if (v > 0 && vlog(u) < 0.5 * z * z + d - d * v + d * vlog(v)) return d * v;
  }
}

/* At most PIECE gammas; those that the first squeeze rejects one by one. */
static void gammas (const Philox *g, uint32_t lane, uint64_t first, size_t n,
                    const double *shape, double *restrict out) {
  double z[PIECE], u[PIECE], e[PIECE];
  noise_normal(g, lane, first, n, z);
  noise_uniform(g, lane + 1, first, n, u);
  for (size_t i = 0; i < n; i++) {
    double a = shape[i] < 1 ? shape[i] + 1 : shape[i], d = a - 1.0 / 3;
    double t = 1 + z[i] / sqrt(9 * d), v = t * t * t, square = z[i] * z[i];
    out[i] = (t > 0) & (u[i] < 1 - 0.0331 * square * square) ? d * v : -1;
  }
  for (size_t i = 0; i < n; i++) {
    double a = shape[i] < 1 ? shape[i] + 1 : shape[i];
    if (out[i] < 0) out[i] = gamma_one(g, lane + 2, first + i, a);
  }
  int small = 0;
  for (size_t i = 0; i < n; i++) small |= shape[i] < 1;
  if (!small) return;
  noise_exponential(g, lane + 100, first, n, e);
  for (size_t i = 0; i < n; i++) out[i] *= shape[i] < 1 ? vexp(-e[i] / shape[i]) : 1;
}

/* Shapes between 0.5 and 4.5, made of the numbers of an array. */
static double shape_of (double x) { return 4 * x - 1.5; }

/* Gammas with a shape for each, or with 2.5 for all where there is no array. */
static void draw_gammas (size_t n, int threads, const double *x, double *out) {
  Philox g = philox_seed(1);
#pragma omp parallel for num_threads(threads)
  for (size_t first = 0; first < n; first += PIECE) {
    size_t length = n - first < PIECE ? n - first : PIECE;
    double shape[PIECE];
    for (size_t i = 0; i < length; i++) shape[i] = x == NULL ? 2.5 : shape_of(x[first + i]);
    gammas(&g, 0, first, length, shape, out + first);
  }
}

static void gamma_draws (size_t n, int threads, double *const in[], double *out) {
  (void)in;
  draw_gammas(n, threads, NULL, out);
}

static void gamma_shapes (size_t n, int threads, double *const in[], double *out) {
  draw_gammas(n, threads, in[0], out);
}

static void beta (size_t n, int threads, double *const in[], double *out) {
  Philox g = philox_seed(1);
  (void)in;
#pragma omp parallel for num_threads(threads)
  for (size_t first = 0; first < n; first += PIECE) {
    size_t length = n - first < PIECE ? n - first : PIECE;
    double shape[PIECE], other[PIECE], *restrict to = out + first;
    for (size_t i = 0; i < length; i++) shape[i] = 2.5;
    gammas(&g, 0, first, length, shape, to);
    for (size_t i = 0; i < length; i++) shape[i] = 1.5;
    gammas(&g, 200, first, length, shape, other);
    for (size_t i = 0; i < length; i++) to[i] /= to[i] + other[i];
  }
}

static void dirichlet (size_t n, int threads, double *const in[], double *out) {
  Philox g = philox_seed(1);
  const size_t piece = PIECE / SHARES * SHARES;
#pragma omp parallel for num_threads(threads)
  for (size_t first = 0; first < n; first += piece) {
    size_t length = n - first < piece ? n - first : piece;
    double shape[PIECE], *to = out + first;
    for (size_t i = 0; i < length; i++) shape[i] = shape_of(in[0][i % SHARES]);
    gammas(&g, 0, first, length, shape, to);
    for (size_t r = 0; r + SHARES <= length; r += SHARES) {
      double sum = 0;
      for (size_t j = 0; j < SHARES; j++) sum += to[r + j];
      for (size_t j = 0; j < SHARES; j++) to[r + j] /= sum;
    }
  }
}


/* The first of k outcomes whose running sum of weights exceeds u, by a guide. */
static void invert (size_t n, int threads, size_t k, const double *weight, double from,
                    double *out) {
  Philox g = philox_seed(1);
  double sums[1000], sum = 0;
  unsigned short guide[GUIDE];
  for (size_t j = 0; j < k; j++) sums[j] = sum += weight[j];
  for (size_t cell = 0, j = 0; cell < GUIDE; cell++) {
    while (j + 1 < k && sums[j] <= sum * ((double)cell / GUIDE)) j++;
    guide[cell] = (unsigned short)j;
  }
#pragma omp parallel for num_threads(threads)
  for (size_t first = 0; first < n; first += PIECE) {
    size_t length = n - first < PIECE ? n - first : PIECE;
    double *to = out + first;
    noise_uniform(&g, 0, first, length, to);
    for (size_t i = 0; i < length; i++) {
      size_t j = guide[(size_t)(to[i] * GUIDE)];
      while (j + 1 < k && sums[j] <= to[i] * sum) j++;
      to[i] = (double)j + from;
    }
  }
}

static void poisson (size_t n, int threads, double *const in[], double *out) {
  double weight[64] = {1};
  (void)in;
  for (size_t k = 1; k < 64; k++) weight[k] = weight[k - 1] * 4 / (double)k;
  invert(n, threads, 64, weight, 0, out);
}

static void few (size_t n, int threads, double *const in[], double *out) {
  invert(n, threads, 10, in[0], 1, out);
}

static void many (size_t n, int threads, double *const in[], double *out) {
  invert(n, threads, 1000, in[0], 1, out);
}

const Workload workloads[] = {
  {"Normal",              1000000, normal},
  {"Uniform",             1000000, uniform},
  {"Exponential",         1000000, exponential},
  {"Gamma(2.5)",          1000000, gamma_draws},
  {"Gamma, a shape each", 1000000, gamma_shapes},
  {"Beta",                1000000, beta},
  {"Dirichlet",           1000000, dirichlet},
  {"Poisson(4)",          1000000, poisson},
  {"Categorical of 10",   1000000, few},
  {"Categorical of 1000", 1000000, many},
  {NULL, 0, NULL}
};
