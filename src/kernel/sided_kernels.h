/*
** sided_kernels.h - the kernels of tails and quantiles (sided.h)
**
** To be included once by a family's file, below its `static const SidedLaw law`. A family
** lists in its table those that it has functions for.
*/
#include "kernel/sided.h"


/* Of a law with long slopes: one function for both sides. */
ONE_COPY void long_tail (size_t n, const double *const in[], double *const d[], int upper) {
  sided_partials_singly(law.operands, n, in, d, law.tail_slopes, upper);
}

ONE_COPY void long_log_tail (size_t n, const double *const in[], double *const d[], int upper) {
  sided_partials_singly(law.operands, n, in, d, law.log_tail_slopes, upper);
}

/* What of these logarithms is less than that of any normal number, anew. */
SELDOM void tiny_log_tails (size_t n, const double *const in[], double *out, int upper) {
  for (size_t i = 0; i < n; i++, singly()) {
    double v[POINT_MAX];
    if (!(out[i] < LOG_TINY_TAIL)) continue;
    point_gather(law.operands, in, i, v);
    out[i] = law.log_tiny_tail(v, upper);
  }
}

VECTOR void log_tails (size_t n, const double *const in[], double *out, int upper) {
  sided_value(law.operands, n, in, out, law.log_tail, upper);
  int looks = law.has_tiny_tail && law.has_tiny_tail(upper);
  if (looks && special_has_below(n, out, LOG_TINY_TAIL)) tiny_log_tails(n, in, out, upper);
}

ONE_COPY void long_quantile (size_t n, const double *const in[], double *const d[], int upper) {
  sided_partials_singly(law.operands, n, in, d, law.quantile_slopes, upper);
}


static inline void cdf (size_t n, const double *const in[], double *out) {
  sided_value(law.operands, n, in, out, law.tail, 0);
}

static inline void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  if (law.long_slopes) long_tail(n, in, d, 0);
  else sided_partials(law.operands, n, in, d, law.tail_slopes, 0);
}

static inline void sf (size_t n, const double *const in[], double *out) {
  sided_value(law.operands, n, in, out, law.tail, 1);
}

static inline void sf_partials (size_t n, const double *const in[], double *const d[]) {
  if (law.long_slopes) long_tail(n, in, d, 1);
  else sided_partials(law.operands, n, in, d, law.tail_slopes, 1);
}

static inline void log_cdf (size_t n, const double *const in[], double *out) {
  log_tails(n, in, out, 0);
}

static inline void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  if (law.long_slopes) long_log_tail(n, in, d, 0);
  else sided_partials(law.operands, n, in, d, law.log_tail_slopes, 0);
}

static inline void log_sf (size_t n, const double *const in[], double *out) {
  log_tails(n, in, out, 1);
}

static inline void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  if (law.long_slopes) long_log_tail(n, in, d, 1);
  else sided_partials(law.operands, n, in, d, law.log_tail_slopes, 1);
}

static inline void icdf (size_t n, const double *const in[], double *out) {
  sided_value(law.operands, n, in, out, law.quantile, 0);
}

static inline void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  if (law.long_slopes) long_quantile(n, in, d, 0);
  else sided_partials(law.operands, n, in, d, law.quantile_slopes, 0);
}

static inline void isf (size_t n, const double *const in[], double *out) {
  sided_value(law.operands, n, in, out, law.quantile, 1);
}

static inline void isf_partials (size_t n, const double *const in[], double *const d[]) {
  if (law.long_slopes) long_quantile(n, in, d, 1);
  else sided_partials(law.operands, n, in, d, law.quantile_slopes, 1);
}
