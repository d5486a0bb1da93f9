/*
** gammalaw_kernels.h - the kernels of a gamma variable in disguise (gammalaw.h)
**
** To be included once by a family's file, below `enum { EXPONENT = ... }`: the s, 1 or -1, of
** t = rate x^s. For -1 the tails of t change places.
*/
#include "kernel/gammalaw.h"

enum {
  BELOW = EXPONENT > 0 ? LAW_LOWER : LAW_UPPER,   /* the tail of t that is x's lower tail */
  ABOVE = EXPONENT > 0 ? LAW_UPPER : LAW_LOWER
};


static void log_prob (size_t n, const double *const in[], double *out) {
  law_log_prob(n, in, out, EXPONENT);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  law_log_prob_partials(n, in, d, EXPONENT);
}


static void cdf (size_t n, const double *const in[], double *out) {
  law_tails(n, in, out, EXPONENT, BELOW);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  law_tails_partials(n, in, d, EXPONENT, BELOW);
}

static void sf (size_t n, const double *const in[], double *out) {
  law_tails(n, in, out, EXPONENT, ABOVE);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  law_tails_partials(n, in, d, EXPONENT, ABOVE);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  law_log_tails(n, in, out, EXPONENT, BELOW);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  law_log_tails_partials(n, in, d, EXPONENT, BELOW);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  law_log_tails(n, in, out, EXPONENT, ABOVE);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  law_log_tails_partials(n, in, d, EXPONENT, ABOVE);
}


static void icdf (size_t n, const double *const in[], double *out) {
  law_quantiles(n, in, out, EXPONENT, BELOW);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  law_quantiles_partials(n, in, d, EXPONENT, BELOW);
}

static void isf (size_t n, const double *const in[], double *out) {
  law_quantiles(n, in, out, EXPONENT, ABOVE);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  law_quantiles_partials(n, in, d, EXPONENT, ABOVE);
}

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  law_draw_partials(n, in, d, EXPONENT);
}


static void entropy (size_t n, const double *const in[], double *out) {
  law_entropy(n, in, out, EXPONENT);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  law_entropy_partials(n, in, d, EXPONENT);
}
