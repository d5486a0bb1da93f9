/*
** softmax.c - rows normalised to probabilities, and running sums
**
**   softmax(x)_j     = exp(x_j - m)/S,        S = sum_j exp(x_j - m)
**   log_softmax(x)_j = (x_j - m) - log S,     m = max_j x_j
*/
#include <math.h>

#include "kernel/kernel.h"
#include "kernel/simplex.h"
#include "special/vmath.h"


/* y = exp(x - shift); returns the sum. */
static double shifted_exp (size_t k, const double *x, double shift, double *y) {
  double sum = 0;
  for (size_t j = 0; j < k; j++) y[j] = vexp(x[j] - shift);
  for (size_t j = 0; j < k; j++) sum += y[j];
  return sum;
}

static void softmax (size_t n, const size_t dims[], const double *const in[],
                     const ptrdiff_t step[], double *out) {
  size_t k = dims[0];
  for (size_t r = 0; r < n; r++, out += k) {
    const double *x = in[0] + (ptrdiff_t)r * step[0];
    double scale = 1 / shifted_exp(k, x, simplex_shift(k, x), out);
    for (size_t j = 0; j < k; j++) out[j] *= scale;
  }
}

static void log_softmax (size_t n, const size_t dims[], const double *const in[],
                         const ptrdiff_t step[], double *out) {
  size_t k = dims[0];
  for (size_t r = 0; r < n; r++, out += k) {
    const double *x = in[0] + (ptrdiff_t)r * step[0];
    double shift = simplex_shift(k, x), log_sum = vlog(shifted_exp(k, x, shift, out));
    for (size_t j = 0; j < k; j++) out[j] = (x[j] - shift) - log_sum;
  }
}


static void cumsum (size_t n, const size_t dims[], const double *const in[],
                    const ptrdiff_t step[], double *out) {
  size_t k = dims[0];
  for (size_t r = 0; r < n; r++, out += k) {
    const double *x = in[0] + (ptrdiff_t)r * step[0];
    double sum = 0;
    for (size_t j = 0; j < k; j++) out[j] = sum += x[j];
  }
}


const Kernel perilune_row_softmax[] = {
  {.name = "softmax",     .n_in = 1, .signature = "(k)->(k)", .rows = softmax},
  {.name = "log_softmax", .n_in = 1, .signature = "(k)->(k)", .rows = log_softmax},
  {.name = "cumsum",      .n_in = 1, .signature = "(k)->(k)", .rows = cumsum},
  {.name = NULL}
};
