/*
** gamma.c - the gamma function's logarithm and derivatives
*/
#include "kernel/kernel.h"
#include "special/gamma.h"
#include "special/vgamma.h"


/*@ peri.lgamma(x) -> number or Tensor
 * log |Gamma(x)|; Gamma(n) is the product of the integers below n.
 * > lgamma(6)
 * 4.787491742782 */
static void lgamma_value (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlgamma(in[0][i]);
}

/*@ peri.digamma(x) -> number or Tensor
 * The derivative of lgamma.
 * > digamma(1)
 * -0.57721566490153 */
static void digamma (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vdigamma(in[0][i]);
}

/*@ peri.trigamma(x) -> number or Tensor
 * The derivative of digamma.
 * > trigamma(1)
 * 1.6449340668482 */
static void trigamma (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vtrigamma(in[0][i]);
}

static void lgamma_partials (size_t n, const double *const in[], double *const d[]) {
  digamma(n, in, d[0]);
}

static void digamma_partials (size_t n, const double *const in[], double *const d[]) {
  trigamma(n, in, d[0]);
}

static void trigamma_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = special_polygamma(2, in[0][i]);
}


/* The order is an integer: there is no derivative with respect to it. */
/*@ peri.polygamma(n, x) -> number or Tensor
 * The derivative of order n, an integer, of digamma at x; n = 0 is digamma itself.
 * > polygamma(2, 1)
 * -2.4041138063192 */
static void polygamma (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = special_polygamma(in[0][i], in[1][i]);
}

static void polygamma_partials (size_t n, const double *const in[], double *const d[]) {
  const double *order = in[0], *x = in[1];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = NAN;
  EVERY for (size_t i = 0; i < n; i++) d[1][i] = special_polygamma(order[i] + 1, x[i]);
}


/* Hurwitz zeta(s, q). The derivative with respect to s has no closed form;
   it is taken by a central difference of fourth order. */
/*@ peri.zeta(s, a) -> number or Tensor
 * Hurwitz's zeta function: the sum of (k + a)^-s over k = 0, 1, ..., for s > 1; zeta(s, 1) is
 * Riemann's.
 * > zeta(2, 1)
 * 1.6449340668482 */
static void zeta (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = special_zeta(in[0][i], in[1][i]);
}

static double zeta_slope (double s, double q) {
  double h = 1e-3 * (s - 1 < 1 ? s - 1 : 1);
  double near = special_zeta(s + h, q) - special_zeta(s - h, q);
  double far = special_zeta(s + 2 * h, q) - special_zeta(s - 2 * h, q);
  return (8 * near - far) / (12 * h);
}

static void zeta_partials (size_t n, const double *const in[], double *const d[]) {
  const double *s = in[0], *q = in[1];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = zeta_slope(s[i], q[i]);
  EVERY for (size_t i = 0; i < n; i++) d[1][i] = -s[i] * special_zeta(s[i] + 1, q[i]);
}


/* log B(a, b) */
/*@ peri.betaln(a, b) -> number or Tensor
 * The logarithm of the beta function, lgamma(a) + lgamma(b) - lgamma(a + b), without its
 * cancellation.
 * > betaln(2, 3)
 * -2.484906649788 */
static void betaln (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vbetaln(in[0][i], in[1][i]);
}

static void betaln_partials (size_t n, const double *const in[], double *const d[]) {
  const double *a = in[0], *b = in[1];
  for (int k = 0; k < 2; k++) {
    EVERY for (size_t i = 0; i < n; i++)
      d[k][i] = vdigamma(in[k][i]) - vdigamma(a[i] + b[i]);
  }
}


const Kernel perilune_op_gamma[] = {
  {.name = "lgamma",    .n_in = 1, .value = lgamma_value, .partials = lgamma_partials},
  {.name = "digamma",   .n_in = 1, .value = digamma,      .partials = digamma_partials},
  {.name = "trigamma",  .n_in = 1, .value = trigamma,     .partials = trigamma_partials},
  {.name = "polygamma", .n_in = 2, .value = polygamma,    .partials = polygamma_partials},
  {.name = "zeta",      .n_in = 2, .value = zeta,         .partials = zeta_partials},
  {.name = "betaln",    .n_in = 2, .value = betaln,       .partials = betaln_partials},
  {.name = NULL}
};
