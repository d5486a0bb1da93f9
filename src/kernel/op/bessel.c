/*
** bessel.c - modified Bessel functions, scaled, and their ratio
**
**   i0e(x) = e^-|x| I0(x),  i1e(x) = e^-|x| I1(x),  A(x) = I1(x)/I0(x)
**   k0e(x) = e^x K0(x),     k1e(x) = e^x K1(x),     x >= 0
*/
#include "kernel/kernel.h"
#include "special/bessel.h"
#include "special/bessel_k.h"


/*@ peri.i0e(x) -> number or Tensor
 * exp(-|x|) I0(x): the modified Bessel function of order 0, scaled so that it stays finite.
 * > i0e(100)
 * 0.039944379299097 */
static void i0e (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vi0e(in[0][i]);
}

/* i1e - sign(x) i0e = -sign(x) i0e (1 - A(|x|)) */
static void i0e_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double x = in[0][i];
    d[0][i] = copysign(vi0e(x) * vbessel_ratio_c(fabs(x)), -x);
  }
}


/*@ peri.i1e(x) -> number or Tensor
 * exp(-|x|) I1(x): the modified Bessel function of order 1, scaled so that it stays finite.
 * > i1e(100)
 * 0.03974415302513 */
static void i1e (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vi1e(in[0][i]);
}

/* i0e (1 - A - A/|x|), of which A/|x| is 1/2 at 0 */
static void i1e_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double x = fabs(in[0][i]), ratio = vbessel_i1_over_i0(x) / x;
    d[0][i] = vi0e(x) * (vbessel_ratio_c(x) - (x == 0 ? 0.5 : ratio));
  }
}


/*@ peri.bessel_i1_over_i0(x) -> number or Tensor
 * I1(x)/I0(x), the mean resultant length of a VonMises of concentration x.
 * > bessel_i1_over_i0(2)
 * 0.69777465796401 */
static void i1_over_i0 (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vbessel_i1_over_i0(in[0][i]);
}

/* 1 - A^2 - A/x; for large x, where that cancels, the derivative of A's
   asymptotic series in t = 1/x */
static void i1_over_i0_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double x = fabs(in[0][i]), a = vbessel_i1_over_i0(x), t = 1 / x;
    double series = fma(t, fma(t, fma(t, fma(t, fma(t, 3219.0 / 512, 65.0 / 32),
                    25.0 / 32), 3.0 / 8), 1.0 / 4), 1.0 / 2);
    double c = vbessel_ratio_c(x), ratio = a * t;
    double near = fma(c, 2 - c, -(x == 0 ? 0.5 : ratio));
    d[0][i] = x > 200 ? t * t * series : near;
  }
}


/*@ peri.k0e(x) -> number or Tensor
 * exp(x) K0(x), x >= 0: the modified Bessel function of the second kind of order 0, scaled.
 * > k0e(2)
 * 0.84156821507077 */
static void k0e (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vk0e(in[0][i]);
}

static void k0e_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = -vk_excess(in[0][i]);
}


/*@ peri.k1e(x) -> number or Tensor
 * exp(x) K1(x), x >= 0: the modified Bessel function of the second kind of order 1, scaled.
 * > k1e(2)
 * 1.0334768470687 */
static void k1e (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vk1e(in[0][i]);
}

/* (k1e - k0e) - k1e/x */
static void k1e_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++)
    d[0][i] = vk_excess(in[0][i]) - vk1e(in[0][i]) / in[0][i];
}


const Kernel perilune_op_bessel[] = {
  {.name = "i0e", .n_in = 1, .value = i0e, .partials = i0e_partials},
  {.name = "i1e", .n_in = 1, .value = i1e, .partials = i1e_partials},
  {.name = "bessel_i1_over_i0", .n_in = 1, .value = i1_over_i0,
   .partials = i1_over_i0_partials},
  {.name = "k0e", .n_in = 1, .value = k0e, .partials = k0e_partials},
  {.name = "k1e", .n_in = 1, .value = k1e, .partials = k1e_partials},
  {.name = NULL}
};
