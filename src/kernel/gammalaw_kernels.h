/*
** gammalaw_kernels.h - the kernels of Gamma and InverseGamma (gammalaw.h)
**
** To be included once by a family's file, below `enum { EXPONENT = ... }`: the s, 1 or -1, of
** t = rate x^s. For -1 the tails of t change places.
*/
#include "kernel/gammalaw.h"
#include "kernel/sided.h"

static void log_prob (size_t n, const double *const in[], double *out) {
  law_log_prob(n, in, out, EXPONENT);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  law_log_prob_partials(n, in, d, EXPONENT);
}


/* the tail of t that is a tail of x */
static inline int tail_of_t (int upper) { return upper == (EXPONENT > 0) ? LAW_UPPER : LAW_LOWER; }

static double tail (const double v[], int upper) {
  return law_tail(v[0], v[1], v[2], EXPONENT, tail_of_t(upper));
}

static double log_tail (const double v[], int upper) {
  return law_log_tail(v[0], v[1], v[2], EXPONENT, tail_of_t(upper));
}

static double quantile (const double v[], int upper) {
  return law_quantile(v[0], v[1], v[2], EXPONENT, tail_of_t(upper));
}

static void tail_slopes (const double v[], int upper, double d[]) {
  law_tail_slopes(v, EXPONENT, tail_of_t(upper), 0, d);
}

static void log_tail_slopes (const double v[], int upper, double d[]) {
  law_tail_slopes(v, EXPONENT, tail_of_t(upper), log_tail(v, upper), d);
}

static void quantile_slopes (const double v[], int upper, double d[]) {
  law_quantile_slopes(v, EXPONENT, tail_of_t(upper), d);
}

static void draw_slopes (const double v[], double d[]) {
  d[0] = 1;
  law_pathwise(v[0], v[1], v[2], EXPONENT, d);
}

static const SidedLaw law = {
  .operands = 3,
  .tail     = tail,     .tail_slopes     = tail_slopes,
  .log_tail = log_tail, .log_tail_slopes = log_tail_slopes,
  .quantile = quantile, .quantile_slopes = quantile_slopes
};

#include "kernel/sided_kernels.h"

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(3, n, in, d, draw_slopes);
}


static void entropy (size_t n, const double *const in[], double *out) {
  law_entropy(n, in, out, EXPONENT);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  law_entropy_partials(n, in, d, EXPONENT);
}
