/*
** kl_div.c - sum of t (log t - x) over the number of rows, and its gradient -t in x
**
** From logits y on, x = y - log sum e^y, and the gradient is softmax(y) sum t - t. What follows
** a gradient in out is the loss.
*/
#include "hand.h"
#include "special/vmath.h"

#define OUTCOMES 1000

VECTOR double term (double t, double x) {
  return t > 0 ? t * (vlog(t) - x) : 0;
}

static void loss (size_t rows, int threads, double *const in[], double *out) {
  const double *x = in[0], *t = in[1];
  double sum = 0;
#pragma omp parallel for simd num_threads(threads) reduction(+: sum)
  for (size_t i = 0; i < rows * OUTCOMES; i++) sum += term(t[i], x[i]);
  out[0] = sum / (double)rows;
}

static void loss_and_gradient (size_t rows, int threads, double *const in[], double *out) {
  const double *x = in[0], *t = in[1];
  double sum = 0, weight = -1 / (double)rows;
#pragma omp parallel for simd num_threads(threads) reduction(+: sum)
  for (size_t i = 0; i < rows * OUTCOMES; i++) {
    sum += term(t[i], x[i]);
    out[i] = weight * t[i];
  }
  out[rows * OUTCOMES] = sum / (double)rows;
}

VECTOR double largest (const double *x) {
  double most = x[0];
#pragma omp simd reduction(max: most)
  for (size_t j = 0; j < OUTCOMES; j++) most = x[j] > most ? x[j] : most;
  return most;
}

/* The loss of one row; d gets its gradient times weight. */
static double logits_row (const double *y, const double *t, double weight, double *restrict d) {
  double top = largest(y), sum = 0, share = 0, whole = 0;
#pragma omp simd reduction(+: sum, share, whole)
  for (size_t j = 0; j < OUTCOMES; j++) {
    d[j] = vexp(y[j] - top);
    sum += d[j];
    share += t[j];
    whole += term(t[j], y[j] - top);
  }
  double scale = weight * share / sum;
  for (size_t j = 0; j < OUTCOMES; j++) d[j] = scale * d[j] - weight * t[j];
  return whole + share * vlog(sum);
}

static void logits (size_t rows, int threads, double *const in[], double *out) {
  double sum = 0, weight = 1 / (double)rows;
#pragma omp parallel for num_threads(threads) reduction(+: sum)
  for (size_t r = 0; r < rows; r++)
    sum += logits_row(in[0] + r * OUTCOMES, in[1] + r * OUTCOMES, weight, out + r * OUTCOMES);
  out[rows * OUTCOMES] = sum * weight;
}


static void softmax (double *x) {
  double top = largest(x), sum = 0;
  for (size_t j = 0; j < OUTCOMES; j++) sum += x[j] = vexp(x[j] - top);
  for (size_t j = 0; j < OUTCOMES; j++) x[j] /= sum;
}

static void prepare_logits (size_t rows, double *const in[]) {
  for (size_t r = 0; r < rows; r++) softmax(in[1] + r * OUTCOMES);
}

static void prepare (size_t rows, double *const in[]) {
  prepare_logits(rows, in);
  for (size_t r = 0; r < rows; r++) softmax(in[0] + r * OUTCOMES);
  for (size_t i = 0; i < rows * OUTCOMES; i++) in[0][i] = vlog(in[0][i]);
}

#define SMALL 128000
#define LARGE 4096000

const Workload workloads[] = {
  {"128 x 1000", 128, loss, {{SMALL, NORMAL}, {SMALL, NORMAL}}, prepare, {1}},
  {"4096 x 1000", 4096, loss, {{LARGE, NORMAL}, {LARGE, NORMAL}}, prepare, {1}},
  {"128 x 1000 with gradient", 128, loss_and_gradient,
   {{SMALL, NORMAL}, {SMALL, NORMAL}}, prepare, {SMALL, 1}},
  {"4096 x 1000 with gradient", 4096, loss_and_gradient,
   {{LARGE, NORMAL}, {LARGE, NORMAL}}, prepare, {LARGE, 1}},
  {"log_softmax, 4096 x 1000 with gradient", 4096, logits,
   {{LARGE, NORMAL}, {LARGE, NORMAL}}, prepare_logits, {LARGE, 1}},
  {NULL, 0, NULL}
};
