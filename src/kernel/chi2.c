/*
** chi2.c - Chi2(df), the sum of df squared standard normals
**
** Chi2(df) = Gamma(df/2, 1/2); both halves are exact. The kernels are those of Gamma, on blocks
** of halves.
*/
#include <math.h>

#include "kernel/gamma.h"

enum { BLOCK = 256 };


static size_t halve (size_t n, const double *df, double *shape, double *rate) {
  size_t length = n < BLOCK ? n : BLOCK;
  for (size_t i = 0; i < length; i++) {
    shape[i] = df[i] > 0 ? fmax(0.5 * df[i], 0x1p-1074) : df[i];   /* of the least double, not 0 */
    rate[i] = 0.5;
  }
  return length;
}

/* a kernel of Gamma whose operands are x, or p, and df */
static void value (int kernel, size_t n, const double *const in[], double *out) {
  double shape[BLOCK], rate[BLOCK];
  for (size_t i = 0, length; i < n; i += length) {
    length = halve(n - i, in[1] + i, shape, rate);
    const double *const gamma[] = {in[0] + i, shape, rate};
    perilune_gamma[kernel].value(length, gamma, out + i);
  }
}

static void partials (int kernel, size_t n, const double *const in[], double *const d[]) {
  double shape[BLOCK], rate[BLOCK], unused[BLOCK];
  for (size_t i = 0, length; i < n; i += length) {
    length = halve(n - i, in[1] + i, shape, rate);
    const double *const gamma[] = {in[0] + i, shape, rate};
    double *const slopes[] = {d[0] + i, d[1] + i, unused};
    perilune_gamma[kernel].partials(length, gamma, slopes);
    for (size_t j = 0; j < length; j++) slopes[1][j] *= 0.5;
  }
}


static void log_prob (size_t n, const double *const in[], double *out) {
  value(GAMMA_LOG_PROB, n, in, out);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  partials(GAMMA_LOG_PROB, n, in, d);
}


static void cdf (size_t n, const double *const in[], double *out) {
  value(GAMMA_CDF, n, in, out);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  partials(GAMMA_CDF, n, in, d);
}


static void sf (size_t n, const double *const in[], double *out) {
  value(GAMMA_SF, n, in, out);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  partials(GAMMA_SF, n, in, d);
}


static void log_cdf (size_t n, const double *const in[], double *out) {
  value(GAMMA_LOG_CDF, n, in, out);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  partials(GAMMA_LOG_CDF, n, in, d);
}


static void log_sf (size_t n, const double *const in[], double *out) {
  value(GAMMA_LOG_SF, n, in, out);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  partials(GAMMA_LOG_SF, n, in, d);
}


static void icdf (size_t n, const double *const in[], double *out) {
  value(GAMMA_ICDF, n, in, out);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  partials(GAMMA_ICDF, n, in, d);
}


static void isf (size_t n, const double *const in[], double *out) {
  value(GAMMA_ISF, n, in, out);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  partials(GAMMA_ISF, n, in, d);
}


/* no x: the halves stand first */
static void entropy (size_t n, const double *const in[], double *out) {
  double shape[BLOCK], rate[BLOCK];
  for (size_t i = 0, length; i < n; i += length) {
    length = halve(n - i, in[0] + i, shape, rate);
    const double *const gamma[] = {shape, rate};
    perilune_gamma[GAMMA_ENTROPY].value(length, gamma, out + i);
  }
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  double shape[BLOCK], rate[BLOCK], unused[BLOCK];
  for (size_t i = 0, length; i < n; i += length) {
    length = halve(n - i, in[0] + i, shape, rate);
    const double *const gamma[] = {shape, rate};
    double *const slopes[] = {d[0] + i, unused};
    perilune_gamma[GAMMA_ENTROPY].partials(length, gamma, slopes);
    for (size_t j = 0; j < length; j++) slopes[0][j] *= 0.5;
  }
}


static void rsample (const struct Philox *g, uint64_t first, size_t n, const double *const in[],
                     double *out) {
  double shape[BLOCK], rate[BLOCK];
  for (size_t i = 0, length; i < n; i += length) {
    length = halve(n - i, in[0] + i, shape, rate);
    const double *const gamma[] = {shape, rate};
    perilune_gamma[GAMMA_RSAMPLE].sampler->draw(g, first + i, length, gamma, out + i);
  }
}

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  partials(GAMMA_RSAMPLE, n, in, d);
}


const Kernel perilune_chi2[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 2, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 2, .partials = rsample_partials,
   .sampler = &(const Sampler) {.draw = rsample}},
  {.name = NULL}
};
