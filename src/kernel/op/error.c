/*
** error.c - the error function and the normal distribution function
**
**   erf' = 2/sqrt(pi) e^(-x^2),    Phi' = phi,    phi(z) = e^(-z^2/2)/sqrt(2 pi)
*/
#include "kernel/kernel.h"
#include "special/constants.h"
#include "special/vdensity.h"
#include "special/verf.h"


/*@ peri.erf(x) -> number or Tensor
 * The error function.
 * > erf(0.5)
 * 0.52049987781305 */
static void erf_value (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = verf(in[0][i]);
}

static void erf_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++)
    d[0][i] = TWO_OVER_SQRT_PI * vexp(-in[0][i] * in[0][i]);
}


/*@ peri.erfc(x) -> number or Tensor
 * 1 - erf(x), without loss of digits in the upper tail.
 * > erfc(10)
 * 2.0884875837625e-45 */
static void erfc_value (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = verfc(in[0][i]);
}

static void erfc_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++)
    d[0][i] = -TWO_OVER_SQRT_PI * vexp(-in[0][i] * in[0][i]);
}


/*@ peri.erfcx(x) -> number or Tensor
 * exp(x^2) erfc(x), which stays in range where erfc does not.
 * > erfcx(100)
 * 0.0056416137829894 */
static void erfcx (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = verfcx(in[0][i]);
}

/* 2x erfcx(x) - 2/sqrt(pi); for large x, where that cancels, its asymptotic
   series -(1 - 3t + 15t^2 - ...)/(sqrt(pi) x^2), t = 1/(2x^2) */
static void erfcx_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double x = in[0][i], t = 0.5 / (x * x), sum = 1;
    for (int k = 17; k >= 3; k -= 2) sum = fma(-k * t, sum, 1);
    double far = -INV_SQRT_PI * 2 * t * sum;
    double near = fma(2 * x, verfcx(x), -TWO_OVER_SQRT_PI);
    d[0][i] = x > 20 ? far : near;
  }
}


/*@ peri.erfinv(x) -> number or Tensor
 * The inverse of erf, for x in [-1, 1]; NaN outside.
 * > erfinv(0.5)
 * 0.47693627620447 */
static void erfinv (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = verfinv(in[0][i]);
}

static void erfinv_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double y = verfinv(in[0][i]);
    d[0][i] = HALF_SQRT_PI * vexp(y * y);
  }
}


/*@ peri.erfcinv(x) -> number or Tensor
 * The inverse of erfc, for x in [0, 2]; NaN outside.
 * > erfcinv(1e-20)
 * 6.6015806223551 */
static void erfcinv (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = verfcinv(in[0][i]);
}

static void erfcinv_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double y = verfcinv(in[0][i]);
    d[0][i] = -HALF_SQRT_PI * vexp(y * y);
  }
}


/*@ peri.ndtr(x) -> number or Tensor
 * The distribution function of the standard Normal.
 * > ndtr(-1.96)
 * 0.02499789514822 */
static void ndtr (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vndtr(in[0][i]);
}

static void ndtr_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = vdensity(in[0][i]);
}


/*@ peri.log_ndtr(x) -> number or Tensor
 * The logarithm of ndtr(x), also where that is too small for a double.
 * > log_ndtr(-50)
 * -1254.8313611394 */
static void log_ndtr (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlog_ndtr(in[0][i]);
}

static void log_ndtr_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = vhazard(in[0][i]);
}


/*@ peri.ndtri(x) -> number or Tensor
 * The quantiles of the standard Normal, the inverse of ndtr: for x in [0, 1]; NaN outside.
 * > ndtri(0.975)
 * 1.9599639845401 */
static void ndtri (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vndtri(in[0][i]);
}

static void ndtri_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 1 / vdensity(vndtri(in[0][i]));
}


const Kernel perilune_op_error[] = {
  {.name = "erf",      .n_in = 1, .value = erf_value,  .partials = erf_partials},
  {.name = "erfc",     .n_in = 1, .value = erfc_value, .partials = erfc_partials},
  {.name = "erfcx",    .n_in = 1, .value = erfcx,      .partials = erfcx_partials},
  {.name = "erfinv",   .n_in = 1, .value = erfinv,     .partials = erfinv_partials},
  {.name = "erfcinv",  .n_in = 1, .value = erfcinv,    .partials = erfcinv_partials},
  {.name = "ndtr",     .n_in = 1, .value = ndtr,       .partials = ndtr_partials},
  {.name = "log_ndtr", .n_in = 1, .value = log_ndtr,   .partials = log_ndtr_partials},
  {.name = "ndtri",    .n_in = 1, .value = ndtri,      .partials = ndtri_partials},
  {.name = NULL}
};
